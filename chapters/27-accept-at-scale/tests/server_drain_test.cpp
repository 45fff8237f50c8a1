// The phases of a drain, on a clock that the test turns.
#include "core/server_drain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "support/busy.h"
#include "support/gate.h"
#include "support/manual_clock.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Await;
using test::Busy;

class ServerDrainTest : public testing::Test {
 protected:
  ServerDrainTest() {
    options_.stop_timeout = seconds(10);
    options_.last_chance = seconds(2);
    // A connection that stays until it is dropped.
    callbacks_.on_handle = [](Connection*) {};
    callbacks_.on_stop = [this](Connection*) { ++told_; };
  }

  ~ServerDrainTest() override {
    drain_->Stop();
    Advance(2 * kForever);
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }

  void MakeLoops(std::size_t count) {
    while (loopers_.size() < count) {
      loopers_.push_back(std::make_unique<Looper>(clock_.Source()));
      loopers_.back()->SetStopTimeout(options_.stop_timeout);
    }
    acceptors_.resize(count);
    drain_ = std::make_unique<ServerDrain>(options_, loopers_, acceptors_);
  }

  // Runs the loops as a TurtleServer does.
  void Run() {
    loopers_.front()->AtStop([this] {
      std::for_each(loopers_.begin() + 1, loopers_.end(), [](auto& looper) { looper->Stop(); });
    });
    for (std::size_t i = 0; i < loopers_.size(); ++i) {
      threads_.emplace_back([this, i] {
        loopers_[i]->Loop();
        last_ = i;
        if (i != 0) {
          drain_->OtherEnded();
        }
        ++ended_;
      });
    }
  }

  void Connect(std::size_t loop) {
    test::TcpPair pair = test::MakeTcpPair();
    clients_.push_back(std::move(pair.client));
    loopers_[loop]->AddConnection(pair.server.Release(), callbacks_);
  }

  // Lets the loop do everything that is due now.
  void RunRounds(std::size_t loop) {
    // The first round has ended when the second runs. A loop that stops runs tasks before it
    // notifies its connections.
    for (int i = 0; i < 3; ++i) {
      const Busy round(*loopers_[loop]);
    }
  }

  // Turns the clock, and wakes the loops, which sleep by another clock.
  void Advance(Clock::duration by) {
    clock_.Advance(by);
    for (const std::unique_ptr<Looper>& looper : loopers_) {
      static_cast<void>(looper->Post([] {}));
    }
  }

  [[nodiscard]] auto Ended(std::size_t count) const -> bool {
    return Await([this, count] { return ended_ == count; });
  }

  test::ManualClock clock_;
  ServerOptions options_;
  ConnectionCallbacks callbacks_;
  std::vector<std::unique_ptr<Looper>> loopers_;
  ServerDrain::Acceptors acceptors_;
  std::unique_ptr<ServerDrain> drain_;
  std::vector<test::Client> clients_;
  std::atomic<std::size_t> told_{0};  // connections that learned of the loop's end
  std::atomic<std::size_t> ended_{0};
  std::atomic<std::size_t> last_{0};  // the loop that ended last
  std::vector<std::thread> threads_;
};

TEST_F(ServerDrainTest, TheFirstCallDecides) {
  MakeLoops(1);
  EXPECT_EQ(drain_->GetEnding(), Ending::kNotYet);
  EXPECT_FALSE(drain_->IsLeaving());
  drain_->Begin(ListenQueue::kHandedOver);
  drain_->Stop();
  drain_->Begin(ListenQueue::kOurs);
  EXPECT_EQ(drain_->GetEnding(), Ending::kHandOver);
  EXPECT_TRUE(drain_->IsLeaving());
  EXPECT_TRUE(drain_->Draining());

  ServerDrain stopped(options_, loopers_, acceptors_);
  stopped.Stop();
  stopped.Begin(ListenQueue::kOurs);
  EXPECT_EQ(stopped.GetEnding(), Ending::kStop);
  EXPECT_FALSE(stopped.Draining());
}

TEST_F(ServerDrainTest, LoopsWithoutConnectionsEndAtOnceAndTheFirstIsTheLast) {
  options_.last_chance = options_.stop_timeout = hours(100);
  MakeLoops(3);
  drain_->Begin(ListenQueue::kOurs);
  Run();
  EXPECT_TRUE(Await([this] {
    Advance(milliseconds(1));  // the first loop checks now and then
    return ended_ == 3;
  }));
  EXPECT_EQ(last_, 0U);
}

TEST_F(ServerDrainTest, AConnectionKeepsItsLoopForTheLastChanceAndTheRestOfTheStopTimeout) {
  MakeLoops(1);
  Connect(0);
  Run();
  drain_->Begin(ListenQueue::kOurs);
  RunRounds(0);
  Advance(milliseconds(1999));
  RunRounds(0);
  EXPECT_EQ(told_, 0U);
  Advance(milliseconds(10));  // that is how often it checks
  ASSERT_TRUE(Await([this] { return told_ == 1; }));
  Advance(milliseconds(7990));
  RunRounds(0);
  EXPECT_EQ(ended_, 0U);
  Advance(milliseconds(11));
  EXPECT_TRUE(Ended(1));
}

TEST_F(ServerDrainTest, NothingChangesDuringTheDrainTime) {
  options_.drain_time = hours(1);
  MakeLoops(1);
  drain_->Begin(ListenQueue::kOurs);
  Run();
  RunRounds(0);
  Advance(milliseconds(3'599'999));
  RunRounds(0);
  EXPECT_EQ(ended_, 0U);
  Advance(milliseconds(1));
  EXPECT_TRUE(Ended(1));
}

TEST_F(ServerDrainTest, AHandOverHasNoDrainTime) {
  options_.drain_time = hours(1);
  MakeLoops(1);
  drain_->Begin(ListenQueue::kHandedOver);
  Run();
  EXPECT_TRUE(Ended(1));
}

// The first loop stops it between two of its checks, when the last chance is over.
TEST_F(ServerDrainTest, ALoopThatTheFirstStopsHasTheRestOfTheStopTimeoutAndNoMore) {
  MakeLoops(2);
  Connect(1);
  Run();
  drain_->Begin(ListenQueue::kOurs);
  RunRounds(0);
  RunRounds(1);
  {
    const Busy busy(*loopers_[0]);
    Advance(milliseconds(1995));
    RunRounds(1);  // it checks now, and not again before 2005
    Advance(milliseconds(5));
  }
  ASSERT_TRUE(Ended(1));
  ASSERT_TRUE(Await([this] { return told_ == 1; }));
  Advance(milliseconds(8005));
  EXPECT_TRUE(Ended(2)) << "it has another whole stop timeout";
}

TEST_F(ServerDrainTest, ALastChanceThatNeverEndsIsNotOverAtOnce) {
  options_.last_chance = options_.stop_timeout = milliseconds::max();
  MakeLoops(1);
  Connect(0);
  Run();
  drain_->Begin(ListenQueue::kOurs);
  RunRounds(0);
  EXPECT_EQ(told_, 0U);
}

// As in a server whose Begin() has failed.
TEST_F(ServerDrainTest, LoopsThatNeverRanMayOutliveADrainThatHadBegun) {
  MakeLoops(1);
  auto drain = std::make_unique<ServerDrain>(options_, loopers_, acceptors_);
  drain->Begin(ListenQueue::kOurs);
  drain.reset();
  Run();
  RunRounds(0);
  EXPECT_EQ(ended_, 0U);
}

}  // namespace
}  // namespace TURTLE_SERVER
