// The program behind proxies that pass requests on: who is the client for rules, logs and programs.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "core/io_result.h"
#include "core/net_address.h"
#include "core/socket.h"
#include "support/basic_login.h"
#include "support/cgi_server.h"
#include "support/http_client.h"
#include "support/log_folder.h"
#include "support/turtle.h"
#include "support/users_file.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::Turtle;
using namespace std::string_literals;

const auto kNamed = "X-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: https\r\n"s;
const auto kOther = "X-Forwarded-For: 203.0.113.9\r\n"s;
const auto kProgram = "/cgi-bin/client"s;  // tells its client

class ServeTrustedProxiesTest : public testing::Test {
 protected:
  ServeTrustedProxiesTest() {
    folder_.Write("site/index.html", "hello");
    programs_.Program(
        "client",
        "echo Content-Type: text/plain; echo;"
        "echo \"$REMOTE_ADDR ${HTTPS-off} ${AUTH_TYPE-none} ${REMOTE_USER-nobody}\"\n");
  }

  void Configure(const std::string& more) const {
    folder_.Write("site.json",
                  R"({"port": 0, "worker_processes": 1, "log": {"flush_second": 1, "file": ")" +
                      folder_.Path("turtle.log") + R"("}, "access_log": {"file": ")" +
                      folder_.Path("access.log") +
                      R"("}, "http": {"response_cache": "on", "root_path": ")" +
                      folder_.Path("site") + R"(", "cgi_path": ")" + programs_.Path() + "\"},\n" +
                      more + "}");
  }

  [[nodiscard]] auto Arguments() const -> std::vector<std::string> {
    return {"-f", folder_.Path("site.json")};
  }

  // Returns a table of one site with these rules.
  [[nodiscard]] auto Sites(const std::string& rules) const -> std::string {
    return R"("sites": [{"default": true, "root_path": ")" + folder_.Path("site") +
           R"(", "rules": [)" + rules + "]}]";
  }

  [[nodiscard]] auto Has(const std::string& file, const std::string& text) const -> bool {
    return folder_.Read(file).find(text) != std::string::npos;
  }

  // Waits until the file contains this text.
  [[nodiscard]] auto Await(const std::string& file, const std::string& text) const -> bool {
    const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
    while (!Has(file, text) && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    return Has(file, text);
  }

  test::LogFolder folder_;
  test::ProgramFolder programs_;
};

TEST_F(ServeTrustedProxiesTest, ProgramsAndTheAccessLogSeeTheClient) {
  Configure(R"("trusted_proxies": ["127.0.0.1", "10.0.0.0/8"])");
  Turtle turtle(Arguments());
  ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
  HttpClient proxy(turtle.Port());
  EXPECT_EQ(proxy.Ask(Get(kProgram + "?1", kNamed)).body, "192.0.2.7 on none nobody\n");
  EXPECT_EQ(proxy.Ask(Get(kProgram + "?2", kOther)).body, "203.0.113.9 off none nobody\n");
  EXPECT_EQ(proxy.Ask(Get(kProgram + "?3")).body, "127.0.0.1 off none nobody\n");
  EXPECT_EQ(proxy.Ask(Get("/", "Forwarded: for=\"[2001:db8::7]:80\", for=10.0.0.1\r\n")).body,
            "hello");
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
  for (const char* line :
       {"192.0.2.7 - - [", "\n203.0.113.9 - - [", "\n127.0.0.1 - - [", "\n2001:db8::7 - - ["}) {
    EXPECT_TRUE(Has("access.log", line)) << line << folder_.Read("access.log");
  }
}

TEST_F(ServeTrustedProxiesTest, OfOthersTheFieldsMeanNothing) {
  for (const char* trusted : {"", R"("trusted_proxies": ["127.0.0.2", "192.0.2.0/24"])",
                              R"("proxy_protocol": ["192.0.2.0/24"])"}) {
    Configure(trusted + ((*trusted == '\0' ? "" : ", ") + Sites(R"({"deny": ["192.0.2.0/24"]})")));
    const Turtle turtle(Arguments());
    ASSERT_GT(turtle.Port(), 0) << trusted;
    const std::string fields = "Forwarded: for=192.0.2.7;proto=https\r\n" + kNamed;
    EXPECT_EQ(HttpClient(turtle.Port()).Ask(Get(kProgram, fields)).body,
              "127.0.0.1 off none nobody\n");
  }
}

