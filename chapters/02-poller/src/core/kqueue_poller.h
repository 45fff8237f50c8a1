// Poller on the BSDs and macOS: kqueue(2).
//
// Interface: as Poller's. Reading and writing are two filters here, so a descriptor that is ready
// for both comes up twice.
//
// Thread: one thread at a time.
#pragma once

#ifndef __linux__

#include <sys/event.h>

#include <vector>

#include "base/unique_fd.h"
#include "core/poller.h"

namespace TURTLE_SERVER {

/// The Poller on kqueue.
class KqueuePoller : public Poller {
 public:
  /// Opens a kqueue. Throws std::system_error, "kqueue: Too many open files".
  KqueuePoller();

  void Add(int fd, Interest interest, std::uint64_t token) override;
  void Change(int fd, Interest interest, std::uint64_t token) override;
  void Remove(int fd) override;
  auto Wait(std::optional<std::chrono::milliseconds> timeout)
      -> const std::vector<PollEvent>& override;

 private:
  void AddFilters(const char* what, int fd, Interest interest, std::uint64_t token);
  void FetchMore() noexcept;

  UniqueFd kqueue_;
  std::vector<struct kevent> ready_;  // as many as fit are fetched at once; grows when it was full
  std::vector<PollEvent> events_;     // the result of Wait(); has room for all of ready_
};

}  // namespace TURTLE_SERVER

#endif  // not __linux__
