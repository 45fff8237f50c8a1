#include "core/line_reader.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "support/client.h"

namespace TURTLE_SERVER {
namespace {

class LineReaderTest : public testing::Test {
 protected:
  LineReaderTest() {
    Socket listener;
    listener.Bind(NetAddress("127.0.0.1", 0));
    listener.Listen();
    client_.emplace(listener.LocalAddress().Port());
    NetAddress from;
    server_ = Socket(UniqueFd(listener.Accept(from)));
  }

  void Say(std::string_view bytes) { ASSERT_TRUE(client_->Send(bytes)); }

  std::optional<test::Client> client_;
  Socket server_;
};

TEST_F(LineReaderTest, SeveralLinesInOnePiece) {
  Say("one\ntwo\n\nfour\n");
  LineReader lines(server_, 100);
  for (const char* line : {"one", "two", "", "four"}) {
    EXPECT_EQ(lines.Next(), line);
  }
}

TEST_F(LineReaderTest, OneLineInSeveralPieces) {
  LineReader lines(server_, 100);
  std::thread slow([this] {
    for (const char letter : std::string("slowly\r\n")) {
      Say(std::string(1, letter));
    }
  });
  EXPECT_EQ(lines.Next(), "slowly");
  slow.join();
}

TEST_F(LineReaderTest, ACarriageReturnCountsAtTheEndOnly) {
  Say("a\rb\r\n\r\n\r\r\n");
  LineReader lines(server_, 100);
  EXPECT_EQ(lines.Next(), "a\rb");
  EXPECT_EQ(lines.Next(), "");
  EXPECT_EQ(lines.Next(), "\r");
}

TEST_F(LineReaderTest, WhatIsLeftAtTheEndIsALine) {
  Say("whole\nhalf");
  client_->FinishSending();
  LineReader lines(server_, 100);
  EXPECT_EQ(lines.Next(), "whole");
  EXPECT_EQ(lines.Next(), "half");
  EXPECT_EQ(lines.Next(), std::nullopt);
  EXPECT_FALSE(lines.IsTooLong());
}

TEST_F(LineReaderTest, ALineMayHaveJustTheLimit) {
  Say("12345\r\n12345\n");
  LineReader lines(server_, 5);
  EXPECT_EQ(lines.Next(), "12345");
  EXPECT_EQ(lines.Next(), "12345");
}

TEST_F(LineReaderTest, ALongerLineIsRefusedThoughItHasNoEndYet) {
  Say("ok\n123456");
  LineReader lines(server_, 5);
  EXPECT_EQ(lines.Next(), "ok");
  EXPECT_EQ(lines.Next(), std::nullopt);
  EXPECT_TRUE(lines.IsTooLong());
}

TEST_F(LineReaderTest, ACarriageReturnWithoutALineFeedCounts) {
  Say("12345\r");
  client_->FinishSending();
  LineReader lines(server_, 5);
  EXPECT_EQ(lines.Next(), std::nullopt);
  EXPECT_TRUE(lines.IsTooLong());
}

TEST_F(LineReaderTest, WhatComesBehindALineThatIsTooLongIsNotRead) {
  Say("123456\nok\n");
  LineReader lines(server_, 5);
  EXPECT_EQ(lines.Next(), std::nullopt);
  EXPECT_TRUE(lines.IsTooLong());
  EXPECT_EQ(lines.Next(), std::nullopt);
}

TEST_F(LineReaderTest, AResetEndsTheLines) {
  Say("one\ntwo");
  LineReader lines(server_, 100);
  EXPECT_EQ(lines.Next(), "one");
  client_->Reset();
  while (lines.Next()) {
  }
  EXPECT_FALSE(lines.IsTooLong());
}

}  // namespace
}  // namespace TURTLE_SERVER
