// Each guest gets the last messages and all later ones, without a gap or a duplicate.
#include "websocket/history.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "support/counting_new.h"
#include "support/gate.h"
#include "support/running_server.h"
#include "websocket/websocket_client.h"
#include "websocket/websocket_options.h"

namespace TURTLE_SERVER {
namespace {

constexpr std::size_t kMessages = 4;
constexpr std::size_t kBytes = 1000;

// A server with one room. A client says "join", "leave", or a text to publish.
class Room {
 public:
  explicit Room(std::size_t threads, std::size_t messages = kMessages, std::size_t bytes = kBytes)
      : history_(messages, bytes),
        server_([this](HttpServer& server) { Mount(server); }, HttpOptions(), threads) {}

  [[nodiscard]] auto Get() const -> const History& { return history_; }
  [[nodiscard]] auto Server() -> test::RunningServer& { return server_; }

  auto Connect(const char* extensions = "") -> std::unique_ptr<WebSocketClient> {
    WebSocketClientOptions options;
    options.extensions = extensions;
    return std::make_unique<WebSocketClient>(
        NetAddress("127.0.0.1", static_cast<std::uint16_t>(server_.Port())), options);
  }

  // Connects a member. With a new socket of one loop, Last() is that.
  auto Join() -> std::unique_ptr<WebSocketClient> {
    const int before = joins_;
    auto client = Connect();
    client->SendText("join");
    EXPECT_TRUE(server_.Await([&] { return joins_ > before; }));
    return client;
  }

  // The socket that was opened last; of the loop's thread.
  [[nodiscard]] auto Last() const -> WebSocket& { return *last_; }

  void Publish(std::string_view text) const { history_.Publish(MessageKind::kText, text); }

 private:
  void Mount(HttpServer& server) {
    WebSocketHandlers handlers;
    handlers.on_open = [this](WebSocket& socket) { last_ = &socket; };
    handlers.on_message = [this, history = history_](WebSocket& socket, const Message& message) {
      if (message.bytes == "join") {
        history.Join(socket);
        ++joins_;
      } else if (message.bytes == "leave") {
        socket.SendText(history.Leave(socket) ? "left" : "no member");
      } else {
        history.Publish(message.kind, message.bytes);
      }
    };
    handlers.on_close = [history = history_](WebSocket& socket, CloseCode, std::string_view) {
      history.Leave(socket);
    };
    server.WebSocket("/", handlers);
  }

