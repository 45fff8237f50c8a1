#include "core/live.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/turtle_server.h"
#include "support/client.h"
#include "support/loop_thread.h"
#include "support/server_thread.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::LoopThread;
using test::ServerThread;

// Three loops, each on its thread.
class LiveTest : public testing::Test {
 protected:
  auto Loops() -> std::vector<Looper*> {
    return {&loops_[0].Get(), &loops_[1].Get(), &loops_[2].Get()};
  }

  // Returns each loop's value, read after everything that was posted to it.
  template <typename T>
  auto Values(const Live<T>& live) -> std::vector<T> {
    std::vector<T> values;
    for (LoopThread& loop : loops_) {
      loop.Ask([&] { values.push_back(live.Get(loop.Get())); });
    }
    return values;
  }

  std::array<LoopThread, 3> loops_;
};

TEST_F(LiveTest, EachLoopGetsTheNewOne) {
  Live<std::string> live(Loops(), "first");
  EXPECT_EQ(Values(live), std::vector<std::string>(3, "first"));
  live.Replace("second");
  EXPECT_EQ(Values(live), std::vector<std::string>(3, "second"));
  live.Replace("third");
  live.Replace("fourth");
  EXPECT_EQ(Values(live), std::vector<std::string>(3, "fourth"));
}

TEST_F(LiveTest, OnlyTheLoopChangesWhatItReads) {
  Live<std::string> live(Loops(), "old");
  loops_[1].WhileItStandsStill([&] {
    live.Replace("new");  // returns, though one of them is blocked
    loops_[0].Ask([&] { EXPECT_EQ(live.Get(loops_[0].Get()), "new"); });
    loops_[2].Ask([&] { EXPECT_EQ(live.Get(loops_[2].Get()), "new"); });
    EXPECT_EQ(live.Get(loops_[1].Get()), "old");
  });
  EXPECT_EQ(Values(live), std::vector<std::string>(3, "new"));
}

TEST_F(LiveTest, WithinATaskItStaysTheSame) {
  Live<std::string> live(Loops(), "old");
  loops_[0].Ask([&] {
    const std::string& value = live.Get(loops_[0].Get());
    live.Replace("new");
    EXPECT_EQ(live.Get(loops_[0].Get()), "old");
    EXPECT_EQ(value, "old");
  });
  EXPECT_EQ(Values(live), std::vector<std::string>(3, "new"));
}

TEST_F(LiveTest, TheOldOneGoesWithTheLastLoopThatHasIt) {
  auto told = std::make_shared<int>(1);
  const std::weak_ptr<int> old = told;
  Live<std::shared_ptr<int>> live(Loops(), std::move(told));
  loops_[2].WhileItStandsStill([&] {
    live.Replace(std::make_shared<int>(2));
    loops_[0].RunRounds(2);
    loops_[1].RunRounds(2);
    EXPECT_FALSE(old.expired()) << "a loop may be reading it";
  });
  loops_[2].RunRounds(2);
  EXPECT_TRUE(old.expired());
  for (const auto& value : Values(live)) {
    EXPECT_EQ(*value, 2);
  }
}

TEST_F(LiveTest, ThereIsOneValueForAll) {
  Live<std::vector<int>> live(Loops(), std::vector<int>(1000, 1));
  live.Replace(std::vector<int>(1000, 2));
  std::vector<const std::vector<int>*> where;
  for (LoopThread& loop : loops_) {
    loop.Ask([&] { where.push_back(&live.Get(loop.Get())); });
  }
  EXPECT_EQ((*where[0])[999], 2);
  EXPECT_EQ(where[0], where[1]);
  EXPECT_EQ(where[0], where[2]);
}

// There are other loops between the tested ones, so that two replacements have time to meet.
TEST_F(LiveTest, WhoeverReplacesLastAllLoopsAgree) {
  std::array<Looper, 60> others;  // never run
  std::vector<Looper*> all{&loops_[0].Get()};
  for (Looper& other : others) {
    all.push_back(&other);
  }
  all.insert(all.begin() + 30, &loops_[1].Get());
  all.push_back(&loops_[2].Get());
  Live<int> live(all, -1);
  for (int round = 0; round < 600; ++round) {
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&, i] {
        for (++ready; ready < 2;) {
          std::this_thread::yield();
        }
        live.Replace(2 * round + i);
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    const std::vector<int> values = Values(live);
    ASSERT_EQ(values[0] / 2, round);
    ASSERT_EQ(values[1], values[0]) << "in round " << round;
    ASSERT_EQ(values[2], values[0]) << "in round " << round;
  }
}

TEST_F(LiveTest, ItMayGoBeforeALoopHasGotToIt) {
  const auto second = std::make_shared<int>(2);
  loops_[1].WhileItStandsStill([&] {
    Live<std::shared_ptr<int>> live(Loops(), std::make_shared<int>(1));
    live.Replace(second);
    loops_[0].Ask([&] { EXPECT_EQ(*live.Get(loops_[0].Get()), 2); });
  });
  for (LoopThread& loop : loops_) {
    loop.RunRounds(2);
  }
  EXPECT_EQ(second.use_count(), 1);
}

TEST(Live, ALoopThatDoesNotRunYetGetsItWhenItBegins) {
  ServerOptions options;
  options.threads = 2;
  TurtleServer server(NetAddress("127.0.0.1", 0), options);
  Live<std::string> live(server.Loopers(), "old");
  server
      .OnAccept(
          [&](Connection* client) { client->WriteToWriteBuffer(live.Get(*client->GetLooper())); })
      .OnHandle([](Connection* client) {
        if (client->Recv().exit) {
          client->GetLooper()->DeleteConnection(client->GetFd());
        }
      });
  live.Replace("new");
  for (Looper* loop : server.Loopers()) {
    EXPECT_EQ(live.Get(*loop), "old");
  }
  const ServerThread thread(server);
  std::vector<Client> clients;
  for (int i = 0; i < 4; ++i) {  // even the first client that is accepted comes after it
    clients.emplace_back(server.LocalAddress().Port());
    EXPECT_EQ(clients.back().Receive(3), "new");
  }
}

// Its last connections may still be going, and read it.
TEST(Live, ALoopThatHasEndedKeepsWhatItHad) {
  Looper ended;
  LoopThread running;
  ended.Stop();
  ended.Loop();
  Live<std::string> live({&ended, &running.Get()}, "old");
  live.Replace("new");
  running.Ask([&] { EXPECT_EQ(live.Get(running.Get()), "new"); });
  EXPECT_EQ(live.Get(ended), "old");
}

}  // namespace
}  // namespace TURTLE_SERVER
