// Heads of frames: what is written is read, in any split, and nothing else is.
#include "websocket/frame.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace TURTLE_SERVER {
namespace {

auto Written(const FrameHead& head) -> std::string {
  std::array<char, kMaxFrameHead> text{};
  return {text.data(), WriteFrameHead(head, text.data())};
}

TEST(FrameTest, ReadsTheExamplesOfTheRfc) {
  FrameHead head;
  FrameResult result = ParseFrameHead("\x81\x05Hello", head);
  EXPECT_EQ(result.state, FrameState::kComplete);
  EXPECT_EQ(result.bytes, 2U);
  EXPECT_EQ(head.opcode, Opcode::kText);
  EXPECT_TRUE(head.last);
  EXPECT_FALSE(head.masked);
  EXPECT_EQ(head.length, 5U);

  result = ParseFrameHead("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", head);
  EXPECT_EQ(result.bytes, 6U);
  EXPECT_TRUE(head.masked);
  EXPECT_EQ(head.key, (MaskingKey{0x37, 0xfa, 0x21, 0x3d}));

  result = ParseFrameHead(std::string("\x82\x7F\0\0\0\0\0\1\0\0", 10), head);
  EXPECT_EQ(result.bytes, 10U);
  EXPECT_EQ(head.opcode, Opcode::kBinary);
  EXPECT_EQ(head.length, 65536U);
}

TEST(FrameTest, ReadsWhatItWritesInEverySplit) {
  for (const std::uint64_t length :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{125}, std::uint64_t{126},
        std::uint64_t{127}, std::uint64_t{65535}, std::uint64_t{65536}, (~std::uint64_t{0}) >> 1}) {
    for (const bool masked : {false, true}) {
      FrameHead head;
      head.opcode = Opcode::kBinary;
      head.last = length % 2 == 0;
      head.compressed = masked;
      head.masked = masked;
      head.length = length;
      head.key = masked ? MaskingKey{1, 2, 3, 4} : MaskingKey{};
      const std::string text = Written(head);
      FrameHead read;
      for (std::size_t i = 0; i < text.size(); ++i) {
        EXPECT_EQ(ParseFrameHead(text.substr(0, i), read).state, FrameState::kIncomplete);
      }
      const FrameResult result = ParseFrameHead(text + "payload", read);
      EXPECT_EQ(result.state, FrameState::kComplete);
      EXPECT_EQ(result.bytes, text.size());
      EXPECT_EQ(read.length, length);
      EXPECT_EQ(read.masked, masked);
      EXPECT_EQ(read.compressed, masked);
      EXPECT_EQ(read.last, head.last);
      EXPECT_EQ(read.opcode, Opcode::kBinary);
      if (masked) {
        EXPECT_EQ(read.key, head.key);
      }
    }
  }
}

TEST(FrameTest, RefusesAReservedOpcodeAtItsFirstByte) {
  FrameHead head;
  for (const int opcode : {3, 4, 5, 6, 7, 11, 12, 13, 14, 15}) {
    const std::string text(1, static_cast<char>(0x80 | opcode));
    EXPECT_EQ(ParseFrameHead(text, head).state, FrameState::kMalformed) << opcode;
  }
}

TEST(FrameTest, RefusesReservedBits) {
  FrameHead head;
  EXPECT_EQ(ParseFrameHead("\xA1", head).state, FrameState::kMalformed);
  EXPECT_EQ(ParseFrameHead("\x91", head).state, FrameState::kMalformed);
  EXPECT_EQ(ParseFrameHead("\xC9", head).state, FrameState::kMalformed);  // RSV1 of a Ping
  EXPECT_EQ(ParseFrameHead("\xC1", head).state, FrameState::kIncomplete);
}

TEST(FrameTest, RefusesControlFramesThatAreLongOrFragmented) {
  FrameHead head;
  EXPECT_EQ(ParseFrameHead("\x89\x7E", head).state, FrameState::kMalformed);
  EXPECT_EQ(ParseFrameHead("\x89\x7F", head).state, FrameState::kMalformed);
  EXPECT_EQ(ParseFrameHead("\x09", head).state, FrameState::kMalformed);
  EXPECT_EQ(ParseFrameHead("\x89\x7D", head).state, FrameState::kComplete);
}

TEST(FrameTest, RefusesALengthThatHasAShorterForm) {
  FrameHead head;
  EXPECT_EQ(ParseFrameHead(std::string("\x82\x7E\0\x7D", 4), head).state, FrameState::kMalformed);
  EXPECT_EQ(ParseFrameHead(std::string("\x82\x7E\0\x7E", 4), head).state, FrameState::kComplete);
  EXPECT_EQ(ParseFrameHead(std::string("\x82\x7F\0\0\0\0\0\0\xFF\xFF", 10), head).state,
            FrameState::kMalformed);
  EXPECT_EQ(ParseFrameHead(std::string("\x82\x7F\x80\0\0\0\0\1\0\0", 10), head).state,
            FrameState::kMalformed);
}

}  // namespace
}  // namespace TURTLE_SERVER
