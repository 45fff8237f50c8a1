// Streams are made once and used often, and no body notices.
#include "compress/gzip_pool.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compress/coding.h"
#include "compress/make_encoder.h"
#include "support/decode.h"
#include "support/failing_new.h"

namespace TURTLE_SERVER {
namespace {

int streams_made = 0;                   // by zlib, in the whole program
int streams_freed = 0;                  // likewise
bool fails_to_make = false;             // zlib has no memory
const z_stream* last_stream = nullptr;  // that was used

}  // namespace
}  // namespace TURTLE_SERVER

#ifdef __linux__
extern "C" auto deflateInit2_(z_streamp stream, int level, int method, int window, int memory,
                              int strategy, const char* version, int size) -> int {
  static const auto real =
      reinterpret_cast<int (*)(z_streamp, int, int, int, int, int, const char*, int)>(
          ::dlsym(RTLD_NEXT, "deflateInit2_"));
  if (TURTLE_SERVER::fails_to_make) {
    return Z_MEM_ERROR;
  }
  ++TURTLE_SERVER::streams_made;
  return real(stream, level, method, window, memory, strategy, version, size);
}

extern "C" auto deflate(z_streamp stream, int flush) -> int {
  static const auto real = reinterpret_cast<int (*)(z_streamp, int)>(::dlsym(RTLD_NEXT, "deflate"));
  TURTLE_SERVER::last_stream = stream;
  return real(stream, flush);
}

extern "C" auto deflateEnd(z_streamp stream) -> int {
  static const auto real = reinterpret_cast<int (*)(z_streamp)>(::dlsym(RTLD_NEXT, "deflateEnd"));
  ++TURTLE_SERVER::streams_freed;
  return real(stream);
}
#endif

namespace TURTLE_SERVER {
namespace {

using Size = std::optional<std::size_t>;

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

auto Text(std::size_t size, const std::string& word = "shell") -> std::string {
  std::string text;
  for (int i = 0; text.size() < size; ++i) {
    text += word + ' ' + std::to_string(i * i) + '\n';
  }
  text.resize(size);
  return text;
}

auto Code(Encoder& encoder, std::string_view text) -> std::string {
  std::string coded;
  encoder.Encode(text, Flush::kEnd, coded);
  return coded;
}

// Returns a body that is encoded by an encoder of the pool, which is given back.
auto Code(GzipPool& pool, Effort effort, const std::string& text) -> std::string {
  return Code(*pool.Take(effort, text.size()), text);
}

auto Plain(const std::string& coded) -> std::string { return test::Decode("gzip", coded); }

class GzipPoolTest : public testing::Test {
 protected:
  // Returns how many streams there are, as zlib counts them.
  [[nodiscard]] auto Live() const -> int {
    return (streams_made - made_before_) - (streams_freed - freed_before_);
  }

  // Returns how many streams zlib has made in this test.
  [[nodiscard]] auto MadeByZlib() const -> int { return streams_made - made_before_; }

