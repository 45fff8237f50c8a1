// Rules with users, on a server: which clients they let in, and where passwords are checked.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "sites/login_cache.h"
#include "sites/sites.h"
#include "support/basic_login.h"
#include "support/clocked_server.h"
#include "support/held_pool.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "support/site_folder.h"
#include "support/users_file.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using test::Get;
using test::HeldPool;
using test::HttpClient;
using test::HttpReply;
using test::LoginLine;
using test::RunningServer;

auto Threads(std::size_t threads, std::size_t max_queued = 1024) -> TaskPoolOptions {
  TaskPoolOptions options;
  options.threads = threads;
  options.max_queued = max_queued;
  return options;
}

auto WithRules(const std::vector<SiteRule>& rules, const std::string& root) -> SitesOptions {
  SiteOptions site;
  site.is_default = true;
  site.root = root;
  site.rules = rules;
  return {site};
}

// The sites on a server, with a pool or without.
class LoginServer {
 public:
  explicit LoginServer(const SitesOptions& options, TaskPool* pool = nullptr)
      : sites_(options), server_([&](HttpServer& http) {
          if (pool != nullptr) {
            sites_.UsePool(*pool);
          }
          StaticFilesOptions files;
          files.cache.max_bytes = std::size_t{1} << 20;
          http.Mount("/", sites_.Files(files));
          http.Mount("/echo", sites_.Around(test::Answering([](Exchange& exchange) {
            auto body = std::make_shared<std::string>(exchange.SubPath());
            exchange.OnBody([&exchange, body](std::string_view piece, bool last) {
              body->append(piece);
              if (last) {
                exchange.Reply(TextResponse(200, *body));
              }
            });
          })));
        }) {}

  [[nodiscard]] auto Port() const -> int { return server_.Port(); }
  [[nodiscard]] auto Server() -> RunningServer& { return server_; }

  void Replace(const SitesOptions& options) {
    sites_.Replace(std::make_shared<const SiteTable>(options));
  }

  [[nodiscard]] auto Ask(const std::string& request) const -> HttpReply {
    return HttpClient(Port()).Ask(request);
  }

 private:
  Sites sites_;
  RunningServer server_;
};

class SitesLoginTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::HasCrypt()) {
      GTEST_SKIP() << "this system has no crypt_r(3)";
    }
    folder_.Write("root/index.html", "home");
    folder_.Write("root/in/index.html", "inside");
    folder_.Write("users", test::UserLine("alice", "secret") + test::UserLine("bob", "other"));
    folder_.Write("chiefs", test::UserLine("alice", "secret"));
  }

  [[nodiscard]] auto Root() const -> std::string { return folder_.Path("root"); }

  [[nodiscard]] auto Guarded(const std::string& path, const std::string& users,
                             const std::string& realm = "restricted") const -> SiteRule {
    SiteRule rule;
    rule.path = path;
    rule.users = folder_.Path(users);
    rule.realm = realm;
    return rule;
  }

  // A site whose directory /in is for the users.
  [[nodiscard]] auto One() const -> SitesOptions {
    return WithRules({Guarded("/in", "users"), Guarded("/echo", "users")}, Root());
  }

  // Waits until as many checks wait in the pool.
  [[nodiscard]] static auto AwaitQueued(const TaskPool& pool, std::size_t count) -> bool {
    return test::Await([&] { return pool.Figures().queued == count; });
  }

  test::SiteFolder folder_;
  const std::string alice_ = LoginLine("alice:secret");
  const std::string bob_ = LoginLine("bob:other");
  const std::string wrong_ = LoginLine("alice:wrong");
};

// --- which clients are let in --------------------------------------------------------------------

class SitesLoginEverywhereTest : public SitesLoginTest,
                                 public testing::WithParamInterface<std::size_t> {
 protected:
  TaskPool pool_{Threads(GetParam())};  // 0: the loop checks
};

INSTANTIATE_TEST_SUITE_P(Threads, SitesLoginEverywhereTest, testing::Values(0, 2));

