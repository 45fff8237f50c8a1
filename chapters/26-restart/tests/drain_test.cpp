// A server that drains turns away no client that is there: in the kernel's queue, connected and
// silent, or in the middle of a request.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "core/turtle_server.h"
#include "support/busy.h"
#include "support/handlers.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "web/http_server.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using test::Busy;
using test::Client;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::kPatience;
using test::Waiting;

void ReplyWithPath(Exchange& exchange) {
  exchange.Reply(TextResponse(200, exchange.GetRequest().uri.Path()));
}

// Returns options whose times never pass while a test runs, unless it asks for that.
auto Patient(std::size_t threads = 1) -> ServerOptions {
  ServerOptions options;
  options.threads = threads;
  options.stop_timeout = hours(1);
  options.last_chance = hours(1);
  return options;
}

// Runs Begin() from its construction on. Clients must be destroyed before it.
template <typename Server>
class Running {
 public:
  explicit Running(Server& server)
      : server_(server), thread_([this] {
          server_.Begin();
          ended_.set_value();
        }) {}
  Running(const Running&) = delete;
  auto operator=(const Running&) -> Running& = delete;
  ~Running() {
    server_.Stop();
    thread_.join();
  }

  [[nodiscard]] auto Ends() -> bool {
    return ended_.get_future().wait_for(kPatience) == std::future_status::ready;
  }

 private:
  Server& server_;
  std::promise<void> ended_;
  std::thread thread_;
};

auto Clients(int port, int count) -> std::vector<std::unique_ptr<HttpClient>> {
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < count; ++i) {
    clients.push_back(std::make_unique<HttpClient>(port));
    EXPECT_TRUE(clients.back()->Send(Get("/queued")));
  }
  return clients;
}

class DrainTest : public testing::TestWithParam<std::size_t> {};

TEST_P(DrainTest, WhoWaitsInTheQueueIsAnswered) {
  constexpr int kMany = 150;  // more than two batches of the acceptor
  HttpServer server(NetAddress("127.0.0.1", 0), {}, Patient(GetParam()));
  server.Mount("/", test::Answering(ReplyWithPath));
  Running running(server);
  std::vector<std::unique_ptr<HttpClient>> clients;
  {
    const Busy busy(*server.Loopers().front());
    clients = Clients(server.LocalAddress().Port(), kMany);
    server.Drain();
    EXPECT_FALSE(server.IsReady());
  }
  for (const auto& client : clients) {
    const HttpReply reply = client->ReadReply();
    ASSERT_EQ(reply.body, "/queued");
    EXPECT_EQ(reply.Field("Connection"), "close");
    EXPECT_TRUE(client->IsClosedByServer());
  }
  clients.clear();
  EXPECT_TRUE(running.Ends()) << "nobody is left, so it does not wait for its time to pass";
}

TEST_P(DrainTest, ASilentConnectionHasALastChance) {
  HttpServer server(NetAddress("127.0.0.1", 0), {}, Patient(GetParam()));
  server.Mount("/", test::Answering(ReplyWithPath));
  Running running(server);
  auto fresh = std::make_unique<HttpClient>(server.LocalAddress().Port());
  auto idle = std::make_unique<HttpClient>(server.LocalAddress().Port());
  EXPECT_EQ(idle->Ask(Get("/")).Field("Connection"), "");
  server.Drain();
  for (auto* client : {&fresh, &idle}) {
    const HttpReply reply = (*client)->Ask(Get("/chance"));
    EXPECT_EQ(reply.body, "/chance");
    EXPECT_EQ(reply.Field("Connection"), "close");
    EXPECT_TRUE((*client)->IsClosedByServer());
    client->reset();
  }
  EXPECT_TRUE(running.Ends());
}

INSTANTIATE_TEST_SUITE_P(Loops, DrainTest, testing::Values(1, 3));

TEST(Drain, ReadyIsWhoServesAndDoesNotLeave) {
  HttpServer server(NetAddress("127.0.0.1", 0), {}, Patient());
  server.Mount("/", test::Answering(ReplyWithPath));
  EXPECT_FALSE(server.IsReady()) << "nothing runs yet";
  Running running(server);
  HttpClient client(server.LocalAddress().Port());
  EXPECT_EQ(client.Ask(Get("/")).status, 200);
  EXPECT_TRUE(server.IsReady());
  server.Drain();
  EXPECT_FALSE(server.IsReady());
}

