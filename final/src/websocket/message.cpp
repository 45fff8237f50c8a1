#include "websocket/message.h"

#include <array>

#include "compress/raw_deflate.h"
#include "websocket/frame.h"

namespace TURTLE_SERVER {

namespace {

auto FrameOf(MessageKind kind, bool compressed, std::string_view payload) -> std::string {
  FrameHead head;
  head.opcode = kind == MessageKind::kText ? Opcode::kText : Opcode::kBinary;
  head.compressed = compressed;
  head.length = payload.size();
  std::array<char, kMaxFrameHead> text{};
  const std::size_t size = WriteFrameHead(head, text.data());
  std::string frame;
  frame.reserve(size + payload.size());
  return frame.append(text.data(), size).append(payload);
}

}  // namespace

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
