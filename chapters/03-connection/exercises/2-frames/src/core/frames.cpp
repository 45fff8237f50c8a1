#include "core/frames.h"

namespace TURTLE_SERVER {

auto TakeFrame(std::string_view /*bytes*/, std::size_t /*limit*/) -> Frame {
  return {};  // TODO
}

void WriteFrame(Connection& /*connection*/, std::string_view /*message*/) {}  // TODO

}  // namespace TURTLE_SERVER
