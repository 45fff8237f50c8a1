// How a loop ends: it notifies every connection, and gives each a limited time to finish.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/looper.h"
#include "support/captured_stderr.h"
#include "support/client.h"
#include "support/loop_thread.h"
#include "support/manual_clock.h"
#include "support/pattern.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Client;
using test::LoopThread;
using test::ManualClock;
using test::Pattern;
using test::TcpPair;

void Delete(Connection* connection) {
  connection->GetLooper()->DeleteConnection(connection->GetFd());
}

// Continues after the loop is asked to end, until the client has sent something once more.
void UntilTheNextWord(Connection* connection) {
  if (connection->Recv().read != 0) {
    connection->ClearReadBuffer();
    connection->WriteToWriteBuffer("done");
    if (connection->GetLooper()->Stopping()) {
      Delete(connection);
    }
  }
}

void Stay(Connection*) {}

TEST(LooperStop, ItsTasksComeBeforeTheConnectionsLearnOfIt) {
  std::string order;
  std::thread::id thread;
  const ConnectionCallbacks callbacks{{}, Stay, {}, [&](Connection* connection) {
                                        order += 'c';
                                        Delete(connection);
                                      }};
  LoopThread loop;
  const std::thread::id loop_thread = loop.ThreadId();
  loop.Ask([&] {
    EXPECT_FALSE(loop.Get().Stopping());
    loop.Get().AtStop([&] {
      order += 'a';
      thread = std::this_thread::get_id();
      EXPECT_TRUE(loop.Get().Stopping());
    });
    loop.Get().AtStop([&] { order += 'b'; });
  });
  const Client client = loop.Connect(callbacks);
  loop.Get().Stop();
  loop.Get().Stop();  // like a user who presses ^C twice
  loop.Join();
  EXPECT_EQ(order, "abc");
  EXPECT_EQ(thread, loop_thread);
}

TEST(LooperStop, AConnectionMayFinishWhatItBegan) {
  const ConnectionCallbacks callbacks{{}, UntilTheNextWord, {}, [](Connection* connection) {
                                        connection->WriteToWriteBuffer("hurry");
                                        connection->Send();
                                      }};
  LoopThread loop;
  Client client = loop.Connect(callbacks);
  loop.Get().Stop();
  EXPECT_EQ(client.Receive(5), "hurry");
  loop.RunRounds(3);  // it still runs
  ASSERT_TRUE(client.Send("my last word"));
  EXPECT_EQ(client.ReceiveAll(), "done");
  EXPECT_TRUE(client.Ended());
  loop.Join();
}

TEST(LooperStop, WorkThatIsHeldIsWaitedForWithinTheStopTimeout) {
  ManualClock clock;
  LoopThread loop(clock.Source());
  loop.Ask([&] {
    loop.Get().Hold();
    loop.Get().Hold();
  });
  loop.Get().Stop();
  loop.Ask([&] { loop.Get().Release(); });
  loop.RunRounds(3);  // it still runs
  EXPECT_TRUE(loop.Get().Post([&] { loop.Get().Release(); }));
  loop.Join();

  LoopThread other(clock.Source());
  other.Ask([&] {
    other.Get().Hold();
    other.Get().SetStopTimeout(seconds(3));
  });
  other.Get().Stop();
  ASSERT_TRUE(other.Await([&] { return other.Get().Stopping(); }));
  clock.Advance(milliseconds(2999), other);  // fails if the loop has ended
  clock.Advance(milliseconds(1));
  static_cast<void>(other.Get().Post([] {}));  // wakes it; it may wake by itself and end before
  other.Join();
}

TEST(LooperStop, ALargeReplyUnderWayArrives) {
  const std::string reply = Pattern(std::size_t{8} * 1024 * 1024);
  const ConnectionCallbacks callbacks{
      [&](Connection* connection) { connection->WriteToWriteBuffer(reply); }, Stay};
  LoopThread loop;
  Client client = loop.Connect(callbacks);
  std::string received = client.Receive(1);
  loop.Get().Stop();
  received += client.ReceiveAll();
  EXPECT_TRUE(received == reply) << received.size() << " bytes";
  EXPECT_TRUE(client.Ended());
  loop.Join();
}

