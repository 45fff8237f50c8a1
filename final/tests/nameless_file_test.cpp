#include "web/nameless_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/no_descriptors.h"
#include "support/site_folder.h"
#include "support/small_files.h"

namespace TURTLE_SERVER {
namespace {

using Open = UniqueFd (*)(const std::string&);

// Both ways must keep the same promises.
class NamelessFileTest : public testing::TestWithParam<Open> {
 protected:
  auto OpenIt() const -> UniqueFd { return GetParam()(folder_.Path()); }

  auto ContentOf(const std::string& name) const -> std::string {
    std::ifstream file(folder_.Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  test::SiteFolder folder_;
};

TEST_P(NamelessFileTest, HasNoNameAndIsNobodyElses) {
  const UniqueFd fd = OpenIt();
  ASSERT_TRUE(fd);
  struct stat status {};
  struct stat there {};
  ASSERT_EQ(::fstat(fd.Get(), &status), 0);
  ASSERT_EQ(::stat(folder_.Path().c_str(), &there), 0);
  EXPECT_EQ(status.st_dev, there.st_dev);
  EXPECT_EQ(status.st_nlink, 0U);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  EXPECT_NE(::fcntl(fd.Get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.Path()));
}

TEST_P(NamelessFileTest, IsGivenANameWithAllItsContent) {
  const std::string content(100'000, 'x');
  const UniqueFd fd = OpenIt();
  ASSERT_EQ(::write(fd.Get(), content.data(), content.size()),
            static_cast<ssize_t>(content.size()));
  ASSERT_EQ(GiveName(fd.Get(), folder_.Path("named")), 0);
  EXPECT_EQ(ContentOf("named"), content);
  struct stat status {};
  ASSERT_EQ(::stat(folder_.Path("named").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST_P(NamelessFileTest, NothingIsReplaced) {
  folder_.Write("there", "kept");
  folder_.Link("dangling", folder_.Path("elsewhere"));
  const UniqueFd fd = OpenIt();
  ASSERT_EQ(::write(fd.Get(), "new", 3), 3);
  EXPECT_EQ(GiveName(fd.Get(), folder_.Path("there")), EEXIST);
  EXPECT_EQ(GiveName(fd.Get(), folder_.Path("dangling")), EEXIST);
  EXPECT_EQ(ContentOf("there"), "kept");
  EXPECT_FALSE(std::filesystem::exists(folder_.Path("elsewhere"))) << "written through a link";
}

TEST_P(NamelessFileTest, FailuresAreSaid) {
  EXPECT_FALSE(GetParam()(folder_.Path("missing")));
  EXPECT_EQ(errno, ENOENT);
  {
    const test::NoDescriptors none;
    EXPECT_FALSE(OpenIt());
    EXPECT_EQ(errno, EMFILE);
  }
  const UniqueFd fd = OpenIt();
  EXPECT_EQ(GiveName(fd.Get(), folder_.Path("missing/name")), ENOENT);
}

INSTANTIATE_TEST_SUITE_P(Ways, NamelessFileTest,
                         testing::Values(&OpenNameless, &OpenNamelessByUnlink));

TEST(GiveNameTest, HalfACopyIsNotLeftBehind) {
  const test::SiteFolder folder;
  const UniqueFd whole = OpenNamelessByUnlink(folder.Path());
  ASSERT_EQ(::write(whole.Get(), "more than five", 14), 14);
  {
    const test::SmallFiles full(5);
    EXPECT_EQ(GiveName(whole.Get(), folder.Path("name")), EFBIG);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.Path()));
  const UniqueFd other(::open(folder.Path().c_str(), O_RDONLY | O_CLOEXEC));  // read(2): EISDIR
  EXPECT_NE(GiveName(other.Get(), folder.Path("name")), 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder.Path()));
}

}  // namespace
}  // namespace TURTLE_SERVER
