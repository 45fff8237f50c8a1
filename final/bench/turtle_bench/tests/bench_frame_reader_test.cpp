// Frames of a WebSocket server, in every split.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "bench/frame_reader.h"

namespace TURTLE_SERVER {
namespace {

TEST(FrameReaderTest, ReadsAHandshakeAndMessagesInEverySplit) {
  const std::string input = std::string("HTTP/1.1 101 Switching Protocols\r\nA: b\r\n\r\n") +
                            "\x82\x02hi" + "\x89\x01?" +
                            "\x02\x01"
                            "a" +
                            "\x80\x01"
                            "b";
  for (std::size_t cut = 0; cut <= input.size(); ++cut) {
    FrameReader reader;
    std::string sizes;
    for (std::string_view piece :
         {std::string_view(input).substr(0, cut), std::string_view(input).substr(cut)}) {
      while (!piece.empty()) {
        const ReadResult result = reader.Read(piece);
        ASSERT_NE(result.state, ReplyState::kBad);
        piece.remove_prefix(result.used);
        if (result.state == ReplyState::kDone) {
          sizes += reader.IsHandshake() ? "h" : std::to_string(reader.Size());
          reader.Next();
        }
      }
    }
    ASSERT_EQ(sizes, "h22") << cut;
  }
}

TEST(FrameReaderTest, RefusesAnythingElse) {
  EXPECT_EQ(FrameReader().Read("HTTP/1.1 426 Upgrade Required\r\n\r\n").state, ReplyState::kBad);
  FrameReader reader;
  reader.Next();
  EXPECT_EQ(reader.Read("\x88\x02\x03\xe8").state, ReplyState::kBad);
}

}  // namespace
}  // namespace TURTLE_SERVER