TEST_F(ServeTrustedProxiesTest, TheRulesOfASiteSeeTheClient) {
  Configure(R"("trusted_proxies": "127.0.0.1", )" + Sites(R"({"deny": ["192.0.2.0/24"]},
      {"path": "/slow", "rate": "1/h"})"));
  const Turtle turtle(Arguments());
  ASSERT_GT(turtle.Port(), 0);
  HttpClient proxy(turtle.Port());
  EXPECT_EQ(proxy.Ask(Get("/", kNamed)).status, 403);
  EXPECT_EQ(proxy.Ask(Get("/", kOther)).body, "hello");
  EXPECT_EQ(proxy.Ask(Get("/", kOther + "X-Forwarded-For: 192.0.2.7\r\n")).status, 403);
  EXPECT_EQ(proxy.Ask(Get("/", "X-Forwarded-For: 192.0.2.7, 203.0.113.9\r\n")).body, "hello");
  EXPECT_EQ(proxy.Ask(Get("/slow", kOther)).status, 404);
  EXPECT_EQ(proxy.Ask(Get("/slow", kOther)).status, 429);
  EXPECT_EQ(proxy.Ask(Get("/slow", "X-Forwarded-For: 203.0.113.10\r\n")).status, 404);
}

TEST_F(ServeTrustedProxiesTest, ASchemeIsPartOfTheKeyOfAKeptResponse) {
  programs_.Program("scheme", "echo Content-Type: text/plain; echo; echo \"${HTTPS-off}\"\n");
  Configure(R"("trusted_proxies": "127.0.0.1")");
  const Turtle turtle(Arguments());
  ASSERT_GT(turtle.Port(), 0);
  for (int i = 0; i < 2; ++i) {
    HttpClient proxy(turtle.Port());
    EXPECT_EQ(proxy.Ask(Get("/cgi-bin/scheme", kNamed)).body, "on\n");
    EXPECT_EQ(proxy.Ask(Get("/cgi-bin/scheme", kOther)).body, "off\n");
  }
}

TEST_F(ServeTrustedProxiesTest, AReloadChangesTheProxies) {
  Configure(R"("trusted_proxies": [])");
  const Turtle turtle(Arguments());
  ASSERT_GT(turtle.Port(), 0);
  HttpClient proxy(turtle.Port());
  EXPECT_EQ(proxy.Ask(Get(kProgram + "?1", kNamed)).body, "127.0.0.1 off none nobody\n");
  Configure(R"("trusted_proxies": ["127.0.0.0/8"])");
  turtle.Signal(SIGHUP);
  ASSERT_TRUE(Await("turtle.log", " INFO the settings were reloaded\n"));
  EXPECT_EQ(proxy.Ask(Get(kProgram + "?2", kNamed)).body, "192.0.2.7 on none nobody\n");
}

TEST_F(ServeTrustedProxiesTest, AfterAHeaderItsClientDecides) {
  Configure(R"("proxy_protocol": "127.0.0.1", "trusted_proxies": "192.0.2.0/24")");
  const Turtle turtle(Arguments());
  ASSERT_GT(turtle.Port(), 0);
  const auto header = [](const std::string& client) {
    return "PROXY TCP4 " + client + " 198.51.100.1 56324 443\r\n";
  };
  EXPECT_EQ(HttpClient(turtle.Port()).Ask(header("192.0.2.1") + Get(kProgram + "?1", kOther)).body,
            "203.0.113.9 off none nobody\n");
  EXPECT_EQ(
      HttpClient(turtle.Port()).Ask(header("203.0.113.1") + Get(kProgram + "?2", kOther)).body,
      "203.0.113.1 off none nobody\n");
}

TEST_F(ServeTrustedProxiesTest, AUserOfARuleIsInTheLogAndInTheEnvironment) {
  if (!test::HasCrypt()) {
    GTEST_SKIP() << "there is no crypt(3)";
  }
  folder_.Write("users", test::UserLine("alice b", "secret"));
  Configure(Sites(R"({"path": "/cgi-bin", "users": ")" + folder_.Path("users") + "\"}"));
  Turtle turtle(Arguments());
  ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
  const std::string login = test::LoginLine("alice b:secret");
  HttpClient client(turtle.Port());
  for (int i = 0; i < 2; ++i) {  // checked by a thread, then remembered
    EXPECT_EQ(client.Ask(Get(kProgram, login)).body, "127.0.0.1 off Basic alice b\n");
  }
  EXPECT_EQ(client.Ask(Get("/", login + "Remote-User: eve\r\nREMOTE_USER: eve\r\n")).body, "hello");
  EXPECT_EQ(client.Ask(Get(kProgram, test::LoginLine("alice b:guess"))).status, 401);
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
  const std::string log = folder_.Read("access.log");
  EXPECT_EQ(log.rfind("127.0.0.1 - alice\\x20b [", 0), 0U) << log;
  EXPECT_TRUE(Has("access.log", "\n127.0.0.1 - alice\\x20b [")) << log;
  EXPECT_EQ(log.find("alice", log.find("\"GET / ")), std::string::npos) << log;
  EXPECT_EQ(log.find("eve"), std::string::npos) << log;
}

