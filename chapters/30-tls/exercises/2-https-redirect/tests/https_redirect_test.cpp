#include "web/https_redirect.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "support/http_client.h"
#include "support/running_server.h"
#include "support/site_folder.h"

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

}  // namespace
}  // namespace TURTLE_SERVER
