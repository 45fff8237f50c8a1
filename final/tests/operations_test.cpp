// The routes of an Operations, on their own server next to the one that they report on.
#include "ops/operations.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <string>
#include <thread>

#include "support/gate.h"
#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using nlohmann::json;
using test::Get;
using test::HttpClient;
using test::HttpReply;

auto OneThread() -> ServerOptions {
  ServerOptions options;
  options.threads = 1;
  return options;
}

// Two servers, of which the second reports on the first; it responds from the beginning.
class Watched {
 public:
  explicit Watched(OperationsOptions options = {}, std::size_t threads = 1)
      : server_(NetAddress("127.0.0.1", 0), {}, Threads(threads)), operations_(server_, options) {
    server_.Get("/", [](const ServerRequest&, ServerResponse& res) { res.Text("hello"); });
    server_.Get("/stuck", [this](const ServerRequest&, ServerResponse&) { gate_.Pass(); });
    admin_.emplace([this](HttpServer& admin) { operations_.AddTo(admin); });
  }
  Watched(const Watched&) = delete;
  auto operator=(const Watched&) -> Watched& = delete;
  ~Watched() {
    gate_.Open();
    admin_.reset();
    End();
  }

  void Begin() {
    thread_ = std::thread([this] { server_.Begin(); });
  }
  void End() {
    server_.Stop();
    if (thread_.joinable()) {
      thread_.join();
    }
  }
  auto Server() -> HttpServer& { return server_; }
  auto Admin() -> test::RunningServer& { return *admin_; }
  auto EndAdmin() { admin_.reset(); }
  auto Tells() -> Operations& { return operations_; }
  auto StuckGate() -> test::Gate& { return gate_; }
  auto Port() const -> int { return server_.LocalAddress().Port(); }
  auto Ask(const std::string& path) -> HttpReply {
    return HttpClient(admin_->Port()).Ask(Get(path));
  }

 private:
  static auto Threads(std::size_t threads) -> ServerOptions {
    ServerOptions options = OneThread();
    options.threads = threads;
    return options;
  }

  test::Gate gate_;
  HttpServer server_;
  Operations operations_;
  std::optional<test::RunningServer> admin_;
  std::thread thread_;
};

// An open page.
class Viewer {
 public:
  explicit Viewer(int port) : client_(port) { client_.Send(Get("/events")); }

  // Returns the data of the next event.
  auto Next() -> json {
    std::size_t end = text_.find("\n\n");
    while (end == std::string::npos) {
      const std::string more = ReadSome();
      if (more.empty()) {
        return nullptr;
      }
      text_ += more;
      end = text_.find("\n\n");
    }
    const std::size_t begin = text_.find("data: ");
    const json value = json::parse(text_.substr(begin + 6, end - begin - 6));
    text_.erase(0, end + 2);
    return value;
  }

  auto ReadRest() -> std::string { return client_.ReadRest(); }
  auto Client() -> HttpClient& { return client_; }

 private:
  auto ReadSome() -> std::string {
    if (!client_.HasInput(std::chrono::duration_cast<std::chrono::milliseconds>(test::kPatience))) {
      return {};
    }
    std::string bytes(65536, '\0');
    const ssize_t count = ::recv(client_.GetFd(), bytes.data(), bytes.size(), 0);
    bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return bytes;
  }

  HttpClient client_;
  std::string text_;
};

TEST(OperationsTest, ReadinessFollowsTheServer) {
  Watched watched;
  HttpReply reply = watched.Ask("/readyz");
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.body, "starting\n");
  EXPECT_EQ(reply.Field("Cache-Control"), "no-store");
  EXPECT_EQ(watched.Ask("/livez").status, 200) << "it is no reason to start it again";
  watched.Begin();
  EXPECT_TRUE(test::Await([&] { return watched.Ask("/readyz").body == "ready\n"; }));
  reply = watched.Ask("/readyz");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.Field("Content-Type"), "text/plain; charset=utf-8");

  HttpClient client(watched.Port());
  ASSERT_TRUE(client.Send(Get("/stuck")));
  ASSERT_TRUE(watched.StuckGate().AwaitArrivals(1));
  watched.Server().Stop();  // and there is something to finish
  reply = watched.Ask("/readyz");
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.body, "draining\n");
  EXPECT_EQ(watched.Ask("/livez").status, 200);
  watched.StuckGate().Open();
  watched.End();
  EXPECT_EQ(watched.Ask("/readyz").body, "draining\n");
}

