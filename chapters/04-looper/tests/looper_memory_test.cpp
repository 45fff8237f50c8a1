// A loop without memory may have to refuse a client. It loses none that it has taken on.
#include <gtest/gtest.h>

#include <cstddef>
#include <list>
#include <new>
#include <string>
#include <vector>

#include "core/looper.h"
#include "core/wakeup.h"
#include "support/client.h"
#include "support/failing_new.h"
#include "support/handlers.h"
#include "support/loop_thread.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::Echo;
using test::FailAllocations;
using test::LoopThread;
using test::StopFailing;

constexpr std::size_t kAll = 1'000'000;
constexpr int kClients = 100;  // more than the poller fetches at once

auto ConnectAll(LoopThread& loop, const ConnectionCallbacks& callbacks) -> std::vector<Client> {
  std::vector<Client> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(loop.Connect(callbacks));
  }
  return clients;
}

TEST(LooperMemory, EventsThatWereFetchedAreServedWithoutMemory) {
  const ConnectionCallbacks callbacks{{}, Echo};
  for (std::size_t first = 1; first <= 4; ++first) {
    LoopThread loop;
    std::vector<Client> clients = ConnectAll(loop, callbacks);
    loop.Ask([first] { FailAllocations(first, kAll); });
    loop.WhileItStandsStill([&] {
      for (Client& client : clients) {
        ASSERT_TRUE(client.Send("x"));
      }
    });
    for (Client& client : clients) {
      // Echo() itself needs memory, so some clients are dropped. None is forgotten.
      const std::string reply = client.Receive(1);
      ASSERT_TRUE(reply == "x" || client.Ended() || client.WasReset())
          << "when allocation " << first << " fails";
    }
    loop.Ask([] { StopFailing(); });
    Client late = loop.Connect(callbacks);
    ASSERT_TRUE(late.Send("late"));
    EXPECT_EQ(late.Receive(4), "late");
  }
}

TEST(LooperMemory, WhatIsThereCanBeLetGoWithoutMemory) {
  const ConnectionCallbacks callbacks{{}, Echo};
  LoopThread loop;
  std::vector<Client> clients = ConnectAll(loop, callbacks);
  std::list<Wakeup> events;
  std::vector<WatchId> watches;
  loop.Ask([&] {
    for (int i = 0; i < kClients; ++i) {
      const int fd = events.emplace_back().Fd();
      watches.push_back(loop.Get().Watch(fd, Interest::kRead, [](const PollEvent&) {}));
    }
  });
  loop.Ask([&] {
    FailAllocations(1, kAll);
    loop.Get().ForEachConnection([&](Connection* connection) {
      loop.Get().Schedule(connection);
      loop.Get().DeleteConnection(connection->GetFd());
    });
    for (const WatchId id : watches) {
      loop.Get().Unwatch(id);
    }
  });
  EXPECT_TRUE(loop.Await([&] { return loop.Get().ConnectionCount() == 0; }));
  loop.Ask([] { StopFailing(); });
  for (Client& client : clients) {
    EXPECT_EQ(client.ReceiveAll(), "");
    EXPECT_TRUE(client.Ended());
  }
}

// Otherwise the poller would report it in every round, and no callback would run.
TEST(LooperMemory, AWatchThatThereIsNoMemoryForIsNone) {
  Wakeup event;
  event.Signal();
  int called = 0;
  WatchId id{};
  LoopThread loop;
  for (std::size_t first = 1; first <= 3; ++first) {
    const bool refused = loop.Ask([&] {
      FailAllocations(first);
      try {
        id = loop.Get().Watch(event.Fd(), Interest::kRead, [&](const PollEvent&) { ++called; });
      } catch (const std::bad_alloc&) {
        return StopFailing() != 0;
      }
      StopFailing();
      loop.Get().Unwatch(id);
      return false;
    });
    EXPECT_TRUE(refused || first > 1) << first;  // the list of ended watches may have room
  }
  loop.Ask([&] {
    id = loop.Get().Watch(event.Fd(), Interest::kRead, [&](const PollEvent&) { ++called; });
  });
  EXPECT_TRUE(loop.Await([&] { return called > 0; }));
  loop.Ask([&] { loop.Get().Unwatch(id); });
}

}  // namespace
}  // namespace TURTLE_SERVER
