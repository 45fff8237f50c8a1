// recvmmsg(2) and sendmmsg(2) that behave as a test wants, instead of the C library's (Linux).
//
// They are defined here, so only one file of a program includes this.
#pragma once

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace TURTLE_SERVER::test {

/// The outcomes of the calls of one function. Any thread.
class CallFaults {
 public:
  /// The outcome of a call that takes only one datagram.
  static constexpr int kOne = -1;

  /// Makes the next `times` calls end with an errno value, or with kOne.
  void Fail(int outcome, int times = 1) {
    outcome_ = outcome;
    left_ = times;
  }

  /// Lets all calls pass.
  void Pass() { left_ = 0; }

  /// Returns how many calls there were in all.
  [[nodiscard]] auto Calls() const -> int { return calls_; }

  /// Counts a call. @return its outcome, 0: it passes
  auto Next() -> int {
    ++calls_;
    return left_ > 0 && left_-- > 0 ? outcome_.load() : 0;
  }

 private:
  std::atomic<int> outcome_{0};
  std::atomic<int> left_{0};
  std::atomic<int> calls_{0};
};

inline CallFaults receive_faults;
inline CallFaults send_faults;

/// The number of slots that the last call of recvmmsg(2) offered.
inline std::atomic<unsigned> receive_slots{0};

}  // namespace TURTLE_SERVER::test

extern "C" {

auto recvmmsg(int fd, mmsghdr* messages, unsigned count, int flags, timespec* limit) -> int {
  TURTLE_SERVER::test::receive_slots = count;
  const int outcome = TURTLE_SERVER::test::receive_faults.Next();
  if (outcome > 0) {
    errno = outcome;
    return -1;
  }
  return static_cast<int>(
      ::syscall(SYS_recvmmsg, fd, messages, outcome == 0 ? count : 1U, flags, limit));
}

auto sendmmsg(int fd, mmsghdr* messages, unsigned count, int flags) -> int {
  const int outcome = TURTLE_SERVER::test::send_faults.Next();
  if (outcome > 0) {
    errno = outcome;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_sendmmsg, fd, messages, outcome == 0 ? count : 1U, flags));
}

}  // extern "C"
