// A file that the cache does not take: its reader must not believe that it was kept.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "core/connection.h"
#include "core/looper.h"
#include "support/site_folder.h"
#include "web/file_cache.h"

namespace TURTLE_SERVER {
namespace {

// Loads a page of `size` bytes into an empty cache.
auto IsKept(std::size_t size, FileCacheOptions options) -> bool {
  const test::SiteFolder folder;
  folder.Write("page", std::string(size, 'x'));
  const UniqueFd page(::open(folder.Path("page").c_str(), O_RDONLY | O_CLOEXEC));
  const UniqueFd root(::open(folder.Path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status {};
  EXPECT_EQ(::fstat(page.Get(), &status), 0);
  Looper looper;
  FileCache cache(looper, root.Get(), options);
  const PinTo<CachedFile> loaded = cache.Load("page", page.Get(), status, "text/plain");
  const PinTo<CachedFile> found = cache.Find("page");
  EXPECT_EQ(static_cast<bool>(loaded), static_cast<bool>(found)) << size << " bytes";
  EXPECT_EQ(cache.Stats().entries, found ? 1U : 0U);
  return static_cast<bool>(loaded);
}

auto Within(std::size_t max_bytes, std::size_t max_file_bytes) -> FileCacheOptions {
  FileCacheOptions options;
  options.max_bytes = max_bytes;
  options.max_file_bytes = max_file_bytes;
  return options;
}

// A page weighs more than its bytes: one that just fits by its size does not fit.
TEST(FileCacheRefusedTest, WhatIsTooHeavyWithItsBookkeepingIsNotLoaded) {
  EXPECT_TRUE(IsKept(2'000, Within(100'000, 4'000)));
  EXPECT_FALSE(IsKept(4'000, Within(100'000, 4'000)));
  EXPECT_FALSE(IsKept(4'001, Within(100'000, 4'000)));
  EXPECT_FALSE(IsKept(4'000, Within(4'000, 100'000)));
}

// A slow reader keeps a page alive that has left the cache, so it may weigh no more than the
// output that a connection may owe anyway.
TEST(FileCacheRefusedTest, TheDefaultIsWhatAConnectionMayHaveUnsent) {
  EXPECT_EQ(FileCacheOptions().max_file_bytes, Connection::kHighWater);
  FileCacheOptions options;
  options.max_bytes = 16 * Connection::kHighWater;
  EXPECT_TRUE(IsKept(Connection::kHighWater / 2, options));
  EXPECT_FALSE(IsKept(Connection::kHighWater, options));
}

}  // namespace
}  // namespace TURTLE_SERVER
