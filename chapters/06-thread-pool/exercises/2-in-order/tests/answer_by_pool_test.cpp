#include "core/answer_by_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "support/captured_stderr.h"
#include "support/client.h"
#include "support/loop_thread.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using test::Client;

// Long enough for a wrong line to be taken; a slow machine causes no failure.
constexpr milliseconds kAWhile{100};

std::atomic<std::thread::id> loop_thread{};  // no response may be made there

// A loop whose thread the gates know.
class WatchedLoop : public test::LoopThread {
 public:
  WatchedLoop() { loop_thread = ThreadId(); }
};

// Something that has not happened yet.
class Gate {
 public:
  ~Gate() { Open(); }
  void Open() {
    if (!open_.exchange(true)) {
      promise_.set_value();
    }
  }
  auto Wait(milliseconds limit = test::kPatience) const -> bool {
    if (std::this_thread::get_id() == loop_thread.load()) {
      ADD_FAILURE() << "the loop would wait for a response";
      return false;
    }
    return opened_.wait_for(limit) == std::future_status::ready;
  }

 private:
  std::atomic<bool> open_{false};
  std::promise<void> promise_;
  std::shared_future<void> opened_ = promise_.get_future().share();
};

TEST(AnswerByPool, EachLineIsAnsweredByAThreadOfThePool) {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  ThreadPool pool(3);
  pool.Start();
  const ConnectionCallbacks callbacks = AnswerByPool(pool, [&](const std::string& line) {
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
    return "<" + line + ">";
  });
  WatchedLoop loop;
  Client client = loop.Connect(callbacks);
  ASSERT_TRUE(client.Send("one\n\ntw"));
  EXPECT_EQ(client.Receive(7), "<one><>");
  ASSERT_TRUE(client.Send("o\n"));
  EXPECT_EQ(client.Receive(5), "<two>");
  const std::lock_guard lock(mutex);
  EXPECT_EQ(threads.count(loop.ThreadId()), 0U);
}

TEST(AnswerByPool, TheSecondMayBeReadyFirstAndLeavesSecond) {
  Gate second;
  std::atomic<bool> met{false};
  ThreadPool pool(2);
  pool.Start();
  const ConnectionCallbacks callbacks = AnswerByPool(pool, [&](const std::string& line) {
    if (line == "first") {
      met = second.Wait();
    } else if (line == "second") {
      second.Open();
    }
    return "<" + line + ">";
  });
  WatchedLoop loop;
  Client client = loop.Connect(callbacks);
  ASSERT_TRUE(client.Send("first\nsecond\nthird\n"));
  EXPECT_EQ(client.Receive(22), "<first><second><third>");
  EXPECT_TRUE(met) << "they are in work at once";
}

TEST(AnswerByPool, OthersAreAnsweredMeanwhile) {
  Gate slow;
  ThreadPool pool(2);
  pool.Start();
  const ConnectionCallbacks callbacks = AnswerByPool(pool, [&](const std::string& line) {
    if (line == "slow") {
      slow.Wait();
    }
    return "<" + line + ">";
  });
  WatchedLoop loop;
  Client client = loop.Connect(callbacks);
  ASSERT_TRUE(client.Send("slow\nquick\n"));
  Client other = loop.Connect(callbacks);
  ASSERT_TRUE(other.Send("quick\n"));
  EXPECT_EQ(other.Receive(7), "<quick>");
  slow.Open();
  EXPECT_EQ(client.Receive(13), "<slow><quick>");
}

TEST(AnswerByPool, AThousandLinesAreAnsweredInOrder) {
  ThreadPool pool(4);
  pool.Start();
  const ConnectionCallbacks callbacks =
      AnswerByPool(pool, [](const std::string& line) { return line + "\n"; });
  WatchedLoop loop;
  Client client = loop.Connect(callbacks);
  std::string lines;
  for (int i = 0; i < 1000; ++i) {
    lines += std::to_string(i) + "\n";
  }
  ASSERT_TRUE(client.Send(lines));
  client.FinishSending();
  EXPECT_EQ(client.ReceiveAll(), lines);
  EXPECT_TRUE(client.Ended());
}

TEST(AnswerByPool, AClientHasSoManyInWorkAndNoMore) {
  Gate gate;
  std::atomic<std::size_t> begun{0};
  ThreadPool pool(kMostInWork + 4);
  pool.Start();
  const ConnectionCallbacks callbacks = AnswerByPool(pool, [&](const std::string& line) {
    ++begun;
    gate.Wait();
    return "<" + line + ">";
  });
  WatchedLoop loop;
  Client client = loop.Connect(callbacks);
  std::string lines;
  std::string answers;
  for (int i = 0; i < 50; ++i) {
    lines += std::to_string(i) + "\n";
    answers += "<" + std::to_string(i) + ">";
  }
  ASSERT_TRUE(client.Send(lines));
  ASSERT_TRUE(loop.Await([&] { return begun >= kMostInWork; }));
  const Gate never;
  EXPECT_FALSE(never.Wait(kAWhile));
  EXPECT_EQ(begun, kMostInWork);
  gate.Open();
  EXPECT_EQ(client.Receive(answers.size()), answers);
}

