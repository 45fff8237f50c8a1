// Where a redirect leads, and that no request can make it lead elsewhere.
#include "sites/redirect_target.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/response.h"

namespace TURTLE_SERVER {
namespace {

/// A request, as the parser leaves it.
struct Visit {
  Visit(std::string_view target, std::string_view host, Method method = Method::kGet) {
    EXPECT_FALSE(request.uri.Parse(target, method)) << target;
    request.host = host;
  }

  Request request;
};

// Returns the Location of a rule for `pattern`, and for the host "example.org".
auto Location(std::string_view text, const PathPattern& pattern, std::string_view target)
    -> std::string {
  const Visit visit(target, "example.org");
  PathParts parts;
  EXPECT_TRUE(pattern.Matches(visit.request.uri.Path(), parts)) << target;
  return RedirectTarget(text, pattern.Groups()).Expand(visit.request, parts);
}

auto LocationForHost(std::string_view text, std::string_view host) -> std::string {
  return RedirectTarget(text, 0).Expand(Visit("/a", host).request, {});
}

auto LocationOfParts(std::string_view text, const PathParts& parts) -> std::string {
  return RedirectTarget(text, PathParts::kMaxGroups)
      .Expand(Visit("/a", "example.org").request, parts);
}

auto ReasonAgainst(std::string_view text, std::size_t groups = 0) -> std::string {
  try {
    const RedirectTarget target(text, groups);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "none";
}

TEST(RedirectTargetTest, ATextWithoutVariablesIsTheLocation) {
  for (const char* text : {"/", "/new", "/a/b?c=d#e", "/%41", "/a:b@c", "http://example.com",
                           "https://example.com/", "https://example.com:8443/a", "http://[::1]:80/",
                           "http://127.0.0.1?a", "https://a#b", "/a//b"}) {
    EXPECT_EQ(Location(text, PathPattern::Prefix("/"), "/x?y"), text);
  }
}

TEST(RedirectTargetTest, EachVariableHasItsValue) {
  const PathPattern docs = PathPattern::Prefix("/docs");
  EXPECT_EQ(Location("https://$host/blog$rest$query", docs, "/docs/a/b?c=d"),
            "https://example.org/blog/a/b?c=d");
  EXPECT_EQ(Location("https://$host$path$query", docs, "/docs/a?"), "https://example.org/docs/a?");
  EXPECT_EQ(Location("/new$rest$query", docs, "/docs"), "/new");
  EXPECT_EQ(Location("/new$rest", docs, "/docs/"), "/new/");
  EXPECT_EQ(Location("/$host/$host", docs, "/docs"), "/example.org/example.org");
  EXPECT_EQ(Location("https://$host:8443$path", docs, "/docs"), "https://example.org:8443/docs");
  EXPECT_EQ(Location("https://www.$host/", docs, "/docs"), "https://www.example.org/");
  EXPECT_EQ(Location("https://$host$rest", docs, "/docs"), "https://example.org");
  EXPECT_EQ(Location("https://$host$query", docs, "/docs?a"), "https://example.org?a");
}

TEST(RedirectTargetTest, TwoDollarSignsAreOne) {
  const PathPattern all = PathPattern::Prefix("/");
  EXPECT_EQ(Location("/$$", all, "/a"), "/$");
  EXPECT_EQ(Location("/$$$$path", all, "/a"), "/$$path");
  EXPECT_EQ(Location("/x$$$path", all, "/a"), "/x$/a");
  EXPECT_EQ(Location("/$$1", all, "/a"), "/$1");
}

TEST(RedirectTargetTest, GroupsAreNumberedFromOne) {
  const PathPattern nine = PathPattern::Regex("/(.)(.)(.)(.)(.)(.)(.)(.)(.)");
  EXPECT_EQ(Location("/$9$8$7$6$5$4$3$2$1", nine, "/abcdefghi"), "/ihgfedcba");
  EXPECT_EQ(Location("/$1$1", nine, "/abcdefghi"), "/aa");
  EXPECT_EQ(Location("/$10", nine, "/abcdefghi"), "/a0");
  EXPECT_EQ(Location("/$1x", nine, "/abcdefghi"), "/ax");
}

TEST(RedirectTargetTest, AGroupThatTookNoPartIsEmpty) {
  const PathPattern pattern = PathPattern::Regex("/(?:(a)|(b))(c)?");
  EXPECT_EQ(Location("/x$1-$2-$3", pattern, "/b"), "/x-b-");
  EXPECT_EQ(Location("/x$1-$2-$3", pattern, "/ac"), "/xa--c");
}

TEST(RedirectTargetTest, AnUnknownVariableIsRefused) {
  for (const char* text : {"/$", "/$ ", "/a$$$", "/$0", "/$x", "/$Host", "/$HOST", "/$hos",
                           "/$request_uri", "/$-1", "/${host}", "/$(host)", "/$/", "/$.",
                           "/$hostname", "/$path_info", "/$restful", "/$querystring", "/$host_"}) {
    EXPECT_NE(ReasonAgainst(text, 9).find(text), std::string::npos) << text;
  }
}

TEST(RedirectTargetTest, AGroupThatThePatternDoesNotHaveIsRefused) {
  EXPECT_EQ(ReasonAgainst("/$1", 1), "none");
  EXPECT_EQ(ReasonAgainst("/$9", 9), "none");
  EXPECT_NE(ReasonAgainst("/$1", 0).find("\"/$1\""), std::string::npos);
  EXPECT_NE(ReasonAgainst("/$2", 1).find("\"/$2\""), std::string::npos);
  EXPECT_NE(ReasonAgainst("/$9", 8).find("\"/$9\""), std::string::npos);
}

TEST(RedirectTargetTest, ATargetIsAPathOrAnUrlWithAHost) {
  for (const char* text : {"",
                           "new",
                           "$path",
                           "$host/a",
                           "$1",
                           "//",
                           "//example.com",
                           "///",
                           "//$host",
                           "?a",
                           "#a",
                           "http:",
                           "http:/",
                           "http://",
                           "https://",
                           "http:///",
                           "https:///a",
                           "http://?a",
                           "https://#a",
                           "https://:80",
                           "https://:80/",
                           "HTTPS://a",
                           "ftp://a",
                           "javascript:alert(1)",
                           "mailto:a@b",
                           "http:/a",
                           "https:a",
                           " /a",
                           "\t/a",
                           "https://user@example.com/",
                           "https://user:pw@example.com/",
                           "https://example.com:port/",
                           "https://example.com:65536/",
                           "https://[::1/",
                           "https://]/",
                           "https://a]b/"}) {
    EXPECT_NE(ReasonAgainst(text).find('"' + std::string(text) + '"'), std::string::npos) << text;
  }
}

TEST(RedirectTargetTest, NoCharacterIsInItThatAnUriCannotHave) {
  constexpr std::string_view kNever = "\"<>\\^`{|}";
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const bool fits = byte > ' ' && byte < 0x7f && kNever.find(c) == std::string_view::npos;
    for (const std::string& text : {std::string("/a") + c + "b", std::string("https://a/") + c}) {
      if (c != '$') {
        EXPECT_EQ(ReasonAgainst(text) == "none", fits) << byte;
      }
    }
  }
  EXPECT_NE(ReasonAgainst("/\\example.com"), "none");
  EXPECT_NE(ReasonAgainst("/\t/example.com"), "none");
  EXPECT_NE(ReasonAgainst("/a\r\nSet-Cookie: a=b"), "none");
}

// The path of the first request is another host, if it follows a slash as it is.
TEST(RedirectTargetTest, APathLeadsToNoOtherHost) {
  const PathPattern go = PathPattern::Prefix("/go");
  EXPECT_EQ(Location("/$rest", go, "/go/evil.com"), "/evil.com");
  EXPECT_EQ(Location("/$path", go, "/go/evil.com"), "/go/evil.com");
  EXPECT_EQ(Location("/$rest$path", go, "/go"), "/go");
  EXPECT_EQ(Location("/$1", PathPattern::Regex("/go(.*)"), "/go/evil.com"), "/evil.com");
  EXPECT_EQ(Location("/$1/$2", PathPattern::Regex("/go(x?)(.*)"), "/go/evil.com"), "/evil.com");
  EXPECT_EQ(LocationForHost("/$host/evil.com", ""), "/evil.com");
  EXPECT_EQ(LocationOfParts("/$rest", {"//evil.com", {}}), "/evil.com");
  EXPECT_EQ(LocationOfParts("/$rest", {"//", {}}), "/");
  EXPECT_EQ(LocationOfParts("/new$rest", {"//evil.com", {}}), "/new//evil.com");
}

// Only $host may be a part of the host: "https://example.org$1" would lead to example.org.evil.com.
TEST(RedirectTargetTest, AClientCannotContinueTheHost) {
  for (const char* text :
       {"https://example.org$1", "https://$1", "https://$1/", "http://$1.example.org/",
        "https://example.org:$1/", "https://$host$1", "https://$path", "https://$rest",
        "https://$query", "https://$query/a", "https://a.b$query$1", "https://a.b$rest$1",
        "https://a.b$path$1/", "https://a.b$rest.html", "https://a.b$rest$query.evil.com"}) {
    EXPECT_NE(ReasonAgainst(text, 9).find('"' + std::string(text) + '"'), std::string::npos)
        << text;
  }
  EXPECT_EQ(Location("https://a.b/$1", PathPattern::Regex("/(.*)"), "/@evil.com"),
            "https://a.b/@evil.com");
  EXPECT_EQ(Location("https://a.b?$1", PathPattern::Regex("/(.*)"), "/x"), "https://a.b?x");
  EXPECT_EQ(Location("https://a.b#$1", PathPattern::Regex("/(.*)"), "/x"), "https://a.b#x");
  EXPECT_EQ(Location("https://a.b$query/$1", PathPattern::Regex("/(.*)"), "/x?"), "https://a.b?/x");
  EXPECT_EQ(Location("https://a.b$rest", PathPattern::Prefix("/docs"), "/docs/.evil.com"),
            "https://a.b/.evil.com");
}

TEST(RedirectTargetTest, TheTargetOfOptionsStaysOnTheHost) {
  const Visit visit("*", "example.org", Method::kOptions);
  PathParts parts;
  ASSERT_TRUE(PathPattern::Prefix("/").Matches(visit.request.uri.Path(), parts));
  EXPECT_EQ(RedirectTarget("/new$path", 0).Expand(visit.request, parts), "/new*");
}

TEST(RedirectTargetTest, TheHostComesWithoutItsPort) {
  EXPECT_EQ(LocationForHost("http://$host/", "example.org:8080"), "http://example.org/");
  EXPECT_EQ(LocationForHost("http://$host/", "example.org:"), "http://example.org/");
  EXPECT_EQ(LocationForHost("http://$host/", "Example.ORG."), "http://Example.ORG./");
  EXPECT_EQ(LocationForHost("http://$host/", "[::1]"), "http://[::1]/");
  EXPECT_EQ(LocationForHost("http://$host/", "[2001:db8::1]:80"), "http://[2001:db8::1]/");
  EXPECT_EQ(LocationForHost("http://$host:81/", "[::1]:80"), "http://[::1]:81/");
  EXPECT_EQ(LocationForHost("/$host", ":80"), "/");
}

TEST(RedirectTargetTest, APathIsDecodedOnceAndEncodedAgain) {
  const PathPattern go = PathPattern::Prefix("/go");
  EXPECT_EQ(Location("/new$rest", go, "/go/a%20b"), "/new/a%20b");
  EXPECT_EQ(Location("/new$rest", go, "/go/100%25"), "/new/100%25");
  EXPECT_EQ(Location("/new$rest", go, "/go/%252F%252e"), "/new/%252F%252e");
  EXPECT_EQ(Location("/new$rest", go, "/go/%250d%250aSet-Cookie:a"), "/new/%250d%250aSet-Cookie:a");
  EXPECT_EQ(Location("/new$rest", go, "/go/%3fa%23b"), "/new/%3Fa%23b");
  EXPECT_EQ(Location("/new$rest", go, "/go/%24path"), "/new/$path");
  EXPECT_EQ(Location("/new$path", go, "/go/./b/../%41"), "/new/go/A");
  EXPECT_EQ(Location("/new$path", go, "/go/a%20b%25"), "/new/go/a%20b%25");
  EXPECT_EQ(Location("/new/$1", PathPattern::Regex("/(.*)"), "/%25"), "/new/%25");
}

TEST(RedirectTargetTest, BytesThatAreNotUtf8AreEncoded) {
  const PathPattern go = PathPattern::Prefix("/go");
  EXPECT_EQ(Location("/new$rest", go, "/go/%ff%c3%a9"), "/new/%FF%C3%A9");
  EXPECT_EQ(Location("/new/$1", PathPattern::Regex("/(.*)"), "/%ff%c0%80"), "/new/%FF%C0%80");
}

// The parser refuses such paths; Expand() does not rely on it.
TEST(RedirectTargetTest, NoPartOfAPathEndsTheField) {
  const std::string hostile =
      std::string("/a\r\nSet-Cookie: a=b\r\n\r\n<\"\\\t\x7f").append(1, '\0');
  const PathParts parts{hostile, {hostile}};
  for (const char* text : {"/new$rest", "/new/$1", "https://$host$rest", "https://a/?b=$1"}) {
    const std::string location = LocationOfParts(text, parts);
    EXPECT_EQ(location.find_first_of("\r\n\t \"<>\\\x7f"), std::string::npos) << location;
    EXPECT_EQ(location.find('\0'), std::string::npos) << location;
    EXPECT_NE(location.find("%0D%0ASet-Cookie:%20a=b"), std::string::npos) << location;
    EXPECT_NO_THROW(Response(308).Set("Location", location)) << location;
  }
}

TEST(RedirectTargetTest, ABackslashOfAPathIsEncoded) {
  EXPECT_EQ(LocationOfParts("/$rest", {"\\evil.com", {}}), "/%5Cevil.com");
  EXPECT_EQ(LocationOfParts("/$1", {"", {"\\\\evil.com"}}), "/%5C%5Cevil.com");
}

TEST(RedirectTargetTest, TheQueryIsKeptAsSent) {
  const PathPattern all = PathPattern::Prefix("/");
  EXPECT_EQ(Location("/b$query", all, "/a?x=%0d%0a&y=%2F/../?$path"),
            "/b?x=%0d%0a&y=%2F/../?$path");
  EXPECT_EQ(Location("/b$query", all, "/a?"), "/b?");
  EXPECT_EQ(Location("/b$query", all, "/a"), "/b");
  EXPECT_EQ(Location("/b", all, "/a?c"), "/b");
}

TEST(RedirectTargetTest, OneTargetServesManyRequests) {
  const RedirectTarget target("https://$host/x$rest", 0);
  for (const char* rest : {"/a", "", "/b/c"}) {
    EXPECT_EQ(target.Expand(Visit("/a", "h").request, {rest, {}}),
              "https://h/x" + std::string(rest));
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
