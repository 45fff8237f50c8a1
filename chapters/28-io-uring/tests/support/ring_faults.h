// The system calls of io_uring(7), counted, and made to end as a test wants; and the results of
// requests, changed on their way from the kernel.
//
// syscall(2) is defined here, so only one file of a program includes this.
#pragma once

#include <dlfcn.h>
#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <functional>

namespace TURTLE_SERVER::test {

/// The calls of one kind. Any thread.
class RingCalls {
 public:
  /// Makes the next `times` calls fail with an errno value, after `before` others.
  void Fail(int error, int times = 1, int before = 0) {
    error_ = error;
    left_ = times;
    before_ = before;
  }

  /// Lets all calls pass.
  void Pass() { left_ = 0; }

  /// Returns how many calls there were in all.
  [[nodiscard]] auto Count() const -> int { return calls_; }

  /// Counts a call. @return 0: it passes
  auto Next() -> int {
    ++calls_;
    if (left_ == 0 || before_-- > 0) {
      return 0;
    }
    --left_;
    return error_;
  }

 private:
  std::atomic<int> error_{0};
  std::atomic<int> left_{0};
  std::atomic<int> before_{0};
  std::atomic<int> calls_{0};
};

inline RingCalls ring_setup;
inline RingCalls ring_register;
inline RingCalls ring_enter;

}  // namespace TURTLE_SERVER::test

// All six arguments are passed on, whether they were given or not; a sanitizer must not object.
extern "C" [[gnu::no_sanitize_address]] auto syscall(long number, ...) noexcept -> long {
  using TURTLE_SERVER::test::RingCalls;
  static const auto real = reinterpret_cast<long (*)(long, ...)>(::dlsym(RTLD_NEXT, "syscall"));
  long given[6];
  va_list rest;
  va_start(rest, number);
  for (long& each : given) {
    each = va_arg(rest, long);
  }
  va_end(rest);
  RingCalls* const calls = number == SYS_io_uring_setup      ? &TURTLE_SERVER::test::ring_setup
                           : number == SYS_io_uring_register ? &TURTLE_SERVER::test::ring_register
                           : number == SYS_io_uring_enter    ? &TURTLE_SERVER::test::ring_enter
                                                             : nullptr;
  if (calls != nullptr) {
    if (const int error = calls->Next()) {
      errno = error;
      return -1;
    }
  }
  return real(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}
