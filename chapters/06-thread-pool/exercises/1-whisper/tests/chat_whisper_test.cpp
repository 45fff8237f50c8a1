#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/child.h"
#include "support/client.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;

void Hears(Client& guest, const std::string& line) { EXPECT_EQ(guest.Receive(line.size()), line); }

// A room with three guests, on whichever loops.
class ChatWhisper : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int number = 1; number <= 3; ++number) {
      guests_.emplace_back(server_.Port());
      Hears(guests_.back(), "you are guest " + std::to_string(number) + "\n");
    }
  }

  auto Guest(std::size_t number) -> Client& { return guests_[number - 1]; }

  test::ExampleServer server_{"chat_server"};
  std::vector<Client> guests_;
};

TEST_F(ChatWhisper, OneGuestHearsItAndNobodyElse) {
  ASSERT_TRUE(Guest(1).Send("/tell 3 are you there?\nhello\n"));
  Hears(Guest(3), "guest 1 tells you: are you there?\nguest 1: hello\n");
  Hears(Guest(2), "guest 1: hello\n");
  ASSERT_TRUE(Guest(3).Send("/tell 1 I am\nhello\n"));
  Hears(Guest(1), "guest 3 tells you: I am\nguest 3: hello\n");
  Hears(Guest(2), "guest 3: hello\n");
}

TEST_F(ChatWhisper, WhoTalksToHimselfHearsIt) {
  ASSERT_TRUE(Guest(2).Send("/tell 2 don't forget\nhello\n"));
  Hears(Guest(2), "guest 2 tells you: don't forget\n");
  Hears(Guest(1), "guest 2: hello\n");
}

TEST_F(ChatWhisper, WhoIsNotHereIsToldOfToTheSpeaker) {
  ASSERT_TRUE(Guest(1).Send("/tell 77 hello\n/tell 0 hello\n"));
  Hears(Guest(1), "guest 77 is not here\nguest 0 is not here\n");
  ASSERT_TRUE(Guest(1).Send("hello\n"));
  Hears(Guest(2), "guest 1: hello\n");
}

// Until the server has seen that a guest left, it may still get a line.
TEST_F(ChatWhisper, WhoHasLeftIsNotHere) {
  Guest(3).FinishSending();
  EXPECT_EQ(Guest(3).ReceiveAll(), "");
  ASSERT_TRUE(Guest(3).Ended());
  ASSERT_TRUE(Guest(1).Send("/tell 3 hello\n"));
  Hears(Guest(1), "guest 3 is not here\n");
}

// Each line to a guest that is leaving is either delivered or refused; none stays in a queue.
TEST_F(ChatWhisper, NoLineIsLostToOneWhoIsLeaving) {
  for (int round = 0; round < 20; ++round) {
    Client leaving(server_.Port());
    const int number = 4 + round;
    Hears(leaving, "you are guest " + std::to_string(number) + "\n");
    leaving.Reset();
    std::string lines;
    for (int i = 0; i < 20; ++i) {
      lines += "/tell " + std::to_string(number) + " hello\n";
    }
    ASSERT_TRUE(Guest(1).Send(lines + "/tell 2 done\n"));
    Hears(Guest(2), "guest 1 tells you: done\n");
  }
  ASSERT_TRUE(Guest(1).Send("/tell 4 hello\n/tell 1 the end\n"));
  const std::string line = "guest 4 is not here\n";
  std::string heard;
  while (heard.size() < 9 || heard.substr(heard.size() - 9) != " the end\n") {
    const std::string more = Guest(1).Receive(1);
    ASSERT_FALSE(more.empty()) << heard;
    heard += more;
  }
  EXPECT_NE(heard.find(line), std::string::npos) << heard;
}

TEST_F(ChatWhisper, OtherLinesAreSaidAsEver) {
  const std::vector<std::string> lines{"/tell 2",        "/tell two hello", "/telling 2 hello",
                                       " /tell 2 hello", "/tell  2 hello",  "/tell -2 hello"};
  for (const std::string& line : lines) {
    ASSERT_TRUE(Guest(1).Send(line + "\n"));
    Hears(Guest(2), "guest 1: " + line + "\n");
    Hears(Guest(3), "guest 1: " + line + "\n");
  }
}

TEST_F(ChatWhisper, NothingMayBeWhisperedToo) {
  ASSERT_TRUE(Guest(1).Send("/tell 2 \n/tell 2  two blanks\n"));
  Hears(Guest(2), "guest 1 tells you: \nguest 1 tells you:  two blanks\n");
}

}  // namespace
}  // namespace TURTLE_SERVER
