// Several sites on one server: which of them serves a request, and how its rules apply.
#include "sites/sites_handler.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "sites/sites.h"
#include "support/captured_stderr.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::hours;
using test::Answer;
using test::Asked;
using test::HttpClient;
using test::HttpReply;
using test::RunningServer;
using test::SiteFolder;
using test::Waiting;
using Kind = FieldEdit::Kind;

auto For(std::string_view host, std::string_view target = "/", std::string_view fields = "",
         std::string_view method = "GET") -> std::string {
  std::string request(method);
  request.append(" ").append(target).append(" HTTP/1.1\r\nHost: ").append(host);
  return request.append("\r\n").append(fields).append("\r\n");
}

auto Named(const std::string& name, const std::string& root = "") -> SiteOptions {
  SiteOptions site;
  site.names = {name};
  site.root = root;
  return site;
}

auto Default(const std::string& root = "") -> SiteOptions {
  SiteOptions site;
  site.is_default = true;
  site.root = root;
  return site;
}

// A default site with one rule.
auto With(SiteRule rule, const std::string& root = "") -> SiteOptions {
  SiteOptions site = Default(root);
  site.rules.push_back(std::move(rule));
  return site;
}

auto Setting(const std::string& name, const std::string& value) -> SiteRule {
  SiteRule rule;
  rule.fields = {{Kind::kSet, name, value}};
  return rule;
}

auto OncePerDay() -> RateLimit {
  RateLimit limit;
  limit.requests = 1;
  limit.per = hours(24);
  return limit;
}

auto Count(std::string_view text, std::string_view part) -> int {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

auto Cache() -> StaticFilesOptions {
  StaticFilesOptions options;
  options.cache.max_bytes = std::size_t{16} << 20;
  return options;
}

// The files of some sites, on a server.
class FilesServer {
 public:
  explicit FilesServer(const SitesOptions& options, const StaticFilesOptions& files = {},
                       std::size_t threads = 1)
      : sites_(options),
        server_([&](HttpServer& http) { http.Mount("/", sites_.Files(files)); }, {}, threads) {}

  [[nodiscard]] auto Port() const -> int { return server_.Port(); }
  [[nodiscard]] auto GetSites() -> Sites& { return sites_; }
  [[nodiscard]] auto Server() -> RunningServer& { return server_; }

  void Replace(const SitesOptions& options) {
    sites_.Replace(std::make_shared<const SiteTable>(options));
  }

  [[nodiscard]] auto Ask(const std::string& request, Asked asked = Asked::kGet) const -> HttpReply {
    return HttpClient(Port()).Ask(request, asked);
  }

 private:
  Sites sites_;
  RunningServer server_;
};

// A handler that all sites share, on a server.
class AroundServer {
 public:
  AroundServer(const SitesOptions& options, const Answer& answer, HttpOptions http_options = {})
      : sites_(options),
        server_(
            [&](HttpServer& http) {
              http.Mount("/", sites_.Around(test::Answering([this, answer](Exchange& exchange) {
                ++calls_;
                answer(exchange);
              })));
            },
            http_options) {}

  [[nodiscard]] auto Port() const -> int { return server_.Port(); }
  [[nodiscard]] auto Server() -> RunningServer& { return server_; }
  [[nodiscard]] auto Calls() -> int {
    return server_.Ask([this] { return calls_; });
  }

  void Replace(const SitesOptions& options) {
    sites_.Replace(std::make_shared<const SiteTable>(options));
  }

  [[nodiscard]] auto Ask(const std::string& request) const -> HttpReply {
    return HttpClient(Port()).Ask(request);
  }

 private:
  Sites sites_;
  int calls_ = 0;
  RunningServer server_;
};

void Hello(Exchange& exchange) { exchange.Reply(TextResponse(200, "hello")); }

class SitesHandlerTest : public testing::Test {
 protected:
  SitesHandlerTest() {
    folder_.Write("a/index.html", "site a");
    folder_.Write("b/index.html", "site b");
    folder_.Write("a/page.txt", "0123456789");
  }

  [[nodiscard]] auto A() const -> std::string { return folder_.Path("a"); }
  [[nodiscard]] auto B() const -> std::string { return folder_.Path("b"); }
  [[nodiscard]] auto Two() const -> SitesOptions {
    return {Named("a.example", A()), Named("b.example", B())};
  }

  SiteFolder folder_;
};

// --- which rules ---------------------------------------------------------------------------------

auto Closed(const std::string& path) -> SiteRule {
  SiteRule rule;
  rule.path = path;
  rule.deny = {"127.0.0.0/8"};
  return rule;
}

TEST_F(SitesHandlerTest, ADirectoryIsKeptFromAClientLikeItsIndexPage) {
  const FilesServer server({With(Closed("/index.html"), A())});
  EXPECT_EQ(server.Ask(For("a.example", "/index.html")).status, 403);
  EXPECT_EQ(server.Ask(For("a.example", "/")).status, 403);
  EXPECT_EQ(server.Ask(For("a.example", "/page.txt")).status, 200);
}

TEST_F(SitesHandlerTest, TheShortFormOfAProgramHasTheRulesOfTheProgram) {
  const AroundServer server({With(Closed("/cgi-bin/admin"))}, Hello);
  EXPECT_EQ(server.Ask(For("a.example", "/cgi-bin/admin&1")).status, 403);
  EXPECT_EQ(server.Ask(For("a.example", "/cgi-bin/other&1")).status, 200);
}

// --- which site ----------------------------------------------------------------------------------

TEST_F(SitesHandlerTest, EveryHostHasItsOwnFiles) {
  const FilesServer server(Two());
  EXPECT_EQ(server.Ask(For("a.example")).body, "site a");
  EXPECT_EQ(server.Ask(For("B.Example.:80")).body, "site b");
  EXPECT_EQ(server.Ask(For("b.example", "/page.txt")).status, 404);
}

TEST_F(SitesHandlerTest, EveryHostHasItsOwnCachedFiles) {
  const FilesServer server(Two(), Cache());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(server.Ask(For("a.example")).body, "site a");
    EXPECT_EQ(server.Ask(For("b.example")).body, "site b");
  }
}

