#include "web/https_redirect.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/cidr_set.h"
#include "core/proxy_channel.h"
#include "core/unix_listener.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "support/site_folder.h"
#include "support/unix_client.h"

namespace TURTLE_SERVER {
namespace {

using test::HttpClient;
using test::HttpReply;
using test::RunningServer;

auto Get(const std::string& target, const std::string& host) -> std::string {
  return "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
}

// A plain port that redirects everything to one with TLS.
class HttpsRedirectTest : public testing::Test {
 protected:
  // Returns where a request is sent, or else the status.
  auto LocationOf(const std::string& request, test::Asked asked = test::Asked::kGet)
      -> std::string {
    return LocationOf(server_, request, asked);
  }

  static auto LocationOf(const RunningServer& server, const std::string& request,
                         test::Asked asked = test::Asked::kGet) -> std::string {
    HttpClient client(server.Port());
    const HttpReply reply = client.Ask(request, asked);
    const std::string location = reply.Field("Location");
    if (reply.status != 308) {
      EXPECT_EQ(location, "") << request;
      return std::to_string(reply.status);
    }
    EXPECT_TRUE(reply.complete) << request;
    return location;
  }

  RunningServer server_{[](HttpServer& server) { server.Mount("/", HttpsRedirect(443)); }};
};

TEST_F(HttpsRedirectTest, RedirectsToTheSameHost) {
  EXPECT_EQ(LocationOf(Get("/a/b.html", "example.org")), "https://example.org/a/b.html");
  EXPECT_EQ(LocationOf(Get("/", "www.Example.org")), "https://www.Example.org/");
  EXPECT_EQ(LocationOf(Get("/", "192.0.2.7")), "https://192.0.2.7/");
  EXPECT_EQ(LocationOf(Get("/", "a_b-c.example.org.")), "https://a_b-c.example.org./");
}

TEST_F(HttpsRedirectTest, ThePortOfTheRequestIsReplaced) {
  EXPECT_EQ(LocationOf(Get("/a", "example.org:80")), "https://example.org/a");
  EXPECT_EQ(LocationOf(Get("/a", "example.org:")), "https://example.org/a");
  const RunningServer other([](HttpServer& server) { server.Mount("/", HttpsRedirect(20443)); });
  EXPECT_EQ(LocationOf(other, Get("/a?b", "example.org:20080")), "https://example.org:20443/a?b");
  EXPECT_EQ(LocationOf(other, Get("/", "example.org")), "https://example.org:20443/");
}

TEST_F(HttpsRedirectTest, TheColonsOfAnIpv6AddressAreNoPorts) {
  EXPECT_EQ(LocationOf(Get("/", "[2001:db8::1]")), "https://[2001:db8::1]/");
  EXPECT_EQ(LocationOf(Get("/", "[2001:DB8::1]:80")), "https://[2001:DB8::1]/");
  EXPECT_EQ(LocationOf(Get("/", "[::ffff:192.0.2.7]:")), "https://[::ffff:192.0.2.7]/");
  const RunningServer other([](HttpServer& server) { server.Mount("/", HttpsRedirect(20443)); });
  EXPECT_EQ(LocationOf(other, Get("/", "[::1]:20080")), "https://[::1]:20443/");
}

TEST_F(HttpsRedirectTest, TheQueryIsKeptAsItWasSent) {
  EXPECT_EQ(LocationOf(Get("/a?b=c%20d&e=//f?g", "w.org")), "https://w.org/a?b=c%20d&e=//f?g");
  EXPECT_EQ(LocationOf(Get("/a?", "w.org")), "https://w.org/a?");
  EXPECT_EQ(LocationOf(Get("/a?x=%0d%0aSet-Cookie:y", "w.org")),
            "https://w.org/a?x=%0d%0aSet-Cookie:y");
}

TEST_F(HttpsRedirectTest, ThePathIsEncodedAgain) {
  EXPECT_EQ(LocationOf(Get("/a%20b/100%25", "w.org")), "https://w.org/a%20b/100%25");
  EXPECT_EQ(LocationOf(Get("/what%3f%23", "w.org")), "https://w.org/what%3F%23");
  EXPECT_EQ(LocationOf(Get("/x//./y/../z", "w.org")), "https://w.org/x/z");
  EXPECT_EQ(LocationOf(Get("//evil.example/", "w.org")), "https://w.org/evil.example/");
  EXPECT_EQ(LocationOf(Get("/%40evil.example", "w.org")).substr(0, 14), "https://w.org/");
}

TEST_F(HttpsRedirectTest, EveryMethodIsRedirected) {
  EXPECT_EQ(LocationOf("POST /form HTTP/1.1\r\nHost: w.org\r\nContent-Length: 3\r\n\r\na=b"),
            "https://w.org/form");
  EXPECT_EQ(LocationOf("DELETE /a HTTP/1.1\r\nHost: w.org\r\n\r\n"), "https://w.org/a");
  EXPECT_EQ(LocationOf("HEAD /a HTTP/1.1\r\nHost: w.org\r\n\r\n", test::Asked::kHead),
            "https://w.org/a");
}

TEST_F(HttpsRedirectTest, AnAbsoluteTargetCountsInsteadOfHost) {
  EXPECT_EQ(LocationOf(Get("http://www.example.org:80/a?b", "w.org")),
            "https://www.example.org/a?b");
  EXPECT_EQ(LocationOf(Get("http://www.example.org", "w.org")), "https://www.example.org/");
  EXPECT_EQ(LocationOf(Get("http://a%2Fb/", "w.org")), "400");
}

TEST_F(HttpsRedirectTest, WithoutAHostItIsABadRequest) {
  EXPECT_EQ(LocationOf("GET /a HTTP/1.0\r\nHost: w.org\r\n\r\n"), "https://w.org/a");
  EXPECT_EQ(LocationOf("GET /a HTTP/1.0\r\n\r\n"), "400");
  EXPECT_EQ(LocationOf("GET /a HTTP/1.0\r\nHost:\r\n\r\n"), "400");
  EXPECT_EQ(LocationOf("GET /a HTTP/1.1\r\nHost:\r\n\r\n"), "400");
  EXPECT_EQ(LocationOf("GET /a HTTP/1.1\r\n\r\n"), "400");
}

TEST_F(HttpsRedirectTest, AHostThatIsNoNameIsABadRequest) {
  ASSERT_EQ(LocationOf(Get("/", "w.org")), "https://w.org/");
  for (const char* const host :
       {"a%0d%0aSet-Cookie:1", "a%0d%0ab", "w.org%2Fb", "a;b", "a,b", "a'b", "(a)", "a!b", "$a",
        "a&b=c", "w.org*", "~w", "a+b", "[v1.a]", "[v1.a]:80", "[v1.a:b]", "w.org%00:80"}) {
    EXPECT_EQ(LocationOf(Get("/", host)), "400") << host;
  }
}

TEST_F(HttpsRedirectTest, WhatTheParserRefusesIsABadRequest) {
  ASSERT_EQ(LocationOf(Get("/", "w.org")), "https://w.org/");
  for (const char* const host : {"user@w.org", "w.org/a", "w.org:x", "w.org:65536", "[::1", "::1",
                                 "w.org evil.example", ":80", "w.org\r\nHost: x.org"}) {
    EXPECT_EQ(LocationOf(Get("/", host)), "400") << host;
  }
  EXPECT_EQ(LocationOf(Get("/a%0d%0aSet-Cookie:x", "w.org")), "400");
}

TEST_F(HttpsRedirectTest, AChallengeIsServedByItsOwnMount) {
  const test::SiteFolder challenges;
  challenges.Write("token", "token.thumbprint");
  const RunningServer plain([&](HttpServer& server) {
    server.Mount("/", HttpsRedirect(443));
    server.Files("/.well-known/acme-challenge", challenges.Path());
  });
  HttpClient client(plain.Port());
  const HttpReply reply = client.Ask(Get("/.well-known/acme-challenge/token", "w.org"));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "token.thumbprint");
  EXPECT_EQ(client.Ask(Get("/.well-known/acme-challenge/x", "w.org")).status, 404);
  EXPECT_EQ(LocationOf(plain, Get("/.well-known/acme-challenges", "w.org")),
            "https://w.org/.well-known/acme-challenges");
  EXPECT_EQ(LocationOf(plain, Get("/.well-known/security.txt", "w.org")),
            "https://w.org/.well-known/security.txt");
  EXPECT_EQ(LocationOf(Get("/.well-known/acme-challenge/token", "w.org")),
            "https://w.org/.well-known/acme-challenge/token");
}

TEST_F(HttpsRedirectTest, ThePrefixOfItsMountIsInTheLocation) {
  const RunningServer plain([](HttpServer& server) {
    server.Mount("/blog", HttpsRedirect(443));
    server.Mount("/blog/drafts", HttpsRedirect(8443));
  });
  EXPECT_EQ(LocationOf(plain, Get("/blog/a", "w.org")), "https://w.org/blog/a");
  EXPECT_EQ(LocationOf(plain, Get("/blog", "w.org")), "https://w.org/blog");
  EXPECT_EQ(LocationOf(plain, Get("/blog/drafts/1", "w.org")), "https://w.org:8443/blog/drafts/1");
  EXPECT_EQ(LocationOf(plain, Get("/a", "w.org")), "404");
}

TEST_F(HttpsRedirectTest, PortZeroIsRefused) {
  const auto refusal = [](std::uint16_t port) -> std::string {
    try {
      static_cast<void>(HttpsRedirect(port));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(0), "https redirect: port 0");
  EXPECT_EQ(refusal(1), "");
  EXPECT_EQ(refusal(65535), "");
}

// Responds with the method and the whole path.
void Tell(Exchange& exchange) {
  const Request& request = exchange.GetRequest();
  exchange.Reply(
      TextResponse(200, std::string(request.method_text) + " " + std::string(request.uri.Path())));
}

auto Trusting(const std::vector<std::string>& networks) -> HttpOptions {
  HttpOptions options;
  options.trusted_proxies = std::make_shared<const CidrSet>(networks);
  return options;
}

// A server that wraps one handler.
class HttpsOnlyTest : public testing::Test {
 protected:
  // Returns the body of a 200, the Location of a 308, or else the status.
  static auto Ask(const RunningServer& server, const std::string& request) -> std::string {
    return TextOf(HttpClient(server.Port()).Ask(request));
  }

  auto Ask(const std::string& request) -> std::string { return Ask(server_, request); }

  static auto TextOf(const HttpReply& reply) -> std::string {
    const std::string location = reply.Field("Location");
    EXPECT_EQ(location.empty(), reply.status != 308);
    return reply.status == 200   ? reply.body
           : reply.status == 308 ? location
                                 : std::to_string(reply.status);
  }

  static auto Wrapping(std::uint16_t port = 443) -> std::function<void(HttpServer&)> {
    return
        [port](HttpServer& server) { server.Mount("/", HttpsOnly(test::Answering(Tell), port)); };
  }

  RunningServer server_{Wrapping()};
};

TEST_F(HttpsOnlyTest, APlainRequestIsRedirected) {
  EXPECT_EQ(Ask(Get("/a%20b?c", "w.org:80")), "https://w.org/a%20b?c");
  const RunningServer other(Wrapping(20443));
  EXPECT_EQ(Ask(other, Get("/", "[::1]:20080")), "https://[::1]:20443/");
}

// A 308 lets no client turn its POST into a GET, as a 301 does.
TEST_F(HttpsOnlyTest, EveryMethodIsRedirected) {
  EXPECT_EQ(Ask("POST /form HTTP/1.1\r\nHost: w.org\r\nContent-Length: 3\r\n\r\na=b"),
            "https://w.org/form");
  EXPECT_EQ(Ask("DELETE /a HTTP/1.1\r\nHost: w.org\r\n\r\n"), "https://w.org/a");
  EXPECT_EQ(Ask("OPTIONS /a HTTP/1.1\r\nHost: w.org\r\n\r\n"), "https://w.org/a");
}

TEST_F(HttpsOnlyTest, AHostThatIsNoNameIsABadRequest) {
  EXPECT_EQ(Ask(Get("/", "w.org%0d%0aSet-Cookie:1")), "400");
  EXPECT_EQ(Ask(Get("/", "a;b")), "400");
  EXPECT_EQ(Ask("GET / HTTP/1.0\r\n\r\n"), "400");
}

TEST_F(HttpsOnlyTest, AChallengePasses) {
  constexpr const char* kToken = "/.well-known/acme-challenge/token";
  EXPECT_EQ(Ask(Get(kToken, "w.org")), "GET " + std::string(kToken));
  EXPECT_EQ(Ask(Get("/.well-known//acme-challenge/./token", "w.org")),
            "GET " + std::string(kToken));
  EXPECT_EQ(Ask(Get("/.well-known/acme-challenge/a/b", "w.org")),
            "GET /.well-known/acme-challenge/a/b");
  EXPECT_EQ(Ask(Get("/%2ewell-known/acme-challenge/token?x", "a;b")), "GET " + std::string(kToken));
}

TEST_F(HttpsOnlyTest, APathThatOnlyLooksLikeAChallengeIsRedirected) {
  for (const std::string path :
       {"/.well-known/acme-challengeX", "/.well-known/acme-challengeX/token",
        "/.well-known/acme-challenge", "/.well-known/acme-challenge/", "/.well-known/token",
        "/a/.well-known/acme-challenge/token", "/.Well-Known/acme-challenge/token",
        "/.well-known/acme-challeng/token"}) {
    EXPECT_EQ(Ask(Get(path, "w.org")), "https://w.org" + path);
  }
  EXPECT_EQ(Ask(Get("/.well-known/acme-challenge/../secret", "w.org")),
            "https://w.org/.well-known/secret");
  EXPECT_EQ(Ask(Get("/.well-known/acme-challenge/..%2f..%2fsecret", "w.org")), "400");
  EXPECT_EQ(Ask(Get("/?/.well-known/acme-challenge/token", "w.org")),
            "https://w.org/?/.well-known/acme-challenge/token");
}

TEST_F(HttpsOnlyTest, TheWholePathDecidesUnderAMount) {
  const RunningServer server([](HttpServer& http) {
    http.Mount("/.well-known", HttpsOnly(test::Answering(Tell), 443));
    http.Mount("/a", HttpsOnly(test::Answering(Tell), 443));
  });
  EXPECT_EQ(Ask(server, Get("/.well-known/acme-challenge/token", "w.org")),
            "GET /.well-known/acme-challenge/token");
  EXPECT_EQ(Ask(server, Get("/a/.well-known/acme-challenge/token", "w.org")),
            "https://w.org/a/.well-known/acme-challenge/token");
}

TEST_F(HttpsOnlyTest, TheTargetOfALocalRedirectIsCheckedAgain) {
  const RunningServer server([](HttpServer& http) {
    http.Mount(
        "/",
        HttpsOnly(test::Answering([](Exchange& exchange) { exchange.ReplyFrom("/secret"); }), 443));
  });
  EXPECT_EQ(Ask(server, Get("/.well-known/acme-challenge/token", "w.org")), "https://w.org/secret");
}

TEST_F(HttpsOnlyTest, ATrustedProxySaysWhatIsSecure) {
  const RunningServer server(Wrapping(), Trusting({"127.0.0.1"}));
  HttpClient proxy(server.Port());
  const auto ask = [&proxy](const std::string& fields) {
    return TextOf(proxy.Ask("PUT /a HTTP/1.1\r\nHost: w.org\r\n" + fields + "\r\n"));
  };
  EXPECT_EQ(ask("X-Forwarded-Proto: https\r\n"), "PUT /a");
  EXPECT_EQ(ask("X-Forwarded-Proto: http\r\n"), "https://w.org/a");
  EXPECT_EQ(ask("Forwarded: for=192.0.2.7;proto=https\r\n"), "PUT /a");
  EXPECT_EQ(ask(""), "https://w.org/a");
  EXPECT_EQ(ask("X-Forwarded-Proto: https\r\n"), "PUT /a") << "each request for itself";
}

TEST_F(HttpsOnlyTest, AnyoneElsesWordIsNotTrusted) {
  constexpr const char* kRequest =
      "GET /a HTTP/1.1\r\nHost: w.org\r\nX-Forwarded-Proto: https\r\n"
      "Forwarded: for=192.0.2.7;proto=https\r\n\r\n";
  EXPECT_EQ(Ask(kRequest), "https://w.org/a");
  const RunningServer server(Wrapping(), Trusting({"127.0.0.2"}));
  EXPECT_EQ(Ask(server, kRequest), "https://w.org/a");
  EXPECT_EQ(Ask(Get("https://w.org/a", "w.org")), "https://w.org/a") << "nor a target";
}

// Asks over a Unix socket, and over TCP at the same time.
class HttpsOnlyUnixTest : public HttpsOnlyTest {
 protected:
  // Returns the whole response.
  auto AskUnix(const std::string& request) -> std::string {
    test::UnixClient client(folder_.Path("socket"));
    EXPECT_TRUE(client.Connected());
    return client.Ask(request);
  }

  const test::SiteFolder folder_{};
  UnixListener listener_{folder_.Path("socket")};
};

TEST_F(HttpsOnlyUnixTest, AUnixSocketPasses) {
  const RunningServer server(
      [this](HttpServer& http) {
        http.AlsoListen(listener_.TakeSocket());
        Wrapping()(http);
      },
      Trusting({"127.0.0.1"}));
  for (const char* fields : {"", "X-Forwarded-Proto: http\r\n"}) {
    const std::string reply = AskUnix("GET /a HTTP/1.1\r\nHost: w.org\r\nConnection: close\r\n" +
                                      std::string(fields) + "\r\n");
    EXPECT_EQ(reply.substr(0, 13), "HTTP/1.1 200 ") << reply;
    EXPECT_NE(reply.find("\r\n\r\nGET /a"), std::string::npos) << reply;
  }
  EXPECT_EQ(Ask(server, Get("/a", "w.org")), "https://w.org/a");
}

TEST_F(HttpsOnlyUnixTest, AUnixSocketPassesEvenIfAProxyHeaderNamesTheClient) {
  ServerOptions options;
  options.threads = 1;
  options.channel = [](Connection&) { return std::make_unique<ProxyChannel>(); };
  HttpServer server(HttpOptions(), options);
  server.AlsoListen(listener_.TakeSocket());
  Wrapping()(server);
  std::thread thread([&server] { server.Begin(); });
  const std::string reply = AskUnix(
      "PROXY TCP4 192.0.2.7 198.51.100.1 56324 443\r\n"
      "GET /a HTTP/1.1\r\nHost: w.org\r\nConnection: close\r\n\r\n");
  server.Stop();
  thread.join();
  EXPECT_EQ(reply.substr(0, 13), "HTTP/1.1 200 ") << reply;
}

TEST_F(HttpsOnlyTest, EachLoopHasItsOwnHandler) {
  std::vector<Looper*> made;
  RunningServer server(
      [&made](HttpServer& http) {
        const HandlerFactory inner = [&made](Looper& looper) {
          made.push_back(&looper);
          return test::Answering(Tell)(looper);
        };
        http.Mount("/", HttpsOnly(inner, 443));
      },
      {}, 3);
  EXPECT_EQ(Ask(server, Get("/a", "w.org")), "https://w.org/a");
  server.Get().Stop();
  server.Join();
  EXPECT_EQ(made.size(), 3U);
  EXPECT_EQ(std::set<Looper*>(made.begin(), made.end()).size(), 3U);
}

TEST_F(HttpsOnlyTest, PortZeroIsRefused) {
  EXPECT_THROW(static_cast<void>(HttpsOnly(test::Answering(Tell), 0)), std::invalid_argument);
  EXPECT_NO_THROW(static_cast<void>(HttpsOnly(test::Answering(Tell), 1)));
}

}  // namespace
}  // namespace TURTLE_SERVER
