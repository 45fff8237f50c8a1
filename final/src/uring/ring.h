// An io_uring(7) on its plain system calls: a queue of submissions, a queue of completions, and
// buffers that the kernel uses when data arrives.
//
// Interface:
//  * Next() is an empty submission to fill in; Enter() hands all of them over, and waits.
//  * Reap() visits what has come in.
//  * Buffer() returns the data of a receive; GiveBack() lets the kernel reuse the memory.
//  * Withdraw() takes back a submission that was not handed over yet.
//
// Both queues are in memory shared with the kernel. In each, one side writes the entries and the
// tail, and the other the head. So a releasing store and an acquiring load are all it takes; no
// system call is needed to look.
//
// The kernel works on a ring only while the thread that owns it is in Enter()
// (IORING_SETUP_DEFER_TASKRUN): nothing happens unseen by the loop, and no completion arrives
// between two looks at the queue. This requires Linux 6.1.
//
// Thread: that of the first Enter(), which owns it from then on. Before that, one at a time.
#pragma once

#include <linux/io_uring.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/unique_fd.h"

namespace TURTLE_SERVER {

/// Memory shared with the kernel, mmap(2).
class Mapping {
 public:
  /// Maps `size` bytes of `fd` from `offset`, or new memory where `fd` is -1. Throws
  /// std::system_error.
  Mapping(int fd, std::size_t size, std::uint64_t offset);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  auto operator=(const Mapping&) -> Mapping& = delete;

  /// Returns the object at `offset` bytes from the start.
  template <typename T>
  [[nodiscard]] auto At(std::size_t offset) const noexcept -> T* {
    return reinterpret_cast<T*>(start_ + offset);
  }

 private:
  char* start_;
  std::size_t size_;
};

/// One ring, for one thread.
class Ring {
 public:
  static constexpr unsigned kSubmissions = 1024;    ///< Those that may wait to be submitted.
  static constexpr unsigned kCompletions = 8192;    ///< Those that may wait to be reaped.
  static constexpr unsigned kBufferCount = 1024;    ///< Buffers for received bytes.
  static constexpr std::size_t kBufferSize = 4096;  ///< The size of each, in bytes.

  /// Sets up the ring. Throws std::system_error that names the call: "io_uring_setup: Operation not
  /// permitted". The kernel may be too old, or a sandbox may forbid it.
  Ring();

  /// Makes room for this many submissions, by submitting the waiting ones if need be. False: there
  /// is no room, because the kernel takes nothing at present.
  [[nodiscard]] auto HasRoom(unsigned count) noexcept -> bool;

  /// Returns the next submission, zeroed; the next Enter() submits it. Only after HasRoom().
  auto Next() noexcept -> io_uring_sqe&;

  /// Returns the name, for Withdraw(), of the last submission from Next().
  [[nodiscard]] auto Last() const noexcept -> std::uint32_t { return prepared_ - 1; }

  /// Prepares the closing of a descriptor; a completion, with `user_data` 0, reports only a
  /// failure. Only after HasRoom().
  void Close(int fd) noexcept;

  /// Turns a submission into a no-op. False: it has already been submitted.
  auto Withdraw(std::uint32_t submission) noexcept -> bool;

  /// Submits and lets the kernel work, io_uring_enter(2). The first call makes the calling thread
  /// the owner.
  /// @param timeout the longest wait for a completion; nullopt: forever; 0: no wait
  /// @throws std::system_error; a signal or lack of memory just ends the wait
  void Enter(std::optional<std::chrono::milliseconds> timeout);

  /// True if everything was submitted. Without memory, Enter() may submit only a part.
  [[nodiscard]] auto HandedOver() const noexcept -> bool {
    return prepared_ == __atomic_load_n(submission_head_, __ATOMIC_ACQUIRE);
  }

  /// Submits, and lets the kernel end everything that can end at once. Only with an owner.
  void HandOver() noexcept { Submit(IORING_ENTER_GETEVENTS, 0, nullptr); }

  /// Calls `visit(const io_uring_cqe&)` for each completion that is there. It must not throw.
  template <typename Visit>
  void Reap(const Visit& visit) {
    unsigned head = *completion_head_;
    const unsigned tail = __atomic_load_n(completion_tail_, __ATOMIC_ACQUIRE);
    for (; head != tail; ++head) {
      visit(static_cast<const io_uring_cqe&>(completions_[head & completion_mask_]));
    }
    __atomic_store_n(completion_head_, head, __ATOMIC_RELEASE);
  }

  /// Calls `visit(io_uring_cqe&)` for the completions that Reap() has yet to visit.
  template <typename Visit>
  void Peek(const Visit& visit) {
    const unsigned tail = __atomic_load_n(completion_tail_, __ATOMIC_ACQUIRE);
    for (unsigned head = *completion_head_; head != tail; ++head) {
      visit(completions_[head & completion_mask_]);
    }
  }

  /// Returns the memory of a buffer, kBufferSize bytes.
  [[nodiscard]] auto Buffer(unsigned id) const noexcept -> const char* {
    return memory_.At<char>(id * kBufferSize);
  }

  /// Lets the kernel use the buffer again.
  void GiveBack(unsigned id) noexcept;

  /// True once it has an owner. Before, nothing was submitted.
  [[nodiscard]] auto HasOwner() const noexcept -> bool { return has_owner_; }

 private:
  explicit Ring(io_uring_params params);
  void OfferBuffers();
  void TakeOver();
  auto Submit(unsigned flags, unsigned wait_for, const io_uring_getevents_arg* limit) noexcept
      -> int;

  UniqueFd ring_;
  Mapping queues_;
  Mapping submission_memory_;
  Mapping buffer_ring_;
  Mapping memory_;
  io_uring_sqe* submissions_;
  unsigned* submission_head_;
  unsigned* submission_tail_;
  std::uint32_t prepared_ = 0;  // the tail, as far as our side is
  io_uring_cqe* completions_;
  unsigned* completion_head_;
  unsigned* completion_tail_;
  unsigned completion_mask_;
  std::uint16_t buffer_tail_ = 0;
  bool has_owner_ = false;
};

}  // namespace TURTLE_SERVER
