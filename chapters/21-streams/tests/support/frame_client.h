// A client that speaks the frames of support/frame_session.h.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "support/client.h"
#include "support/frame_session.h"

namespace TURTLE_SERVER::test {

/// One response, as far as it has arrived.
struct FrameReply {
  std::string head{};     ///< the status and the fields
  std::string body{};     ///< the pieces, put together
  bool complete = false;  ///< the last frame has arrived
};

/// A connection in frames. Every wait ends after kPatience.
class FrameClient {
 public:
  explicit FrameClient(int port) : client_(port) {}

  /// Sends a request. @return its number
  auto Send(std::string_view text) -> std::uint32_t {
    const std::uint32_t number = ++last_number_;
    client_.Send(Frame::Pack(number, true, text));
    return number;
  }

  /// Sends bytes as they are.
  auto SendRaw(std::string_view bytes) -> bool { return client_.Send(bytes); }

  /// Receives `count` bytes as they are.
  auto Receive(std::size_t count) -> std::string { return client_.Receive(count); }

  /// Reads until a response is complete. @return what has arrived of it
  auto Await(std::uint32_t number) -> FrameReply {
    while (!replies_[number].complete && ReadFrame()) {
    }
    return replies_[number];
  }

  /// Returns the response, as far as it has arrived.
  auto Look(std::uint32_t number) -> FrameReply { return replies_[number]; }

  /// Sends a request and reads the response.
  auto Ask(std::string_view text) -> FrameReply { return Await(Send(text)); }

  /// Reads one frame. @return false: none arrives
  auto ReadFrame() -> bool {
    std::string input = client_.Receive(Frame::kHeadBytes);
    Frame frame;
    if (input.size() < Frame::kHeadBytes) {
      return false;
    }
    input += client_.Receive(Frame::Length(input));
    if (!frame.Unpack(input)) {
      return false;
    }
    FrameReply& reply = replies_[frame.number];
    (reply.head.empty() ? reply.head : reply.body) += frame.bytes;
    reply.complete = frame.last;
    return true;
  }

 private:
  Client client_;
  std::uint32_t last_number_ = 0;
  std::map<std::uint32_t, FrameReply> replies_;
};

}  // namespace TURTLE_SERVER::test
