#include "websocket/latest_values.h"

namespace TURTLE_SERVER {

LatestValues::LatestValues(WebSocket& socket) : socket_(socket) {}

LatestValues::~LatestValues() = default;

void LatestValues::Send(std::string_view /*key*/, std::string_view text) {
  socket_.SendText(text);  // TODO: if there is room
}

void LatestValues::OnRoom() {
  // TODO
}

auto LatestValues::Waiting() const noexcept -> std::size_t {
  return 0;  // TODO
}

auto LatestValues::Replaced() const noexcept -> std::uint64_t {
  return 0;  // TODO
}

}  // namespace TURTLE_SERVER