TEST_F(SitesHandlerTest, AHostThatNobodyHasIsMisdirected) {
  const FilesServer server(Two());
  EXPECT_EQ(server.Ask(For("c.example")).status, 421);
  EXPECT_EQ(server.Ask("GET / HTTP/1.0\r\n\r\n").status, 421);
}

TEST_F(SitesHandlerTest, TheDefaultSiteHasAllOtherHosts) {
  const FilesServer server({Named("a.example", A()), Default(B())});
  EXPECT_EQ(server.Ask(For("a.example")).body, "site a");
  EXPECT_EQ(server.Ask(For("c.example")).body, "site b");
  EXPECT_EQ(server.Ask("GET / HTTP/1.0\r\n\r\n").body, "site b");
}

TEST_F(SitesHandlerTest, ATargetWithAHostOutweighsTheField) {
  const FilesServer server(Two());
  EXPECT_EQ(server.Ask(For("a.example", "http://b.example/")).body, "site b");
}

TEST_F(SitesHandlerTest, APatternHasTheNamesBelow) {
  const FilesServer server({Named("*.example", A()), Named("b.example", B())});
  EXPECT_EQ(server.Ask(For("x.y.example")).body, "site a");
  EXPECT_EQ(server.Ask(For("b.example")).body, "site b");
  EXPECT_EQ(server.Ask(For("example")).status, 421);
}

TEST_F(SitesHandlerTest, PipelinedRequestsMayBeForDifferentSites) {
  SitesOptions options = Two();
  options[0].rules = {Setting("X-Site", "a")};
  options[1].rules = {Setting("X-Site", "b")};
  const FilesServer server(options);
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(For("a.example") + For("b.example") + For("c.example") +
                          For("a.example", "/page.txt")));
  const HttpReply first = client.ReadReply();
  EXPECT_EQ(first.body + first.Field("X-Site"), "site aa");
  const HttpReply second = client.ReadReply();
  EXPECT_EQ(second.body + second.Field("X-Site"), "site bb");
  EXPECT_EQ(client.ReadReply().status, 421);
  EXPECT_EQ(client.ReadReply().body, "0123456789");
}

TEST_F(SitesHandlerTest, ADirectoryMustExist) {
  Sites sites({Default(folder_.Path("none"))});
  HttpServer server(NetAddress("127.0.0.1", 0));
  server.Mount("/", sites.Files());
  EXPECT_THROW(server.Begin(), std::system_error);
}

