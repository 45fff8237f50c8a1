// A client that arrives while the loop stops gets one on_stop. One that on_accept has refused gets
// none: its handlers must not be called any more.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "core/looper.h"
#include "support/captured_stderr.h"
#include "support/loop_thread.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::LoopThread;

void DeleteAtEnd(Connection* connection) {
  if (connection->Recv().exit) {
    connection->GetLooper()->DeleteConnection(connection->GetFd());
  }
  connection->ClearReadBuffer();
}

// Returns how often on_stop is called for a client that comes while the loop stops.
auto StopsOfALateClient(const ConnectionCallback& on_accept) -> int {
  int stops = 0;  // the loop's thread
  const ConnectionCallbacks stays{{}, DeleteAtEnd, {}, [](Connection*) {}};
  const ConnectionCallbacks comes{on_accept, DeleteAtEnd, {}, [&](Connection* connection) {
                                    ++stops;
                                    connection->GetLooper()->DeleteConnection(connection->GetFd());
                                  }};
  LoopThread loop;
  Client first = loop.Connect(stays);
  loop.Get().Stop();
  EXPECT_TRUE(loop.Await([&] { return loop.Get().Stopping(); }));
  Client late = loop.Connect(comes);
  EXPECT_EQ(late.ReceiveAll(), "");
  EXPECT_TRUE(late.Ended());
  const int result = loop.Ask([&] { return stops; });  // it still runs for the first
  first.FinishSending();
  loop.Join();
  return result;
}

TEST(LooperStopRefused, WhoIsAcceptedIsTold) { EXPECT_EQ(StopsOfALateClient({}), 1); }

TEST(LooperStopRefused, WhoIsDeletedByOnAcceptIsNotTold) {
  EXPECT_EQ(StopsOfALateClient([](Connection* connection) {
              connection->GetLooper()->DeleteConnection(connection->GetFd());
            }),
            0);
}

TEST(LooperStopRefused, WhoseOnAcceptThrowsIsNotTold) {
  const test::CapturedStderr errors;
  EXPECT_EQ(StopsOfALateClient([](Connection*) { throw std::runtime_error("no room"); }), 0);
}

TEST(LooperStopRefused, WhoIsAddedByATaskOfTheStopIsToldOnce) {
  int stops = 0;
  const ConnectionCallbacks comes{{}, DeleteAtEnd, {}, [&](Connection* connection) {
                                    ++stops;
                                    connection->GetLooper()->Schedule(connection);
                                  }};
  test::TcpPair pair = test::MakeTcpPair();
  Looper looper;
  looper.AtStop([&] { looper.AddConnection(pair.server.Release(), comes); });
  pair.client.FinishSending();
  looper.Stop();
  looper.Loop();
  EXPECT_EQ(stops, 1);
}

}  // namespace
}  // namespace TURTLE_SERVER
