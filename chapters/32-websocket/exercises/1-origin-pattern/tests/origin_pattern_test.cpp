// A pattern matches the pages below a domain, and no stranger's.
#include "websocket/origin_pattern.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "websocket/handshake.h"

namespace TURTLE_SERVER {
namespace {

constexpr std::string_view kPattern = "https://*.example.org";

TEST(OriginPatternTest, TheStarStandsForALabel) {
  EXPECT_TRUE(MatchesOrigin(kPattern, "https://www.example.org"));
  EXPECT_TRUE(MatchesOrigin(kPattern, "https://w.example.org"));
  EXPECT_TRUE(MatchesOrigin(kPattern, "https://my-2nd_page.example.org"));
  EXPECT_TRUE(MatchesOrigin(kPattern, "https://xn--bcher-kva.example.org"));
}

TEST(OriginPatternTest, TheStarStandsForSeveralLabels) {
  EXPECT_TRUE(MatchesOrigin(kPattern, "https://a.b.example.org"));
  EXPECT_TRUE(MatchesOrigin(kPattern, "https://a.b.c.d.example.org"));
  EXPECT_TRUE(MatchesOrigin(kPattern, "https://example.org.example.org"));
}

TEST(OriginPatternTest, TheDomainItselfNeedsItsOwnPattern) {
  EXPECT_FALSE(MatchesOrigin(kPattern, "https://example.org"));
  EXPECT_FALSE(MatchesOrigin(kPattern, "https://.example.org"));
}

TEST(OriginPatternTest, AStrangerMayOwnALongerName) {
  EXPECT_FALSE(MatchesOrigin(kPattern, "https://evilexample.org"));
  EXPECT_FALSE(MatchesOrigin(kPattern, "https://www.evilexample.org"));
  EXPECT_FALSE(MatchesOrigin(kPattern, "https://www.example.org.evil.test"));
  EXPECT_FALSE(MatchesOrigin(kPattern, "https://www.example.organic"));
  EXPECT_FALSE(MatchesOrigin(kPattern, "https://www-example.org"));
}

TEST(OriginPatternTest, TheSchemeCounts) {
  EXPECT_FALSE(MatchesOrigin(kPattern, "http://www.example.org"));
  EXPECT_FALSE(MatchesOrigin(kPattern, "xhttps://www.example.org"));
  EXPECT_FALSE(MatchesOrigin(kPattern, "www.example.org"));
  EXPECT_FALSE(MatchesOrigin(kPattern, "https:/www.example.org"));
  EXPECT_TRUE(MatchesOrigin("http://*.example.org", "http://www.example.org"));
}

TEST(OriginPatternTest, ThePortCounts) {
  EXPECT_FALSE(MatchesOrigin(kPattern, "https://www.example.org:8443"));
  EXPECT_TRUE(MatchesOrigin("https://*.example.org:8443", "https://www.example.org:8443"));
  EXPECT_FALSE(MatchesOrigin("https://*.example.org:8443", "https://www.example.org"));
  EXPECT_FALSE(MatchesOrigin("https://*.example.org:8443", "https://www.example.org:443"));
}

TEST(OriginPatternTest, TheCaseDoesNotCount) {
  EXPECT_TRUE(MatchesOrigin(kPattern, "HTTPS://WWW.EXAMPLE.ORG"));
  EXPECT_TRUE(MatchesOrigin("Https://*.Example.Org", "https://www.example.org"));
  EXPECT_TRUE(MatchesOrigin("https://example.ORG", "https://EXAMPLE.org"));
}

TEST(OriginPatternTest, TheStarStandsForNothingButLabels) {
  for (const std::string_view host :
       {"a..example.org", ".a.example.org", "a..b.example.org", "..example.org",
        "evil.test/.example.org", "evil.test?.example.org", "evil.test#.example.org",
        "evil.test:80.example.org", "user@evil.example.org", "evil.test\\.example.org",
        "evil test.example.org", "*.example.org", "%61.example.org", "\xC3\xA9.example.org"}) {
    EXPECT_FALSE(MatchesOrigin(kPattern, std::string("https://").append(host))) << host;
  }
  EXPECT_FALSE(MatchesOrigin(kPattern, std::string_view("https://a\0.example.org", 22)));
}

TEST(OriginPatternTest, NoPartOfAnOriginMatches) {
  const std::string_view origin = "https://www.example.org";
  ASSERT_TRUE(MatchesOrigin(kPattern, origin));
  for (std::size_t i = 0; i < origin.size(); ++i) {
    EXPECT_FALSE(MatchesOrigin(kPattern, origin.substr(0, i))) << i;
    EXPECT_FALSE(MatchesOrigin(kPattern, origin.substr(i + 1))) << i;
  }
}

TEST(OriginPatternTest, OtherPatternsAreComparedAsAWhole) {
  EXPECT_TRUE(MatchesOrigin("https://example.org", "https://example.org"));
  EXPECT_FALSE(MatchesOrigin("https://example.org", "https://www.example.org"));
  for (const std::string_view pattern :
       {"https://w*.example.org", "https://www.*.org", "*.example.org", "https://*", "https*",
        "https://*www.example.org", "*", "", "://"}) {
    EXPECT_FALSE(MatchesOrigin(pattern, "https://www.example.org")) << pattern;
    EXPECT_TRUE(MatchesOrigin(pattern, pattern)) << pattern;
  }
}

TEST(OriginPatternTest, TheHandshakeKnowsPatterns) {
  const std::string_view host = "chat.example.org";
  EXPECT_TRUE(IsAllowedOrigin("https://www.example.org", host,
                              {"https://example.org", "https://*.example.org"}));
  EXPECT_TRUE(IsAllowedOrigin("https://example.org", host,
                              {"https://example.org", "https://*.example.org"}));
  EXPECT_FALSE(IsAllowedOrigin("https://example.org", host, {"https://*.example.org"}));
  EXPECT_TRUE(IsAllowedOrigin("null", host, {"*"}));
  EXPECT_TRUE(IsAllowedOrigin("https://chat.example.org", host, {}));
}

}  // namespace
}  // namespace TURTLE_SERVER
