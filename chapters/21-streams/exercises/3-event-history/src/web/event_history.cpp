#include "web/event_history.h"

namespace TURTLE_SERVER {

EventHistory::EventHistory(std::size_t /*keep*/) {}

auto EventHistory::Publish(std::string_view /*data*/) -> std::uint64_t {
  return 0;  // TODO
}

void EventHistory::Listen(std::optional<std::string_view> /*last_id*/, EventListener /*listener*/) {
}  // TODO

auto EventHistory::Listeners() const -> std::size_t {
  return 0;  // TODO
}

}  // namespace TURTLE_SERVER
