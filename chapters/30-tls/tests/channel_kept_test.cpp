// A channel that keeps input until its turn, and the connection around it. TURTLE_POLLER chooses
// the engine.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/channel.h"
#include "core/connection.h"
#include "core/looper.h"
#include "support/client.h"
#include "support/loop_thread.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::LoopThread;

// Keeps the first bytes that it gets until has_turn is true, and passes all later ones.
class KeepingChannel : public Channel {
 public:
  /// @param has_turn set by the test; @param questions counts the calls of Kept()
  KeepingChannel(const bool& has_turn, int& questions)
      : has_turn_(has_turn), questions_(questions) {}

  auto Open(std::string_view wire, Buffer& plain, OutQueue& /*reply*/) -> ChannelStatus override {
    if (!is_open_ && kept_.empty()) {
      kept_ = wire;
      return ChannelStatus::kOpen;
    }
    EXPECT_TRUE(is_open_ || wire.empty());
    is_open_ = true;
    plain.Append(std::exchange(kept_, {}));
    plain.Append(wire);
    return ChannelStatus::kOpen;
  }
  [[nodiscard]] auto Kept() const noexcept -> KeptInput override {
    ++questions_;
    return kept_.empty() ? KeptInput::kNone : has_turn_ ? KeptInput::kReady : KeptInput::kWaits;
  }
  [[nodiscard]] auto CanSeal() const noexcept -> bool override { return is_open_; }
  void Seal(std::string_view plain, OutQueue& wire) override { wire.Append(plain); }
  void SealEnd(OutQueue& /*wire*/) override {}

 private:
  const bool& has_turn_;
  int& questions_;
  std::string kept_;
  bool is_open_ = false;
};

class ChannelKeptTest : public testing::Test {
 protected:
  // Connects a client, and waits until its first byte has been kept.
  auto Waiting(std::string_view bytes) -> Client {
    Client client = loop_.Connect(callbacks_, &id_);
    EXPECT_TRUE(client.Send(bytes));
    EXPECT_TRUE(loop_.Await([this] { return calls_ != 0; }));
    return client;
  }

  void GiveTurn() {
    loop_.Ask([this] {
      has_turn_ = true;
      loop_.Get().Schedule(loop_.Get().Find(id_));
    });
  }

  bool has_turn_ = false;
  int calls_ = 0;      // of the handler
  int questions_ = 0;  // calls of KeepingChannel::Kept()
  ConnectionId id_{};
  const ConnectionCallbacks callbacks_{
      [this](Connection* connection) {
        connection->SetChannel(std::make_unique<KeepingChannel>(has_turn_, questions_));
      },
      [this](Connection* connection) {
        const bool exit = connection->Recv().exit;
        ++calls_;
        connection->WriteToWriteBuffer(connection->Read());
        connection->ClearReadBuffer();
        if (exit) {
          connection->Close();
        }
      }};
  LoopThread loop_;
};

TEST_F(ChannelKeptTest, NoInputIsReadBeforeTheTurnAndAllOfItAfterwards) {
  Client client = Waiting("a");
  ASSERT_TRUE(client.Send("b"));
  client.FinishSending();
  loop_.RunRounds(5);
  GiveTurn();
  EXPECT_EQ(client.ReceiveAll(), "ab");
  EXPECT_TRUE(client.Ended());
}

// The handler is called for each event, such as an end, and not in every round.
TEST_F(ChannelKeptTest, WaitingIsNoBusyLoop) {
  Client client = Waiting("a");
  client.FinishSending();
  loop_.RunRounds(5);
  const int calls = loop_.Ask([this] { return calls_; });
  loop_.RunRounds(100);
  EXPECT_LE(loop_.Ask([this] { return calls_; }), calls + 5);
}

TEST_F(ChannelKeptTest, AConnectionThatIsDeletedBeforeItsTurnGoesWithItsOutput) {
  for (const Closing closing : {Closing::kAuto, Closing::kLinger}) {
    calls_ = 0;
    Client client = Waiting("a");
    loop_.Ask([this, closing] {
      Connection* const connection = loop_.Get().Find(id_);
      connection->WriteToWriteBuffer("a last word");
      connection->Close(closing);
    });
    EXPECT_EQ(client.ReceiveAll(), "");
    EXPECT_TRUE(client.Ended());
    client.FinishSending();
    EXPECT_TRUE(loop_.Await([this] { return loop_.Get().ConnectionCount() == 0; }));
  }
}