// Over an old connection, a client queries the old process about an address that both serve.
TEST(OperationsTest, WhoHasASuccessorIsReadyThoughItLeaves) {
  Watched watched;
  watched.Begin();
  EXPECT_TRUE(test::Await([&] { return watched.Ask("/readyz").body == "ready\n"; }));
  HttpClient client(watched.Port());
  ASSERT_TRUE(client.Send(Get("/stuck")));
  ASSERT_TRUE(watched.StuckGate().AwaitArrivals(1));
  watched.Server().Drain(ListenQueue::kHandedOver);
  const HttpReply reply = watched.Ask("/readyz");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "ready\n");
  watched.StuckGate().Open();
}

TEST(OperationsTest, ALoopThatIsStuckIsNamedThoughNoLoopAnswers) {
  OperationsOptions at_once;
  at_once.stuck_after = std::chrono::seconds(0);
  Watched watched(at_once, 2);
  watched.Begin();
  HttpClient first(watched.Port());
  ASSERT_TRUE(first.Send(Get("/stuck")));
  ASSERT_TRUE(watched.StuckGate().AwaitArrivals(1));
  // The other one may be in a round just now; next time it is not.
  HttpReply reply;
  const std::regex one("loop [01] is stuck: its round lasts for [0-9]+\\.[0-9] s\n");
  EXPECT_TRUE(test::Await([&] {
    reply = watched.Ask("/livez");
    return std::regex_match(reply.body, one);
  })) << reply.body;
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.Field("Cache-Control"), "no-store");

  HttpClient second(watched.Port());  // to the loop with fewer clients
  ASSERT_TRUE(second.Send(Get("/stuck")));
  // The loop that accepts may be the stuck one; then only the first is listed.
  EXPECT_NE(watched.Ask("/livez").body.find("is stuck"), std::string::npos);
  const std::string metrics = watched.Ask("/metrics").body;
  EXPECT_NE(metrics.find("turtle_loop_round_seconds{loop=\"1\"}"), std::string::npos);
  watched.StuckGate().Open();
  EXPECT_EQ(first.ReadReply().status, 200);
  EXPECT_EQ(second.ReadReply().status, 200);
  EXPECT_TRUE(test::Await([&] { return watched.Ask("/livez").body == "live\n"; }));
}

TEST(OperationsTest, AShortRoundIsNotStuck) {
  Watched watched;  // after ten seconds only
  watched.Begin();
  HttpClient client(watched.Port());
  ASSERT_TRUE(client.Send(Get("/stuck")));
  ASSERT_TRUE(watched.StuckGate().AwaitArrivals(1));
  EXPECT_EQ(watched.Ask("/livez").body, "live\n");
}

TEST(OperationsTest, MetricsAreTheSumOfWhatWasAsked) {
  OperationsOptions named;
  named.version = "1.2.3";
  Watched watched(named, 2);
  watched.Begin();
  for (int i = 0; i < 20; ++i) {
    HttpClient client(watched.Port());
    EXPECT_EQ(client.Ask(Get("/")).status, 200);
    EXPECT_EQ(client.Ask(Get("/there/is/nothing?" + std::to_string(i))).status, 404);
  }
  const HttpReply reply = watched.Ask("/metrics");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.Field("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_NE(reply.body.find("turtle_build_info{version=\"1.2.3\"} 1\n"), std::string::npos);
  std::map<std::string, int> counts;
  const std::regex sample("turtle_http_requests_total\\{loop=\"[01]\",code=\"([0-9]+)\"\\} (.*)\n");
  for (std::sregex_iterator each(reply.body.begin(), reply.body.end(), sample), end; each != end;
       ++each) {
    counts[(*each)[1]] += std::stoi((*each)[2]);
  }
  EXPECT_EQ(counts, (std::map<std::string, int>{{"200", 20}, {"404", 20}}));
  EXPECT_EQ(reply.body.find("nothing"), std::string::npos) << "no client names a number";
  EXPECT_EQ(HttpClient(watched.Admin().Port())
                .Ask("HEAD /metrics HTTP/1.1\r\nHost: t\r\n\r\n", test::Asked::kHead)
                .status,
            200);
  EXPECT_EQ(HttpClient(watched.Admin().Port())
                .Ask("POST /metrics HTTP/1.1\r\nHost: t\r\n"
                     "Content-Length: 0\r\n\r\n")
                .status,
            405);
}