TEST(LooperStop, AfterTheStopTimeoutItEndsAnyway) {
  ManualClock clock;
  const ConnectionCallbacks callbacks{{}, Stay, {}, Stay};
  LoopThread loop(clock.Source());
  loop.Ask([&] { loop.Get().SetStopTimeout(seconds(3)); });
  Client client = loop.Connect(callbacks);
  loop.Get().Stop();
  ASSERT_TRUE(loop.Await([&] { return loop.Get().Stopping(); }));
  clock.Advance(milliseconds(2999), loop);  // fails if the loop has ended
  EXPECT_EQ(loop.Get().ConnectionCount(), 1U);
  clock.Advance(milliseconds(1));
  static_cast<void>(loop.Get().Post([] {}));  // wakes it; it may wake by itself and end before
  loop.Join();
  EXPECT_EQ(loop.Get().ConnectionCount(), 0U);
  client.ReceiveAll();
  EXPECT_TRUE(client.Ended());
}

// It used to serve the whole round: with many connections and slow handlers, the loop ended long
// after its time.
TEST(LooperStop, InTheMiddleOfARoundTheStopTimeoutEndsTheServing) {
  ManualClock clock;
  int served = 0;
  ConnectionCallbacks callbacks;
  callbacks.on_handle = [&](Connection* connection) {
    if (connection->GetLooper()->Stopping()) {
      ++served;
      connection->WriteToWriteBuffer("last words");
      clock.Advance(seconds(3));
    }
  };
  callbacks.on_stop = [](Connection* connection) { connection->GetLooper()->Schedule(connection); };
  LoopThread loop(clock.Source());
  loop.Ask([&] { loop.Get().SetStopTimeout(seconds(5)); });
  std::vector<Client> clients;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(loop.Connect(callbacks));
  }
  loop.RunRounds(2);  // nobody is listed any more
  loop.Get().Stop();
  loop.Join();
  EXPECT_EQ(served, 2);
  EXPECT_EQ(loop.Get().ConnectionCount(), 0U);
  int told = 0;
  for (Client& client : clients) {
    told += client.ReceiveAll() == "last words" ? 1 : 0;
    EXPECT_TRUE(client.Ended());
  }
  EXPECT_EQ(told, 2);
}

// Uses the real clock, and nothing else that would wake the loop.
TEST(LooperStop, TheLoopWakesUpForTheStopTimeout) {
  const ConnectionCallbacks callbacks{{}, Stay, {}, Stay};
  LoopThread loop;
  loop.Ask([&] { loop.Get().SetStopTimeout(milliseconds(30)); });
  const Client client = loop.Connect(callbacks);
  loop.Get().Stop();
  loop.Join();  // fails after ten seconds
  EXPECT_EQ(loop.Get().ConnectionCount(), 0U);
}

TEST(LooperStop, WithoutAStopTimeoutNobodyIsWaitedFor) {
  ManualClock clock;  // stands still: not even a millisecond passes
  const ConnectionCallbacks callbacks{{}, Stay, {}, Stay};
  LoopThread loop(clock.Source());
  loop.Ask([&] { loop.Get().SetStopTimeout(seconds(0)); });
  const Client client = loop.Connect(callbacks);
  loop.Get().Stop();
  loop.Join();
  EXPECT_EQ(loop.Get().ConnectionCount(), 0U);
}

TEST(LooperStop, BeforeItBeginsItDoesJustThat) {
  std::string order;
  const ConnectionCallbacks callbacks{[&](Connection* connection) {
                                        order += 'a';
                                        connection->WriteToWriteBuffer("welcome");
                                      },
                                      Stay,
                                      {},
                                      [&](Connection* connection) {
                                        order += 's';
                                        connection->WriteToWriteBuffer(" and goodbye");
                                        Delete(connection);
                                      }};
  TcpPair pair = test::MakeTcpPair();
  Looper looper;
  looper.AtStop([&] { order += 't'; });
  looper.AddConnection(pair.server.Release(), callbacks);
  looper.Stop();
  looper.Loop();
  EXPECT_EQ(order, "ats");
  EXPECT_EQ(pair.client.ReceiveAll(), "welcome and goodbye");
  EXPECT_TRUE(pair.client.Ended());
}