TEST_P(SitesLoginEverywhereTest, ARightPasswordIsLetIn) {
  const LoginServer server(One(), &pool_);
  EXPECT_EQ(server.Ask(Get("/in/", alice_)).body, "inside");
  EXPECT_EQ(server.Ask(Get("/in/", bob_)).body, "inside");
  EXPECT_EQ(server.Ask(Get("/")).body, "home") << "the rule is not for this path";
}

TEST_P(SitesLoginEverywhereTest, AnythingElseIsAskedForAPassword) {
  const LoginServer server(WithRules({Guarded("/in", "users", "the office")}, Root()), &pool_);
  for (const std::string& fields :
       {std::string(), wrong_, LoginLine("alice:"), LoginLine("carol:secret"), LoginLine("alice"),
        LoginLine("Alice:secret"), LoginLine("alice:other"), alice_ + alice_,
        std::string("Authorization: Bearer secret\r\n")}) {
    const HttpReply reply = server.Ask(Get("/in/", fields));
    EXPECT_EQ(reply.status, 401) << fields;
    EXPECT_EQ(reply.Field("WWW-Authenticate"), "Basic realm=\"the office\", charset=\"UTF-8\"");
    EXPECT_EQ(reply.Field("Cache-Control"), "no-store");
    EXPECT_EQ(reply.body.find("inside"), std::string::npos);
  }
}

TEST_P(SitesLoginEverywhereTest, OneConnectionMayHaveManyLogins) {
  const LoginServer server(One(), &pool_);
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/in/", alice_) + Get("/in/", wrong_) + Get("/in/") +
                          Get("/in/", bob_) + Get("/")));
  EXPECT_EQ(client.ReadReply().body, "inside");
  EXPECT_EQ(client.ReadReply().status, 401);
  EXPECT_EQ(client.ReadReply().status, 401);
  EXPECT_EQ(client.ReadReply().body, "inside");
  EXPECT_EQ(client.ReadReply().body, "home");
}

TEST_P(SitesLoginEverywhereTest, EveryRuleMustLetTheClientIn) {
  for (const bool chiefs_first : {false, true}) {
    std::vector<SiteRule> rules = {Guarded("/in", "users", "r-users"),
                                   Guarded("/", "chiefs", "r-chiefs")};
    if (chiefs_first) {
      std::swap(rules[0], rules[1]);
    }
    const LoginServer server(WithRules(rules, Root()), &pool_);
    EXPECT_EQ(server.Ask(Get("/in/", alice_)).body, "inside");
    const HttpReply reply = server.Ask(Get("/in/", bob_));
    EXPECT_EQ(reply.status, 401);
    EXPECT_NE(reply.Field("WWW-Authenticate").find("r-chiefs"), std::string::npos) << reply.head;
    EXPECT_EQ(server.Ask(Get("/", bob_)).status, 401);
  }
}

TEST_P(SitesLoginEverywhereTest, FieldsOfTheRulesAreInEveryResponse) {
  SitesOptions options = One();
  options[0].rules[0].fields = {{FieldEdit::Kind::kSet, "X-A", "1"}};
  options[0].error_pages = {{401, "", "Who are you?"}};
  const LoginServer server(options, &pool_);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(server.Ask(Get("/in/", alice_)).Field("X-A"), "1");
    const HttpReply reply = server.Ask(Get("/in/", wrong_));
    EXPECT_EQ(reply.Field("X-A"), "1");
    EXPECT_EQ(reply.body, "Who are you?");
  }
}

TEST_P(SitesLoginEverywhereTest, ABodyWaitsForThePassword) {
  const LoginServer server(One(), &pool_);
  const auto post = [](const std::string& fields) {
    return "POST /echo/a HTTP/1.1\r\nHost: t\r\n" + fields + "Content-Length: 5\r\n\r\nhello";
  };
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(post(wrong_)).status, 401);
  EXPECT_EQ(client.Ask(post(alice_)).body, "/ahello");
  EXPECT_EQ(client.Ask(post(alice_)).body, "/ahello");
}