TEST(OperationsTest, AnOpenPageIsToldAgainAndAgain) {
  OperationsOptions often;
  often.interval = std::chrono::milliseconds(1);
  Watched watched(often);
  watched.Begin();
  ASSERT_TRUE(test::Await([&] { return watched.Ask("/readyz").status == 200; }));
  Viewer viewer(watched.Admin().Port());
  const json first = viewer.Next();
  ASSERT_TRUE(first.is_object());
  EXPECT_EQ(first["readiness"], "ready");
  EXPECT_EQ(first["loops"].size(), 1U);
  EXPECT_EQ(first["loops"][0]["took"].size(), first["bounds"].size() + 1);
  EXPECT_EQ(HttpClient(watched.Port()).Ask(Get("/")).status, 200);
  json later = viewer.Next();
  for (int i = 0; i < 10'000 && later["loops"][0]["codes"] != json{{"200", 1}}; ++i) {
    EXPECT_GE(later["at"].get<double>(), first["at"].get<double>());
    later = viewer.Next();
    ASSERT_TRUE(later.is_object());
  }
  EXPECT_EQ(later["loops"][0]["codes"], (json{{"200", 1}}));
}

TEST(OperationsTest, PagesThatAreClosedMakeRoom) {
  OperationsOptions one;
  one.interval = std::chrono::milliseconds(1);
  one.max_viewers = 1;
  Watched watched(one);
  watched.Begin();
  {
    Viewer viewer(watched.Admin().Port());
    ASSERT_TRUE(viewer.Next().is_object());
    EXPECT_EQ(watched.Tells().Viewers(), 1U);
    EXPECT_EQ(watched.Ask("/events").status, 503);
    viewer.Client().Reset();
  }
  EXPECT_TRUE(test::Await([&] { return watched.Tells().Viewers() == 0; }));
  Viewer next(watched.Admin().Port());
  EXPECT_TRUE(next.Next().is_object());
  EXPECT_TRUE(next.Next().is_object());
}

TEST(OperationsTest, APageThatIsOpenKeepsNobodyFromEnding) {
  Watched watched;
  watched.Begin();
  Viewer viewer(watched.Admin().Port());
  ASSERT_TRUE(viewer.Next().is_object());
  watched.EndAdmin();
  EXPECT_EQ(viewer.ReadRest(), "0\r\n\r\n") << "the last chunk: it was not cut";
}

// A viewer that does not read misses events. They are queued neither here nor, without limit, in
// the kernel.
TEST(OperationsTest, AViewerWhoDoesNotReadHoldsNoMoreThanAConnectionMay) {
  OperationsOptions often;
  often.interval = std::chrono::milliseconds(1);
  Watched watched(often, 8);
  watched.Begin();
  Viewer lazy(watched.Admin().Port());
  ASSERT_TRUE(lazy.Next().is_object());
  const int little = 4096;  // or the kernel would take megabytes
  ::setsockopt(lazy.Client().GetFd(), SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
  watched.Admin().Ask([&] {
    watched.Admin().GetLooper().ForEachConnection([&](Connection* connection) {
      ::setsockopt(connection->GetFd(), SOL_SOCKET, SO_SNDBUF, &little, sizeof little);
    });
  });
  Viewer eager(watched.Admin().Port());
  const auto unsent = [&] {
    return watched.Admin().Ask([&] {
      std::size_t most = 0;
      watched.Admin().GetLooper().ForEachConnection(
          [&](Connection* connection) { most = std::max(most, connection->UnsentBytes()); });
      return most;
    });
  };
  const auto deadline = std::chrono::steady_clock::now() + 3 * test::kPatience;
  std::size_t size = 0;
  while (unsent() < Connection::kHighWater && std::chrono::steady_clock::now() < deadline) {
    const json event = eager.Next();
    ASSERT_TRUE(event.is_object());
    size = event.dump().size();
  }
  ASSERT_GE(unsent(), Connection::kHighWater) << "it is full";
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(eager.Next().is_object()) << "nobody waits for it";
  }
  EXPECT_LT(unsent(), Connection::kHighWater + 3 * size);
}

TEST(OperationsTest, ThePageNeedsNobodyElse) {
  Watched watched;
  const HttpReply page = watched.Ask("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.Field("Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(page.Field("Content-Security-Policy").substr(0, 19), "default-src 'none';");
  EXPECT_EQ(page.body.find("http://"), std::string::npos);
  EXPECT_EQ(page.body.find("https://"), std::string::npos);
  EXPECT_EQ(page.body.find("style="), std::string::npos) << "the policy forbids it";
  const std::regex link("(?:href|src)=\"([^\"]+)\"");
  int links = 0;
  for (std::sregex_iterator each(page.body.begin(), page.body.end(), link), end; each != end;
       ++each, ++links) {
    const std::string path = "/" + (*each)[1].str();
    EXPECT_NE(watched.Ask(path).status, 404) << path;
  }
  EXPECT_GE(links, 6);
  EXPECT_EQ(watched.Ask("/dashboard.js").Field("Content-Type").substr(0, 15), "text/javascript");
  EXPECT_EQ(watched.Ask("/index.html").status, 404);
}

}  // namespace
}  // namespace TURTLE_SERVER
