// No name leads out of the directory, neither with the kernel's help nor without it.
#include "files/open_beneath.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "support/nobody_here.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using Way = UniqueFd (*)(int, const std::string&) noexcept;

class OpenBeneathTest : public testing::TestWithParam<Way> {
 protected:
  OpenBeneathTest() {
    site_.Write("secret", "secret");
    site_.Write("root/file", "file");
    site_.Write("root/sub/deep/file", "deep");
    site_.Link("root/out", "../secret");
    site_.Link("root/absolute", site_.Path("secret"));
    site_.Link("root/up", "..");
    site_.Link("root/within", "sub/deep");
    site_.Link("root/loop", "loop");
    root_.Reset(open(site_.Path("root").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }

  auto Open(const std::string& name) const -> UniqueFd { return GetParam()(root_.Get(), name); }

  // Returns the file's content; the reason if it can't be opened.
  auto Read(const std::string& name) const -> std::string {
    const UniqueFd file = Open(name);
    if (!file) {
      return "errno " + std::to_string(errno);
    }
    char bytes[16];
    const ssize_t count = read(file.Get(), bytes, sizeof bytes);
    return count < 0 ? "unreadable" : std::string(bytes, static_cast<std::size_t>(count));
  }

  test::SiteFolder site_;
  UniqueFd root_;
};

auto Error(int error) -> std::string { return "errno " + std::to_string(error); }

TEST_P(OpenBeneathTest, OpensWhatIsThere) {
  EXPECT_EQ(Read("file"), "file");
  EXPECT_EQ(Read("sub/deep/file"), "deep");
  EXPECT_EQ(Read("none"), Error(ENOENT));
  EXPECT_EQ(Read("none/file"), Error(ENOENT));
  EXPECT_EQ(Read("file/file"), Error(ENOTDIR));
  EXPECT_EQ(Read("file/"), Error(ENOTDIR));
  EXPECT_EQ(Read(std::string(300, 'x')), Error(ENAMETOOLONG));
}

TEST_P(OpenBeneathTest, TheFolderItself) {
  for (const char* name : {"", ".", "sub/"}) {
    const UniqueFd folder = Open(name);
    struct stat status {};
    ASSERT_TRUE(folder) << name;
    ASSERT_EQ(fstat(folder.Get(), &status), 0);
    EXPECT_TRUE(S_ISDIR(status.st_mode));
  }
}

TEST_P(OpenBeneathTest, NothingLeadsOut) {
  for (const char* name : {"../secret", "sub/../../secret", "..", "out", "absolute", "up/secret",
                           "up/root/file", "loop", "sub/deep/../../../secret"}) {
    EXPECT_EQ(Read(name).substr(0, 5), "errno") << name;
  }
}

TEST_P(OpenBeneathTest, TheDescriptorIsNotInheritedAndDoesNotBlock) {
  const UniqueFd file = Open("file");
  EXPECT_NE(fcntl(file.Get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_NE(fcntl(file.Get(), F_GETFL) & O_NONBLOCK, 0);
  ASSERT_EQ(mkfifo(site_.Path("root/pipe").c_str(), 0644), 0);
  EXPECT_TRUE(Open("pipe"));  // without O_NONBLOCK this would wait for a writer forever
}

TEST_P(OpenBeneathTest, LeavesNoDescriptorBehind) {
  const auto lowest_free = [&] { return UniqueFd(dup(root_.Get())).Get(); };
  const int before = lowest_free();
  for (const char* name : {"sub/deep/file", "sub/deep/none", "sub/../x", "out"}) {
    (void)Open(name);
  }
  EXPECT_EQ(lowest_free(), before);
}

// Only a link's destination counts, whatever its text.
TEST_P(OpenBeneathTest, LinksThatEndWithinAreFollowed) {
  site_.Link("root/short", "file");
  site_.Link("root/whole", site_.Path("root/sub/deep"));
  site_.Link("root/dotted", site_.Path("root/sub/./deep/../../file"));
  site_.Link("root/sub/over", "../../root/file");
  site_.Link("root/chain", "sub/chain");
  site_.Link("root/sub/chain", site_.Path("elsewhere"));
  site_.Link("elsewhere", site_.Path("name/sub/deep/file"));
  site_.Link("name", "root");
  site_.Link("root/self", site_.Path("root"));
  EXPECT_EQ(Read("short"), "file");
  EXPECT_EQ(Read("within/file"), "deep");
  EXPECT_EQ(Read("whole/file"), "deep");
  EXPECT_EQ(Read("dotted"), "file");
  EXPECT_EQ(Read("sub/over"), "file");
  EXPECT_EQ(Read("chain"), "deep");
  EXPECT_EQ(Read("self/self/sub/deep/file"), "deep");
  EXPECT_EQ(Read("whole/none"), Error(ENOENT));
  EXPECT_EQ(Read("whole/file/"), Error(ENOTDIR));
  EXPECT_TRUE(Open("whole/"));
}

TEST_P(OpenBeneathTest, OfALinkThatLeavesNothingIsTold) {
  site_.Link("root/whole", site_.Path("root"));
  site_.Link("root/nowhere", site_.Path("none"));
  site_.Link("root/beside", site_.Path("root") + "x/file");
  site_.Link("root/proc", "/proc/self/root/etc/passwd");
  site_.Link("root/sub/back", site_.Path("root/up"));
  site_.Write("rootx/file", "secret");
  for (const char* name : {"nowhere", "beside", "proc", "whole/out", "whole/up/secret", "sub/back",
                           "sub/back/root/file", "whole/absolute"}) {
    EXPECT_EQ(Read(name), Error(EXDEV)) << name;
  }
  EXPECT_EQ(Read("loop"), Error(ELOOP));
}

// Passing through a directory does not require permission to list it.
TEST_P(OpenBeneathTest, AFolderThatIsOnlyPassedThrough) {
  site_.Link("root/whole", site_.Path("root/sub"));
  const test::Passable passable(site_, {"root", "root/sub"});
  const test::NobodyHere nobody;
  if (!test::NobodyHere::IsNobody()) {
    GTEST_SKIP() << "the administrator may list every folder";
  }
  root_ = OpenFolder(site_.Path("root"));
  EXPECT_EQ(Read("file"), "file");
  EXPECT_EQ(Read("sub/deep/file"), "deep");
  EXPECT_EQ(Read("whole/deep/file"), "deep");
  EXPECT_EQ(Read("sub"), Error(EACCES));
  EXPECT_TRUE(IsFolderBeneath(root_.Get(), "sub"));
  EXPECT_TRUE(IsFolderBeneath(root_.Get(), "whole/"));
  EXPECT_FALSE(IsFolderBeneath(root_.Get(), "file"));
  EXPECT_FALSE(IsFolderBeneath(root_.Get(), "up"));
}

INSTANTIATE_TEST_SUITE_P(All, OpenBeneathTest,
                         testing::Values(&OpenBeneath, &OpenBeneathBySegments),
                         [](const auto& way) { return way.index == 0 ? "System" : "BySegments"; });

}  // namespace
}  // namespace TURTLE_SERVER
