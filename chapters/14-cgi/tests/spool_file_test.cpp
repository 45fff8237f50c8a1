#include "web/spool_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "support/no_descriptors.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

auto ReadAll(int fd) -> std::string {
  std::string text;
  std::array<char, 4096> bytes;
  for (ssize_t count = 1; count > 0;) {
    count = ::read(fd, bytes.data(), bytes.size());
    text.append(bytes.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  }
  return text;
}

TEST(SpoolFileTest, KeepsWhatIsWrittenInOrder) {
  SpoolFile file;
  EXPECT_EQ(file.GetFd(), -1);
  ASSERT_EQ(file.Open(), 0);
  EXPECT_EQ(file.Write("hello, "), 0);
  EXPECT_EQ(file.Write(""), 0);
  EXPECT_EQ(file.Write(std::string(100'000, 'x')), 0);
  EXPECT_EQ(file.Size(), 100'007U);
  ASSERT_EQ(file.Rewind(), 0);
  EXPECT_EQ(ReadAll(file.GetFd()), "hello, " + std::string(100'000, 'x'));
}

TEST(SpoolFileTest, GathersPiecesOfOneByte) {
  SpoolFile file;
  ASSERT_EQ(file.Open(), 0);
  std::string text;
  for (int i = 0; i < 20'000; ++i) {
    text += static_cast<char>('a' + i % 26);
    ASSERT_EQ(file.Write(text.substr(text.size() - 1)), 0);
    if (i == 1000) {
      struct stat status {};
      ASSERT_EQ(::fstat(file.GetFd(), &status), 0);
      EXPECT_EQ(status.st_size, 0) << "each byte has cost a write(2)";
    }
  }
  EXPECT_EQ(file.Size(), text.size());
  ASSERT_EQ(file.Rewind(), 0);
  EXPECT_EQ(ReadAll(file.GetFd()), text);
}

TEST(SpoolFileTest, HasNoNameAndIsNobodyElses) {
  const test::SiteFolder folder;
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before != nullptr ? before : "";
  ASSERT_EQ(::setenv("TMPDIR", folder.Path().c_str(), 1), 0);
  SpoolFile file;
  const int error = file.Open();
  before != nullptr ? ::setenv("TMPDIR", kept.c_str(), 1) : ::unsetenv("TMPDIR");
  ASSERT_EQ(error, 0);
  struct stat status {};
  struct stat there {};
  ASSERT_EQ(::fstat(file.GetFd(), &status), 0);
  ASSERT_EQ(::stat(folder.Path().c_str(), &there), 0);
  EXPECT_EQ(status.st_dev, there.st_dev) << "TMPDIR was not obeyed";
  EXPECT_EQ(status.st_nlink, 0U);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  EXPECT_TRUE(std::filesystem::is_empty(folder.Path()));
  EXPECT_NE(::fcntl(file.GetFd(), F_GETFD) & FD_CLOEXEC, 0) << "other programs would inherit it";
}

TEST(SpoolFileTest, ReportsFailures) {
  SpoolFile file;
  {
    const test::NoDescriptors none;
    EXPECT_EQ(file.Open(), EMFILE);
  }
  EXPECT_EQ(file.Write(std::string(100'000, 'x')), EBADF);
  EXPECT_EQ(file.Write("x"), 0) << "it is only gathered";
  EXPECT_EQ(file.Rewind(), EBADF) << "and not lost without a word";
  ASSERT_EQ(file.Open(), 0);
  EXPECT_EQ(file.Write("x"), 0);
}

}  // namespace
}  // namespace TURTLE_SERVER