TEST_P(SitesLoginEverywhereTest, ABodyOfTheRulesLimitIsRefusedAfterThePassword) {
  SitesOptions options = One();
  options[0].rules[1].max_body_bytes = 4;
  const LoginServer server(options, &pool_);
  const std::string rest = "Content-Length: 5\r\n\r\nhello";
  const std::string post = "POST /echo HTTP/1.1\r\nHost: t\r\n";
  EXPECT_EQ(server.Ask(post + wrong_ + rest).status, 401);
  EXPECT_EQ(server.Ask(post + alice_ + rest).status, 413);
}

TEST_P(SitesLoginEverywhereTest, ARateComesBeforeThePassword) {
  SitesOptions options = One();
  options[0].rules[0].rate = RateLimit{1, std::chrono::hours(24), 2};
  const LoginServer server(options, &pool_);
  EXPECT_EQ(server.Ask(Get("/in/", wrong_)).status, 401);
  EXPECT_EQ(server.Ask(Get("/in/", wrong_)).status, 401);
  EXPECT_EQ(server.Ask(Get("/in/", alice_)).status, 429);
}

TEST_P(SitesLoginEverywhereTest, ANewTableReadsTheFileAgain) {
  LoginServer server(One(), &pool_);
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/in/", alice_)).status, 200);
  folder_.Write("users", test::UserLine("alice", "changed"));
  EXPECT_EQ(client.Ask(Get("/in/", alice_)).status, 200);
  server.Replace(One());
  EXPECT_EQ(client.Ask(Get("/in/", alice_)).status, 401);
  EXPECT_EQ(client.Ask(Get("/in/", LoginLine("alice:changed"))).status, 200);
}

// --- the threads --------------------------------------------------------------------------------

TEST_F(SitesLoginTest, ACheckDelaysNoOtherClientOfTheLoop) {
  HeldPool pool(Threads(1));
  ASSERT_TRUE(pool.IsHeld());
  const LoginServer server(One(), &pool);
  HttpClient slow(server.Port());
  HttpClient other(server.Port());
  ASSERT_TRUE(slow.Send(Get("/in/", alice_)));
  ASSERT_TRUE(AwaitQueued(pool, 1));
  EXPECT_EQ(other.Ask(Get("/")).body, "home");
  EXPECT_EQ(other.Ask(Get("/in/")).status, 401) << "this needs no hash";
  EXPECT_FALSE(slow.HasInput(milliseconds(0)));
  pool.Release();
  EXPECT_EQ(slow.ReadReply().body, "inside");
}

TEST_F(SitesLoginTest, ARightPasswordIsCheckedOnce) {
  TaskPool pool(Threads(1));
  const LoginServer server(One(), &pool);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(server.Ask(Get("/in/", alice_)).status, 200);
  }
  EXPECT_TRUE(test::Await([&] { return pool.Figures().ran == 1; }));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(server.Ask(Get("/in/", wrong_)).status, 401);
  }
  EXPECT_TRUE(test::Await([&] { return pool.Figures().ran == 4; })) << "a wrong one each time";
}

TEST_F(SitesLoginTest, APasswordIsCheckedAgainAfterAMinute) {
  TaskPool pool(Threads(1));
  Sites sites(One());
  sites.UsePool(pool);
  test::ClockedServer server(
      [&](Looper& looper, LoopHttp& http) { http.Mount("/", sites.Files()(looper)); });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/in/", alice_)).status, 200);
  server.Advance(LoginCache::kLifetime - milliseconds(1));
  client = HttpClient(server.Port());
  EXPECT_EQ(client.Ask(Get("/in/", alice_)).status, 200);
  EXPECT_TRUE(test::Await([&] { return pool.Figures().ran == 1; }));
  server.Advance(milliseconds(1));
  EXPECT_EQ(client.Ask(Get("/in/", alice_)).status, 200);
  EXPECT_TRUE(test::Await([&] { return pool.Figures().ran == 2; }));
}