// --- fields --------------------------------------------------------------------------------------

class SitesFieldsTest : public SitesHandlerTest, public testing::WithParamInterface<bool> {
 protected:
  // Serves the rule twice: with a cache, the second response is a prepared one.
  [[nodiscard]] auto Twice(SiteRule rule, const std::string& request, Asked asked = Asked::kGet)
      -> HttpReply {
    const FilesServer server({With(std::move(rule), A())},
                             GetParam() ? Cache() : StaticFilesOptions());
    HttpClient client(server.Port());
    client.Ask(For("t", "/page.txt"));
    return client.Ask(request, asked);
  }
};

INSTANTIATE_TEST_SUITE_P(Cached, SitesFieldsTest, testing::Bool());

TEST_P(SitesFieldsTest, AddedFieldsAreThereForEveryKindOfResponse) {
  const SiteRule rule = Setting("X-A", "1");
  const std::string tag = Twice(rule, For("t", "/page.txt")).Field("ETag");
  const std::vector<std::pair<std::string, int>> requests = {
      {For("t", "/page.txt"), 200},
      {For("t", "/page.txt", "If-None-Match: " + tag + "\r\n"), 304},
      {For("t", "/page.txt", "If-Match: \"other\"\r\n"), 412},
      {For("t", "/page.txt", "Range: bytes=2-4\r\n"), 206},
      {For("t", "/page.txt", "Range: bytes=20-\r\n"), 416},
      {For("t", "/none"), 404},
      {For("t", "/page.txt", "", "DELETE"), 405},
      {For("t", "/page.txt", "", "OPTIONS"), 204}};
  for (const auto& [request, status] : requests) {
    const HttpReply reply = Twice(rule, request);
    EXPECT_EQ(reply.status, status) << request;
    EXPECT_TRUE(reply.complete) << request;
    EXPECT_EQ(Count(reply.head, "X-A: 1\r\n"), 1) << reply.head;
  }
  EXPECT_EQ(Twice(rule, requests[3].first).body, "234");
  const HttpReply head = Twice(rule, For("t", "/page.txt", "", "HEAD"), Asked::kHead);
  EXPECT_EQ(head.Field("X-A"), "1");
  EXPECT_EQ(head.Field("Content-Length"), "10");
}

TEST_P(SitesFieldsTest, AFieldOfTheFileIsReplaced) {
  const HttpReply reply = Twice(Setting("accept-ranges", "none"), For("t", "/page.txt"));
  EXPECT_EQ(reply.Field("Accept-Ranges"), "none");
  EXPECT_EQ(Count(reply.head, "ccept-"), 1) << reply.head;
  EXPECT_EQ(reply.body, "0123456789");
}

TEST_P(SitesFieldsTest, AFieldOfTheFileIsRemoved) {
  SiteRule rule;
  rule.fields = {{Kind::kRemove, "Last-Modified", ""}, {Kind::kRemove, "X-None", ""}};
  const HttpReply reply = Twice(rule, For("t", "/page.txt"));
  EXPECT_EQ(reply.Field("Last-Modified"), "");
  EXPECT_NE(reply.Field("ETag"), "");
  EXPECT_EQ(reply.body, "0123456789");
}

TEST_F(SitesHandlerTest, ACachedFileGetsItsFieldsOnceEachTime) {
  SiteRule rule;
  rule.fields = {{Kind::kAdd, "X-A", "1"}};
  const FilesServer server({With(rule, A())}, Cache());
  HttpClient client(server.Port());
  for (int i = 0; i < 4; ++i) {
    const HttpReply reply = client.Ask(For("t", "/page.txt"));
    EXPECT_EQ(Count(reply.head, "X-A: 1\r\n"), 1) << reply.head;
  }
}

TEST_F(SitesHandlerTest, FieldsAreForThePathsOfTheirRule) {
  SiteRule rule = Setting("X-A", "1");
  rule.path = "/page.txt";
  const FilesServer server({With(rule, A())}, Cache());
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(For("t", "/page.txt")).Field("X-A"), "1");
  EXPECT_EQ(client.Ask(For("t", "/")).Field("X-A"), "");
  EXPECT_EQ(client.Ask(For("t", "/page.txt")).Field("X-A"), "1");
}

