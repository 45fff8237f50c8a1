// Handlers know no protocol: files, routes, late responses and streams in frames.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "files/static_files.h"
#include "support/clocked_server.h"
#include "support/frame_client.h"
#include "support/frame_session.h"
#include "support/site_folder.h"
#include "web/route_handler.h"
#include "web/routes.h"

namespace TURTLE_SERVER {
namespace {

using test::FrameClient;
using test::FrameReply;

// Counts its calls.
class Counter : public ExchangeObserver {
 public:
  struct Counts {
    int begun = 0;
    int ended = 0;
    std::vector<int> statuses{};
  };

  explicit Counter(Counts& counts) : counts_(counts) {}
  void OnBegin(const Connection&) noexcept override { ++counts_.begun; }
  void OnEnd(const ExchangeRecord& record) noexcept override {
    ++counts_.ended;
    counts_.statuses.push_back(record.status);
  }

 private:
  Counts& counts_;
};

class SecondProtocol : public testing::Test {
 protected:
  SecondProtocol() {
    folder_.Write("hello.txt", "hello, world\n");
    folder_.Write("large.bin", std::string(300'000, 'x'));
  }

  void AddRoutes() {
    routes_.Add(Method::kGet, "/hello/{name}", [](const ServerRequest& req, ServerResponse& res) {
      res.Text("hello, " + std::string(req.Parameter("name")));
    });
    routes_.Add(Method::kPost, "/echo", [](const ServerRequest& req, ServerResponse& res) {
      res.Set("X-Echo", "yes").Text(std::string(req.Body()));
    });
    routes_.Add(Method::kGet, "/late", [this](const ServerRequest&, Responder responder) {
      late_.push_back(std::move(responder));
    });
    routes_.Add(Method::kPost, "/pieces",
                [](const ServerRequest&, const RequestBody& body, const Responder& responder) {
                  body.OnPiece([responder, count = std::size_t{0}](std::string_view piece,
                                                                   bool last) mutable {
                    count += piece.size();
                    if (last) {
                      responder.Reply(std::move(ServerResponse().Text(std::to_string(count))));
                    }
                  });
                });
  }

  test::SiteFolder folder_;
  Routes routes_;
  ErrorFormats errors_;
  Counter::Counts counts_;
  std::vector<Responder> late_;  // on the loop's thread
  test::ClockedServer server_{
      [this](Looper& looper, LoopHttp& http) {
        AddRoutes();
        errors_.Add("/echo", ProblemJson);
        http.SetErrorFormats(errors_);
        StaticFilesOptions options;
        options.root = folder_.Path();
        http.Mount("/", std::make_unique<StaticFiles>(looper, options));
        http.SetRoutes(std::make_unique<RouteHandler>(routes_, errors_, MethodSet()));
        http.Observe(std::make_unique<Counter>(counts_));
      },
      HttpOptions(),
      [](Connection& connection, LoopHttp& http) {
        return std::make_unique<test::FrameSession>(connection, http);
      }};
};

auto Has(const FrameReply& reply, std::string_view text) -> bool {
  return reply.head.find(text) != std::string::npos;
}

TEST_F(SecondProtocol, ServesFiles) {
  FrameClient client(server_.Port());
  for (int i = 0; i < 3; ++i) {  // from the disk, then from the cache
    const FrameReply small = client.Ask("GET /hello.txt\r\n\r\n");
    EXPECT_EQ(small.head.substr(0, 6), "200 OK");
    EXPECT_EQ(small.body, "hello, world\n");
    EXPECT_TRUE(Has(small, "Content-Type: text/plain"));
    EXPECT_TRUE(Has(small, "ETag: "));
    EXPECT_TRUE(client.Ask("GET /large.bin\r\n\r\n").body == std::string(300'000, 'x'));
    const FrameReply head = client.Ask("HEAD /hello.txt\r\n\r\n");
    EXPECT_EQ(head.body, "");
    EXPECT_TRUE(Has(head, "Content-Length: 13\r\n"));
  }
  EXPECT_EQ(client.Ask("GET /hello.txt\r\nRange: bytes=0-4\r\n\r\n").body, "hello");
  EXPECT_EQ(client.Ask("GET /nothing\r\n\r\n").head.substr(0, 3), "404");
}

TEST_F(SecondProtocol, AnswersByRoutes) {
  FrameClient client(server_.Port());
  EXPECT_EQ(client.Ask("GET /hello/ada\r\n\r\n").body, "hello, ada");
  const FrameReply echo = client.Ask("POST /echo\r\nContent-Length: 4\r\n\r\nback");
  EXPECT_EQ(echo.body, "back");
  EXPECT_TRUE(Has(echo, "X-Echo: yes"));
  EXPECT_EQ(client.Ask("POST /pieces\r\nContent-Length: 5\r\n\r\n12345").body, "5");
  const FrameReply wrong = client.Ask("DELETE /echo\r\n\r\n");
  EXPECT_EQ(wrong.head.substr(0, 3), "405");
  EXPECT_TRUE(Has(wrong, "Content-Type: application/problem+json"));
}

TEST_F(SecondProtocol, SeveralRequestsAreOpenAtOnce) {
  FrameClient client(server_.Port());
  const std::uint32_t first = client.Send("GET /late\r\n\r\n");
  const std::uint32_t second = client.Send("GET /late\r\n\r\n");
  EXPECT_EQ(client.Ask("GET /hello/them\r\n\r\n").body, "hello, them");
  ASSERT_TRUE(server_.Loop().Await([&] { return late_.size() == 2; }));
  server_.Loop().Ask([&] { late_[1].Reply(std::move(ServerResponse().Text("two"))); });
  EXPECT_EQ(client.Await(second).body, "two");
  EXPECT_FALSE(client.Look(first).complete);
  ReplyStream stream = late_[0].Stream(std::move(ServerResponse().Text("one, ")));
  stream.Write("and more");
  stream.End();
  EXPECT_EQ(client.Await(first).body, "one, and more");
}

TEST_F(SecondProtocol, TellsTheObservers) {
  FrameClient client(server_.Port());
  client.Ask("GET /hello/ada\r\n\r\n");
  client.Ask("GET /nothing\r\n\r\n");
  ASSERT_TRUE(server_.Loop().Await([&] { return counts_.ended == 2; }));
  server_.Loop().Ask([&] {
    EXPECT_EQ(counts_.begun, 2);
    EXPECT_EQ(counts_.statuses, (std::vector<int>{200, 404}));
  });
}

}  // namespace
}  // namespace TURTLE_SERVER
