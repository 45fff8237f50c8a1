// A file that the cache refuses: its reader must not believe that it was kept. And a watch that the
// cache does not take, because it has no use for it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "base/unique_fd.h"
#include "core/looper.h"
#include "files/file_cache.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

// Loads a page of `size` bytes into an empty cache.
auto IsKept(std::size_t size, FileCacheOptions options) -> bool {
  const test::SiteFolder folder;
  folder.Write("page", std::string(size, 'x'));
  UniqueFd page(::open(folder.Path("page").c_str(), O_RDONLY | O_CLOEXEC));
  const UniqueFd root(::open(folder.Path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status {};
  EXPECT_EQ(::fstat(page.Get(), &status), 0);
  Looper looper;
  FileCache cache(looper, root.Get(), options);
  const PinTo<CachedFile> loaded = cache.Load("page", page, status, "text/plain");
  const PinTo<CachedFile> found = cache.Find("page");
  EXPECT_EQ(static_cast<bool>(loaded), static_cast<bool>(found)) << size << " bytes";
  EXPECT_EQ(cache.Stats().entries, found ? 1U : 0U);
  EXPECT_TRUE(found || page) << "a file that is not kept is the caller's";
  return static_cast<bool>(loaded);
}

auto Within(std::size_t max_bytes) -> FileCacheOptions {
  FileCacheOptions options;
  options.max_bytes = max_bytes;
  return options;
}

// A page weighs more than its bytes: one whose size just fits does not fit.
TEST(FileCacheRefusedTest, WhatIsTooHeavyWithItsBookkeepingIsNotLoaded) {
  EXPECT_TRUE(IsKept(2'000, Within(4'000)));
  EXPECT_FALSE(IsKept(4'000, Within(4'000)));
  EXPECT_FALSE(IsKept(4'001, Within(4'000)));
}

TEST(FileCacheRefusedTest, AnOpenFileCountsWhateverItsSize) {
  constexpr std::size_t kLarge = 100'000;
  EXPECT_FALSE(IsKept(kLarge, Within(FileCache::kOpenFileBytes)));
  EXPECT_TRUE(IsKept(kLarge, Within(FileCache::kOpenFileBytes + 4'000)));
  EXPECT_TRUE(IsKept(50 * kLarge, Within(FileCache::kOpenFileBytes + 4'000)));
}

// A cache full of open files must leave descriptors for clients.
TEST(FileCacheRefusedTest, NoFileIsKeptOpenWhenDescriptorsAreScarce) {
  std::vector<UniqueFd> others;
  do {
    others.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  } while (others.back().Get() < 40);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit scarce{2 * static_cast<rlim_t>(others.back().Get()), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &scarce), 0);
  EXPECT_FALSE(IsKept(100'000, Within(1'000'000)));
  EXPECT_TRUE(IsKept(1'000, Within(1'000'000))) << "it needs none";
  others.resize(others.size() / 2);
  EXPECT_TRUE(IsKept(100'000, Within(1'000'000)));
  ::setrlimit(RLIMIT_NOFILE, &before);
}

#ifdef __linux__
auto InotifyCount() -> std::size_t {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;  // the directory that is being listed is gone afterwards
    const auto target = std::filesystem::read_symlink(entry.path(), ignored);
    count += target == "anon_inode:inotify" ? 1U : 0U;
  }
  return count;
}

// By default a user may have 128 of them, and each loop takes one.
TEST(FileCacheRefusedTest, NoInotifyInstanceIsTakenByACacheThatLooksEachTime) {
  const test::SiteFolder folder;
  const UniqueFd root(::open(folder.Path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  Looper looper;
  FileCacheOptions options = Within(4'000);
  const std::size_t before = InotifyCount();
  {
    const FileCache watching(looper, root.Get(), options);
    EXPECT_EQ(InotifyCount(), before + 1);
  }
  options.check = FileCheck::kAlways;
  const FileCache looking(looper, root.Get(), options);
  EXPECT_EQ(InotifyCount(), before);
}
#endif

}  // namespace
}  // namespace TURTLE_SERVER
