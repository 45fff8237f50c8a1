// A file of any length is encoded in pieces.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>

#include "files/encode_ahead.h"
#include "support/site_folder.h"

namespace {

std::atomic<std::size_t> largest{0};  // allocation so far

}  // namespace

auto operator new(std::size_t size) -> void* {
  largest = std::max(largest.load(), size);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) {
    return memory;
  }
  throw std::bad_alloc();
}

// gcc takes the inlined free(3) for a mismatch with the operator above, which it does not inline.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace TURTLE_SERVER {
namespace {

TEST(EncodeAheadMemoryTest, ALongFileTakesLittleMemory) {
  constexpr std::size_t kPieces = 64;
  constexpr std::size_t kMost = std::size_t{512} * 1024;
  const test::SiteFolder folder;
  {
    std::ofstream file(folder.Path("a.txt"), std::ios::binary);
    std::string piece(kMost / 8, '\0');
    for (std::uint32_t i = 0, next = 7; i < kPieces; ++i) {
      for (char& each : piece) {
        next = next * 1664525U + 1013904223U;
        each = static_cast<char>('a' + (next >> 28));  // half a byte each
      }
      file << piece;
    }
  }
  largest = 0;
  const EncodeAheadResult result = EncodeAhead(folder.Path());
  const std::size_t most = largest;
  EXPECT_EQ(result.written, 3U);
  EXPECT_LT(most, kMost);
  EXPECT_GT(std::filesystem::file_size(folder.Path("a.txt.gz")), kMost) << "nor what is written";
}

}  // namespace
}  // namespace TURTLE_SERVER
