// Wherever memory runs out: a client gets a message whole, or its connection ends. The others don't
// notice.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "core/block_pool.h"
#include "support/captured_stderr.h"
#include "support/failing_new.h"
#include "support/running_server.h"
#include "web/http_server.h"
#include "websocket/topics.h"
#include "websocket/websocket.h"
#include "websocket/websocket_client.h"
#include "websocket/websocket_options.h"

namespace TURTLE_SERVER {
namespace {

// Takes the blocks that the thread keeps, so that output needs new memory.
class NoKeptBlocks {
 public:
  NoKeptBlocks() {
    while (BlockPool::Kept() != 0) {
      blocks_.push_back(BlockPool::Take());
    }
  }
  NoKeptBlocks(const NoKeptBlocks&) = delete;
  auto operator=(const NoKeptBlocks&) -> NoKeptBlocks& = delete;
  ~NoKeptBlocks() {
    for (void* const each : blocks_) {
      BlockPool::Give(each);
    }
  }

 private:
  std::vector<void*> blocks_;
};

// Returns bytes that can't be compressed.
auto Noise(std::size_t size) -> std::string {
  std::mt19937 random;  // NOLINT(cert-msc51-cpp): the same for each run
  std::string bytes(size, '\0');
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random()); });
  return bytes;
}

class WebSocketMemoryTest : public testing::Test {
 protected:
  // The result of an action of which one allocation fails.
  struct Outcome {
    bool failed = false;
    bool threw = false;
  };

  // Connects, and waits for the socket: Socket(0) is the first client's.
  auto Connect(const char* extensions = "") -> WebSocketClient& {
    WebSocketClientOptions options;
    options.extensions = extensions;
    clients_.push_back(std::make_unique<WebSocketClient>(
        NetAddress("127.0.0.1", static_cast<std::uint16_t>(server_.Port())), options));
    EXPECT_EQ(clients_.back()->Deflate().has_value(), !options.extensions.empty());
    EXPECT_TRUE(server_.Await([&] { return sockets_.size() == clients_.size(); }));
    return *clients_.back();
  }

  // Runs `act` on the loop; its allocation number `first` fails.
  template <typename Act>
  auto Failing(std::size_t first, Act act) -> Outcome {
    return server_.Ask([&] {
      const NoKeptBlocks none_kept;
      Outcome outcome;
      test::FailAllocations(first);
      try {
        act();
      } catch (const std::bad_alloc&) {
        outcome.threw = true;
      }
      outcome.failed = test::StopFailing() != 0;
      return outcome;
    });
  }

  // Runs `act` on the loop. @return how many allocations it makes
  template <typename Act>
  auto Allocations(Act act) -> std::size_t {
    return server_.Ask([&] {
      constexpr std::size_t kMany = 1000;
      test::FailAllocations(kMany + 1);
      act();
      const std::size_t left = test::failing_new.pass;
      test::StopFailing();
      return kMany - left;
    });
  }

  // Sends a text to each client that is still there.
  void SendToAll(std::string_view text) {
    server_.Ask([&] {
      for (WebSocket* const each : sockets_) {
        if (each != nullptr) {
          each->SendText(text);
        }
      }
    });
  }

  static auto Next(WebSocketClient& client) -> std::string {
    const auto event = client.Receive();
    return !event ? "nothing" : event->event == ReadEvent::kMessage ? event->bytes : "the end";
  }

  // For the next round.
  void Disconnect() {
    clients_.clear();
    ASSERT_TRUE(server_.Await([&] {
      return std::all_of(sockets_.begin(), sockets_.end(),
                         [](const auto* each) { return each == nullptr; });
    }));
    server_.Ask([&] { sockets_.clear(); });
  }

  // Sends a long message to one of two clients, without memory for some part of it.
  void ExpectWholeOrTheEnd(const char* extensions) {
    bool failed = true;
    for (std::size_t first = 1; failed; ++first) {
      WebSocketClient& other = Connect(extensions);
      WebSocketClient& client = Connect(extensions);
      SendToAll("before");
      EXPECT_EQ(Next(other), "before");
      EXPECT_EQ(Next(client), "before");
      const Outcome outcome = Failing(first, [&] { sockets_[1]->SendBinary(long_); });
      EXPECT_EQ(outcome.threw, outcome.failed);
      SendToAll("after");
      EXPECT_EQ(Next(other), "after");
      if (outcome.failed) {
        EXPECT_EQ(Next(client), "the end") << first;
      } else {
        EXPECT_TRUE(Next(client) == long_);
        EXPECT_EQ(Next(client), "after");
      }
      failed = outcome.failed;
      EXPECT_TRUE(failed || first > 1);
      ASSERT_NO_FATAL_FAILURE(Disconnect());
    }
  }

