#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "bench/response_reader.h"

namespace TURTLE_SERVER {
namespace {

constexpr const char* kOk = "HTTP/1.1 200 OK\r\n";

auto DigestOf(std::string_view bytes) -> std::uint64_t {
  BodyDigest digest;
  digest.Add(bytes);
  return digest.Value();
}

// A response and its parts.
struct Sample {
  std::string text;
  int status;
  BodyEnd end;
  std::string body;
  bool keep_alive;
};

auto Samples() -> std::vector<Sample> {
  const std::string ok = kOk;
  const std::string large(5000, 'x');
  return {
      {ok + "Content-Length: 5\r\n\r\nhello", 200, BodyEnd::kLength, "hello", true},
      {ok + "content-length:0\r\n\r\n", 200, BodyEnd::kLength, "", true},
      {ok + "A: b\r\nContent-Length: 5000\r\nConnection: close\r\n\r\n" + large, 200,
       BodyEnd::kLength, large, false},
      {ok + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nab", 200, BodyEnd::kLength, "ab", true},
      {ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: u\r\n\r\n", 200,
       BodyEnd::kChunked, "abcde", true},
      {ok + "transfer-encoding: gzip, Chunked\r\nConnection: Foo, Close\r\n\r\n0\r\n\r\n", 200,
       BodyEnd::kChunked, "", false},
      {"HTTP/1.1 204 No Content\r\n\r\n", 204, BodyEnd::kNone, "", true},
      {"HTTP/1.1 304 Not Modified\r\nX: y\r\n\r\n", 304, BodyEnd::kNone, "", true},
      {"HTTP/1.0 404 Not Found\r\nContent-Length: 3\r\n\r\nno!", 404, BodyEnd::kLength, "no!",
       false},
      {"HTTP/1.0 200\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\n!", 200,
       BodyEnd::kLength, "!", true},
      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok +
           "Content-Length: 1\r\n\r\n1",
       200, BodyEnd::kLength, "1", true},
  };
}

void ExpectReply(const ResponseReader& reader, const Sample& sample) {
  EXPECT_EQ(reader.Head().status, sample.status);
  EXPECT_EQ(reader.Head().end, sample.end);
  EXPECT_EQ(reader.Head().keep_alive, sample.keep_alive);
  EXPECT_EQ(reader.BodySize(), sample.body.size());
  EXPECT_EQ(reader.BodyValue(), DigestOf(sample.body));
}

// Reads `text` in pieces of the sizes that `next` gives. @return the bytes left after the response
template <typename Next>
auto ReadInPieces(ResponseReader& reader, std::string_view text, Next next) -> std::string_view {
  std::string_view seen = text.substr(0, 0);
  for (;;) {
    const ReadResult result = reader.Read(seen);
    EXPECT_NE(result.state, ReplyState::kBad) << result.fault;
    EXPECT_LE(result.used, seen.size());
    text.remove_prefix(result.used);
    if (result.state != ReplyState::kMore || text.empty()) {
      return text;
    }
    EXPECT_EQ(result.used, seen.size()) << "it wants more, and leaves some";
    seen = text.substr(0, next());
  }
}

TEST(ResponseReaderTest, ReadsWholeReplies) {
  HeadMemo memo;
  ResponseReader reader(memo);
  for (const Sample& sample : Samples()) {
    EXPECT_FALSE(reader.Begun());
    const ReadResult result = reader.Read(sample.text);
    EXPECT_EQ(result.state, ReplyState::kDone) << sample.text;
    EXPECT_EQ(result.used, sample.text.size());
    EXPECT_EQ(reader.End(), ReplyState::kDone);
    ExpectReply(reader, sample);
    reader.Next();
  }
}

TEST(ResponseReaderTest, ReadsByteByByte) {
  HeadMemo memo;
  ResponseReader reader(memo);
  for (const Sample& sample : Samples()) {
    EXPECT_EQ(ReadInPieces(reader, sample.text, [] { return 1; }), "") << sample.text;
    EXPECT_EQ(reader.End(), ReplyState::kDone);
    ExpectReply(reader, sample);
    reader.Next();
  }
}

TEST(ResponseReaderTest, ReadsEverySplitInTwo) {
  for (const Sample& sample : Samples()) {
    if (sample.text.size() > 1000) {
      continue;
    }
    for (std::size_t cut = 0; cut <= sample.text.size(); ++cut) {
      HeadMemo memo;
      ResponseReader reader(memo);
      std::size_t sizes[] = {cut, sample.text.size()};
      std::size_t* next = sizes;
      EXPECT_EQ(ReadInPieces(reader, sample.text, [&] { return *next++; }), "");
      EXPECT_EQ(reader.End(), ReplyState::kDone);
      ExpectReply(reader, sample);
    }
  }
}

TEST(ResponseReaderTest, ReadsARowOfRepliesInRandomPieces) {
  std::mt19937 random(4);
  const std::vector<Sample> samples = Samples();
  HeadMemo memo;
  for (int round = 0; round < 300; ++round) {
    std::vector<const Sample*> expected;
    std::string text;
    for (int i = 0; i < 8; ++i) {
      expected.push_back(&samples[random() % samples.size()]);
      text += expected.back()->text;
    }
    ResponseReader reader(memo);
    std::string_view rest = text;
    const std::size_t most = 1 + random() % 300;
    for (const Sample* sample : expected) {
      rest = ReadInPieces(reader, rest, [&] { return 1 + random() % most; });
      ASSERT_EQ(reader.End(), ReplyState::kDone);
      ExpectReply(reader, *sample);
      reader.Next();
    }
    EXPECT_EQ(rest, "");
  }
}

TEST(ResponseReaderTest, ABodyWithoutLengthLastsUntilTheEnd) {
  HeadMemo memo;
  ResponseReader reader(memo);
  EXPECT_EQ(reader.End(), ReplyState::kMore);
  EXPECT_EQ(reader.Read("HTTP/1.1 200 OK\r\n\r\nhel").state, ReplyState::kMore);
  EXPECT_EQ(reader.Read("lo").state, ReplyState::kMore);
  EXPECT_EQ(reader.End(), ReplyState::kDone);
  EXPECT_FALSE(reader.Head().keep_alive);
  EXPECT_EQ(reader.BodySize(), 5U);
  EXPECT_EQ(reader.BodyValue(), DigestOf("hello"));
}

TEST(ResponseReaderTest, AReplyToHeadHasNoBody) {
  HeadMemo memo;
  memo.to_head = true;
  ResponseReader reader(memo);
  const std::string text = std::string(kOk) + "Content-Length: 123\r\n\r\n";
  const ReadResult result = reader.Read(text + "HTTP");
  EXPECT_EQ(result.state, ReplyState::kDone);
  EXPECT_EQ(result.used, text.size());
  EXPECT_EQ(reader.BodySize(), 123U);
}

TEST(ResponseReaderTest, AnEndWithinAReplyIsAnError) {
  for (const Sample& sample : Samples()) {
    if (sample.text.size() > 1000 || sample.status == 200) {
      continue;
    }
    for (std::size_t cut = 1; cut < sample.text.size(); ++cut) {
      HeadMemo memo;
      ResponseReader reader(memo);
      EXPECT_EQ(reader.Read(sample.text.substr(0, cut)).state, ReplyState::kMore);
      EXPECT_TRUE(reader.Begun());
      EXPECT_EQ(reader.End(), ReplyState::kBad) << sample.text.substr(0, cut);
    }
  }
  HeadMemo memo;
  ResponseReader chunked(memo);
  EXPECT_EQ(chunked.Read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n").state,
            ReplyState::kMore);
  EXPECT_EQ(chunked.End(), ReplyState::kBad);
}

TEST(ResponseReaderTest, RefusesWhatIsNoReply) {
  const std::vector<std::string> bad = {
      "SSH-2.0-OpenSSH\r\n\r\n",
      "HTTP/2.0 200 OK\r\n\r\n",
      "HTTP/1.1 20 OK\r\n\r\n",
      "HTTP/1.1 2000 OK\r\n\r\n",
      "HTTP/1.1 0x1 OK\r\n\r\n",
      "HTTP/1.1 099 OK\r\n\r\n",
      "HTTP/1.1 600 OK\r\n\r\n",
      "HTTP/1.1 101 Switching Protocols\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
      "HTTP/1.1 200 OK\r\n: empty\r\n\r\n",
      "HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
      "HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n\r\n",
      "HTTP/1.1 200 OK\r\nA: b\nB: c\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
      std::string(ResponseReader::kMaxHead + 1, 'x'),
  };
  for (const std::string& text : bad) {
    HeadMemo memo;
    ResponseReader whole(memo);
    EXPECT_EQ(whole.Read(text).state, ReplyState::kBad) << text.substr(0, 99);
    EXPECT_EQ(whole.End(), ReplyState::kBad);
    EXPECT_EQ(whole.Read("more").state, ReplyState::kBad) << "once bad, always bad";
    ResponseReader pieces(memo);
    ReadResult result;
    for (std::size_t i = 0; i < text.size() && result.state == ReplyState::kMore; ++i) {
      result = pieces.Read(text.substr(i, 1));
    }
    EXPECT_EQ(result.state, ReplyState::kBad) << text.substr(0, 99);
  }
}

TEST(ResponseReaderTest, TheSameHeadIsParsedOnce) {
  HeadMemo memo;
  ResponseReader reader(memo);
  ResponseReader neighbour(memo);
  const std::string five = std::string(kOk) + "Content-Length: 5\r\n\r\n";
  const std::string four = std::string(kOk) + "Content-Length: 4\r\n\r\n";
  const auto ask = [&](ResponseReader& who, const std::string& text, std::uint64_t parsed) {
    EXPECT_EQ(who.Read(text).state, ReplyState::kDone);
    EXPECT_EQ(who.BodySize(), text.size() - five.size());
    EXPECT_EQ(memo.parsed, parsed);
    who.Next();
  };
  ask(reader, five + "hello", 1);
  ask(reader, five + "world", 1);
  ask(neighbour, five + "there", 1);
  ask(reader, four + "nine", 2);  // differs in one byte
  ask(neighbour, five + "hello", 3);
}

}  // namespace
}  // namespace TURTLE_SERVER