TEST_F(SitesHandlerTest, AnErrorHasThePageOfTheSiteAndItsFields) {
  SiteOptions site = With(Setting("X-A", "1"), A());
  site.error_pages = {{404, "", "No such turtle."}};
  const FilesServer server({site});
  const HttpReply reply = server.Ask(For("t", "/none"));
  EXPECT_EQ(reply.status, 404);
  EXPECT_EQ(reply.body, "No such turtle.");
  EXPECT_EQ(reply.Field("Content-Type"), "text/plain; charset=utf-8");
  EXPECT_EQ(reply.Field("X-A"), "1");
  const HttpReply head = server.Ask(For("t", "/none", "", "HEAD"), Asked::kHead);
  EXPECT_EQ(head.Field("Content-Length"), "15");
  EXPECT_NE(server.Ask(For("t", "/none", "", "DELETE")).body, "No such turtle.");
}

// --- what the rules refuse -----------------------------------------------------------------------

TEST_F(SitesHandlerTest, ARedirectHasThePartsOfTheRequest) {
  SiteRule prefix;
  prefix.path = "/old";
  prefix.redirect = "https://$host/new$rest$query";
  SiteRule pattern;
  pattern.pattern = "/([a-z]+)-([0-9]+)";
  pattern.redirect = "/by-number/$2/$1";
  pattern.redirect_status = 301;
  SiteOptions site = With(prefix, A());
  site.rules.push_back(pattern);
  site.rules.push_back(Setting("X-A", "1"));
  const FilesServer server({site});
  const HttpReply first = server.Ask(For("a.example:81", "/old/a%20b?c=d&e"));
  EXPECT_EQ(first.status, 308);
  EXPECT_EQ(first.Field("Location"), "https://a.example/new/a%20b?c=d&e");
  EXPECT_EQ(first.Field("X-A"), "1");
  const HttpReply second = server.Ask(For("t", "/turtle-7"));
  EXPECT_EQ(second.status, 301);
  EXPECT_EQ(second.Field("Location"), "/by-number/7/turtle");
}

TEST_F(SitesHandlerTest, WithoutAHostNoRedirectLeadsToIt) {
  SiteRule rule;
  rule.path = "/old";
  rule.redirect = "https://$host/new";
  SiteRule local;
  local.path = "/local";
  local.redirect = "/new";
  SiteOptions site = With(rule, A());
  site.rules.push_back(local);
  const FilesServer server({site});
  EXPECT_EQ(server.Ask("GET /old HTTP/1.0\r\n\r\n").status, 400);
  EXPECT_EQ(server.Ask("GET /local HTTP/1.0\r\n\r\n").status, 308);
}

