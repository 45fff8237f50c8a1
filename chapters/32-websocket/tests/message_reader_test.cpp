// Frames become messages, in every split; each broken rule has its code.
#include "websocket/message_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/frames.h"

namespace TURTLE_SERVER {
namespace {

using test::Masked;

auto NameOf(const MessageReader& reader, ReadEvent event) -> std::string {
  const std::string bytes(reader.Bytes());
  switch (event) {
    case ReadEvent::kMessage:
      return (reader.Kind() == MessageKind::kText ? "text " : "binary ") + bytes;
    case ReadEvent::kPing:
      return "ping " + bytes;
    case ReadEvent::kPong:
      return "pong " + bytes;
    case ReadEvent::kClose:
      return "close " + std::to_string(static_cast<int>(reader.Code())) + " " + bytes;
    case ReadEvent::kFailed:
      return "failed " + std::to_string(static_cast<int>(reader.Code()));
    case ReadEvent::kNeedInput:
      break;
  }
  return "more";
}

using Events = std::vector<std::string>;

// Reads the pieces, up to a failure.
auto ReadAll(const std::vector<std::string>& pieces, const ReaderRules& rules = {}) -> Events {
  MessageReader reader;
  reader.Begin(rules);
  Events events;
  for (const std::string& piece : pieces) {
    std::string_view rest = piece;
    for (;;) {
      const ReadEvent event = reader.Next(rest);
      if (event == ReadEvent::kNeedInput) {
        EXPECT_TRUE(rest.empty());
        break;
      }
      events.push_back(NameOf(reader, event));
      if (event == ReadEvent::kFailed) {
        EXPECT_EQ(reader.Next(rest), ReadEvent::kFailed);
        return events;
      }
    }
  }
  return events;
}

auto Bytewise(const std::string& input) -> std::vector<std::string> {
  std::vector<std::string> pieces;
  for (const char byte : input) {
    pieces.emplace_back(1, byte);
  }
  return pieces;
}

// Expects the same events whole, byte by byte, and cut in two at every place.
void ExpectEvents(const std::string& input, const Events& events, const ReaderRules& rules = {}) {
  EXPECT_EQ(ReadAll({input}, rules), events);
  EXPECT_EQ(ReadAll(Bytewise(input), rules), events);
  for (std::size_t i = 0; i <= input.size(); ++i) {
    ASSERT_EQ(ReadAll({input.substr(0, i), input.substr(i)}, rules), events) << "cut at " << i;
  }
}

TEST(MessageReaderTest, ReadsMessages) {
  ExpectEvents(Masked(0x81, "hello") + Masked(0x82, std::string("\0\xff", 2)) + Masked(0x81, ""),
               {"text hello", std::string("binary \0\xff", 9), "text "});
}

TEST(MessageReaderTest, ReadsLongMessages) {
  for (const std::size_t size : {126U, 5000U, 65536U, 100'000U}) {
    const std::string text(size, 'x');
    EXPECT_EQ(ReadAll({Masked(0x82, text)}), Events{"binary " + text});
    EXPECT_EQ(ReadAll(Bytewise(Masked(0x82, text))), Events{"binary " + text});
  }
}

TEST(MessageReaderTest, JoinsFragmentsWithControlFramesBetween) {
  ExpectEvents(Masked(0x01, "one, ") + Masked(0x89, "?") + Masked(0x00, "") + Masked(0x8A, "!") +
                   Masked(0x80, "two") + Masked(0x82, "next"),
               {"ping ?", "pong !", "text one, two", "binary next"});
}

TEST(MessageReaderTest, ReadsClose) {
  ExpectEvents(Masked(0x88, "\x03\xe8over"), {"close 1000 over"});
  ExpectEvents(Masked(0x88, "\x0f\xa0"), {"close 4000 "});
  ExpectEvents(Masked(0x88, ""), {"close 1005 "});
  ExpectEvents(Masked(0x01, "begun") + Masked(0x88, "\x03\xe9"), {"close 1001 "});
}

TEST(MessageReaderTest, RefusesAWrongClose) {
  ExpectEvents(Masked(0x88, "\x03"), {"failed 1002"});
  for (const int code : {0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65535}) {
    const std::string payload = {static_cast<char>(code >> 8), static_cast<char>(code & 255)};
    ExpectEvents(Masked(0x88, payload), {"failed 1002"});
  }
  ExpectEvents(Masked(0x88, "\x03\xe8\xff"), {"failed 1007"});
  ExpectEvents(Masked(0x88, "\x03\xe8\xe2\x82"), {"failed 1007"});  // half a character
}

TEST(MessageReaderTest, RefusesFramesInAWrongOrder) {
  ExpectEvents(Masked(0x80, "nothing to continue"), {"failed 1002"});
  ExpectEvents(Masked(0x01, "a") + Masked(0x81, "b"), {"failed 1002"});
  ExpectEvents(Masked(0x01, "a") + Masked(0x02, "b"), {"failed 1002"});
  ExpectEvents(Masked(0x81, "a") + Masked(0x80, "b"), {"text a", "failed 1002"});
}

TEST(MessageReaderTest, AServerWantsMasks) {
  ExpectEvents("\x81\x01x", {"failed 1002"});
  ReaderRules client;
  client.masked = false;
  ExpectEvents("\x81\x01x", {"text x"}, client);
  ExpectEvents(Masked(0x81, "x"), {"failed 1002"}, client);
}

TEST(MessageReaderTest, RefusesTextAtTheFirstWrongByte) {
  ExpectEvents(Masked(0x81, "caf\xC3\xA9 \xF0\x9F\x90\xA2"), {"text caf\xC3\xA9 \xF0\x9F\x90\xA2"});
  ExpectEvents(Masked(0x01, "caf\xC3") + Masked(0x80, "\xA9"), {"text caf\xC3\xA9"});
  ExpectEvents(Masked(0x81, "caf\xC3"), {"failed 1007"});
  ExpectEvents(Masked(0x81, "caf\xE9"), {"failed 1007"});
  EXPECT_EQ(ReadAll({Masked(0x01, "caf\xE9 and a long rest").substr(0, 11)}),
            Events{"failed 1007"});
  ExpectEvents(Masked(0x82, "caf\xE9"), {"binary caf\xE9"});
}

TEST(MessageReaderTest, RefusesALongMessageBeforeItComes) {
  ReaderRules rules;
  rules.max_message_bytes = 10;
  ExpectEvents(Masked(0x82, "0123456789"), {"binary 0123456789"}, rules);
  EXPECT_EQ(ReadAll({Masked(0x82, "0123456789a").substr(0, 6)}, rules), Events{"failed 1009"});
  ExpectEvents(Masked(0x02, "01234") + Masked(0x00, "56789") + Masked(0x80, "a"), {"failed 1009"},
               rules);
  ExpectEvents(Masked(0x02, "01234") + Masked(0x89, "a long ping") + Masked(0x80, "56789"),
               {"ping a long ping", "binary 0123456789"}, rules);
}

TEST(MessageReaderTest, AHugeLengthDoesNotWrapAround) {
  const std::string head("\x82\xFF\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0\0\0\0", 14);
  EXPECT_EQ(ReadAll({head}), Events{"failed 1009"});
  EXPECT_EQ(ReadAll({Masked(0x02, "x") + "\x80" + head.substr(1)}), Events{"failed 1009"});
}

TEST(MessageReaderTest, LimitsTheFragments) {
  ReaderRules rules;
  rules.max_fragments = 3;
  ExpectEvents(Masked(0x01, "a") + Masked(0x00, "b") + Masked(0x80, "c") + Masked(0x81, "d"),
               {"text abc", "text d"}, rules);
  ExpectEvents(Masked(0x01, "") + Masked(0x00, "") + Masked(0x00, "") + Masked(0x00, ""),
               {"failed 1008"}, rules);
}

class CompressedMessages : public testing::Test {
 protected:
  CompressedMessages() { rules_.inflates = true; }

  // @param first 0xC1 for a whole text, or other bits
  auto Frame(int first, std::string_view plain) -> std::string {
    return Masked(first, Coded(plain));
  }
  auto Coded(std::string_view plain) -> std::string {
    if (!rules_.keeps_context) {
      deflater_.Reset();
    }
    std::string coded;
    deflater_.Add(plain, coded);
    return coded;
  }

  ReaderRules rules_;
  RawDeflater deflater_;
};

TEST_F(CompressedMessages, AreRead) {
  ExpectEvents(Frame(0xC1, "hello, hello, hello") + Masked(0x81, "plain") + Frame(0xC2, "") +
                   Frame(0xC1, "hello, hello, hello"),
               {"text hello, hello, hello", "text plain", "binary ", "text hello, hello, hello"},
               rules_);
}

TEST_F(CompressedMessages, ComeInFragmentsOfAnyLength) {
  const std::string coded = Coded("hello, hello, hello");
  for (std::size_t i = 0; i <= coded.size(); ++i) {
    ExpectEvents(
        Masked(0x41, coded.substr(0, i)) + Masked(0x89, "?") + Masked(0x80, coded.substr(i)),
        {"ping ?", "text hello, hello, hello"}, rules_);
  }
}

TEST_F(CompressedMessages, MayReferToEarlierOnes) {
  rules_.keeps_context = true;
  const std::string first = Frame(0xC1, "a text that comes twice");
  const std::string second = Frame(0xC1, "a text that comes twice");
  EXPECT_LT(second.size(), first.size());
  ExpectEvents(first + second, {"text a text that comes twice", "text a text that comes twice"},
               rules_);
  rules_.keeps_context = false;
  EXPECT_EQ(ReadAll({first + second}, rules_).back(), "failed 1007");
}

TEST_F(CompressedMessages, AreRefusedUnlessAgreedOn) {
  ExpectEvents(Frame(0xC1, "hello"), {"failed 1002"}, ReaderRules());
  ExpectEvents(Masked(0x01, "a") + Frame(0xC0, "b"), {"failed 1002"}, rules_);
}

TEST_F(CompressedMessages, AreLimitedAsTheyGrow) {
  rules_.max_message_bytes = 1000;
  ExpectEvents(Frame(0xC2, std::string(1000, 'x')), {"binary " + std::string(1000, 'x')}, rules_);
  ExpectEvents(Frame(0xC2, std::string(1001, 'x')), {"failed 1009"}, rules_);
  EXPECT_EQ(ReadAll({Frame(0xC2, std::string(8'000'000, 'x'))}, rules_), Events{"failed 1009"});
}

TEST_F(CompressedMessages, HaveTheirTextCheckedAndTheirDamageSeen) {
  ExpectEvents(Frame(0xC1, "caf\xE9"), {"failed 1007"}, rules_);
  ExpectEvents(Frame(0xC1, "caf\xC3"), {"failed 1007"}, rules_);
  ExpectEvents(Masked(0xC2, "\xFF\xFF\xFF\xFF"), {"failed 1007"}, rules_);
}

TEST(MessageReaderTest, IsIdleOnlyBetweenMessages) {
  MessageReader reader;
  reader.Begin({});
  EXPECT_TRUE(reader.IsIdle());
  const std::string frames = Masked(0x01, "a") + Masked(0x80, "b");
  for (std::size_t i = 0; i < frames.size(); ++i) {
    std::string_view rest = std::string_view(frames).substr(i, 1);
    const ReadEvent event = reader.Next(rest);
    EXPECT_EQ(reader.IsIdle(), event == ReadEvent::kMessage) << i;
  }
}

TEST(MessageReaderTest, KeepsTheMemoryOfAMessageUnlessItIsMuch) {
  MessageReader reader;
  reader.Begin({});
  for (const std::size_t size : {MessageReader::kKeptBytes / 2, 4 * MessageReader::kKeptBytes}) {
    const std::string frames = Masked(0x82, std::string(size, 'x')) + Masked(0x82, "y");
    std::string_view rest = frames;
    EXPECT_EQ(reader.Next(rest), ReadEvent::kMessage);
    EXPECT_GE(reader.Capacity(), size);
    EXPECT_EQ(reader.Next(rest), ReadEvent::kMessage);
    EXPECT_EQ(reader.Capacity() >= size, size <= MessageReader::kKeptBytes);
  }
}

TEST(MessageReaderTest, BeginsAnewAfterAFailure) {
  MessageReader reader;
  reader.Begin({});
  std::string_view bad = "\x83";
  EXPECT_EQ(reader.Next(bad), ReadEvent::kFailed);
  reader.Begin({});
  const std::string good = Masked(0x81, "good");
  std::string_view rest = good;
  EXPECT_EQ(reader.Next(rest), ReadEvent::kMessage);
  EXPECT_EQ(reader.Bytes(), "good");
}

}  // namespace
}  // namespace TURTLE_SERVER
