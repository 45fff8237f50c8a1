#include "replies.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace TURTLE_SERVER {
namespace {

class RepliesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "replies-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    std::ofstream(root_ + "/small.html") << "tiny";
    std::ofstream(root_ + "/big.html") << std::string(1000, 'x');
  }

  void TearDown() override { std::filesystem::remove_all(root_); }

  std::string root_;
};

TEST_F(RepliesTest, AreWholeAndChosenByTheFirstLetter) {
  const Replies replies(root_);
  const CannedReply& small = replies.ForRequest("GET /small.html HTTP/1.1\r\n\r\n");
  const std::string one = small.copies.substr(0, small.size);
  EXPECT_EQ(one.compare(0, 17, "HTTP/1.1 200 OK\r\n"), 0);
  EXPECT_NE(one.find("Content-Length: 4\r\n"), std::string::npos);
  EXPECT_NE(one.find("\r\n\r\ntiny"), std::string::npos);
  EXPECT_EQ(one.find("Connection:"), std::string::npos);
  EXPECT_EQ(small.copies.substr(small.size, small.size), one);

  const CannedReply& last = replies.LastForRequest("GET /big.html HTTP/1.1\r\n\r\n");
  EXPECT_NE(last.copies.find("Connection: close\r\nContent-Length: 1000\r\n"), std::string::npos);
}

TEST_F(RepliesTest, TheRestOfAnyLengthJoinsToWholeReplies) {
  const Replies replies(root_);
  const CannedReply& small = replies.ForRequest("GET /small.html HTTP/1.1\r\n\r\n");
  const std::size_t most = small.size * 3;
  std::string three = small.copies.substr(0, most);
  for (std::size_t owed = 1; owed <= most; ++owed) {
    ASSERT_EQ(small.Rest(owed), std::string_view(three).substr(most - owed)) << owed;
  }
  // More than the copies hold: a write takes what there is, and the next one goes on.
  std::size_t owed = small.copies.size() + small.size + 1;
  owed -= small.Rest(owed).size();
  EXPECT_EQ(owed % small.size, 0U);
  EXPECT_GT(small.Rest(owed).size(), 0U);
}

TEST_F(RepliesTest, TheFileHoldsTheBigReply) {
  const Replies replies(root_);
  const CannedReply& big = replies.ForRequest("GET /big.html HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(replies.IsInFile(big));
  EXPECT_FALSE(replies.IsInFile(replies.LastForRequest("GET /big.html HTTP/1.1\r\n\r\n")));
  std::string content(big.size + 1, '\0');
  const ssize_t count = ::pread(replies.BigFile(), content.data(), content.size(), 0);
  ASSERT_EQ(count, static_cast<ssize_t>(big.size));
  content.resize(big.size);
  EXPECT_EQ(content, big.copies);
}

TEST_F(RepliesTest, AMissingPageIsNamed) {
  std::filesystem::remove(root_ + "/big.html");
  try {
    const Replies replies(root_);
    FAIL() << "nothing was thrown";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.what(), "open " + root_ + "/big.html: No such file or directory");
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
