// A loop and its thread: a debug build catches the wrong thread.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "core/looper.h"
#include "support/handlers.h"
#include "support/loop_thread.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

using test::LoopThread;
using test::MakeTcpPair;
using test::TcpPair;

// Lets another thread do `deed` while the loop runs on this one.
void DoElsewhere(Looper& looper, const std::function<void()>& deed) {
  const bool posted = looper.Post([&] {
    std::thread(deed).join();
    looper.Stop();
  });
  EXPECT_TRUE(posted);
  looper.Loop();
}

TEST(LooperThreadDeathTest, ConnectionsAreAddedAndDeletedInTheLoop) {
  EXPECT_DEBUG_DEATH(
      {
        Looper looper;
        const ConnectionCallbacks callbacks;
        TcpPair pair = MakeTcpPair();
        DoElsewhere(looper, [&] { looper.AddConnection(pair.server.Release(), callbacks); });
      },
      "InLoop");
  EXPECT_DEBUG_DEATH(
      {
        Looper looper;
        DoElsewhere(looper, [&] { looper.DeleteConnection(1000); });
      },
      "InLoop");
}

TEST(LooperThreadDeathTest, ConnectionsAreWrittenToInTheLoop) {
  EXPECT_DEBUG_DEATH(
      {
        Looper looper;
        const ConnectionCallbacks callbacks;
        TcpPair pair = MakeTcpPair();
        Connection* connection = looper.AddConnection(pair.server.Release(), callbacks);
        DoElsewhere(looper, [&] { connection->WriteToWriteBuffer("from elsewhere"); });
      },
      "InLoop");
}

TEST(LooperThreadDeathTest, WatchesEndInTheLoop) {
  EXPECT_DEBUG_DEATH(
      {
        Looper looper;
        DoElsewhere(looper, [&] { looper.Unwatch({1000, 0}); });
      },
      "InLoop");
}

TEST(LooperThread, AnyThreadMayUseALoopThatDoesNotRun) {
  Looper looper;
  bool before = false;
  std::thread([&] { before = looper.InLoop(); }).join();
  EXPECT_TRUE(before);
  EXPECT_TRUE(looper.InLoop());
  std::thread([&] {
    looper.Stop();
    looper.Loop();
  }).join();
  EXPECT_TRUE(looper.InLoop());
}

TEST(LooperThread, OnlyItsOwnIsInARunningLoop) {
  LoopThread loop;
  EXPECT_TRUE(loop.Ask([&] { return loop.Get().InLoop(); }));
  EXPECT_FALSE(loop.Get().InLoop());
}

}  // namespace
}  // namespace TURTLE_SERVER
