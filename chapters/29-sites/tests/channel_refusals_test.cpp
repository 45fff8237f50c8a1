// The log lines of clients that a channel refuses.
#include "core/channel_refusals.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/proxy_channel.h"
#include "support/captured_stderr.h"
#include "support/client.h"
#include "support/loop_thread.h"
#include "support/manual_clock.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using test::LoopThread;

// A loop whose clients must send a header, on a clock that only the test turns.
class ChannelRefusalsTest : public testing::Test {
 protected:
  ChannelRefusalsTest() {
    callbacks_.on_accept = [this](Connection* client) {
      client->SetChannel(std::make_unique<ProxyChannel>(
          nullptr, [this, client](const char* reason) { refusals_.Report(*client, reason); }));
    };
    callbacks_.on_handle = [](Connection* client) {
      if (client->Recv().exit) {
        client->Close();
      }
    };
  }

  // Has `count` clients send what is no header, and waits until the server has closed them.
  void Refuse(int count) {
    for (int i = 0; i < count; ++i) {
      auto client = loop_.Connect(callbacks_);
      ASSERT_TRUE(client.Send("GET / HTTP/1.1"));
      client.ReceiveAll();
    }
  }

  void Advance(milliseconds by) { clock_.Advance(by, loop_); }

  // Returns the lines so far, without their times.
  [[nodiscard]] auto Lines() const -> std::vector<std::string> {
    std::vector<std::string> lines;
    const std::string text = stderr_.Text();
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      const std::size_t begin = text.find("WARN", at);
      lines.push_back(text.substr(begin, text.find('\n', at) - begin));
    }
    return lines;
  }

 private:
  test::CapturedStderr stderr_;
  test::ManualClock clock_;
  ChannelRefusals refusals_{LogLevel::kWarning, "PROXY header"};
  ConnectionCallbacks callbacks_;
  LoopThread loop_{clock_.Source()};
};

TEST_F(ChannelRefusalsTest, TheFirstIsLoggedAtOnceWithTheAddressAndTheReason) {
  Refuse(1);
  ASSERT_EQ(Lines().size(), 1U);
  const std::string line = Lines().front();
  EXPECT_EQ(line.rfind("WARN PROXY header of 127.0.0.1:", 0), 0U) << line;
  EXPECT_NE(line.find(" refused: the stream begins with something else"), std::string::npos);
}

TEST_F(ChannelRefusalsTest, ThoseThatFollowWithinASecondAreCounted) {
  Refuse(4);
  EXPECT_EQ(Lines().size(), 1U);
  Advance(milliseconds(999));
  EXPECT_EQ(Lines().size(), 1U);
  Advance(milliseconds(1));
  ASSERT_EQ(Lines().size(), 2U);
  EXPECT_EQ(Lines().back(), "WARN 3 more PROXY headers refused");
}

TEST_F(ChannelRefusalsTest, TheCountIsALineOfItsSecondToo) {
  Refuse(2);
  Advance(milliseconds(1000));
  EXPECT_EQ(Lines().back(), "WARN 1 more PROXY header refused");
  Refuse(1);
  EXPECT_EQ(Lines().size(), 2U);
  Advance(milliseconds(1000));
  EXPECT_EQ(Lines().size(), 3U);
}

TEST_F(ChannelRefusalsTest, AfterAQuietSecondTheNextIsLoggedAtOnce) {
  Refuse(1);
  Advance(milliseconds(1000));
  EXPECT_EQ(Lines().size(), 1U);
  Refuse(1);
  EXPECT_EQ(Lines().size(), 2U);
}

}  // namespace
}  // namespace TURTLE_SERVER