TEST_F(ServeTrustedProxiesTest, ConnectionsOfAnAddressAreLimited) {
  Configure(R"("max_connections_per_address": 2)");
  Turtle turtle(Arguments());
  ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
  HttpClient first(turtle.Port());
  HttpClient second(turtle.Port());
  EXPECT_EQ(first.Ask(Get("/")).body, "hello");
  EXPECT_EQ(second.Ask(Get("/", "Connection: close\r\n")).body, "hello");
  EXPECT_TRUE(second.IsClosedByServer());
  HttpClient third(turtle.Port());
  EXPECT_EQ(third.Ask(Get("/")).body, "hello") << "there is room again";
  HttpClient above(turtle.Port());
  const HttpReply refusal = above.ReadReply();
  EXPECT_EQ(refusal.status, 503);
  EXPECT_EQ(refusal.Field("Retry-After"), "1");
  Configure(R"("max_connections_per_address": -1)");
  turtle.Signal(SIGHUP);
  ASSERT_TRUE(Await("turtle.log", " INFO the settings were reloaded\n"));
  EXPECT_EQ(HttpClient(turtle.Port()).Ask(Get("/")).body, "hello");
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
  EXPECT_TRUE(Has("turtle.log", "1 client refused: max_connections_per_address is 2\n"));
}

TEST_F(ServeTrustedProxiesTest, ProxiesHaveAnyNumberOfConnections) {
  for (const char* kind : {"trusted_proxies", "proxy_protocol"}) {
    Configure("\"max_connections_per_address\": 1, \""s + kind + "\": \"127.0.0.1\"");
    const Turtle turtle(Arguments());
    ASSERT_GT(turtle.Port(), 0);
    std::vector<HttpClient> clients;
    for (int i = 0; i < 3; ++i) {
      clients.emplace_back(turtle.Port());
      const std::string header = kind == "proxy_protocol"s ? "PROXY UNKNOWN\r\n" : "";
      EXPECT_EQ(clients.back().Ask(header + Get("/")).body, "hello") << kind;
    }
  }
}

TEST_F(ServeTrustedProxiesTest, ABadNetworkIsRefused) {
  for (const char* network : {"10.0.0.1/8", "localhost"}) {
    Configure(R"("trusted_proxies": ["::1", ")"s + network + "\"]");
    Turtle turtle(Arguments());
    EXPECT_EQ(turtle.Wait(), 2);
    EXPECT_EQ(turtle.ReadErrors(), "turtle: " + folder_.Path("site.json") +
                                       ": trusted_proxies[1]: \"" + network +
                                       "\" is not an address or a network such as 10.0.0.0/8\n");
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
