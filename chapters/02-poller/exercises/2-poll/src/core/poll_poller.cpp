#include "core/poll_poller.h"

namespace TURTLE_SERVER {

void PollPoller::Add(int /*fd*/, Interest /*interest*/, std::uint64_t /*token*/) {}  // TODO

void PollPoller::Change(int /*fd*/, Interest /*interest*/, std::uint64_t /*token*/) {}  // TODO

void PollPoller::Remove(int /*fd*/) {}  // TODO

auto PollPoller::Wait(std::optional<std::chrono::milliseconds> /*timeout*/)
    -> const std::vector<PollEvent>& {
  return events_;  // TODO
}

}  // namespace TURTLE_SERVER
