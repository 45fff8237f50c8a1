// A directory whose name is looked up again.
#include "files/root_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

#include "support/nobody_here.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

namespace fs = std::filesystem;

constexpr TimePoint kStart{std::chrono::hours(1)};
constexpr auto kAtOnce = RootFolder::Look::kAtOnce;
constexpr auto kNowAndThen = RootFolder::Look::kNowAndThen;

class RootFolderTest : public testing::Test {
 protected:
  static auto Has(const RootFolder& root, const char* name) -> bool {
    struct stat status {};
    return fstatat(root.Get(), name, &status, 0) == 0;
  }

  void Replace() const {
    fs::remove_all(site_.Path("root"));
    site_.Write("root/new", "");
  }

  test::SiteFolder site_;
};

TEST_F(RootFolderTest, AFolderThatIsMadeAnew) {
  site_.Write("root/old", "");
  RootFolder root(site_.Path("root"), "folder");
  EXPECT_FALSE(root.Refresh(kStart, kNowAndThen));
  EXPECT_TRUE(Has(root, "old"));
  Replace();
  const TimePoint later = kStart + RootFolder::kTrustTime;
  EXPECT_FALSE(root.Refresh(later - std::chrono::milliseconds(1), kNowAndThen));
  EXPECT_TRUE(root.Refresh(later, kNowAndThen));
  EXPECT_TRUE(Has(root, "new"));
  EXPECT_FALSE(root.Refresh(later, kAtOnce));
}

TEST_F(RootFolderTest, AtOnceIfThatIsAskedFor) {
  site_.Write("root/old", "");
  RootFolder root(site_.Path("root"), "folder");
  static_cast<void>(root.Refresh(kStart, kNowAndThen));
  Replace();
  EXPECT_TRUE(root.Refresh(kStart, kAtOnce));
  EXPECT_TRUE(Has(root, "new"));
}

TEST_F(RootFolderTest, WhileThereIsNoneTheOldOneStays) {
  site_.Write("1/old", "");
  site_.Write("2/new", "");
  site_.Link("root", "1");
  RootFolder root(site_.Path("root"), "folder");
  fs::remove(site_.Path("root"));
  EXPECT_FALSE(root.Refresh(kStart, kAtOnce));
  site_.Write("root", "a file");
  EXPECT_FALSE(root.Refresh(kStart, kAtOnce));
  EXPECT_TRUE(Has(root, "old"));
  fs::remove(site_.Path("root"));
  site_.Link("root", "2");
  EXPECT_TRUE(root.Refresh(kStart, kAtOnce));
  EXPECT_TRUE(Has(root, "new"));
}

TEST_F(RootFolderTest, ALinkOnTheWayIsTurned) {
  site_.Write("1/root/old", "");
  site_.Write("2/root/new", "");
  site_.Link("current", "1");
  RootFolder root(site_.Path("current/root"), "folder");
  site_.Link("next", "2");
  fs::rename(site_.Path("next"), site_.Path("current"));
  EXPECT_TRUE(root.Refresh(kStart, kAtOnce));
  EXPECT_TRUE(Has(root, "new"));
}

TEST_F(RootFolderTest, OneThatMayNotBeSearchedIsNone) {
  if (!test::NobodyHere::IsNobody()) {
    GTEST_SKIP() << "the administrator is refused nothing";
  }
  site_.Write("root/old", "");
  site_.Write("2/new", "");
  fs::permissions(site_.Path(), fs::perms(0755));
  RootFolder root(site_.Path("root"), "folder");
  fs::rename(site_.Path("root"), site_.Path("1"));
  site_.Link("root", "2");
  fs::permissions(site_.Path("2"), fs::perms(0600));
  {
    const test::NobodyHere nobody;
    EXPECT_FALSE(root.Refresh(kStart, kAtOnce)) << "a release that is not yet opened to all";
    EXPECT_TRUE(Has(root, "old"));
    EXPECT_THROW(RootFolder(site_.Path("2"), "folder"), std::system_error);
  }
  fs::permissions(site_.Path("2"), fs::perms(0711));
  const test::NobodyHere nobody;
  EXPECT_TRUE(root.Refresh(kStart, kAtOnce));
  EXPECT_TRUE(Has(root, "new"));
}

// Changes the current directory, and PWD, for as long as it lives.
class Here {
 public:
  explicit Here(const std::string& path) {
    fs::current_path(path);
    ::setenv("PWD", path.c_str(), 1);
  }
  Here(const Here&) = delete;
  auto operator=(const Here&) -> Here& = delete;
  ~Here() {
    fs::current_path(before_);
    ::setenv("PWD", before_.c_str(), 1);
  }

 private:
  const std::string before_ = fs::current_path().string();
};

TEST_F(RootFolderTest, TheCurrentDirectoryIsWhatTheShellCallsIt) {
  site_.Write("1/old", "");
  site_.Write("2/new", "");
  site_.Link("current", "1");
  const Here here(site_.Path("current"));
  RootFolder root(".", "folder");
  fs::remove(site_.Path("current"));
  site_.Link("current", "2");
  EXPECT_TRUE(root.Refresh(kStart, kAtOnce));
  EXPECT_TRUE(Has(root, "new"));
  EXPECT_EQ(AbsolutePath("."), fs::canonical(site_.Path("1")).string()) << "PWD is of another";
}

TEST_F(RootFolderTest, ACurrentDirectoryThatWasRemovedIsNone) {
  site_.Write("root/old", "");
  const Here here(site_.Path("root"));
  fs::remove_all(site_.Path("root"));
  EXPECT_THROW(RootFolder(".", "folder"), std::system_error);
  site_.Write("root/new", "");
  EXPECT_THROW(RootFolder(".", "folder"), std::system_error) << "it only has the old one's name";
}

TEST_F(RootFolderTest, OneThatIsReachedFromHereAloneIsOpened) {
  if (!test::NobodyHere::IsNobody()) {
    GTEST_SKIP() << "the administrator is refused nothing";
  }
  site_.Write("locked/root/page", "");
  fs::permissions(site_.Path("locked/root"), fs::perms(0755));
  const Here here(site_.Path("locked/root"));
  fs::permissions(site_.Path("locked"), fs::perms(0600));
  {
    const test::NobodyHere nobody;
    const RootFolder root(".", "folder");
    EXPECT_TRUE(Has(root, "page"));
  }
  fs::permissions(site_.Path("locked"), fs::perms(0755));
}

TEST_F(RootFolderTest, APathWithANulIsRefused) {
  try {
    const RootFolder root(std::string("/tmp\0x", 6), "folder");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "folder \"/tmp\": a NUL byte is in it");
  }
}

TEST_F(RootFolderTest, APathIsMadeAbsolute) {
  const std::string here = fs::current_path().string();
  EXPECT_EQ(AbsolutePath("."), here);
  EXPECT_EQ(AbsolutePath("site//"), here + "/site");
  EXPECT_EQ(AbsolutePath("/"), "/");
  EXPECT_EQ(AbsolutePath("/srv/site"), "/srv/site");
  EXPECT_EQ(RootFolder(".", "folder").Path(), here);
}

TEST_F(RootFolderTest, OneThatIsNotThereIsNamed) {
  try {
    const RootFolder root("/nowhere/at/all", "folder");
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find("folder /nowhere/at/all"), std::string::npos);
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
