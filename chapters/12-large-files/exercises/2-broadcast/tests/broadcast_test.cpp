// One text for all clients: in memory once, and freed when it is no longer needed.
#include "core/broadcast.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "core/connection.h"
#include "support/loop_thread.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::LoopThread;

constexpr std::size_t kLarge = std::size_t{24} * 1024 * 1024;  // more than two sockets hold

// The blocks of at least kLarge bytes that operator new has given out on the threads that watch.
thread_local bool watches = false;
std::array<std::atomic<void*>, 16> large_blocks{};

auto WatchedAllocate(std::size_t size) noexcept -> void* {
  void* const block = std::malloc(size == 0 ? 1 : size);
  if (watches && size >= kLarge) {
    for (std::atomic<void*>& place : large_blocks) {
      void* none = nullptr;
      if (place.compare_exchange_strong(none, block)) {
        break;
      }
    }
  }
  return block;
}

void WatchedFree(void* block) noexcept {
  for (std::atomic<void*>& place : large_blocks) {
    void* expected = block;
    if (block != nullptr && place.compare_exchange_strong(expected, nullptr)) {
      break;
    }
  }
  std::free(block);
}

auto LargeBlocks() -> int {
  int count = 0;
  for (const std::atomic<void*>& place : large_blocks) {
    count += place.load() == nullptr ? 0 : 1;
  }
  return count;
}

class BroadcastTest : public testing::Test {
 protected:
  auto Connect() -> Client { return loop_.Connect(callbacks_); }

  auto Send(const std::string& text) -> std::size_t {
    return loop_.Ask([&] { return Broadcast(loop_.Get(), text); });
  }

  const ConnectionCallbacks callbacks_{{}, [](Connection* connection) {
                                         const bool exit = connection->Recv().exit;
                                         connection->ClearReadBuffer();
                                         if (exit) {
                                           connection->Close();
                                         }
                                       }};
  LoopThread loop_;
};

TEST_F(BroadcastTest, ReachesEveryConnectionOfTheLoop) {
  std::vector<Client> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(Connect());
  }
  EXPECT_EQ(Send("good morning"), 20U);
  EXPECT_EQ(Send(", all"), 20U);
  for (Client& client : clients) {
    EXPECT_EQ(client.Receive(17), "good morning, all");
  }
}

TEST_F(BroadcastTest, NothingAndNobody) {
  EXPECT_EQ(Send("to nobody"), 0U);
  Client client = Connect();
  EXPECT_EQ(Send(""), 0U);
  EXPECT_EQ(Send("x"), 1U);
  EXPECT_EQ(client.Receive(1), "x");
}

TEST_F(BroadcastTest, ComesAfterWhatWasQueued) {
  Client client = Connect();
  loop_.Ask([&] {
    loop_.Get().ForEachConnection([](Connection* connection) { connection->Write("first, "); });
    EXPECT_EQ(Broadcast(loop_.Get(), "second"), 1U);
  });
  EXPECT_EQ(client.Receive(13), "first, second");
}

TEST_F(BroadcastTest, ADeletedConnectionGetsNothing) {
  Client client = Connect();
  loop_.Ask([&] {
    loop_.Get().ForEachConnection([](Connection* connection) { connection->Close(); });
    EXPECT_EQ(Broadcast(loop_.Get(), "too late"), 0U);
  });
  EXPECT_EQ(client.ReceiveAll(), "");
}

TEST_F(BroadcastTest, IsInMemoryOnceUntilTheLastOneHasIt) {
  std::vector<Client> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(Connect());
  }
  loop_.Ask([&] {
    watches = true;
    EXPECT_EQ(Broadcast(loop_.Get(), std::string(kLarge, 'x')), 3U);
    EXPECT_EQ(LargeBlocks(), 1);
    watches = false;
  });
  const std::string expected(kLarge, 'x');
  EXPECT_TRUE(clients[0].Receive(kLarge) == expected);
  EXPECT_TRUE(clients[1].Receive(kLarge) == expected);
  EXPECT_EQ(loop_.Ask([] { return LargeBlocks(); }), 1);
  EXPECT_TRUE(clients[2].Receive(kLarge) == expected);
  EXPECT_TRUE(loop_.Await([] { return LargeBlocks() == 0; }));
}

TEST_F(BroadcastTest, AClientThatLeavesNeedsItNoMore) {
  {
    Client client = Connect();
    loop_.Ask([&] {
      watches = true;
      EXPECT_EQ(Broadcast(loop_.Get(), std::string(kLarge, 'x')), 1U);
      EXPECT_EQ(LargeBlocks(), 1);
      watches = false;
    });
    client.Reset();
  }
  EXPECT_TRUE(loop_.Await([] { return LargeBlocks() == 0; }));
}

}  // namespace
}  // namespace TURTLE_SERVER

auto operator new(std::size_t size, const std::nothrow_t&) noexcept -> void* {
  return TURTLE_SERVER::WatchedAllocate(size);
}

auto operator new(std::size_t size) -> void* {
  if (void* memory = TURTLE_SERVER::WatchedAllocate(size)) {
    return memory;
  }
  throw std::bad_alloc();
}

// gcc takes the inlined free(3) for a mismatch with the operator above, which it does not inline.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void operator delete(void* memory) noexcept { TURTLE_SERVER::WatchedFree(memory); }
void operator delete(void* memory, std::size_t) noexcept { TURTLE_SERVER::WatchedFree(memory); }
