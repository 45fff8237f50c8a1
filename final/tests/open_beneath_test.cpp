// No name leads out of the folder: by the kernel's way, and by the way without it.
#include "web/open_beneath.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

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

  // What is in the file; the reason if it can't be opened.
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
  EXPECT_TRUE(Open("pipe"));  // without O_NONBLOCK this would wait for a writer, for ever
}

TEST_P(OpenBeneathTest, LeavesNoDescriptorBehind) {
  const auto lowest_free = [&] { return UniqueFd(dup(root_.Get())).Get(); };
  const int before = lowest_free();
  for (const char* name : {"sub/deep/file", "sub/deep/none", "sub/../x", "out"}) {
    (void)Open(name);
  }
  EXPECT_EQ(lowest_free(), before);
}

INSTANTIATE_TEST_SUITE_P(All, OpenBeneathTest,
                         testing::Values(&OpenBeneath, &OpenBeneathBySegments),
                         [](const auto& way) { return way.index == 0 ? "System" : "BySegments"; });

// What openat2(2) can and single steps can't: to follow a link and yet not leave.
TEST(OpenBeneathLinks, ALinkWithinTheFolder) {
  const test::SiteFolder site;
  site.Write("sub/file", "within");
  site.Link("link", "sub");
  const UniqueFd root(open(site.Path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_FALSE(OpenBeneathBySegments(root.Get(), "link/file"));
  const UniqueFd file = OpenBeneath(root.Get(), "link/file");
#ifdef __linux__
  EXPECT_TRUE(file) << "errno " << errno;
#endif
}

}  // namespace
}  // namespace TURTLE_SERVER