 private:
  const int made_before_ = streams_made;
  const int freed_before_ = streams_freed;
};

TEST_F(GzipPoolTest, ASecondBodyMakesNoStream) {
  GzipPool pool(4);
  const std::string text = Text(5000);
  EXPECT_EQ(pool.Made(), 0U);
  EXPECT_EQ(Plain(Code(pool, Effort::kLow, text)), text);
  EXPECT_EQ(pool.Made(), 1U);
  EXPECT_EQ(pool.Spare(), 1U);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(Plain(Code(pool, Effort::kLow, text)), text);
  }
  EXPECT_EQ(pool.Made(), 1U);
  EXPECT_EQ(pool.Spare(), 1U);
#ifdef __linux__
  EXPECT_EQ(MadeByZlib(), 1) << "Made() counts what zlib makes";
#endif
}

TEST_F(GzipPoolTest, TheBytesAreThoseOfANewEncoder) {
  GzipPool pool(4);
  std::vector<std::pair<Effort, std::string>> bodies;
  for (const std::size_t size : {0, 1, 900, 5000, 40'000, 300'000}) {
    for (const Effort effort : {Effort::kLow, Effort::kHigh}) {
      bodies.emplace_back(effort, Text(size, "one"));
      bodies.emplace_back(effort, Text(size, "another"));
      bodies.emplace_back(effort, std::string(size, 'x'));
    }
  }
  for (int round = 0; round < 2; ++round) {
    for (const auto& [effort, text] : bodies) {
      EXPECT_TRUE(Code(pool, effort, text) == EncodeAll(Coding::kGzip, effort, text))
          << text.size() << " bytes";
      EXPECT_TRUE(Code(*pool.Take(effort), text) == Code(*MakeEncoder(Coding::kGzip, effort), text))
          << text.size() << " bytes, announced to nobody";
    }
  }
#ifdef __linux__
  EXPECT_EQ(pool.Made() + 2 * 2 * bodies.size(), static_cast<std::size_t>(MadeByZlib()));
#endif
  EXPECT_GE(pool.Made(), 10U) << "five windows, two efforts";
}

TEST_F(GzipPoolTest, PiecesAreThoseOfANewEncoder) {
  GzipPool pool(1);
  for (int i = 0; i < 3; ++i) {
    const auto ours = pool.Take(Effort::kLow);
    const auto other = MakeEncoder(Coding::kGzip, Effort::kLow);
    std::string coded;
    std::string expected;
    for (const Flush flush : {Flush::kPiece, Flush::kNone, Flush::kPiece, Flush::kEnd}) {
      ours->Encode(Text(700), flush, coded);
      other->Encode(Text(700), flush, expected);
      EXPECT_EQ(coded, expected);
    }
  }
  EXPECT_EQ(pool.Made(), 1U);
}

TEST_F(GzipPoolTest, ABodyThatWasGivenUpLeavesNoTrace) {
  GzipPool pool(4);
  const std::string text = Text(300'000);
  std::string ignored;
  pool.Take(Effort::kLow)->Encode(Text(70'000, "secret"), Flush::kNone, ignored);
  pool.Take(Effort::kLow)->Encode(Text(70'000, "secret"), Flush::kPiece, ignored);
  static_cast<void>(pool.Take(Effort::kLow));
  EXPECT_TRUE(Code(*pool.Take(Effort::kLow), text) ==
              Code(*MakeEncoder(Coding::kGzip, Effort::kLow), text));
  EXPECT_EQ(pool.Made(), 1U);
}

TEST_F(GzipPoolTest, EncodersInUseHaveTheirOwnStreams) {
  GzipPool pool(4);
  auto one = pool.Take(Effort::kLow);
  auto two = pool.Take(Effort::kLow);
  std::string first;
  std::string second;
  for (int i = 0; i < 3; ++i) {
    one->Encode("one ", Flush::kNone, first);
    two->Encode("two ", Flush::kNone, second);
  }
  one->Encode({}, Flush::kEnd, first);
  two->Encode({}, Flush::kEnd, second);
  EXPECT_EQ(Plain(first), "one one one ");
  EXPECT_EQ(Plain(second), "two two two ");
  EXPECT_EQ(pool.Made(), 2U);
  EXPECT_EQ(pool.Spare(), 0U);
  one.reset();
  EXPECT_EQ(pool.Spare(), 1U);
  two.reset();
  EXPECT_EQ(pool.Spare(), 2U);
}

TEST_F(GzipPoolTest, AStreamFitsItsEffortAndItsWindow) {
  GzipPool pool(8);
  const auto takes = [&pool](Effort effort, Size size) {
    const std::uint64_t before = pool.Made();
    static_cast<void>(pool.Take(effort, size));
    return pool.Made() - before;
  };
  EXPECT_EQ(takes(Effort::kLow, 900), 1U);
  EXPECT_EQ(takes(Effort::kLow, 1024), 0U) << "a window of 1024 bytes, too";
  EXPECT_EQ(takes(Effort::kLow, 1025), 1U);
  EXPECT_EQ(takes(Effort::kHigh, 900), 1U);
  EXPECT_EQ(takes(Effort::kHigh, 513), 0U);
  EXPECT_EQ(takes(Effort::kLow, 512), 1U);
  EXPECT_EQ(takes(Effort::kLow, 0), 0U) << "the smallest window";
  EXPECT_EQ(takes(Effort::kLow, std::nullopt), 1U);
  EXPECT_EQ(takes(Effort::kLow, 40'000), 0U) << "the largest window, which an unknown size has";
  EXPECT_EQ(takes(Effort::kLow, kAll), 0U);
  EXPECT_EQ(takes(Effort::kLow, 900), 0U) << "it is still there";
  EXPECT_EQ(pool.Spare(), 5U);
}

TEST_F(GzipPoolTest, AtMostSoManyAreSpare) {
  {
    GzipPool pool(2);
    std::vector<std::unique_ptr<Encoder>> encoders;
    for (int i = 0; i < 5; ++i) {
      encoders.push_back(pool.Take(Effort::kLow));
    }
    EXPECT_EQ(pool.Made(), 5U);
    encoders.clear();
    EXPECT_EQ(pool.Spare(), 2U);
#ifdef __linux__
    EXPECT_EQ(Live(), 2) << "the others are freed";
#endif
  }
#ifdef __linux__
  EXPECT_EQ(Live(), 0);
#endif
}

TEST_F(GzipPoolTest, TheOneThatWasGivenBackFirstMakesRoom) {
  GzipPool pool(2);
  for (const std::size_t size : {500, 1000, 2000}) {
    static_cast<void>(pool.Take(Effort::kLow, size));
  }
  ASSERT_EQ(pool.Made(), 3U);
  ASSERT_EQ(pool.Spare(), 2U);
  static_cast<void>(pool.Take(Effort::kLow, 2000));
  static_cast<void>(pool.Take(Effort::kLow, 1000));  // from now on, it is the younger one
  EXPECT_EQ(pool.Made(), 3U);
  static_cast<void>(pool.Take(Effort::kLow, 4000));
  EXPECT_EQ(pool.Made(), 4U);
  static_cast<void>(pool.Take(Effort::kLow, 4000));
  static_cast<void>(pool.Take(Effort::kLow, 1000));
  EXPECT_EQ(pool.Made(), 4U);
  static_cast<void>(pool.Take(Effort::kLow, 2000));
  EXPECT_EQ(pool.Made(), 5U) << "it had been spare for longest";
}

#ifdef __linux__
TEST_F(GzipPoolTest, TheOneThatWasGivenBackLastIsTakenFirst) {
  GzipPool pool(4);
  const auto stream_of = [](Encoder& encoder) {
    std::string ignored;
    encoder.Encode("turtle", Flush::kPiece, ignored);
    return last_stream;
  };
  std::vector<std::unique_ptr<Encoder>> encoders(3);
  std::vector<const z_stream*> streams;
  for (std::unique_ptr<Encoder>& each : encoders) {
    each = pool.Take(Effort::kLow);
    streams.push_back(stream_of(*each));
  }
  for (const std::size_t i : {1, 2, 0}) {
    encoders[i].reset();
  }
  for (const std::size_t i : {0, 2, 1}) {
    encoders[i] = pool.Take(Effort::kLow);
    EXPECT_EQ(stream_of(*encoders[i]), streams[i]) << i;
  }
}
#endif

TEST_F(GzipPoolTest, ZeroKeepsNone) {
  GzipPool pool(0);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    EXPECT_EQ(Plain(Code(pool, Effort::kLow, Text(900))), Text(900));
    EXPECT_EQ(pool.Made(), i);
    EXPECT_EQ(pool.Spare(), 0U);
  }
#ifdef __linux__
  EXPECT_EQ(Live(), 0);
#endif
}

TEST_F(GzipPoolTest, AnyNumberIsAllowed) {
  GzipPool pool(kAll);
  EXPECT_EQ(Plain(Code(pool, Effort::kLow, Text(900))), Text(900));
  EXPECT_EQ(Plain(Code(pool, Effort::kLow, Text(900))), Text(900));
  EXPECT_EQ(pool.Made(), 1U);
}

TEST_F(GzipPoolTest, AnEncoderMayOutliveThePool) {
  auto pool = std::make_unique<GzipPool>(4);
  static_cast<void>(pool->Take(Effort::kHigh));
  auto encoder = pool->Take(Effort::kLow);
  std::string coded;
  encoder->Encode("a long ", Flush::kNone, coded);
  pool.reset();
#ifdef __linux__
  EXPECT_EQ(Live(), 1) << "the spare one is freed";
#endif
  encoder->Encode("way", Flush::kEnd, coded);
  EXPECT_EQ(Plain(coded), "a long way");
  encoder.reset();
#ifdef __linux__
  EXPECT_EQ(Live(), 0);
#endif
}

TEST_F(GzipPoolTest, GivingBackAllocatesNothing) {
  for (const std::size_t most : {std::size_t{0}, std::size_t{2}, kAll}) {
    GzipPool pool(most);
    std::vector<std::unique_ptr<Encoder>> encoders;
    for (int i = 0; i < 40; ++i) {
      encoders.push_back(pool.Take(Effort::kLow, 500));
    }
    ASSERT_EQ(pool.Made(), 40U);
    test::FailAllocations(1, kAll);
    encoders.clear();
    EXPECT_EQ(test::StopFailing(), 0U) << "attempts to allocate";
  }
}

TEST_F(GzipPoolTest, WithoutMemoryNoStreamIsLost) {
  GzipPool pool(4);
  static_cast<void>(pool.Take(Effort::kLow, 500));
  for (const std::size_t size : {500, 1000}) {  // a spare one, and a new one
    bool failed = true;
    for (std::size_t which = 1; failed; ++which) {
      ASSERT_LT(which, 100U);
      std::unique_ptr<Encoder> encoder;
      const std::uint64_t made = pool.Made();
      test::FailAllocations(which);
      try {
        encoder = pool.Take(Effort::kLow, size);
      } catch (const std::bad_alloc&) {
      }
      failed = test::StopFailing() != 0;
      EXPECT_EQ(encoder == nullptr, failed) << which;
      EXPECT_EQ(pool.Made() != made, !failed && size == 1000) << which;
      EXPECT_EQ(pool.Spare(), failed || size == 1000 ? 1U : 0U) << which;
    }
  }
  EXPECT_EQ(pool.Made(), 2U);
  EXPECT_EQ(pool.Spare(), 2U);
}

#ifdef __linux__
TEST_F(GzipPoolTest, AStreamThatZlibCantMakeIsNotCounted) {
  GzipPool pool(4);
  static_cast<void>(pool.Take(Effort::kLow, 500));
  fails_to_make = true;
  EXPECT_THROW(static_cast<void>(pool.Take(Effort::kLow, 1000)), std::bad_alloc);
  EXPECT_EQ(Plain(Code(pool, Effort::kLow, Text(500))), Text(500)) << "none has to be made";
  fails_to_make = false;
  EXPECT_EQ(pool.Made(), 1U);
  EXPECT_EQ(pool.Spare(), 1U);
  EXPECT_EQ(Plain(Code(pool, Effort::kLow, Text(1000))), Text(1000));
  EXPECT_EQ(pool.Made(), 2U);
}
#endif

}  // namespace
}  // namespace TURTLE_SERVER
