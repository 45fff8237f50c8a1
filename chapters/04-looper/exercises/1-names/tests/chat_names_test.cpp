#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "support/child.h"
#include "support/client.h"

namespace TURTLE_SERVER {
namespace {

class ChatNames : public testing::Test {
 protected:
  ChatNames() : server_("chat_server"), one_(server_.Port()) {
    EXPECT_EQ(one_.Receive(16), "you are guest 1\n");
    two_.emplace(server_.Port());
    EXPECT_EQ(two_->Receive(16), "you are guest 2\n");
  }

  static void Hears(test::Client& guest, const std::string& line) {
    EXPECT_EQ(guest.Receive(line.size()), line);
  }

  test::ExampleServer server_;
  test::Client one_;
  std::optional<test::Client> two_;
};

TEST_F(ChatNames, ANewNameIsToldToTheOthersAndUsed) {
  ASSERT_TRUE(one_.Send("/name alice\nhello\n"));
  Hears(*two_, "guest 1 is now alice\nalice: hello\n");
  ASSERT_TRUE(two_->Send("hi\n"));
  Hears(one_, "guest 2: hi\n");  // and nothing before: alice knows her name
}

TEST_F(ChatNames, OnlyLettersAndDigitsAndNotTooMany) {
  for (const std::string& name : {std::string(), std::string("al ice"), std::string("al\tice"),
                                  std::string("ali\r"), std::string(21, 'x'), std::string("é")}) {
    ASSERT_TRUE(one_.Send("/name " + name + "\n"));
    Hears(one_, "a name has 1 to 20 letters and digits\n");
  }
  ASSERT_TRUE(one_.Send("/name " + std::string(20, 'x') + "\n"));
  Hears(*two_, "guest 1 is now " + std::string(20, 'x') + "\n");
}

TEST_F(ChatNames, ANameThatIsTakenIsNotGivenTwice) {
  ASSERT_TRUE(one_.Send("/name alice\n"));
  Hears(*two_, "guest 1 is now alice\n");
  ASSERT_TRUE(two_->Send("/name alice\n"));
  Hears(*two_, "alice is here already\n");
  ASSERT_TRUE(one_.Send("/name alice\n"));
  Hears(one_, "alice is here already\n");
  ASSERT_TRUE(one_.Send("/name bob\n"));
  Hears(*two_, "alice is now bob\n");
  ASSERT_TRUE(two_->Send("/name alice\n"));
  Hears(one_, "guest 2 is now alice\n");
}

TEST_F(ChatNames, OtherLinesAreLines) {
  ASSERT_TRUE(one_.Send("/names\n /name x\n"));
  Hears(*two_, "guest 1: /names\nguest 1:  /name x\n");
}

}  // namespace
}  // namespace TURTLE_SERVER