TEST(Drain, ClientsAreLetInForTheDrainTimeAndToldToGo) {
  ServerOptions options = Patient();
  options.drain_time = hours(1);
  HttpServer server(NetAddress("127.0.0.1", 0), {}, options);
  server.Mount("/", test::Answering(ReplyWithPath));
  Running running(server);
  HttpClient before(server.LocalAddress().Port());
  EXPECT_EQ(before.Ask(Get("/")).Field("Connection"), "");
  server.Drain();
  HttpClient after(server.LocalAddress().Port());
  for (HttpClient* client : {&before, &after}) {
    const HttpReply reply = client->Ask(Get("/drained"));
    EXPECT_EQ(reply.body, "/drained");
    EXPECT_EQ(reply.Field("Connection"), "close");
    EXPECT_TRUE(client->IsClosedByServer());
  }
}

TEST(Drain, ItsListenersAreClosedInTheEnd) {
  HttpServer server(NetAddress("127.0.0.1", 0), {}, Patient());
  server.Mount("/", test::Answering(ReplyWithPath));
  Running running(server);
  const HttpClient keeps_it_open(server.LocalAddress().Port());
  server.Drain();
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  bool refused = false;
  while (!refused && std::chrono::steady_clock::now() < deadline) {
    try {
      const HttpClient late(server.LocalAddress().Port());
    } catch (const std::system_error&) {
      refused = true;
    }
  }
  EXPECT_TRUE(refused);
}

TEST(Drain, WhatIsUnderWayIsFinished) {
  Waiting waiting;
  ServerOptions options = Patient();
  options.last_chance = milliseconds(0);
  HttpServer server(NetAddress("127.0.0.1", 0), {}, options);
  server.Mount("/", test::Answering([&](Exchange& exchange) { waiting.Keep(exchange); }));
  Running running(server);
  HttpClient client(server.LocalAddress().Port());
  ASSERT_TRUE(client.Send(Get("/late")));
  Looper& looper = *server.Loopers().front();
  std::promise<void> kept;
  std::function<void()> look = [&] {
    waiting.Count() == 1 ? kept.set_value() : void(looper.RunAfter(milliseconds(1), look));
  };
  ASSERT_TRUE(looper.Post(look));
  ASSERT_EQ(kept.get_future().wait_for(kPatience), std::future_status::ready);
  server.Drain();
  ASSERT_TRUE(looper.Post([&] { ReplyWithPath(*waiting.Last()); }));
  const HttpReply reply = client.ReadReply();
  EXPECT_EQ(reply.body, "/late");
  EXPECT_EQ(reply.Field("Connection"), "close");
}

