#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/opener.h"
#include "core/looper.h"
#include "core/socket.h"

namespace TURTLE_SERVER {
namespace {

// Connects to a socket that listens and never accepts.
class OpenerTest : public testing::Test {
 protected:
  OpenerTest() {
    listener_.Bind(NetAddress("127.0.0.1", 0));
    listener_.Listen();
    plan_.server = listener_.LocalAddress();
    plan_.timeout = std::chrono::milliseconds(10'000);
    looper_.RunAfter(std::chrono::seconds(10), [this] { looper_.Stop(); });
  }

  auto MakeOpener() -> Opener {
    return Opener(looper_, round_, plan_, shared_, measured_, [](const std::string&) {},
                  {[this](std::uint32_t client) { begun_.insert(client); },
                   [this](std::uint32_t, Opened opened) {
                     sockets_.push_back(std::move(opened.socket));
                     if (sockets_.size() == enough_) {
                       looper_.Stop();
                     }
                   },
                   [](std::uint32_t) {}});
  }

  Socket listener_;
  WorkerPlan plan_;
  SharedRun shared_;
  Measurements measured_;
  Looper looper_;
  Opener* opener_ = nullptr;
  RoundTask round_{looper_, [this] { opener_->Run(); }};
  std::set<std::uint32_t> begun_;
  std::vector<UniqueFd> sockets_;
  std::size_t enough_ = 0;
};

TEST_F(OpenerTest, OpensAllClientsOnce) {
  plan_.connections = 300;  // more than in one round
  enough_ = 300;
  Opener opener = MakeOpener();
  opener_ = &opener;
  opener.Start();
  looper_.Loop();
  EXPECT_EQ(begun_.size(), 300U);
  EXPECT_EQ(sockets_.size(), 300U);
  EXPECT_EQ(measured_.tally.connections.Get(), 300U);
  EXPECT_TRUE(shared_.reached);
}

TEST_F(OpenerTest, ARoundHasSoManySpareDescriptors) {
  plan_.connections = 4;
  plan_.spare = 2;
  Opener opener = MakeOpener();
  opener_ = &opener;
  EXPECT_TRUE(opener.TakeSpare());
  EXPECT_TRUE(opener.TakeSpare());
  EXPECT_FALSE(opener.TakeSpare());
  opener.Run();
  EXPECT_TRUE(opener.TakeSpare()) << "the next round has closed what the last one has done with";
}

TEST_F(OpenerTest, WhoFindsNoSpareIsOpenedInTheNextRound) {
  plan_.connections = 4;
  enough_ = 1;
  Opener opener = MakeOpener();
  opener_ = &opener;
  EXPECT_FALSE(opener.TakeSpare());
  opener.Queue(3);
  EXPECT_TRUE(begun_.empty());
  looper_.Loop();
  EXPECT_EQ(begun_, std::set<std::uint32_t>{3});
}

TEST_F(OpenerTest, OnlySoManyHeldOnesWaitAtATime) {
  plan_.mode = LoadMode::kIdle;
  plan_.connections = 300;
  Opener opener = MakeOpener();
  opener_ = &opener;
  opener.Start();
  opener.Run();
  opener.Run();
  EXPECT_EQ(begun_.size(), 256U);
  opener.Settled();
  opener.Run();
  EXPECT_EQ(begun_.size(), 257U);
}

}  // namespace
}  // namespace TURTLE_SERVER
