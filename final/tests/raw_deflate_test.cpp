// Messages that are compressed one by one.
#include "compress/raw_deflate.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace TURTLE_SERVER {
namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

auto Coded(RawDeflater& deflater, std::string_view plain) -> std::string {
  std::string coded;
  deflater.Add(plain, coded);
  return coded;
}

auto Inflated(RawInflater& inflater, std::string_view coded, std::size_t step = kNoLimit)
    -> std::string {
  std::string plain;
  while (!coded.empty()) {
    EXPECT_EQ(inflater.Add(coded.substr(0, step), plain, kNoLimit), InflateState::kOk);
    coded.remove_prefix(coded.substr(0, step).size());
  }
  EXPECT_EQ(inflater.End(plain, kNoLimit), InflateState::kOk);
  return plain;
}

// Words that repeat from far away, so that the window matters.
auto Text(std::size_t size) -> std::string {
  std::string text;
  for (std::size_t i = 0; text.size() < size; ++i) {
    text += std::to_string(i * i % 9973) + " ";
  }
  text.resize(size);
  return text;
}

TEST(RawDeflateTest, BringsMessagesBack) {
  for (const std::size_t size : {0, 1, 5, 125, 65536, 300'000}) {
    RawDeflater deflater;
    RawInflater inflater;
    const std::string text = Text(size);
    EXPECT_EQ(Inflated(inflater, Coded(deflater, text)), text);
    EXPECT_EQ(Inflated(inflater, Coded(deflater, text), 7), text);
  }
}

TEST(RawDeflateTest, AnEmptyMessageIsOneByteEvenAfterOthers) {
  RawDeflater deflater;
  RawInflater inflater;
  for (int i = 0; i < 3; ++i) {
    const std::string coded = Coded(deflater, "");
    EXPECT_EQ(coded, std::string(1, '\0'));
    EXPECT_EQ(Inflated(inflater, coded), "");
    EXPECT_EQ(Inflated(inflater, Coded(deflater, "more")), "more");
  }
}

TEST(RawDeflateTest, ALaterMessageRefersToAnEarlierOne) {
  RawDeflater deflater;
  RawInflater inflater;
  const std::string first = Coded(deflater, Text(2000));
  const std::string second = Coded(deflater, Text(2000));
  EXPECT_LT(second.size() * 10, first.size());
  EXPECT_EQ(Inflated(inflater, first), Text(2000));
  EXPECT_EQ(Inflated(inflater, second), Text(2000));
  inflater.Reset();
  std::string plain;
  EXPECT_EQ(inflater.Add(second, plain, kNoLimit), InflateState::kDamaged);
  deflater.Reset();
  EXPECT_EQ(Coded(deflater, Text(2000)), first);
}

TEST(RawDeflateTest, ReadsTheExamplesOfTheRfc) {
  RawInflater inflater;
  EXPECT_EQ(Inflated(inflater, std::string("\xf2\x48\xcd\xc9\xc9\x07\x00", 7)), "Hello");
  EXPECT_EQ(Inflated(inflater, std::string("\xf2\x00\x11\x00\x00", 5)), "Hello");
  // A stored block, and a block that is marked as the last one.
  EXPECT_EQ(Inflated(inflater, std::string("\x00\x05\x00\xfa\xffHello\x00", 11)), "Hello");
  EXPECT_EQ(Inflated(inflater, std::string("\xf3\x48\xcd\xc9\xc9\x07\x00\x00", 8)), "Hello");
  EXPECT_EQ(
      Inflated(inflater, std::string("\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00", 13)),
      "Hello");
}

TEST(RawDeflateTest, KeepsTheWindowAfterABlockThatIsMarkedAsTheLast) {
  RawInflater inflater;
  EXPECT_EQ(Inflated(inflater, std::string("\xf3\x48\xcd\xc9\xc9\x07\x00\x00", 8)), "Hello");
  EXPECT_EQ(Inflated(inflater, std::string("\xf2\x00\x11\x00\x00", 5)), "Hello");
}

TEST(RawDeflateTest, ReachesNoFartherThanTheWindow) {
  for (int bits = kLeastWindowBits; bits <= kMostWindowBits; ++bits) {
    RawDeflater deflater(bits);
    RawInflater inflater(bits);  // one with a smaller window refuses what reaches farther
    for (int i = 0; i < 3; ++i) {
      const std::string text = Text(100'000);
      ASSERT_EQ(Inflated(inflater, Coded(deflater, text), 1000), text) << bits;
    }
  }
}

TEST(RawDeflateTest, StopsAtTheLimit) {
  RawDeflater deflater;
  const std::string bomb = Coded(deflater, std::string(8'000'000, 'x'));
  RawInflater inflater;
  std::string plain;
  EXPECT_EQ(inflater.Add(bomb, plain, 1'000'000), InflateState::kTooLarge);
  EXPECT_LE(plain.size(), 1'000'000U);
  RawInflater exact;
  plain.clear();
  EXPECT_EQ(exact.Add(bomb, plain, 8'000'000), InflateState::kOk);
  EXPECT_EQ(exact.End(plain, 8'000'000), InflateState::kOk);
}

TEST(RawDeflateTest, RefusesAMessageThatIsCut) {
  RawDeflater deflater;
  const std::string coded = Coded(deflater, Text(1000));
  for (std::size_t size = 0; size < coded.size(); ++size) {
    RawInflater inflater;
    std::string plain;
    if (inflater.Add(std::string_view(coded).substr(0, size), plain, kNoLimit) ==
        InflateState::kOk) {
      EXPECT_EQ(inflater.End(plain, kNoLimit), InflateState::kDamaged) << size;
    }
  }
}

TEST(RawDeflateTest, TakesFewBlocksThatAreMarkedAsTheLast) {
  RawInflater inflater;
  std::string last;  // each block is empty, and ends its stream
  for (int i = 0; i < RawInflater::kMostLastBlocks; ++i) {
    last.append("\x03\x00", 2);
  }
  for (int message = 0; message < 2; ++message) {
    std::string plain;
    EXPECT_EQ(inflater.Add(last, plain, kNoLimit), InflateState::kOk);
    EXPECT_EQ(inflater.Add(std::string(1, '\0'), plain, kNoLimit), InflateState::kOk);
    EXPECT_EQ(inflater.End(plain, kNoLimit), InflateState::kOk);
  }
  std::string plain;
  EXPECT_EQ(inflater.Add(last + last, plain, kNoLimit), InflateState::kDamaged);
}

TEST(RawDeflateTest, RefusesWhatIsNoStream) {
  RawInflater inflater;
  std::string plain;
  EXPECT_EQ(inflater.Add("\xFF\xFF\xFF\xFF", plain, kNoLimit), InflateState::kDamaged);
}

}  // namespace
}  // namespace TURTLE_SERVER