TEST_F(SitesLoginTest, TwoRulesWithOneFileCostOneCheck) {
  TaskPool pool(Threads(1));
  const LoginServer server(
      WithRules({Guarded("/", "users", "first"), Guarded("/in", "users", "second")}, Root()),
      &pool);
  EXPECT_EQ(server.Ask(Get("/in/", alice_)).body, "inside");
  EXPECT_EQ(server.Ask(Get("/", alice_)).body, "home");
  EXPECT_TRUE(test::Await([&] { return pool.Figures().running == 0; }));
  EXPECT_EQ(pool.Figures().ran, 1U);
}

TEST_F(SitesLoginTest, AFullPoolRefuses) {
  HeldPool pool(Threads(1, 1));
  ASSERT_TRUE(pool.IsHeld());
  const LoginServer server(One(), &pool);
  HttpClient first(server.Port());
  ASSERT_TRUE(first.Send(Get("/in/", alice_)));
  ASSERT_TRUE(AwaitQueued(pool, 1));
  const HttpReply reply = server.Ask(Get("/in/", bob_));
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.Field("Retry-After"), "1");
  pool.Release();
  EXPECT_EQ(first.ReadReply().body, "inside");
}

TEST_F(SitesLoginTest, AStoppedPoolRefuses) {
  HeldPool pool(Threads(1));
  ASSERT_TRUE(pool.IsHeld());
  const LoginServer server(One(), &pool);
  HttpClient first(server.Port());
  ASSERT_TRUE(first.Send(Get("/in/", alice_)));
  ASSERT_TRUE(AwaitQueued(pool, 1));
  std::thread stops([&pool] { pool.Stop(); });  // drops the check, and waits for the gate
  EXPECT_EQ(first.ReadReply().status, 503);
  pool.Release();
  stops.join();
  EXPECT_EQ(first.Ask(Get("/in/", alice_)).status, 503);
}

TEST_F(SitesLoginTest, AClientThatIsGoneCostsNoHash) {
  HeldPool pool(Threads(1));
  ASSERT_TRUE(pool.IsHeld());
  const LoginServer server(One(), &pool);
  {
    HttpClient reset(server.Port());
    HttpClient closed(server.Port());
    ASSERT_TRUE(reset.Send(Get("/in/", alice_)));
    ASSERT_TRUE(closed.Send(Get("/in/", alice_)));
    ASSERT_TRUE(AwaitQueued(pool, 2));
    reset.Reset();
    ASSERT_TRUE(AwaitQueued(pool, 1));
  }
  EXPECT_TRUE(AwaitQueued(pool, 0));
  EXPECT_EQ(pool.Figures().cancelled, 2U);
  pool.Release();
  EXPECT_EQ(server.Ask(Get("/in/", alice_)).body, "inside");
}

TEST_F(SitesLoginTest, AServerMayEndDuringACheck) {
  HeldPool pool(Threads(1));
  ASSERT_TRUE(pool.IsHeld());
  std::optional<LoginServer> server(std::in_place, One(), &pool);
  HttpClient client(server->Port());
  ASSERT_TRUE(client.Send(Get("/in/", alice_)));
  ASSERT_TRUE(AwaitQueued(pool, 1));
  client.Reset();
  server.reset();
  EXPECT_EQ(pool.Figures().queued, 0U);
}

// --- another table during a check ---------------------------------------------------------------

class SitesLoginReplaceTest : public SitesLoginTest {
 protected:
  // Asks, replaces the table during the check, and returns the response.
  [[nodiscard]] auto AskDuring(const SitesOptions& before, const SitesOptions& after,
                               const std::string& request) -> HttpReply {
    HeldPool pool(Threads(1));
    EXPECT_TRUE(pool.IsHeld());
    LoginServer server(before, &pool);
    HttpClient client(server.Port());
    EXPECT_TRUE(client.Send(request));
    EXPECT_TRUE(AwaitQueued(pool, 1));
    server.Replace(after);
    pool.Release();
    HttpReply reply = client.ReadReply();
    EXPECT_EQ(server.Ask(Get("/other")).status, 404) << "it serves the next client, too";
    return reply;
  }
};

