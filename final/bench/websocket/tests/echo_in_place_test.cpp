#include "echo_in_place.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "websocket/frame.h"

namespace TURTLE_SERVER {
namespace {

auto FrameOf(const std::string& payload, bool masked) -> std::string {
  FrameHead head;
  head.opcode = Opcode::kBinary;
  head.masked = masked;
  head.length = payload.size();
  head.key = {1, 2, 3, 4};
  std::string frame(kMaxFrameHead, '\0');
  frame.resize(WriteFrameHead(head, frame.data()));
  const std::size_t begin = frame.size();
  frame += payload;
  if (masked) {
    Mask(head.key, 0, frame.data() + begin, frame.data() + begin, payload.size());
  }
  return frame;
}

auto PayloadOf(std::size_t size) -> std::string {
  std::string payload;
  for (std::size_t i = 0; i < size; ++i) {
    payload += static_cast<char>(i % 251);
  }
  return payload;
}

TEST(EchoInPlaceTest, TheEchoOfAMaskedFrameIsTheUnmaskedOne) {
  for (const std::size_t size : {0U, 1U, 64U, 125U, 126U, 65535U, 65536U}) {
    const std::string payload = PayloadOf(size);
    std::string input = FrameOf(payload, true);
    const std::size_t whole = input.size();
    input += "next";
    const FrameEcho echo = EchoInPlace(input.data(), input.size());
    ASSERT_EQ(echo.used, whole);
    EXPECT_TRUE(std::string_view(input).substr(whole - echo.size, echo.size) ==
                FrameOf(payload, false))
        << size;
    EXPECT_EQ(input.substr(whole), "next");
  }
}

TEST(EchoInPlaceTest, AnIncompleteFrameStaysAsItIs) {
  for (const std::size_t size : {0U, 64U, 126U, 65536U}) {
    const std::string whole = FrameOf(PayloadOf(size), true);
    for (std::size_t cut = 0; cut < whole.size(); cut += cut < 20 ? 1 : 997) {
      std::string input = whole.substr(0, cut);
      EXPECT_EQ(EchoInPlace(input.data(), input.size()).used, 0U);
      EXPECT_TRUE(input == whole.substr(0, cut)) << size << ", " << cut;
    }
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
