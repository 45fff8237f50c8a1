#include "web/json_lines.h"

namespace TURTLE_SERVER {

JsonLines::JsonLines(const Responder& /*responder*/, ServerResponse /*head*/) {
  // TODO
}

auto JsonLines::Send(const nlohmann::json& /*value*/) const -> StreamState {
  return StreamState::kGone;  // TODO
}

void JsonLines::End() const {
  // TODO
}

}  // namespace TURTLE_SERVER
