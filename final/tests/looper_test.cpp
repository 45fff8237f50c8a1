// The loop itself: how it begins, runs tasks, and ends.
#include "core/looper.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/captured_stderr.h"
#include "support/client.h"
#include "support/loop_thread.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::LoopThread;

TEST(Looper, StoppedBeforeItBeginsItEndsAtOnce) {
  Looper looper;
  looper.Stop();
  looper.Loop();
  EXPECT_FALSE(looper.Post([] {}));
}

TEST(Looper, RunsWhatWasPostedBeforeItEnded) {
  std::vector<int> ran;
  Looper looper;
  ASSERT_TRUE(looper.Post([&] { ran.push_back(1); }));
  ASSERT_TRUE(looper.Post([&] { ran.push_back(2); }));
  looper.Stop();
  looper.Loop();
  EXPECT_EQ(ran, (std::vector<int>{1, 2}));
}

TEST(Looper, DestroysATaskThatComesTooLate) {
  auto looper = std::make_unique<Looper>();
  const std::shared_ptr<Mailbox> mailbox = looper->GetMailbox();
  looper->Stop();
  looper->Loop();
  const auto witness = std::make_shared<int>(0);
  EXPECT_FALSE(looper->Post([witness] { ++*witness; }));
  looper.reset();
  EXPECT_FALSE(mailbox->Post([witness] { ++*witness; })) << "a mailbox outlives its loop";
  EXPECT_EQ(*witness, 0);
  EXPECT_EQ(witness.use_count(), 1);
}

TEST(Looper, ALoopThatNeverRanRunsItsTasksInTheEnd) {
  int ran = 0;
  {
    ASSERT_TRUE(Looper().Post([&ran] { ++ran; }));
  }
  EXPECT_EQ(ran, 1);
}

TEST(Looper, RunsTheTasksOfOtherThreadsOnItsOwn) {
  constexpr int kPosts = 500;
  std::vector<std::vector<int>> ran(3);
  int elsewhere = 0;
  LoopThread loop;
  std::vector<std::thread> threads;
  for (std::size_t number = 0; number < ran.size(); ++number) {
    threads.emplace_back([&, number] {
      for (int i = 0; i < kPosts; ++i) {
        EXPECT_TRUE(loop.Get().Post([&, number, i] {
          ran[number].push_back(i);
          elsewhere += std::this_thread::get_id() == loop.ThreadId() ? 0 : 1;
        }));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  loop.Ask([&] {
    EXPECT_EQ(elsewhere, 0);
    for (const std::vector<int>& order : ran) {
      ASSERT_EQ(order.size(), std::size_t{kPosts});
      for (int i = 0; i < kPosts; ++i) {
        EXPECT_EQ(order[i], i);
      }
    }
  });
}

TEST(Looper, ATaskMayPostAndItsTaskRunsToo) {
  std::promise<void> ran;
  LoopThread loop;
  loop.Ask([&] { EXPECT_TRUE(loop.Get().Post([&ran] { ran.set_value(); })); });
  EXPECT_EQ(ran.get_future().wait_for(test::kPatience), std::future_status::ready);
}

TEST(Looper, ATaskThatThrowsIsLoggedAndTheLoopLives) {
  const test::CapturedStderr captured;
  LoopThread loop;
  ASSERT_TRUE(loop.Get().Post([] { throw std::runtime_error("no such luck"); }));
  ASSERT_TRUE(loop.Get().Post([] { throw 42; }));
  loop.RunRounds(1);
  EXPECT_NE(captured.Text().find("no such luck"), std::string::npos) << captured.Text();
  EXPECT_NE(captured.Text().find("no std::exception"), std::string::npos) << captured.Text();
}

TEST(Looper, StopFromItsOwnThreadEndsIt) {
  Looper looper;
  ASSERT_TRUE(looper.Post([&looper] { looper.Stop(); }));
  looper.Loop();
  EXPECT_FALSE(looper.Post([] {}));
}

TEST(Looper, StopFromAnotherThreadWakesIt) {
  LoopThread loop;
  loop.RunRounds(1);  // it runs, and will soon sleep
  loop.Get().Stop();
  loop.Join();
  EXPECT_FALSE(loop.Get().Post([] {}));
}

Looper* to_stop = nullptr;

TEST(Looper, StopFromASignalHandlerEndsIt) {
  LoopThread loop;
  loop.RunRounds(1);
  to_stop = &loop.Get();
  const auto before = std::signal(SIGUSR1, [](int) { to_stop->Stop(); });
  std::raise(SIGUSR1);
  loop.Join();
  std::signal(SIGUSR1, before);
  EXPECT_FALSE(loop.Get().Post([] {}));
}

TEST(Looper, TellsItsClientsWhenItEnds) {
  const ConnectionCallbacks callbacks{
      [](Connection* connection) { connection->WriteToWriteBuffer("welcome"); },
      [](Connection*) {}};
  LoopThread loop;
  Client client = loop.Connect(callbacks);
  EXPECT_EQ(client.Receive(7), "welcome");
  loop.Get().Stop();
  EXPECT_EQ(client.ReceiveAll(), "");
  EXPECT_TRUE(client.Ended());
  loop.Join();
  EXPECT_EQ(loop.Get().ConnectionCount(), 0U);
}

// The bytes that the last task queued have not reached the kernel yet.
TEST(Looper, FlushesWhatIsQueuedWhenItEnds) {
  const ConnectionCallbacks callbacks{{}, [](Connection*) {}};
  LoopThread loop;
  ConnectionId id{};
  Client client = loop.Connect(callbacks, &id);
  loop.Ask([&] {
    loop.Get().Find(id)->WriteToWriteBuffer("the last words");
    loop.Get().Stop();
  });
  EXPECT_EQ(client.ReceiveAll(), "the last words");
  EXPECT_TRUE(client.Ended());
}

struct Witness : ConnectionState {
  explicit Witness(std::thread::id& destroyer) : destroyer_(destroyer) {}
  ~Witness() override { destroyer_ = std::this_thread::get_id(); }

  std::thread::id& destroyer_;
};

TEST(Looper, DestroysTheStatesOfItsConnectionsOnItsThread) {
  std::thread::id destroyer;
  const ConnectionCallbacks callbacks{[&destroyer](Connection* connection) {
                                        connection->SetState(std::make_unique<Witness>(destroyer));
                                      },
                                      [](Connection*) {}};
  LoopThread loop;
  const std::thread::id thread = loop.ThreadId();
  const Client client = loop.Connect(callbacks);
  loop.Get().Stop();
  loop.Join();
  EXPECT_EQ(destroyer, thread);
}

TEST(Looper, CountsItsConnectionsForAnyThread) {
  const ConnectionCallbacks callbacks{
      {}, [](Connection* connection) {
        if (connection->Recv().exit) {
          connection->GetLooper()->DeleteConnection(connection->GetFd());
        }
      }};
  LoopThread loop;
  EXPECT_EQ(loop.Get().ConnectionCount(), 0U);
  Client stays = loop.Connect(callbacks);
  {
    const Client leaves = loop.Connect(callbacks);
    EXPECT_EQ(loop.Get().ConnectionCount(), 2U);
  }
  EXPECT_TRUE(loop.Await([&loop] { return loop.Get().ConnectionCount() == 1; }));
}

}  // namespace
}  // namespace TURTLE_SERVER
