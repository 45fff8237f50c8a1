// Frames as a client sends them, for tests.
#pragma once

#include <string>
#include <string_view>

#include "websocket/frame.h"
#include "websocket/masking.h"

namespace TURTLE_SERVER::test {

/// Returns a masked frame.
/// @param first the first byte: FIN, RSV1 and the opcode
/// @param payload as it is before it is masked
inline auto Masked(int first, std::string_view payload) -> std::string {
  FrameHead head;
  head.opcode = static_cast<Opcode>(first & 0x0F);
  head.last = (first & 0x80) != 0;
  head.compressed = (first & 0x40) != 0;
  head.masked = true;
  head.length = payload.size();
  head.key = {0x12, 0x34, 0x56, 0x78};
  std::string frame(kMaxFrameHead, '\0');
  frame.resize(WriteFrameHead(head, frame.data()));
  const std::size_t begin = frame.size();
  frame.append(payload);
  Mask(head.key, 0, frame.data() + begin, frame.data() + begin, payload.size());
  return frame;
}

}  // namespace TURTLE_SERVER::test
