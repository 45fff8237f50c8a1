// An io_uring(7) by its system calls: a queue of submissions, a queue of completions, sockets by
// slot instead of by descriptor, and buffers that the kernel takes when data arrives.
//
// Interface:
//  * Next() returns an empty submission to fill in; SubmitAndWait() submits all of them.
//  * ForEachCompletion() visits the completions.
//  * Buffer() returns the data of a receive; GiveBack() lets the kernel reuse the memory.
//
// Thread: the one that made it.
#pragma once

#include <linux/io_uring.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"

namespace TURTLE_SERVER {

/// Memory shared with the kernel.
class Mapping {
 public:
  /// Maps nothing.
  Mapping() = default;
  /// Maps `size` bytes of `fd` from `offset`, or new memory where `fd` is -1. Throws
  /// std::system_error.
  Mapping(int fd, std::size_t size, std::uint64_t offset);
  Mapping(const Mapping&) = delete;
  auto operator=(const Mapping&) -> Mapping& = delete;
  ~Mapping();

  /// Returns the object at `offset` bytes from the start.
  template <typename T>
  [[nodiscard]] auto At(std::size_t offset) const -> T* {
    return reinterpret_cast<T*>(start_ + offset);
  }

 private:
  char* start_ = nullptr;
  std::size_t size_ = 0;
};

/// One ring, for one thread.
class Ring {
 public:
  static constexpr unsigned kSlots = 16384;         ///< Sockets that it can hold.
  static constexpr unsigned kBufferCount = 2048;    ///< Buffers for what is received.
  static constexpr std::size_t kBufferSize = 4096;  ///< The size of each, in bytes.

  /// Throws std::system_error that says which call the kernel refused.
  Ring();

  /// Returns the next submission, zeroed. Submits the earlier ones if there is no room.
  auto Next() -> io_uring_sqe&;

  /// Submits and waits for at least one completion. Throws std::system_error.
  void SubmitAndWait() { Enter(1); }

  /// Calls `visit(const io_uring_cqe&)` for each completion that is there.
  template <typename Visit>
  void ForEachCompletion(Visit visit) {
    unsigned head = *completion_head_;
    const unsigned tail = __atomic_load_n(completion_tail_, __ATOMIC_ACQUIRE);
    for (; head != tail; ++head) {
      visit(static_cast<const io_uring_cqe&>(completions_[head & completion_mask_]));
    }
    __atomic_store_n(completion_head_, head, __ATOMIC_RELEASE);
    __atomic_store_n(&buffers_->tail, buffer_tail_, __ATOMIC_RELEASE);
  }

  /// Returns the first `size` bytes of a buffer.
  [[nodiscard]] auto Buffer(unsigned id, std::size_t size) const -> std::string_view {
    return {memory_.data() + id * kBufferSize, size};
  }

  /// Lets the kernel use the buffer again, after the round of ForEachCompletion().
  void GiveBack(unsigned id);

 private:
  explicit Ring(io_uring_params params);
  void Enter(unsigned wait_for);
  void RegisterSlots();
  void RegisterBuffers();

  UniqueFd ring_;
  Mapping queues_;
  Mapping submission_memory_;
  Mapping buffer_ring_;
  io_uring_sqe* submissions_;
  unsigned* submission_head_;
  unsigned* submission_tail_;
  unsigned submission_count_;
  unsigned prepared_ = 0;   // the tail, as far as we are
  unsigned submitted_ = 0;  // as far as the kernel was told
  io_uring_cqe* completions_;
  unsigned* completion_head_;
  unsigned* completion_tail_;
  unsigned completion_mask_;
  io_uring_buf_ring* buffers_ = nullptr;
  std::uint16_t buffer_tail_ = 0;
  std::vector<char> memory_ = std::vector<char>(kBufferCount * kBufferSize);
};

}  // namespace TURTLE_SERVER
