#include "sites/canonical_redirect.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "support/parse_head.h"

namespace TURTLE_SERVER {
namespace {

// Returns where a request is sent; "": it is not redirected.
auto LocationOf(const std::string& head, const std::string& name = "example.org",
                const std::string& scheme = "https") -> std::string {
  const test::Outcome parsed = test::ParseWhole(head);
  EXPECT_EQ(parsed.Verdict(), "done") << head;
  const std::optional<Response> response = CanonicalRedirect(parsed.request, name, scheme);
  if (!response) {
    return "";
  }
  EXPECT_EQ(response->Status(), 308) << head;
  return std::string(response->Find("Location").value_or("no Location"));
}

auto Get(const std::string& target, const std::string& host) -> std::string {
  return "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
}

TEST(CanonicalRedirectTest, AnotherNameIsRedirected) {
  EXPECT_EQ(LocationOf(Get("/a/b.html", "www.example.org")), "https://example.org/a/b.html");
  EXPECT_EQ(LocationOf(Get("/", "192.0.2.7")), "https://example.org/");
  EXPECT_EQ(LocationOf(Get("/", "www.example.org"), "example.org", "http"), "http://example.org/");
  EXPECT_EQ(LocationOf(Get("/", "example.org"), "www.example.org"), "https://www.example.org/");
}

TEST(CanonicalRedirectTest, ANameThatOnlyResemblesItIsRedirected) {
  for (const char* const host : {"example.orgs", "example.or", "xexample.org", "example.org.uk",
                                 "a.example.org", "org", "example.org.."}) {
    EXPECT_EQ(LocationOf(Get("/", host)), "https://example.org/") << host;
  }
}

TEST(CanonicalRedirectTest, TheNameItselfIsNot) {
  ASSERT_NE(LocationOf(Get("/", "www.example.org")), "");
  for (const char* const host :
       {"example.org", "EXAMPLE.org", "example.org:443", "example.org:8080",
        "example.org:", "example.org.", "Example.Org.:443"}) {
    EXPECT_EQ(LocationOf(Get("/", host)), "") << host;
  }
}

TEST(CanonicalRedirectTest, TheColonsOfAnIpv6AddressAreNoPorts) {
  EXPECT_EQ(LocationOf(Get("/", "[2001:db8::2]:443"), "[2001:db8::1]"), "https://[2001:db8::1]/");
  EXPECT_EQ(LocationOf(Get("/", "[2001:DB8::1]"), "[2001:db8::1]"), "");
  EXPECT_EQ(LocationOf(Get("/", "[2001:db8::1]:443"), "[2001:db8::1]"), "");
}

TEST(CanonicalRedirectTest, ThePortOfTheRequestIsLeftOut) {
  EXPECT_EQ(LocationOf(Get("/a", "www.example.org:8080")), "https://example.org/a");
}

TEST(CanonicalRedirectTest, TheQueryIsKeptAsItWasSent) {
  EXPECT_EQ(LocationOf(Get("/a?b=c%20d&e=//f?g", "w.org")),
            "https://example.org/a?b=c%20d&e=//f?g");
  EXPECT_EQ(LocationOf(Get("/a?", "w.org")), "https://example.org/a?");
}

TEST(CanonicalRedirectTest, ThePathIsEncodedAgain) {
  EXPECT_EQ(LocationOf(Get("/a%20b/100%25", "w.org")), "https://example.org/a%20b/100%25");
  EXPECT_EQ(LocationOf(Get("/what%3f%23", "w.org")), "https://example.org/what%3F%23");
  EXPECT_EQ(LocationOf(Get("/x//./y/../z", "w.org")), "https://example.org/x/z");
}

TEST(CanonicalRedirectTest, AnAbsoluteTargetCountsInsteadOfHost) {
  EXPECT_EQ(LocationOf(Get("http://www.example.org/a?b", "example.org")),
            "https://example.org/a?b");
  EXPECT_EQ(LocationOf(Get("http://example.org/a", "www.example.org")), "");
}

TEST(CanonicalRedirectTest, EveryMethodIsRedirected) {
  EXPECT_EQ(LocationOf("POST /form HTTP/1.1\r\nHost: w.org\r\nContent-Length: 3\r\n\r\n"),
            "https://example.org/form");
  EXPECT_EQ(LocationOf("HEAD /a HTTP/1.1\r\nHost: w.org\r\n\r\n"), "https://example.org/a");
}

TEST(CanonicalRedirectTest, WithoutAHostThereIsNoRedirect) {
  ASSERT_NE(LocationOf("GET / HTTP/1.0\r\nHost: w.org\r\n\r\n"), "");
  EXPECT_EQ(LocationOf("GET / HTTP/1.0\r\n\r\n"), "");
  EXPECT_EQ(LocationOf("GET / HTTP/1.1\r\nHost:\r\n\r\n"), "");
}

TEST(CanonicalRedirectTest, WithoutAPathThereIsNoRedirect) {
  ASSERT_NE(LocationOf("OPTIONS /a HTTP/1.1\r\nHost: w.org\r\n\r\n"), "");
  EXPECT_EQ(LocationOf("OPTIONS * HTTP/1.1\r\nHost: w.org\r\n\r\n"), "");
  EXPECT_EQ(LocationOf("CONNECT w.org:443 HTTP/1.1\r\nHost: w.org:443\r\n\r\n"), "");
}

}  // namespace
}  // namespace TURTLE_SERVER
