// A file is read completely or not at all.
#include "files/read_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "support/narrow_pair.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

TEST(ReadFile, ReadsAPart) {
  const UniqueFd file = test::MakeFile("0123456789");
  EXPECT_EQ(ReadFile(file.Get(), 0, 10), "0123456789");
  EXPECT_EQ(ReadFile(file.Get(), 3, 4), "3456");
  EXPECT_EQ(ReadFile(file.Get(), 10, 0), "");
}

TEST(ReadFile, LeavesThePositionAlone) {
  const UniqueFd file = test::MakeFile("0123456789");
  lseek(file.Get(), 7, SEEK_SET);
  EXPECT_EQ(ReadFile(file.Get(), 1, 2), "12");
  EXPECT_EQ(lseek(file.Get(), 0, SEEK_CUR), 7);
}

TEST(ReadFile, AFileThatIsTooShortIsNothing) {
  const UniqueFd file = test::MakeFile("0123456789");
  EXPECT_EQ(ReadFile(file.Get(), 0, 11), std::nullopt);
  EXPECT_EQ(ReadFile(file.Get(), 11, 1), std::nullopt);
}

TEST(ReadFile, SoIsWhatCannotBeRead) {
  const test::SiteFolder site;
  const UniqueFd folder(open(site.Path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_EQ(ReadFile(folder.Get(), 0, 1), std::nullopt);
  EXPECT_EQ(ReadFile(-1, 0, 1), std::nullopt);
}

}  // namespace
}  // namespace TURTLE_SERVER