  const std::string long_ = Noise(20'000);  // more than a block of output takes
  std::vector<WebSocket*> sockets_;         // of the loop's thread; nullptr: it has ended
  Topics topics_;
  test::RunningServer server_{[this](HttpServer& server) {
    WebSocketHandlers handlers;
    handlers.on_open = [this](WebSocket& socket) { sockets_.push_back(&socket); };
    handlers.on_close = [this](WebSocket& socket, CloseCode, std::string_view) {
      std::replace(sockets_.begin(), sockets_.end(), &socket, static_cast<WebSocket*>(nullptr));
    };
    WebSocketOptions options;
    options.deflate.server_takeover = true;
    server.WebSocket("/", handlers, options);
  }};
  std::vector<std::unique_ptr<WebSocketClient>> clients_;
};

TEST_F(WebSocketMemoryTest, AMessageIsWholeOrTheConnectionEnds) { ExpectWholeOrTheEnd(""); }

TEST_F(WebSocketMemoryTest, AContextIsThatOfBothSidesOrTheConnectionEnds) {
  ExpectWholeOrTheEnd("permessage-deflate");
}

TEST_F(WebSocketMemoryTest, ASubscriberWithoutMemoryTakesNothingFromTheOthers) {
  const test::CapturedStderr logged;
  std::size_t ends = 0;
  bool failed = true;
  for (std::size_t first = 1; failed; ++first) {
    for (int i = 0; i < 3; ++i) {
      Connect();
    }
    server_.Ask([&] {
      for (WebSocket* const each : sockets_) {
        topics_.Subscribe(*each, "room");
      }
    });
    const Outcome outcome =
        Failing(first, [&] { topics_.Publish("room", MessageKind::kBinary, long_); });
    SendToAll("after");
    std::size_t ended = 0;
    for (const auto& each : clients_) {
      std::string next = Next(*each);
      EXPECT_TRUE(next == "the end" || next == "after" || next == long_);
      EXPECT_TRUE(next != "after" || outcome.threw) << first;  // nobody knows that it is missing
      ended += next == "the end" ? 1 : 0;
      if (next == long_) {
        EXPECT_EQ(Next(*each), "after");
      }
    }
    EXPECT_EQ(ended, outcome.failed && !outcome.threw ? 1U : 0U) << first;
    ends += ended;
    failed = outcome.failed;
    ASSERT_NO_FATAL_FAILURE(Disconnect());
  }
  EXPECT_EQ(ends, 3U);  // each of them had its turn
}

TEST_F(WebSocketMemoryTest, ASubscriptionThatFailsLeavesNothing) {
  Connect();
  const auto subscribe = [&](const std::string& topic) { topics_.Subscribe(*sockets_[0], topic); };
  server_.Ask([&] {  // makes the socket's list, with room for one
    subscribe("first");
    topics_.Unsubscribe(*sockets_[0], "first");
  });
  const std::string fresh = "a topic that nobody has had";
  const std::size_t needed = Allocations([&] { subscribe(fresh); });
  EXPECT_GT(needed, 2U);
  for (std::size_t first = 1; first <= needed; ++first) {
    server_.Ask([&] { topics_.Unsubscribe(*sockets_[0], fresh); });
    EXPECT_TRUE(Failing(first, [&] { subscribe(fresh); }).threw) << first;
    EXPECT_EQ(topics_.Count(fresh), 0U);
    EXPECT_EQ(Allocations([&] { topics_.Publish(fresh, MessageKind::kText, "hello"); }), 0U)
        << first;
    EXPECT_EQ(Allocations([&] { subscribe(fresh); }), needed) << first;
  }
}

TEST_F(WebSocketMemoryTest, NothingIsCompressedForAClientWithASmallWindow) {
  const auto publish = [&] { topics_.Publish("room", MessageKind::kBinary, long_); };
  std::vector<std::size_t> allocations;
  for (const char* const extensions : {"", "permessage-deflate; server_max_window_bits=9"}) {
    WebSocketClient& client = Connect(extensions);
    server_.Ask([&] { topics_.Subscribe(*sockets_[0], "room"); });
    allocations.push_back(Allocations(publish));
    EXPECT_TRUE(Next(client) == long_);
    ASSERT_NO_FATAL_FAILURE(Disconnect());
  }
  EXPECT_EQ(allocations[0], allocations[1]);
}

}  // namespace
}  // namespace TURTLE_SERVER
