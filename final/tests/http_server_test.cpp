// A server as a whole: mounts, addresses, beginning and end.
#include "web/http_server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using test::Answering;
using test::Get;
using test::HttpClient;
using test::RunningServer;

auto Saying(const std::string& name) -> HandlerFactory {
  return Answering([name](Exchange& exchange) {
    exchange.Reply(TextResponse(200, name + " " + std::string(exchange.SubPath())));
  });
}

TEST(HttpServer, TheLongestPrefixOfWholeSegmentsAnswers) {
  RunningServer server([](HttpServer& http) {
    http.Mount("/a", Saying("a")).Mount("/a/b", Saying("ab")).Mount("/a/b/c/d", Saying("abcd"));
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/a")).body, "a ");
  EXPECT_EQ(client.Ask(Get("/a/")).body, "a /");
  EXPECT_EQ(client.Ask(Get("/a/x?b")).body, "a /x");
  EXPECT_EQ(client.Ask(Get("/a/b/c")).body, "ab /c");
  EXPECT_EQ(client.Ask(Get("/a/bc")).body, "a /bc");
  EXPECT_EQ(client.Ask(Get("/a/b/c/d")).body, "abcd ");
  EXPECT_EQ(client.Ask(Get("/a/x/../b/y")).body, "ab /y");  // the path as it is looked up
  EXPECT_EQ(client.Ask(Get("http://t/a/b")).body, "ab ");
  EXPECT_EQ(client.Ask(Get("/")).status, 404);
  EXPECT_EQ(client.Ask(Get("/ab")).status, 404);
}

TEST(HttpServer, WithoutMountsEverythingIs404) {
  RunningServer server([](HttpServer&) {});
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/")).status, 404);
  EXPECT_EQ(client.Ask(Get("/x")).status, 404);  // and the connection goes on
}

TEST(HttpServer, AMountIsAPath) {
  HttpServer server(NetAddress("127.0.0.1", 0));
  for (const char* bad : {"", "a", "/a/", "//"}) {
    EXPECT_THROW(server.Mount(bad, Saying("x")), std::invalid_argument) << '"' << bad << '"';
  }
}

// The rest of a longer head would never be read, and its client would wait for a 408.
TEST(HttpServer, AHeadHasToFitIntoAConnection) {
  HttpOptions options;
  options.parser.max_head_bytes = Connection::kInputLimit + 1;
  EXPECT_THROW(HttpServer(NetAddress("127.0.0.1", 0), options), std::invalid_argument);
}

TEST(HttpServer, EveryLoopHasItsOwnHandlersAndTheyGoWithTheServing) {
  std::atomic<int> alive{0};
  std::set<Looper*> loops;
  class Counted : public RequestHandler {
   public:
    explicit Counted(std::atomic<int>& alive) : alive_(alive) { ++alive_; }
    Counted(const Counted&) = delete;
    auto operator=(const Counted&) -> Counted& = delete;
    ~Counted() override { --alive_; }
    void Handle(Exchange& exchange) override {
      exchange.Reply(TextResponse(200, std::to_string(alive_)));
    }

   private:
    std::atomic<int>& alive_;
  };
  RunningServer server(
      [&](HttpServer& http) {
        http.Mount("/", [&](Looper& looper) {
          loops.insert(&looper);
          return std::make_unique<Counted>(alive);
        });
      },
      HttpOptions(), 3);
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/")).body, "3");
  server.Get().Stop();
  server.Join();
  EXPECT_EQ(loops.size(), 3U);
  EXPECT_EQ(alive, 0);
}

TEST(HttpServer, ManyLoopsServeManyClients) {
  RunningServer server([](HttpServer& http) { http.Mount("/", Saying("x")); }, HttpOptions(), 3);
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < 24; ++i) {
    clients.push_back(std::make_unique<HttpClient>(server.Port()));
  }
  for (int round = 0; round < 3; ++round) {
    for (const auto& client : clients) {
      ASSERT_TRUE(client->Send(Get("/" + std::to_string(round))));
    }
    for (const auto& client : clients) {
      ASSERT_EQ(client->ReadReply().body, "x /" + std::to_string(round));
    }
  }
}

TEST(HttpServer, ListensOnSeveralAddresses) {
  int second = 0;
  RunningServer server([&](HttpServer& http) {
    Socket probe;  // finds a free port
    probe.Bind(NetAddress("127.0.0.1", 0));
    second = probe.LocalAddress().Port();
    probe = Socket();
    http.AlsoListen(NetAddress("127.0.0.1", second)).Mount("/", Saying("x"));
  });
  for (const int port : {server.Port(), second}) {
    HttpClient client(port);
    EXPECT_EQ(client.Ask(Get("/y")).body, "x /y");
  }
}

TEST(HttpServer, APortInUseIsAnErrorThatNamesIt) {
  const HttpServer first(NetAddress("127.0.0.1", 0));
  try {
    HttpServer second(first.LocalAddress());
    FAIL() << "listens twice on " << first.LocalAddress().ToString();
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find(first.LocalAddress().ToString()), std::string::npos)
        << error.what();
  }
}

TEST(HttpServer, WhatAFactoryThrowsBeginThrows) {
  HttpServer server(NetAddress("127.0.0.1", 0));
  server.Mount("/good", Saying("x")).Mount("/bad", [](Looper&) -> std::unique_ptr<RequestHandler> {
    throw std::runtime_error("no such folder");
  });
  EXPECT_THROW(server.Begin(), std::runtime_error);
}

TEST(HttpServer, StoppedBeforeItBegins) {
  HttpServer server(NetAddress("127.0.0.1", 0));
  server.Stop();
  server.Begin();  // returns
}

}  // namespace
}  // namespace TURTLE_SERVER