// One that is ready counts as long as it waits for an earlier one.
TEST(AnswerByPool, AnAnswerThatWaitsForItsTurnIsInWork) {
  Gate first;
  std::atomic<std::size_t> begun{0};
  ThreadPool pool(2);
  pool.Start();
  const ConnectionCallbacks callbacks = AnswerByPool(pool, [&](const std::string& line) {
    ++begun;
    if (line == "0") {
      first.Wait();
    }
    return "<" + line + ">";
  });
  WatchedLoop loop;
  Client client = loop.Connect(callbacks);
  std::string lines;
  std::string answers;
  for (int i = 0; i < 50; ++i) {
    lines += std::to_string(i) + "\n";
    answers += "<" + std::to_string(i) + ">";
  }
  ASSERT_TRUE(client.Send(lines));
  ASSERT_TRUE(loop.Await([&] { return begun >= kMostInWork; }));
  const Gate never;
  EXPECT_FALSE(never.Wait(kAWhile));
  EXPECT_EQ(begun, kMostInWork);
  first.Open();
  EXPECT_EQ(client.Receive(answers.size()), answers);
}

TEST(AnswerByPool, AfterTheClientsEndAllIsAnsweredAndHalfALineIsNot) {
  Gate gate;
  ThreadPool pool(2);
  pool.Start();
  const ConnectionCallbacks callbacks = AnswerByPool(pool, [&](const std::string& line) {
    gate.Wait();
    return "<" + line + ">";
  });
  WatchedLoop loop;
  ConnectionId id{};
  Client client = loop.Connect(callbacks, &id);
  std::string lines;
  std::string answers;
  for (int i = 0; i < 50; ++i) {
    lines += std::to_string(i) + "\n";
    answers += "<" + std::to_string(i) + ">";
  }
  ASSERT_TRUE(client.Send(lines + "half"));
  client.FinishSending();
  loop.RunRounds(10);
  EXPECT_TRUE(loop.Ask([&] { return loop.Get().Find(id) != nullptr; }));
  gate.Open();
  EXPECT_EQ(client.ReceiveAll(), answers);
  EXPECT_TRUE(client.Ended());
}

TEST(AnswerByPool, WhoLeavesEarlyIsForgotten) {
  Gate gate;
  std::atomic<int> begun{0};
  ThreadPool pool(2);
  pool.Start();
  const ConnectionCallbacks callbacks = AnswerByPool(pool, [&](const std::string& line) {
    ++begun;
    if (line != "quick") {
      gate.Wait();
    }
    return "<" + line + ">";
  });
  WatchedLoop loop;
  ConnectionId id{};
  Client client = loop.Connect(callbacks, &id);
  ASSERT_TRUE(client.Send("one\ntwo\nthree\n"));
  ASSERT_TRUE(loop.Await([&] { return begun > 0; }));
  loop.Ask([&] {
    const Connection* connection = loop.Get().Find(id);
    ASSERT_NE(connection, nullptr);
    ASSERT_NE(connection->State(), nullptr) << "what is in work has to be kept somewhere";
  });
  client.Reset();
  ASSERT_TRUE(loop.Await([&] { return loop.Get().ConnectionCount() == 0; }));
  Client next = loop.Connect(callbacks);  // it may get the same number
  gate.Open();
  ASSERT_TRUE(next.Send("quick\n"));
  EXPECT_EQ(next.Receive(7), "<quick>");
}

TEST(AnswerByPool, WhatThrowsIsLoggedAndEndsTheConnectionInItsTurn) {
  const test::CapturedStderr captured;
  Gate bad;
  ThreadPool pool(2);
  pool.Start();
  const ConnectionCallbacks callbacks =
      AnswerByPool(pool, [&](const std::string& line) -> std::string {
        if (line == "one") {
          bad.Wait();
        } else if (line == "bad") {
          bad.Open();
          throw std::runtime_error("no answer to that");
        }
        return "<" + line + ">";
      });
  WatchedLoop loop;
  Client client = loop.Connect(callbacks);
  ASSERT_TRUE(client.Send("one\nbad\ntwo\n"));
  EXPECT_EQ(client.ReceiveAll(), "<one>");
  Client other = loop.Connect(callbacks);
  ASSERT_TRUE(other.Send("three\n"));
  EXPECT_EQ(other.Receive(7), "<three>");
  pool.Stop();
  EXPECT_NE(captured.Text().find("no answer to that"), std::string::npos) << captured.Text();
}

TEST(AnswerByPool, WithoutAPoolAClientIsLetGo) {
  ThreadPool pool(1);
  pool.Start();
  const ConnectionCallbacks callbacks =
      AnswerByPool(pool, [](const std::string& line) { return line; });
  WatchedLoop loop;
  pool.Stop();
  Client client = loop.Connect(callbacks);
  ASSERT_TRUE(client.Send("hello\n"));
  EXPECT_EQ(client.Receive(1), "");
  EXPECT_TRUE(client.Ended() || client.WasReset());
}

TEST(AnswerByPool, TheLoopMayEndBeforeThePool) {
  Gate gate;
  std::atomic<int> begun{0};
  std::atomic<int> answered{0};
  ThreadPool pool(1);
  pool.Start();
  {
    const ConnectionCallbacks callbacks = AnswerByPool(pool, [&](const std::string& line) {
      ++begun;
      gate.Wait();
      ++answered;
      return line;
    });
    std::optional<WatchedLoop> loop(std::in_place);
    ConnectionId id{};
    Client client = loop->Connect(callbacks, &id);
    ASSERT_TRUE(client.Send("one\ntwo\n"));
    ASSERT_TRUE(loop->Await([&] { return begun > 0; }));
    loop->Ask([&] {
      const Connection* connection = loop->Get().Find(id);
      ASSERT_NE(connection, nullptr);
      EXPECT_NE(connection->State(), nullptr);
    });
    client.Reset();
    loop.reset();
  }
  gate.Open();
  pool.Stop();
  EXPECT_EQ(answered, 2) << "what was accepted is run, and nobody waits for it";
}

}  // namespace
}  // namespace TURTLE_SERVER