  const History history_;
  std::atomic<WebSocket*> last_{nullptr};
  std::atomic<int> joins_{0};
  test::RunningServer server_;
};

auto Next(WebSocketClient& client) -> std::string {
  const auto event = client.Receive();
  return event && event->event == ReadEvent::kMessage ? event->bytes : "no message";
}

// Receives up to the text "end".
auto UntilEnd(WebSocketClient& client) -> std::vector<std::string> {
  std::vector<std::string> texts;
  while (texts.empty() || (texts.back() != "end" && texts.back() != "no message")) {
    texts.push_back(Next(client));
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(HistoryTest, CountsItsMembers) {
  Room room(3);
  EXPECT_EQ(room.Get().Count(), 0U);
  std::vector<std::unique_ptr<WebSocketClient>> clients;
  for (std::size_t i = 1; i <= 6; ++i) {
    clients.push_back(room.Join());
    ASSERT_EQ(room.Get().Count(), i);
  }
  clients.erase(clients.begin(), clients.begin() + 2);
  EXPECT_TRUE(room.Server().Await([&] { return room.Get().Count() == 4; }));
}

TEST(HistoryTest, MembersGetWhatIsPublished) {
  Room room(3);
  std::vector<std::unique_ptr<WebSocketClient>> clients;
  for (int i = 0; i < 6; ++i) {
    clients.push_back(room.Join());
  }
  clients[0]->SendText("from a client");
  for (const auto& each : clients) {
    EXPECT_EQ(Next(*each), "from a client");
  }
  room.Publish("from the test");
  for (const auto& each : clients) {
    EXPECT_EQ(Next(*each), "from the test");
  }
}

TEST(HistoryTest, AGuestGetsTheLastMessages) {
  Room room(1);
  for (const char* const text : {"1", "2", "3", "4", "5", "6"}) {
    room.Publish(text);
  }
  const auto guest = room.Join();
  room.Publish("7");
  room.Publish("end");
  EXPECT_EQ(UntilEnd(*guest), (Texts{"3", "4", "5", "6", "7", "end"}));
  EXPECT_EQ(UntilEnd(*room.Join()), (Texts{"5", "6", "7", "end"}));
}

TEST(HistoryTest, FewMessagesAreAllKept) {
  Room room(1);
  room.Publish("1");
  room.Publish("end");
  EXPECT_EQ(UntilEnd(*room.Join()), (Texts{"1", "end"}));
}

TEST(HistoryTest, TheKindIsKept) {
  Room room(1);
  room.Get().Publish(MessageKind::kBinary, std::string_view("\0\xFF", 2));
  room.Get().Publish(MessageKind::kText, "text");
  const auto guest = room.Join();
  const auto first = guest->Receive();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->kind, MessageKind::kBinary);
  EXPECT_EQ(first->bytes, std::string("\0\xFF", 2));
  EXPECT_EQ(guest->Receive()->kind, MessageKind::kText);
}

TEST(HistoryTest, ClientsWithCompressionGetTheSame) {
  Room room(1);
  room.Publish(std::string(500, 'x'));
  const auto guest = room.Connect("permessage-deflate");
  ASSERT_TRUE(guest->Deflate());
  guest->SendText("join");
  EXPECT_EQ(Next(*guest), std::string(500, 'x'));
  room.Publish("more");
  EXPECT_EQ(Next(*guest), "more");
}

TEST(HistoryTest, TheBytesAreLimited) {
  Room room(1);
  room.Publish("1");
  room.Publish(std::string(400, 'a'));
  room.Publish(std::string(600, 'b'));  // 1000 bytes without the first
  EXPECT_EQ(Next(*room.Join()), std::string(400, 'a'));
  room.Publish("");
  EXPECT_EQ(Next(*room.Join()), std::string(400, 'a'));
  room.Publish("2");
  EXPECT_EQ(Next(*room.Join()), std::string(600, 'b'));
}

TEST(HistoryTest, ALongMessageLeavesNoGap) {
  Room room(1);
  const auto member = room.Join();
  room.Publish("1");
  room.Publish(std::string(kBytes + 1, 'x'));
  room.Publish("2");
  room.Publish("end");
  EXPECT_EQ(UntilEnd(*member), (Texts{"1", std::string(kBytes + 1, 'x'), "2", "end"}));
  EXPECT_EQ(UntilEnd(*room.Join()), (Texts{"2", "end"}));
}

TEST(HistoryTest, ThereMayBeNoHistory) {
  Room room(1, 0);
  room.Publish("1");
  const auto guest = room.Join();
  room.Publish("end");
  EXPECT_EQ(UntilEnd(*guest), Texts{"end"});
}

TEST(HistoryTest, WhoeverLeavesGetsNothing) {
  Room room(1);
  const auto guest = room.Join();
  room.Publish("1");
  EXPECT_EQ(Next(*guest), "1");
  guest->SendText("leave");
  EXPECT_EQ(Next(*guest), "left");
  EXPECT_EQ(room.Get().Count(), 0U);
  room.Publish("2");
  guest->SendText("leave");
  EXPECT_EQ(Next(*guest), "no member");
  guest->SendText("join");
  EXPECT_EQ(Next(*guest), "1") << "the history again";
  EXPECT_EQ(Next(*guest), "2");
}

TEST(HistoryTest, ASecondJoinDoesNothing) {
  Room room(1);
  room.Publish("1");
  const auto guest = room.Join();
  guest->SendText("join");
  guest->SendText("2");
  guest->SendText("end");
  EXPECT_EQ(UntilEnd(*guest), (Texts{"1", "2", "end"}));
  EXPECT_EQ(room.Get().Count(), 1U);
}

TEST(HistoryTest, TheRoomOutlivesItsServer) {
  const std::unique_ptr<History> kept = [] {
    Room room(2);
    const auto one = room.Join();
    const auto two = room.Join();
    room.Publish("1");
    return std::make_unique<History>(room.Get());
  }();
  EXPECT_EQ(kept->Count(), 0U);
  kept->Publish(MessageKind::kText, "2");  // and nothing happens
}

// Holds the loop in a task, so that messages from other threads are on their way meanwhile.
class HeldLoop {
 public:
  // @param task runs on the loop when the gate opens
  HeldLoop(test::RunningServer& server, std::function<void()> task) : server_(server) {
    server.GetLooper().Post([this, task = std::move(task)] {
      gate_.Pass();
      task();
    });
    EXPECT_TRUE(gate_.AwaitArrivals(1));
  }
  HeldLoop(const HeldLoop&) = delete;
  auto operator=(const HeldLoop&) -> HeldLoop& = delete;
  ~HeldLoop() { GoOn(); }

  void GoOn() {
    gate_.Open();
    server_.Settle();
  }

 private:
  test::RunningServer& server_;
  test::Gate gate_;
};

// Connects a client that does not join, and waits until the server has it.
auto Stranger(Room& room) -> std::unique_ptr<WebSocketClient> {
  auto client = room.Connect();
  client->SendText("leave");
  EXPECT_EQ(Next(*client), "no member");
  return client;
}

TEST(HistoryTest, AMessageOnItsWayIsNotSentTwice) {
  Room room(1);
  const auto member = room.Join();
  const auto guest = Stranger(room);
  {
    const HeldLoop held(room.Server(), [&] { room.Get().Join(room.Last()); });
    room.Publish("1");
  }
  room.Publish("end");
  EXPECT_EQ(UntilEnd(*member), (Texts{"1", "end"}));
  EXPECT_EQ(UntilEnd(*guest), (Texts{"1", "end"})) << "the history has it already";
}

TEST(HistoryTest, AMessageOnItsWayIsOlderThanTheGuest) {
  Room room(1, 0);
  const auto member = room.Join();
  const auto guest = Stranger(room);
  {
    const HeldLoop held(room.Server(), [&] { room.Get().Join(room.Last()); });
    room.Publish("1");
  }
  room.Publish("end");
  EXPECT_EQ(UntilEnd(*member), (Texts{"1", "end"}));
  EXPECT_EQ(UntilEnd(*guest), Texts{"end"}) << "even if it isn't in the history";
}

TEST(HistoryTest, WhoeverComesBackGetsItOnce) {
  Room room(1);
  const auto member = room.Join();
  const auto guest = room.Join();
  {
    const HeldLoop held(room.Server(), [&] {
      room.Get().Leave(room.Last());
      room.Get().Join(room.Last());
    });
    room.Publish("1");
  }
  room.Publish("end");
  EXPECT_EQ(UntilEnd(*member), (Texts{"1", "end"}));
  EXPECT_EQ(UntilEnd(*guest), (Texts{"1", "end"}));
}

TEST(HistoryTest, WhoeverLeavesGetsNothingThatIsOnItsWay) {
  Room room(1);
  const auto member = room.Join();
  const auto guest = room.Join();
  {
    const HeldLoop held(room.Server(), [&] { room.Get().Leave(room.Last()); });
    room.Publish("1");
  }
  EXPECT_EQ(Next(*member), "1");
  guest->SendText("leave");
  EXPECT_EQ(Next(*guest), "no member");
}

TEST(HistoryTest, TheLoopsOwnMessageDoesNotOvertake) {
  Room room(1);
  const auto member = room.Join();
  {
    const HeldLoop held(room.Server(), [&] { room.Publish("2"); });
    room.Publish("1");
  }
  room.Publish("end");
  EXPECT_EQ(UntilEnd(*member), (Texts{"1", "2", "end"}));
  EXPECT_EQ(UntilEnd(*room.Join()), (Texts{"1", "2", "end"}));
}

TEST(HistoryTest, ALoopGetsOneTask) {
  Room room(1);
  std::vector<std::unique_ptr<WebSocketClient>> clients;
  const auto allocations = [&] {
    test::allocations = 0;
    test::counts_allocations = true;
    room.Publish("text");
    test::counts_allocations = false;
    const std::size_t count = test::allocations;
    for (const auto& each : clients) {
      EXPECT_EQ(Next(*each), "text");
    }
    room.Server().Settle();
    return count;
  };
  clients.push_back(room.Join());
  allocations();
  const std::size_t for_one = allocations();
  while (clients.size() < 40) {
    clients.push_back(room.Join());
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(Next(*clients.back()), "text");
    }
  }
  EXPECT_LT(allocations(), for_one + 20);
}

TEST(HistoryTest, AllSeeTheSameWhileOthersPublishAndCome) {
  constexpr int kEach = 150;
  Room room(3, 20, 100'000);
  const auto first = room.Join();
  std::vector<std::unique_ptr<WebSocketClient>> guests;
  for (int i = 0; i < 30; ++i) {
    guests.push_back(room.Connect());
  }
  std::atomic<std::size_t> published{0};
  std::vector<std::thread> publishers;
  for (int who = 0; who < 3; ++who) {
    publishers.emplace_back([&, who] {
      for (int i = 0; i < kEach; ++i) {
        room.Publish(std::to_string(who) + " " + std::to_string(i));
        ++published;
      }
    });
  }
  for (std::size_t i = 0; i < guests.size(); ++i) {
    guests[i]->SendText("a guest's " + std::to_string(i));  // on the guest's loop
    guests[i]->SendText("join");
    const std::size_t before = published;
    while (published == before && published < std::size_t{3} * kEach) {
      std::this_thread::yield();
    }
  }
  for (std::thread& each : publishers) {
    each.join();
  }
  ASSERT_TRUE(room.Server().Await([&] { return room.Get().Count() == guests.size() + 1; }));
  room.Publish("end");
  const Texts all = UntilEnd(*first);
  ASSERT_EQ(all.size(), std::size_t{3} * kEach + guests.size() + 1);
  for (const auto& guest : guests) {
    const Texts seen = UntilEnd(*guest);
    ASSERT_LE(seen.size(), all.size());
    ASSERT_EQ(seen, Texts(all.end() - static_cast<std::ptrdiff_t>(seen.size()), all.end()));
    ASSERT_GT(seen.size(), 1U);
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
