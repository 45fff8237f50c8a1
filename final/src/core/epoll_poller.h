// Poller on Linux: epoll(7).
//
// Interface: as Poller's.
//
// Thread: one thread at a time.
#pragma once

#ifdef __linux__

#include <sys/epoll.h>

#include <vector>

#include "base/unique_fd.h"
#include "core/poller.h"

namespace TURTLE_SERVER {

/// The Poller on epoll.
class EpollPoller : public Poller {
 public:
  /// Opens an epoll instance. Throws std::system_error, "epoll_create1: Too many open files".
  EpollPoller();

  void Add(int fd, Interest interest, std::uint64_t token) override;
  void Change(int fd, Interest interest, std::uint64_t token) override;
  void Remove(int fd) override;
  auto Wait(std::optional<std::chrono::milliseconds> timeout)
      -> const std::vector<PollEvent>& override;

  /// Returns its descriptor, which is readable while Wait() would return events; borrowed.
  [[nodiscard]] auto Fd() const noexcept -> int { return epoll_.Get(); }

 private:
  void Control(int operation, const char* what, int fd, Interest interest, std::uint64_t token);
  void FetchMore() noexcept;

  UniqueFd epoll_;
  std::vector<epoll_event> ready_;  // as many as fit are fetched at once; grows when it was full
  std::vector<PollEvent> events_;   // the result of Wait(); has room for all of ready_
};

}  // namespace TURTLE_SERVER

#endif  // __linux__
