// Several files as one body: in order, unread, and all of them or none.
#include "files/join_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "files/open_beneath.h"
#include "files/read_file.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

auto OpenDescriptors() -> int {
  int count = 0;
  for (int fd = 0; fd < 1024; ++fd) {
    count += fcntl(fd, F_GETFD) == -1 ? 0 : 1;
  }
  return count;
}

class JoinFilesTest : public testing::Test {
 protected:
  JoinFilesTest() {
    site_.Write("a.log", "first\n");
    site_.Write("old/b.log", "second\n");
    site_.Write("empty.log", "");
    site_.Link("out.log", "/etc/passwd");
    root_ = OpenFolder(site_.Path());
  }

  auto Join(const std::vector<std::string>& names) const -> Response {
    return JoinFiles(root_.Get(), names);
  }

  static auto Content(const Response& response) -> std::string {
    std::string content;
    for (const BodyPiece& piece : response.Pieces()) {
      const auto* const slice = std::get_if<FileSlice>(&piece);
      if (slice == nullptr) {
        ADD_FAILURE() << "a part was read";
        return content;
      }
      content += ReadFile(slice->fd, slice->offset, slice->length).value_or("(unreadable)");
    }
    return content;
  }

  test::SiteFolder site_;
  UniqueFd root_;
};

TEST_F(JoinFilesTest, AreSentInOrder) {
  const Response response = Join({"old/b.log", "a.log", "empty.log", "old/b.log"});
  ASSERT_EQ(response.Status(), 200);
  EXPECT_EQ(response.Find("Content-Type"), "text/plain; charset=utf-8");
  EXPECT_EQ(response.BodySize(), 20U);
  EXPECT_EQ(Content(response), "second\nfirst\nsecond\n");
}

TEST_F(JoinFilesTest, NoneIsAnEmptyBody) {
  const Response response = Join({});
  EXPECT_EQ(response.Status(), 200);
  EXPECT_EQ(response.BodySize(), 0U);
}

TEST_F(JoinFilesTest, OneThatIsNoFileSpoilsAll) {
  const int before = OpenDescriptors();
  for (const char* name : {"none.log", "old", "out.log", "../x", ""}) {
    EXPECT_EQ(Join({"a.log", name, "old/b.log"}).Status(), 404) << name;
  }
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(JoinFilesTest, TheFilesCloseWithTheResponse) {
  const int before = OpenDescriptors();
  {
    const Response response = Join({"a.log", "old/b.log"});
    ASSERT_EQ(response.Status(), 200);
    EXPECT_EQ(OpenDescriptors(), before + 2);
  }
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(JoinFilesTest, TooManyAreRefusedUnseen) {
  EXPECT_EQ(Join(std::vector<std::string>(kMaxJoinedFiles, "a.log")).Status(), 200);
  EXPECT_EQ(Join(std::vector<std::string>(kMaxJoinedFiles + 1, "a.log")).Status(), 400);
  EXPECT_EQ(Join(std::vector<std::string>(kMaxJoinedFiles + 1, "none")).Status(), 400);
}

}  // namespace
}  // namespace TURTLE_SERVER