TEST_F(SitesHandlerTest, TooManyRequestsAreToldWhenToComeBack) {
  SiteRule rule = Setting("X-A", "1");
  rule.rate = OncePerDay();
  SiteOptions site = With(rule, A());
  site.error_pages = {{429, "", "Slowly."}};
  const FilesServer server({site}, Cache());
  EXPECT_EQ(server.Ask(For("t")).status, 200);
  const HttpReply reply = server.Ask(For("t"));
  EXPECT_EQ(reply.status, 429);
  EXPECT_GT(std::stoi("0" + reply.Field("Retry-After")), 86'000);
  EXPECT_LE(std::stoi("0" + reply.Field("Retry-After")), 86'400);
  EXPECT_EQ(reply.Field("X-A"), "1");
  EXPECT_EQ(reply.body, "Slowly.");
}

TEST_F(SitesHandlerTest, AllLoopsCountTogether) {
  SiteRule rule;
  rule.rate = OncePerDay();
  const FilesServer server({With(rule, A())}, {}, 3);
  int served = 0;
  for (int i = 0; i < 9; ++i) {
    served += server.Ask(For("t")).status == 200 ? 1 : 0;
  }
  EXPECT_EQ(served, 1);
}

TEST_F(SitesHandlerTest, AnAddressIsRefused) {
  SiteRule rule = Setting("X-A", "1");
  rule.deny = {"127.0.0.0/8"};
  AroundServer server({With(rule)}, Hello);
  const HttpReply reply = server.Ask(For("t"));
  EXPECT_EQ(reply.status, 403);
  EXPECT_EQ(reply.Field("X-A"), "1");
  EXPECT_EQ(server.Calls(), 0);
}

TEST_F(SitesHandlerTest, AMethodIsRefusedWithThePermittedOnes) {
  SiteRule rule = Setting("X-A", "1");
  rule.methods.emplace().Add(Method::kPost);
  AroundServer server({With(rule)}, Hello);
  const HttpReply reply = server.Ask(For("t"));
  EXPECT_EQ(reply.status, 405);
  EXPECT_EQ(reply.Field("Allow"), "POST, OPTIONS");
  EXPECT_EQ(reply.Field("X-A"), "1");
  EXPECT_EQ(server.Calls(), 0);
  EXPECT_EQ(server.Ask(For("t", "/", "Content-Length: 0\r\n", "POST")).body, "hello");
}

TEST_F(SitesHandlerTest, ABodyHasTheLimitOfTheRule) {
  SiteRule rule = Setting("X-A", "1");
  rule.path = "/small";
  rule.max_body_bytes = 4;
  AroundServer server({With(rule)}, [](Exchange& exchange) {
    exchange.OnBody([&exchange, text = std::string()](std::string_view piece, bool last) mutable {
      text += piece;
      if (last) {
        exchange.Reply(TextResponse(200, text));
      }
    });
  });
  const auto post = [&](const char* path, const char* fields, const char* body) {
    return server.Ask(For("t", path, fields, "POST") + body);
  };
  EXPECT_EQ(post("/small", "Content-Length: 4\r\n", "1234").body, "1234");
  EXPECT_EQ(post("/large", "Content-Length: 5\r\n", "12345").body, "12345");
  EXPECT_EQ(server.Calls(), 2);
  const HttpReply declared = post("/small", "Content-Length: 5\r\n", "12345");
  EXPECT_EQ(declared.status, 413);
  EXPECT_NE(declared.body.find("more than 4 bytes"), std::string::npos) << declared.body;
  EXPECT_EQ(declared.Field("X-A"), "1");
  EXPECT_EQ(server.Calls(), 2) << "the handler is not asked";
  const char* const chunked = "Transfer-Encoding: chunked\r\n";
  EXPECT_EQ(post("/small", chunked, "4\r\n1234\r\n0\r\n\r\n").body, "1234");
  EXPECT_EQ(post("/small", chunked, "5\r\n12345\r\n0\r\n\r\n").status, 413);
}

// --- around a handler ----------------------------------------------------------------------------

TEST_F(SitesHandlerTest, AHandlerMayRespondInPieces) {
  const AroundServer server({With(Setting("X-A", "1"))}, [](Exchange& exchange) {
    exchange.BeginReply(std::move(Response(200).Set("X-A", "0")));
    exchange.Write("pie");
    exchange.Write("ces");
    exchange.End();
  });
  const HttpReply reply = server.Ask(For("t"));
  EXPECT_EQ(reply.body, "pieces");
  EXPECT_TRUE(reply.complete);
  EXPECT_EQ(Count(reply.head, "X-A: "), 1);
  EXPECT_EQ(reply.Field("X-A"), "1");
}

TEST_F(SitesHandlerTest, AHandlerMayRespondLate) {
  Waiting waiting;
  AroundServer server({With(Setting("X-A", "1"))}, [&](Exchange& exchange) {
    if (exchange.GetRequest().uri.Path() == "/late") {
      waiting.Keep(exchange);
    } else {
      Hello(exchange);
    }
  });
  HttpClient late(server.Port());
  ASSERT_TRUE(late.Send(For("t", "/late")));
  ASSERT_TRUE(server.Server().Await([&] { return waiting.Count() == 1; }));
  EXPECT_EQ(server.Ask(For("t")).Field("X-A"), "1") << "another request in between";
  server.Server().Ask([&] { waiting.Last()->Reply(TextResponse(200, "late")); });
  const HttpReply reply = late.ReadReply();
  EXPECT_EQ(reply.body, "late");
  EXPECT_EQ(reply.Field("X-A"), "1");
}

TEST_F(SitesHandlerTest, AnErrorOfTheHandlerHasThePageOfTheSite) {
  const test::CapturedStderr errors;
  SiteOptions site = Default();
  site.error_pages = {{500, "", "Broken."}};
  const AroundServer server({site}, [](Exchange&) { throw std::runtime_error("broken"); });
  const HttpReply reply = server.Ask(For("t"));
  EXPECT_EQ(reply.status, 500);
  EXPECT_EQ(reply.body, "Broken.");
}

TEST_F(SitesHandlerTest, AnotherPathHasItsOwnRules) {
  SiteRule first = Setting("X-First", "1");
  first.path = "/first";
  SiteRule second = Setting("X-Second", "1");
  second.path = "/second";
  SiteRule closed;
  closed.path = "/closed";
  closed.deny = {"127.0.0.1"};
  SiteOptions site = With(first);
  site.rules.push_back(second);
  site.rules.push_back(closed);
  const AroundServer server({site}, [](Exchange& exchange) {
    const Request& request = exchange.GetRequest();
    if (request.uri.Path() == "/first") {
      exchange.ReplyFrom(std::string(request.uri.Query()));
    } else {
      Hello(exchange);
    }
  });
  const HttpReply reply = server.Ask(For("t", "/first?/second"));
  EXPECT_EQ(reply.body, "hello");
  EXPECT_EQ(reply.Field("X-First"), "");
  EXPECT_EQ(reply.Field("X-Second"), "1");
  EXPECT_EQ(server.Ask(For("t", "/first?/closed")).status, 403);
}

// --- another table -------------------------------------------------------------------------------

TEST_F(SitesHandlerTest, NewRequestsSeeTheNewTableOnEveryLoop) {
  FilesServer server(Two(), Cache(), 3);
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < 9; ++i) {
    clients.push_back(std::make_unique<HttpClient>(server.Port()));
    EXPECT_EQ(clients.back()->Ask(For("a.example")).body, "site a");
  }
  SiteOptions site = Named("a.example", B());
  site.rules = {Setting("X-A", "1")};
  server.Replace({site});
  EXPECT_EQ(server.GetSites().Table()->All().size(), 1U);
  for (const auto& client : clients) {
    const HttpReply reply = client->Ask(For("a.example"));
    EXPECT_EQ(reply.body, "site b");
    EXPECT_EQ(reply.Field("X-A"), "1");
    EXPECT_EQ(client->Ask(For("b.example")).status, 421);
  }
}

TEST_F(SitesHandlerTest, AResponseUnderWayKeepsItsFile) {
  const std::string large(std::size_t{8} << 20, 'x');  // more than the kernel's buffers hold
  folder_.Write("a/large", large);
  for (const StaticFilesOptions& files : {Cache(), StaticFilesOptions()}) {
    FilesServer server({Default(A())}, files);
    HttpClient client(server.Port());
    EXPECT_EQ(client.Ask(For("t", "/page.txt")).status, 200);
    ASSERT_TRUE(client.Send(For("t", "/large")));
    ASSERT_TRUE(client.HasInput(test::kPatience));
    server.Replace({Default(B())});
    EXPECT_EQ(server.Ask(For("t")).body, "site b") << "the old handlers are gone";
    const HttpReply reply = client.ReadReply();
    EXPECT_TRUE(reply.complete);
    EXPECT_EQ(reply.body.size(), large.size());
    EXPECT_EQ(client.Ask(For("t", "/large")).status, 404);
  }
}

TEST_F(SitesHandlerTest, ARequestUnderWayKeepsItsRules) {
  Waiting waiting;
  AroundServer server({With(Setting("X-A", "old"))}, [&](Exchange& exchange) {
    if (exchange.GetRequest().uri.Path() == "/late") {
      waiting.Keep(exchange);
    } else {
      Hello(exchange);
    }
  });
  HttpClient late(server.Port());
  ASSERT_TRUE(late.Send(For("t", "/late")));
  ASSERT_TRUE(server.Server().Await([&] { return waiting.Count() == 1; }));
  server.Replace({With(Setting("X-A", "new"))});
  EXPECT_EQ(server.Ask(For("t")).Field("X-A"), "new");
  server.Server().Ask([&] { waiting.Last()->Reply(TextResponse(200, "late")); });
  EXPECT_EQ(late.ReadReply().Field("X-A"), "old");
  EXPECT_EQ(late.Ask(For("t")).Field("X-A"), "new");
}

TEST_F(SitesHandlerTest, ATableThatCouldNotBeUsedIsTriedAgain) {
  FilesServer server(Two());
  EXPECT_EQ(server.Ask(For("b.example")).body, "site b");
  const test::CapturedStderr log;
  server.Replace({Named("a.example", B()), Named("b.example", folder_.Path("late"))});
  EXPECT_EQ(server.Ask(For("b.example")).body, "site b");
  folder_.Write("late/index.html", "late");
  const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
  std::string body;
  while (body != "late" && std::chrono::steady_clock::now() < deadline) {
    body = server.Ask(For("b.example")).body;
  }
  EXPECT_EQ(body, "late");
  EXPECT_EQ(server.Ask(For("a.example")).body, "site b");
}

TEST_F(SitesHandlerTest, ATableWhoseDirectoryIsMissingLeavesTheOldOne) {
  FilesServer server(Two());
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(For("a.example")).body, "site a");
  const test::CapturedStderr log;
  server.Replace({Named("a.example", B()), Named("b.example", folder_.Path("none"))});
  EXPECT_EQ(client.Ask(For("a.example")).body, "site a");
  EXPECT_EQ(client.Ask(For("b.example")).body, "site b");
  EXPECT_EQ(Count(log.Text(), "one loop keeps the old ones"), 1) << log.Text();
  EXPECT_NE(log.Text().find(folder_.Path("none")), std::string::npos) << log.Text();
  server.Replace({Named("a.example", B())});
  EXPECT_EQ(client.Ask(For("a.example")).body, "site b") << "the next table is tried again";
}