TEST_F(SitesLoginReplaceTest, TheNewFilesAreServed) {
  folder_.Write("next/in/index.html", "the next");
  EXPECT_EQ(
      AskDuring(One(), WithRules(One()[0].rules, folder_.Path("next")), Get("/in/", alice_)).body,
      "the next");
}

TEST_F(SitesLoginReplaceTest, TheNewPasswordsCount) {
  SitesOptions chiefs = WithRules({Guarded("/in", "chiefs", "r-chiefs")}, Root());
  const HttpReply reply = AskDuring(One(), chiefs, Get("/in/", bob_));
  EXPECT_EQ(reply.status, 401);
  EXPECT_NE(reply.Field("WWW-Authenticate").find("r-chiefs"), std::string::npos);
  EXPECT_EQ(AskDuring(chiefs, One(), Get("/in/", bob_)).body, "inside");
}

TEST_F(SitesLoginReplaceTest, TheNewRulesDecide) {
  SiteRule denied;
  denied.deny = {"127.0.0.0/8"};
  EXPECT_EQ(AskDuring(One(), WithRules({}, Root()), Get("/in/", wrong_)).body, "inside");
  denied.path = "/in";
  EXPECT_EQ(AskDuring(One(), WithRules({denied}, Root()), Get("/in/", alice_)).status, 403);
}

TEST_F(SitesLoginReplaceTest, TheNewFieldsAreSet) {
  SitesOptions before = One();
  before[0].rules[0].fields = {{FieldEdit::Kind::kSet, "X-A", "1"}};
  SitesOptions after = One();
  after[0].rules[0].fields = {{FieldEdit::Kind::kSet, "X-B", "2"}};
  for (const std::string& login : {alice_, wrong_}) {
    const HttpReply reply = AskDuring(before, after, Get("/in/", login));
    EXPECT_EQ(reply.Field("X-A"), "");
    EXPECT_EQ(reply.Field("X-B"), "2");
  }
  EXPECT_EQ(AskDuring(before, One(), Get("/in/", alice_)).Field("X-A"), "");
}

TEST_F(SitesLoginReplaceTest, ALateResponseHasNoFieldsOfTheOldTable) {
  SitesOptions before = One();
  before[0].rules[1].fields = {{FieldEdit::Kind::kSet, "X-A", "1"}};
  HeldPool pool(Threads(1));
  ASSERT_TRUE(pool.IsHeld());
  LoginServer server(before, &pool);
  HttpClient client(server.Port());
  ASSERT_TRUE(
      client.Send("POST /echo HTTP/1.1\r\nHost: t\r\n" + alice_ + "Content-Length: 5\r\n\r\nhel"));
  ASSERT_TRUE(AwaitQueued(pool, 1));
  server.Replace(One());
  pool.Release();
  ASSERT_TRUE(test::Await([&] { return pool.Figures().ran == 3; }))
      << "the held one, and two checks";
  server.Server().Settle();
  EXPECT_EQ(server.Ask(Get("/echo")).status, 401) << "the handler sees another request meanwhile";
  ASSERT_TRUE(client.Send("lo"));
  const HttpReply reply = client.ReadReply();
  EXPECT_EQ(reply.body, "hello");
  EXPECT_EQ(reply.Field("X-A"), "");
}

TEST_F(SitesLoginReplaceTest, AHandlerOfAllSitesGetsTheRequestOnce) {
  EXPECT_EQ(
      AskDuring(One(), One(),
                "POST /echo/a HTTP/1.1\r\nHost: t\r\n" + alice_ + "Content-Length: 5\r\n\r\nhello")
          .body,
      "/ahello");
}

}  // namespace
}  // namespace TURTLE_SERVER
