// A Poller on poll(2), which every Unix has.
//
// The kernel keeps no list: each call passes the whole list. So it can't report edges.
//
// Thread: as for Poller.
#pragma once

#include <poll.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "core/poller.h"

namespace TURTLE_SERVER {

/// See Poller. It refuses kEdge.
class PollPoller : public Poller {
 public:
  /// @throws std::system_error, "poll add 7: File exists" or, if `fd` is not open, "poll add 7: Bad
  ///     file descriptor"; std::invalid_argument for kEdge.
  void Add(int fd, Interest interest, std::uint64_t token) override;

  /// @throws std::system_error, "poll change 7: No such file or directory"; std::invalid_argument
  ///     for kEdge.
  void Change(int fd, Interest interest, std::uint64_t token) override;

  void Remove(int fd) override;

  /// Ignores a descriptor that was closed without Remove().
  auto Wait(std::optional<std::chrono::milliseconds> timeout)
      -> const std::vector<PollEvent>& override;

 private:
  std::vector<pollfd> descriptors_;
  std::vector<std::uint64_t> tokens_;  // one for each descriptor
  std::vector<PollEvent> events_;
};

}  // namespace TURTLE_SERVER