TEST(Drain, ABodyThatStillComesIsUnderWay) {
  HttpServer server(NetAddress("127.0.0.1", 0), {}, Patient());
  server.Post("/", [](const ServerRequest& request, ServerResponse& response) {
    response.Text(std::string(request.Body()));
  });
  Running running(server);
  HttpClient client(server.LocalAddress().Port());
  ASSERT_TRUE(client.Send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\n\r\nab"));
  server.Drain();
  const HttpReply reply = client.Ask("cd");
  EXPECT_EQ(reply.body, "abcd");
  EXPECT_EQ(reply.Field("Connection"), "close");
}

// RFC 9112, section 9.6: no request after the response that says close is answered, and the reset
// that an unread request would cause must not destroy that response.
TEST(Drain, WhatComesBehindTheLastReplyIsNotAnsweredAndHurtsNobody) {
  std::unique_ptr<HttpClient> client;
  HttpServer server(NetAddress("127.0.0.1", 0), {}, Patient());
  server.Mount("/", test::Answering([&](Exchange& exchange) {
                 if (exchange.GetRequest().uri.Path() == "/two") {
                   EXPECT_TRUE(client->Send(Get("/three")));  // after the server has read
                 }
                 ReplyWithPath(exchange);
               }));
  Running running(server);
  client = std::make_unique<HttpClient>(server.LocalAddress().Port());
  EXPECT_EQ(client->Ask(Get("/")).status, 200);
  server.Drain();
  ASSERT_TRUE(client->Send(Get("/one") + Get("/two")));
  const HttpReply one = client->ReadReply();
  const HttpReply two = client->ReadReply();
  EXPECT_EQ(one.body, "/one");
  EXPECT_EQ(one.Field("Connection"), "");
  EXPECT_EQ(two.body, "/two");
  EXPECT_EQ(two.Field("Connection"), "close");
  EXPECT_EQ(client->ReadRest(), "");
  EXPECT_FALSE(client->WasReset());
  client.reset();
}

TEST(Drain, TheStopTimeoutIsTheEndOfIt) {
  Waiting waiting;
  ServerOptions options = Patient();
  options.stop_timeout = milliseconds(50);
  HttpServer server(NetAddress("127.0.0.1", 0), {}, options);
  server.Mount("/", test::Answering([&](Exchange& exchange) { waiting.Keep(exchange); }));
  Running running(server);
  HttpClient client(server.LocalAddress().Port());
  ASSERT_TRUE(client.Send(Get("/never")));
  server.Drain();
  EXPECT_TRUE(running.Ends());
}

TEST(Drain, AfterTheStopItIsNothingAndBeforeTheBeginningItWaits) {
  HttpServer stopped(NetAddress("127.0.0.1", 0), {}, Patient());
  stopped.Mount("/", test::Answering(ReplyWithPath));
  stopped.Stop();
  stopped.Drain();
  stopped.Begin();

  HttpServer drained(NetAddress("127.0.0.1", 0), {}, Patient());
  drained.Mount("/", test::Answering(ReplyWithPath));
  auto clients = Clients(drained.LocalAddress().Port(), 3);
  drained.Drain();
  drained.Drain();
  Running running(drained);
  for (const auto& client : clients) {
    EXPECT_EQ(client->ReadReply().body, "/queued");
  }
  clients.clear();
  EXPECT_TRUE(running.Ends());
}

// The loops' tasks run when they are destroyed, and the drain is among them.
TEST(Drain, AServerThatCouldNotBeginGoesWithoutIt) {
  TurtleServer server(NetAddress("127.0.0.1", 0), Patient(2));
  server.OnHandle(test::Echo).AlsoListen(Socket(UniqueFd()));
  server.Drain();
  EXPECT_ANY_THROW(server.Begin());
}

TEST(Drain, ARawServerServesWhoWaitsInTheQueue) {
  TurtleServer server(NetAddress("127.0.0.1", 0), Patient(2));
  server.OnHandle(test::Echo);
  Running running(server);
  std::vector<std::unique_ptr<Client>> clients;
  {
    const Busy busy(*server.Loopers().front());
    for (int i = 0; i < 100; ++i) {
      clients.push_back(std::make_unique<Client>(server.LocalAddress().Port()));
      ASSERT_TRUE(clients.back()->Send("hello"));
    }
    server.Drain();
  }
  for (const auto& client : clients) {
    EXPECT_EQ(client->Receive(5), "hello");
  }
  clients.clear();
  EXPECT_TRUE(running.Ends());
}

TEST(Drain, AQueueThatIsHandedOverIsLeftToWhoHasIt) {
  TurtleServer server(NetAddress("127.0.0.1", 0), Patient());
  server.OnHandle(test::Echo);
  Socket successor(UniqueFd(::dup(server.ListenerFds().front())));
  Running running(server);
  std::vector<std::unique_ptr<Client>> clients;
  {
    const Busy busy(*server.Loopers().front());
    for (int i = 0; i < 5; ++i) {
      clients.push_back(std::make_unique<Client>(server.LocalAddress().Port()));
    }
    EXPECT_FALSE(server.IsHandedOver());
    server.Drain(ListenQueue::kHandedOver);
    EXPECT_TRUE(server.IsHandedOver());
    EXPECT_FALSE(server.IsReady());
    server.Stop();
    EXPECT_TRUE(server.IsHandedOver()) << "the first word counts";
  }
  EXPECT_TRUE(running.Ends()) << "it has let nobody in";
  for (std::size_t i = 0; i < clients.size(); ++i) {
    NetAddress from;
    EXPECT_TRUE(UniqueFd(successor.Accept(from))) << i;
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