// It is deleted after its turn has come, but before its handler has been called for that.
TEST_F(ChannelKeptTest, AConnectionThatIsDeletedInItsTurnIsNoBusyLoop) {
  constexpr int kFew = 30;
  Client client = Waiting("a");
  loop_.Ask([this] {
    has_turn_ = true;
    questions_ = 0;
    loop_.Get().Find(id_)->Close(Closing::kLinger);
  });
  loop_.RunRounds(100);
  EXPECT_LE(loop_.Ask([this] { return questions_; }), kFew);
  EXPECT_EQ(loop_.Ask([this] { return loop_.Get().ConnectionCount(); }), 1U);
  client.FinishSending();
  EXPECT_TRUE(loop_.Await([this] { return loop_.Get().ConnectionCount() == 0; }));
  EXPECT_EQ(client.ReceiveAll(), "");
  EXPECT_TRUE(client.Ended());
}

// Its input is dropped by then, so the turn has nothing to open.
TEST_F(ChannelKeptTest, ATurnAfterTheDeletionIsNoBusyLoop) {
  constexpr int kFew = 30;
  Client client = Waiting("a");
  loop_.Ask([this] { loop_.Get().Find(id_)->Close(Closing::kLinger); });
  loop_.RunRounds(5);
  loop_.Ask([this] {
    has_turn_ = true;
    questions_ = 0;
  });
  ASSERT_TRUE(client.Send("b"));
  loop_.RunRounds(100);
  EXPECT_LE(loop_.Ask([this] { return questions_; }), kFew);
  client.FinishSending();
  EXPECT_TRUE(loop_.Await([this] { return loop_.Get().ConnectionCount() == 0; }));
}

// Sends many bytes of its own after the first input.
class TalkativeChannel : public Channel {
 public:
  static constexpr std::size_t kReply = std::size_t{300} * 1024;

  auto Open(std::string_view wire, Buffer& plain, OutQueue& reply) -> ChannelStatus override {
    plain.Append(wire);
    reply.Append(std::string(std::exchange(left_, 0), 'x'));
    return ChannelStatus::kOpen;
  }
  [[nodiscard]] auto CanSeal() const noexcept -> bool override { return true; }
  void Seal(std::string_view plain, OutQueue& wire) override { wire.Append(plain); }
  void SealEnd(OutQueue& /*wire*/) override {}

 private:
  std::size_t left_ = kReply;
};

TEST(TalkativeChannelTest, PausesTheConnectionUntilTheClientHasRead) {
  static_assert(TalkativeChannel::kReply > Connection::kHighWater);
  bool was_paused = false;
  int calls = 0;
  const ConnectionCallbacks callbacks{
      [](Connection* connection) {
        const int small = 4096;  // so that the kernel takes few bytes
        ::setsockopt(connection->GetFd(), SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
        connection->SetChannel(std::make_unique<TalkativeChannel>());
      },
      [&was_paused, &calls](Connection* connection) {
        ++calls;
        connection->Recv();
        connection->ClearReadBuffer();
        was_paused = was_paused || connection->Paused();
      }};
  LoopThread loop;
  ConnectionId id{};
  Client client = loop.Connect(callbacks, &id);
  ASSERT_TRUE(client.Send("a"));
  ASSERT_TRUE(loop.Await([&calls] { return calls != 0; }));
  const auto is_paused = [&loop, id] { return loop.Get().Find(id)->Paused(); };
  EXPECT_TRUE(loop.Ask([&was_paused] { return was_paused; }));
  loop.RunRounds(10);
  EXPECT_TRUE(loop.Ask(is_paused));
  EXPECT_EQ(client.Receive(TalkativeChannel::kReply).size(), TalkativeChannel::kReply);
  EXPECT_TRUE(loop.Await([&is_paused] { return !is_paused(); }));
  client.FinishSending();
}

}  // namespace
}  // namespace TURTLE_SERVER
