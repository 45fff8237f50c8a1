#include "files/file_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "support/loop_thread.h"
#include "support/no_descriptors.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

namespace fs = std::filesystem;

TEST(FileWatchPathTest, ANameThatBeginsAlikeIsNotBeneath) {
  EXPECT_TRUE(IsBeneath("a/b", "a/b"));
  EXPECT_TRUE(IsBeneath("a/b/page", "a/b"));
  EXPECT_FALSE(IsBeneath("a/bc", "a/b"));
  EXPECT_FALSE(IsBeneath("a", "a/b"));
  EXPECT_TRUE(IsBeneath("a", "")) << "the root";
  EXPECT_TRUE(IsBeneath("", ""));
}

#ifdef __linux__

class FileWatchTest : public testing::Test {
 protected:
  FileWatchTest() : root_(::open(folder_.Path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    loop_.Ask([this] {
      watch_ = std::make_unique<FileWatch>(
          loop_.Get(), root_.Get(),
          [this](std::string_view path, FileWatch::Subject) { changes_.emplace_back(path); });
    });
  }

  ~FileWatchTest() override {
    loop_.Ask([this] { watch_.reset(); });
  }

  auto Add(const std::string& folder) -> bool {
    return loop_.Ask([&] { return watch_->Add(folder); });
  }

  // Returns the changes reported since the last call, each once. The kernel has queued the events
  // of a change before the call that made it returns, so the next round of the loop knows.
  auto Changes() -> std::vector<std::string> {
    loop_.RunRounds(2);
    std::vector<std::string> changes = loop_.Ask([this] { return std::move(changes_); });
    std::sort(changes.begin(), changes.end());
    changes.erase(std::unique(changes.begin(), changes.end()), changes.end());
    return changes;
  }

  using Names = std::vector<std::string>;

  test::SiteFolder folder_;
  UniqueFd root_;
  std::unique_ptr<FileWatch> watch_;
  std::vector<std::string> changes_;  // the loop's thread only
  test::LoopThread loop_;
};

TEST_F(FileWatchTest, TellsOfEveryKindOfChange) {
  folder_.Write("folder/file", "1");
  ASSERT_TRUE(Add(""));
  ASSERT_TRUE(Add("folder"));
  EXPECT_EQ(Changes(), Names());
  folder_.Write("top", "1");
  EXPECT_EQ(Changes(), Names({"top"}));
  folder_.Write("folder/file", "2");
  EXPECT_EQ(Changes(), Names({"folder/file"}));
  fs::permissions(folder_.Path("folder/file"), fs::perms(0600));
  EXPECT_EQ(Changes(), Names({"folder/file"}));
  fs::rename(folder_.Path("folder/file"), folder_.Path("folder/other"));
  EXPECT_EQ(Changes(), Names({"folder/file", "folder/other"}));
  fs::remove(folder_.Path("folder/other"));
  EXPECT_EQ(Changes(), Names({"folder/other"}));
  fs::create_symlink("top", folder_.Path("link"));
  EXPECT_EQ(Changes(), Names({"link"}));
}

TEST_F(FileWatchTest, KnowsTheFoldersThatItWasTold) {
  folder_.Write("a/file", "1");
  folder_.Write("b/file", "1");
  ASSERT_TRUE(Add("a"));
  ASSERT_TRUE(Add("a"));
  folder_.Write("b/file", "2");
  EXPECT_EQ(Changes(), Names());
  folder_.Write("a/file", "2");
  EXPECT_EQ(Changes(), Names({"a/file"}));
}

TEST_F(FileWatchTest, WatchesNothingThatIsNoFolderOfTheRoot) {
  folder_.Write("file", "1");
  fs::create_directory_symlink("/tmp", folder_.Path("out"));
  EXPECT_FALSE(Add("file"));
  EXPECT_FALSE(Add("none"));
  EXPECT_FALSE(Add("out"));
  EXPECT_FALSE(Add(".."));
}

TEST_F(FileWatchTest, AFolderThatIsGoneCanComeBack) {
  folder_.Write("a/file", "1");
  ASSERT_TRUE(Add("a"));
  fs::remove_all(folder_.Path("a"));
  const Names gone = Changes();
  EXPECT_TRUE(std::binary_search(gone.begin(), gone.end(), "a"));
  EXPECT_FALSE(Add("a"));
  folder_.Write("a/file", "2");
  ASSERT_TRUE(Add("a"));
  Changes();
  folder_.Write("a/file", "3");
  EXPECT_EQ(Changes(), Names({"a/file"}));
}

// A file that is still being sent keeps its directory, which then does not report its own removal.
TEST_F(FileWatchTest, AFolderThatIsInUseWhenItGoesCanComeBackToo) {
  folder_.Write("a/file", "1");
  ASSERT_TRUE(Add(""));
  ASSERT_TRUE(Add("a"));
  const UniqueFd in_use(::open(folder_.Path("a/file").c_str(), O_RDONLY | O_CLOEXEC));
  fs::remove_all(folder_.Path("a"));
  folder_.Write("a/file", "2");
  Changes();
  ASSERT_TRUE(Add("a"));
  folder_.Write("a/file", "3");
  EXPECT_EQ(Changes(), Names({"a/file"}));
}

// Moving a directory moves its content, and the watches of the inner directories get no event.
TEST_F(FileWatchTest, AMovedFolderTakesTheInnerOnesWithIt) {
  folder_.Write("a/b/file", "1");
  ASSERT_TRUE(Add("a"));
  ASSERT_TRUE(Add("a/b"));
  fs::rename(folder_.Path("a"), folder_.Path("was"));
  const Names moved = Changes();
  EXPECT_TRUE(std::binary_search(moved.begin(), moved.end(), "a"));
  folder_.Write("was/b/file", "2");
  EXPECT_EQ(Changes(), Names()) << "that is not a/b any more";
  folder_.Write("a/b/file", "3");
  ASSERT_TRUE(Add("a"));
  ASSERT_TRUE(Add("a/b"));
  Changes();
  folder_.Write("a/b/file", "4");
  EXPECT_EQ(Changes(), Names({"a/b/file"}));
  ASSERT_TRUE(Add("was/b"));
  folder_.Write("was/b/file", "5");
  EXPECT_EQ(Changes(), Names({"was/b/file"}));
}

TEST_F(FileWatchTest, AFloodOfEventsIsSurvived) {
  folder_.Write("a/file", "1");
  ASSERT_TRUE(Add("a"));
  std::ifstream limit("/proc/sys/fs/inotify/max_queued_events");
  int queued = 16384;
  limit >> queued;
  // Chmods of two files in turn: equal consecutive events would be joined.
  folder_.Write("a/other", "1");
  loop_.WhileItStandsStill([&] {
    const std::string files[] = {folder_.Path("a/file"), folder_.Path("a/other")};
    for (int i = 0; i < queued + 10; ++i) {
      ::chmod(files[i % 2].c_str(), 0644);
    }
  });
  const Names changes = Changes();
  EXPECT_TRUE(std::binary_search(changes.begin(), changes.end(), ""))
      << "what was not heard may be anything";
  ASSERT_TRUE(Add("a"));
  folder_.Write("a/file", "2");
  EXPECT_EQ(Changes(), Names({"a/file"}));
}

TEST_F(FileWatchTest, TooManyFoldersAreNotWatchedHalf) {
  for (std::size_t i = 0; i <= FileWatch::kMaxFolders; ++i) {
    fs::create_directory(folder_.Path(std::to_string(i)));
  }
  const bool all = loop_.Ask([this] {
    bool added = true;
    for (std::size_t i = 0; i < FileWatch::kMaxFolders; ++i) {
      added = watch_->Add(std::to_string(i)) && added;
    }
    return added;
  });
  if (!all) {
    GTEST_SKIP() << "this system does not let us watch so many";
  }
  EXPECT_FALSE(Add(std::to_string(FileWatch::kMaxFolders)));
  EXPECT_EQ(Changes(), Names({""}));
  folder_.Write("0/file", "1");
  EXPECT_EQ(Changes(), Names()) << "it was given up with the others";
  EXPECT_TRUE(Add("0"));
}

TEST(FileWatchWithoutDescriptorsTest, IsNotAvailable) {
  Looper looper;
  const test::NoDescriptors none;
  FileWatch watch(looper, 0, [](std::string_view, FileWatch::Subject) {});
  EXPECT_FALSE(watch.Available());
  EXPECT_FALSE(watch.Add(""));
}

#endif

}  // namespace
}  // namespace TURTLE_SERVER
