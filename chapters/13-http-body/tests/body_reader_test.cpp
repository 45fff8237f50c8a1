#include "http/body_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/read_body.h"

namespace TURTLE_SERVER {
namespace {

using test::InPiecesOf;
using test::ReadBody;
using test::WholeBody;

constexpr std::string_view kBody = "a body of some length";

auto Length(std::uint64_t bytes) -> Framing { return {BodyKind::kLength, bytes}; }

TEST(BodyReaderTest, ALengthIsReadExactlyInPiecesOfEverySize) {
  const std::string stream = std::string(kBody) + "GET /next HTTP/1.1\r\n\r\n";
  for (std::size_t size = 1; size <= stream.size(); ++size) {
    BodyReader reader(Length(kBody.size()), {});
    const WholeBody body = ReadBody(reader, InPiecesOf(size, stream));
    EXPECT_EQ(body.state, BodyState::kDone) << size;
    EXPECT_EQ(body.content, kBody) << size;
    EXPECT_EQ(body.consumed, kBody.size()) << size;
  }
}

TEST(BodyReaderTest, ALengthThatIsNotReachedIsNotDone) {
  BodyReader reader(Length(kBody.size() + 1), {});
  const WholeBody body = ReadBody(reader, {kBody});
  EXPECT_EQ(body.state, BodyState::kMore);
  EXPECT_EQ(body.content, kBody);
}

TEST(BodyReaderTest, ContentIsAViewAndNotACopy) {
  BodyReader reader(Length(4), {});
  const std::string_view input = "01234567";
  const BodyResult result = reader.Read(input);
  EXPECT_EQ(result.data.data(), input.data());
  EXPECT_EQ(result.data.size(), 4U);
}

TEST(BodyReaderTest, NoBodyIsDoneBeforeAnythingArrives) {
  for (const Framing& framing : {Framing{}, Length(0)}) {
    BodyReader reader(framing, {});
    const BodyResult result = reader.Read("");
    EXPECT_EQ(result.state, BodyState::kDone);
    BodyReader other(framing, {});
    EXPECT_EQ(other.Read("GET / HTTP/1.1").consumed, 0U);
  }
}

TEST(BodyReaderTest, ADeclaredLengthIsRefusedBeforeTheBody) {
  BodyLimits limits;
  limits.max_body_bytes = 100;
  BodyReader fits(Length(100), limits);
  EXPECT_FALSE(fits.TooLarge());
  EXPECT_EQ(fits.Read("").state, BodyState::kMore);
  for (const std::uint64_t length : {std::uint64_t{101}, UINT64_MAX}) {
    BodyReader reader(Length(length), limits);
    EXPECT_TRUE(reader.TooLarge());
    const BodyResult result = reader.Read("x");
    EXPECT_EQ(result.state, BodyState::kBad);
    EXPECT_EQ(result.status, 413);
    EXPECT_EQ(result.consumed, 0U);
  }
}

TEST(BodyReaderTest, AnotherLimitCountsForWhatIsDeclaredAndForChunks) {
  BodyReader declared(Length(5), {});
  declared.SetMaxBytes(4);
  EXPECT_TRUE(declared.TooLarge());
  EXPECT_EQ(declared.LimitText(), "The body has more than 4 bytes.");
  declared.SetMaxBytes(5);
  EXPECT_FALSE(declared.TooLarge());
  BodyReader chunked({BodyKind::kChunked, 0}, {});
  chunked.SetMaxBytes(4);
  EXPECT_FALSE(chunked.TooLarge()) << "nobody knows yet";
  EXPECT_EQ(ReadBody(chunked, {"5\r\na bod\r\n0\r\n\r\n"}).status, 413);
}

TEST(BodyReaderTest, ChunksAreDecodedWithinTheSameLimits) {
  const std::string stream = "5\r\na bod\r\n10\r\ny of some length\r\n0\r\nX: y\r\n\r\nGET /";
  for (std::size_t size = 1; size <= stream.size(); ++size) {
    BodyReader reader({BodyKind::kChunked, 0}, {});
    EXPECT_FALSE(reader.TooLarge());
    const WholeBody body = ReadBody(reader, InPiecesOf(size, stream));
    EXPECT_EQ(body.state, BodyState::kDone) << size << ": " << body.reason;
    EXPECT_EQ(body.content, kBody) << size;
    EXPECT_EQ(body.consumed, stream.size() - 5) << size;
  }
  BodyLimits limits;
  limits.max_body_bytes = 20;
  BodyReader reader({BodyKind::kChunked, 0}, limits);
  const WholeBody body = ReadBody(reader, {stream});
  EXPECT_EQ(body.state, BodyState::kBad);
  EXPECT_EQ(body.status, 413);
}

}  // namespace
}  // namespace TURTLE_SERVER
