#include "websocket/message.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "compress/raw_deflate.h"

namespace TURTLE_SERVER {

namespace {

auto FrameOf(MessageKind kind, bool compressed, std::string_view payload) -> std::string {
  FrameHead head;
  head.opcode = OpcodeOf(kind);
  head.compressed = compressed;
  head.length = payload.size();
  std::array<char, kMaxFrameHead> text{};
  const std::size_t size = WriteFrameHead(head, text.data());
  std::string frame;
  frame.reserve(size + payload.size());
  return frame.append(text.data(), size).append(payload);
}

}  // namespace

auto WriteClosePayload(CloseCode code, std::string_view reason, char* into) noexcept
    -> std::size_t {
  if (code == CloseCode::kNoCode) {
    return 0;
  }
  std::size_t most = std::min(reason.size(), kMaxControlPayload - 2);
  while (most < reason.size() && most > 0 && (reason[most] & 0xC0) == 0x80) {
    --most;
  }
  into[0] = static_cast<char>(static_cast<std::uint16_t>(code) >> 8);
  into[1] = static_cast<char>(static_cast<std::uint16_t>(code) & 0xFF);
  std::copy_n(reason.data(), most, into + 2);
  return 2 + most;
}

SharedMessage::SharedMessage(MessageKind kind, std::string_view bytes, bool compressed)
    : plain_(FrameOf(kind, false, bytes)) {
  if (compressed) {
    thread_local RawDeflater deflater;  // a quarter of a MiB: not to be made for each message
    std::string coded;
    deflater.Reset();
    deflater.Add(bytes, coded);
    if (coded.size() < bytes.size()) {
      compressed_ = FrameOf(kind, true, coded);
    }
  }
}

}  // namespace TURTLE_SERVER
