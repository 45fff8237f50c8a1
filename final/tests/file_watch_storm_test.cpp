// Changes without a pause: the loop gets them in turns, and an entry is dropped only for its own.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "files/file_watch.h"
#include "support/cached_site.h"
#include "support/loop_thread.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

#ifdef __linux__

// A callback that makes a new change for each one reported must not block the loop.
TEST(FileWatchStorm, ARoundHearsOfWhatWasThereWhenItBegan) {
  constexpr int kChanges = 2000;
  const test::SiteFolder folder;
  const UniqueFd root(::open(folder.Path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::unique_ptr<FileWatch> watch;
  std::vector<TimePoint> rounds;  // of each event, the loop's thread
  test::LoopThread loop;
  loop.Ask([&] {
    watch = std::make_unique<FileWatch>(
        loop.Get(), root.Get(), [&](std::string_view, FileWatch::Subject) {
          rounds.push_back(loop.Get().Now());
          if (rounds.size() < kChanges) {
            folder.Write("file" + std::to_string(rounds.size()), "");  // one event at least
          }
        });
    ASSERT_TRUE(watch->Add(""));
    folder.Write("file", "");
  });
  EXPECT_TRUE(loop.Await([&] { return rounds.size() >= kChanges; }));
  loop.Ask([&] {
    watch.reset();
    rounds.erase(std::unique(rounds.begin(), rounds.end()), rounds.end());
    EXPECT_GT(rounds.size(), 3U) << "one round has heard of everything";
  });
}

TEST(FileWatchStorm, TellsFilesFromFolders) {
  using Subject = FileWatch::Subject;
  const test::SiteFolder folder;
  folder.Write("inner/file", "1");
  const UniqueFd root(::open(folder.Path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::unique_ptr<FileWatch> watch;
  std::vector<std::pair<std::string, Subject>> changes;  // the loop's thread
  test::LoopThread loop;
  loop.Ask([&] {
    watch = std::make_unique<FileWatch>(
        loop.Get(), root.Get(),
        [&](std::string_view path, Subject subject) { changes.emplace_back(path, subject); });
    ASSERT_TRUE(watch->Add(""));
    ASSERT_TRUE(watch->Add("inner"));
  });
  const auto told = [&](const std::string& path, Subject subject) {
    return loop.Ask(
        [&] { return std::count(changes.begin(), changes.end(), std::pair(path, subject)) != 0; });
  };
  folder.Write("inner/file", "2");
  loop.RunRounds(2);
  EXPECT_TRUE(told("inner/file", Subject::kFile));
  EXPECT_FALSE(told("inner/file", Subject::kFolder)) << "it would cost a walk through the cache";
  std::filesystem::rename(folder.Path("inner"), folder.Path("other"));
  loop.RunRounds(2);
  EXPECT_TRUE(told("inner", Subject::kFolder)) << "every page in it has moved";
  EXPECT_FALSE(told("inner", Subject::kFile));
  loop.Ask([&] { watch.reset(); });
}

#endif  // __linux__

// A neighbour's change must not affect it, however similar their names are.
TEST(FileWatchStorm, AnEditLetsGoOfOnePage) {
  test::CachedSite site;
  for (const char* name : {"a", "a.b", "ab", "folder/a"}) {
    site.Write(name, "old");
  }
  for (const char* path : {"/a", "/a.b", "/ab", "/folder/a"}) {
    ASSERT_TRUE(site.AwaitHit(path)) << path;
  }
  for (int i = 0; i < 100; ++i) {
    site.Write("a", "new " + std::to_string(i));
  }
  EXPECT_EQ(site.Ask("/a").body, "new 99");
  const std::uint64_t hits = site.Stats().hits;
  for (const char* path : {"/a.b", "/ab", "/folder/a"}) {
    EXPECT_EQ(site.Ask(path).body, "old");
  }
#ifdef __linux__
  EXPECT_EQ(site.Stats().hits, hits + 3) << "pages that nobody has touched were read again";
#else
  EXPECT_GE(site.Stats().hits, hits);
#endif
}

}  // namespace
}  // namespace TURTLE_SERVER
