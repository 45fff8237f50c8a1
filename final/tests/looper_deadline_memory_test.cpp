// Deadlines pass, last bytes are sent and the loop ends, with or without memory.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "core/looper.h"
#include "support/captured_stderr.h"
#include "support/client.h"
#include "support/failing_new.h"
#include "support/loop_thread.h"
#include "support/manual_clock.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::seconds;
using test::Client;
using test::FailAllocations;
using test::LoopThread;
using test::ManualClock;
using test::StopFailing;

constexpr std::size_t kAll = 1'000'000;
constexpr int kClients = 50;

void Nothing(Connection* connection) { connection->Recv(); }

auto ConnectAll(LoopThread& loop, const ConnectionCallbacks& callbacks) -> std::vector<Client> {
  std::vector<Client> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(loop.Connect(callbacks));
  }
  return clients;
}

void SetAll(LoopThread& loop, TimePoint when) {
  loop.Get().ForEachConnection(
      [&](Connection* connection) { loop.Get().SetDeadline(connection, when); });
}

TEST(LooperDeadlineMemory, AllDeadlinesPassWithoutMemory) {
  const ConnectionCallbacks callbacks{{}, Nothing};
  ManualClock clock;
  LoopThread loop(clock.Source());
  std::vector<Client> clients = ConnectAll(loop, callbacks);
  loop.Ask([&] {
    SetAll(loop, clock.Now() + seconds(1));
    FailAllocations(1, kAll);
  });
  clock.Advance(seconds(2), loop);
  EXPECT_TRUE(loop.Await([&] { return loop.Get().ConnectionCount() == 0; }));
  loop.Ask([] { StopFailing(); });
}

TEST(LooperDeadlineMemory, DeadlinesThatWereMovedPassWithoutMemory) {
  const test::CapturedStderr errors;
  const ConnectionCallbacks callbacks{{}, Nothing};
  ManualClock clock;
  LoopThread loop(clock.Source());
  std::vector<Client> clients = ConnectAll(loop, callbacks);
  loop.Ask([&] {
    SetAll(loop, clock.Now() + seconds(1));
    SetAll(loop, clock.Now() + seconds(10));  // a store: the reminders stay as they are
  });
  loop.Ask([] { FailAllocations(1, kAll); });
  clock.Advance(seconds(2), loop);
  clock.Advance(seconds(20), loop);
  EXPECT_TRUE(loop.Await([&] { return loop.Get().ConnectionCount() == 0; }));
  loop.Ask([] { StopFailing(); });
}

TEST(LooperDeadlineMemory, LastWordsThatThereIsNoMemoryForCostNobodyElseTheirs) {
  const test::CapturedStderr errors;
  const std::string words(std::size_t{4} * 1024 * 1024, 'w');
  const ConnectionCallbacks callbacks{{}, [&](Connection* connection) {
                                        if (connection->Recv().read == 0) {
                                          return;
                                        }
                                        connection->WriteToWriteBuffer(words);
                                        FailAllocations(1, kAll);
                                        connection->GetLooper()->DeleteConnection(
                                            connection->GetFd(), Closing::kLinger);
                                      }};
  LoopThread loop;
  Client unlucky = loop.Connect(callbacks);
  ASSERT_TRUE(unlucky.Send("speak"));
  const std::string said = unlucky.ReceiveAll();
  EXPECT_EQ(said, words.substr(0, said.size()));
  loop.Ask([] { StopFailing(); });
  EXPECT_TRUE(loop.Await([&] { return loop.Get().ConnectionCount() == 0; }));
}

TEST(LooperDeadlineMemory, ALoopIsStoppedWithoutMemory) {
  int told = 0;
  const ConnectionCallbacks callbacks{
      {}, Nothing, {}, [&](Connection* connection) {
        ++told;
        connection->GetLooper()->DeleteConnection(connection->GetFd());
      }};
  LoopThread loop;
  std::vector<Client> clients = ConnectAll(loop, callbacks);
  loop.Ask([&] {
    FailAllocations(1, kAll);
    loop.Get().Stop();
  });
  for (Client& client : clients) {
    EXPECT_EQ(client.ReceiveAll(), "");
    EXPECT_TRUE(client.Ended());
  }
  loop.Join();
  EXPECT_EQ(told, kClients);
}

}  // namespace
}  // namespace TURTLE_SERVER
