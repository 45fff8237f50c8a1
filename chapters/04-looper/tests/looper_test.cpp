// The loop itself: how it begins and ends.
#include "core/looper.h"

#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <thread>

#include "core/wakeup.h"
#include "support/client.h"
#include "support/loop_thread.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::LoopThread;

TEST(Looper, StoppedBeforeItBeginsItEndsAtOnce) {
  int called = 0;
  Wakeup event;
  event.Signal();
  Looper looper;
  looper.Watch(event.Fd(), Interest::kRead, [&](const PollEvent&) { ++called; });
  looper.Stop();
  looper.Loop();
  EXPECT_EQ(called, 0);
}

TEST(Looper, StopFromItsOwnThreadEndsIt) {
  LoopThread loop;
  loop.Ask([&loop] { loop.Get().Stop(); });
  loop.Join();  // fails after ten seconds
}

TEST(Looper, StopFromAnotherThreadWakesIt) {
  LoopThread loop;
  loop.RunRounds(1);  // it runs, and will soon sleep
  loop.Get().Stop();
  loop.Join();  // fails after ten seconds
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