// Another thread has accepted a client and handed it over when the loop is asked to end. Its
// response is longer than one send takes.
TEST(LooperStop, AClientOnItsWayIsAClient) {
  const std::string reply = Pattern(std::size_t{8} * 1024 * 1024);
  int stopped = 0;
  const ConnectionCallbacks callbacks{
      [&](Connection* connection) { connection->WriteToWriteBuffer(reply); },
      Stay,
      {},
      [&](Connection* connection) {
        ++stopped;
        Delete(connection);
      }};
  TcpPair pair = test::MakeTcpPair();
  std::string received;
  std::thread reader([&] { received = pair.client.ReceiveAll(); });
  Looper looper;
  EXPECT_TRUE(looper.Post([&] { looper.AddConnection(pair.server.Release(), callbacks); }));
  looper.Stop();
  looper.Loop();
  reader.join();
  EXPECT_EQ(stopped, 1);
  EXPECT_TRUE(received == reply) << received.size() << " bytes";
  EXPECT_TRUE(pair.client.Ended());
}

// The stop timeout begins when the loop does, not when it was made. The goodbye takes two rounds.
TEST(LooperStop, TheTimeBeforeTheLoopIsNoPartOfTheStopTimeout) {
  ManualClock clock;
  const ConnectionCallbacks callbacks{{}, Stay, {}, [](Connection* connection) {
                                        Looper* looper = connection->GetLooper();
                                        looper->RunAfter(seconds(0), [looper, connection] {
                                          looper->RunAfter(seconds(0), [connection] {
                                            connection->WriteToWriteBuffer("goodbye");
                                            Delete(connection);
                                          });
                                        });
                                      }};
  TcpPair pair = test::MakeTcpPair();
  Looper looper(clock.Source());
  looper.AddConnection(pair.server.Release(), callbacks);
  clock.Advance(seconds(3600));
  looper.Stop();
  looper.Loop();
  EXPECT_EQ(pair.client.ReceiveAll(), "goodbye");
}

TEST(LooperStop, AClientThatComesMeanwhileIsToldAtOnce) {
  const ConnectionCallbacks stays{{}, UntilTheNextWord, {}, Stay};
  const ConnectionCallbacks comes{
      [](Connection* connection) { connection->WriteToWriteBuffer("welcome"); }, Stay};
  LoopThread loop;
  Client first = loop.Connect(stays);
  loop.Get().Stop();
  ASSERT_TRUE(loop.Await([&] { return loop.Get().Stopping(); }));
  Client late = loop.Connect(comes);
  EXPECT_EQ(late.ReceiveAll(), "welcome");
  EXPECT_TRUE(late.Ended());
  loop.RunRounds(2);  // it still runs for the first
  ASSERT_TRUE(first.Send("my last word"));
  EXPECT_EQ(first.ReceiveAll(), "done");
  loop.Join();
}

TEST(LooperStop, WhoThrowsWhenToldIsDeleted) {
  ManualClock clock;  // stands still: the stop timeout never comes
  const test::CapturedStderr captured;
  const ConnectionCallbacks callbacks{
      {}, Stay, {}, [](Connection*) { throw std::runtime_error("I won't go"); }};
  LoopThread loop(clock.Source());
  Client client = loop.Connect(callbacks);
  loop.Get().Stop();
  loop.Join();
  client.ReceiveAll();
  EXPECT_TRUE(client.Ended());
  EXPECT_NE(captured.Text().find("I won't go"), std::string::npos) << captured.Text();
}

}  // namespace
}  // namespace TURTLE_SERVER
