// Memory of a library that can't do without. That nothing is left of it, LeakSanitizer sees.
#include "compress/brotli_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace TURTLE_SERVER {
namespace {

TEST(BrotliMemoryTest, WithoutMemoryTheLibraryIsLeft) {
  BrotliMemory memory;
  bool came_back = false;
  for (const std::size_t size : {SIZE_MAX, SIZE_MAX - 1}) {  // without asking malloc(3)
    EXPECT_FALSE(memory.Try([&] {
      std::memset(BrotliMemory::Allocate(&memory, 100), 'x', 100);  // it is freed at the end
      BrotliMemory::Allocate(&memory, size);
      came_back = true;
    }));
    EXPECT_FALSE(came_back);
  }
  void* bytes = nullptr;
  EXPECT_TRUE(memory.Try([&] { bytes = BrotliMemory::Allocate(&memory, 1); }));
  EXPECT_NE(bytes, nullptr);
}

TEST(BrotliMemoryTest, EachPlaceIsFreedOnce) {
  BrotliMemory memory;
  void* places[5] = {};
  ASSERT_TRUE(memory.Try([&] {
    for (void*& place : places) {
      place = BrotliMemory::Allocate(&memory, 1000);
      std::memset(place, 'x', 1000);
    }
  }));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(places[0]) % alignof(std::max_align_t), 0U);
  for (const int each : {2, 0, 4}) {  // from the middle, the end and the beginning
    BrotliMemory::Free(&memory, places[each]);
  }
  BrotliMemory::Free(&memory, nullptr);
}

}  // namespace
}  // namespace TURTLE_SERVER