TEST_F(SitesHandlerTest, ATableThatRepeatsTheOldOneBeginsItsCountsAnew) {
  SiteRule rule;
  rule.rate = OncePerDay();
  AroundServer server({With(rule)}, Hello);
  EXPECT_EQ(server.Ask(For("t")).status, 200);
  EXPECT_EQ(server.Ask(For("t")).status, 429);
  server.Replace({With(rule)});
  EXPECT_EQ(server.Ask(For("t")).status, 200);
}

// --- local redirects -----------------------------------------------------------------------------

// Redirects all but "/end" to `target`.
auto To(std::string target) -> Answer {
  return [target = std::move(target)](Exchange& exchange) {
    if (exchange.GetRequest().uri.Path() == "/end") {
      exchange.Reply(TextResponse(200, "end"));
    } else {
      exchange.ReplyFrom(target);
    }
  };
}

TEST_F(SitesHandlerTest, ALocalRedirectIsNotCountedAgain) {
  SiteRule rule;
  rule.rate = OncePerDay();
  const AroundServer server({With(rule)}, To("/end"));
  EXPECT_EQ(server.Ask(For("t", "/begin")).body, "end");
  EXPECT_EQ(server.Ask(For("t", "/begin")).status, 429);
}

TEST_F(SitesHandlerTest, TheRatesOfTheTargetStillCountALocalRedirect) {
  SiteRule rule;
  rule.path = "/end";
  rule.rate = OncePerDay();
  const AroundServer server({With(rule)}, To("/end"));
  EXPECT_EQ(server.Ask(For("t", "/begin")).body, "end");
  EXPECT_EQ(server.Ask(For("t", "/begin")).status, 429);
  EXPECT_EQ(server.Ask(For("t", "/end")).status, 429);
}

TEST_F(SitesHandlerTest, TheNextRequestOfAConnectionIsCounted) {
  SiteRule rule;
  rule.rate = OncePerDay();
  const AroundServer server({With(rule)}, To("/end"));
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(For("t", "/begin")).status, 200);
  EXPECT_EQ(client.Ask(For("t", "/begin")).status, 429);
}

TEST_F(SitesHandlerTest, ALocalRedirectThatLeadsNowhereHasTheFieldsOfTheSite) {
  for (const char* target : {"/loop", "/a b", "no path"}) {
    const AroundServer server({With(Setting("X-A", "1"))}, To(target));
    const HttpReply reply = server.Ask(For("t", "/begin"));
    EXPECT_EQ(reply.status, 502) << target;
    EXPECT_EQ(reply.Field("X-A"), "1") << target;
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
