// Which paths a rule is for, and what it leaves open.
#include "sites/path_pattern.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace TURTLE_SERVER {
namespace {

// Returns what follows the prefix; nullopt if the pattern does not include the path.
auto RestOf(const PathPattern& pattern, std::string_view path) -> std::optional<std::string> {
  PathParts parts;
  return pattern.Matches(path, parts) ? std::optional<std::string>(parts.rest) : std::nullopt;
}

auto Includes(const PathPattern& pattern, std::string_view path) -> bool {
  PathParts parts;
  return pattern.Matches(path, parts);
}

auto GroupsOf(const PathPattern& pattern, std::string_view path) -> std::vector<std::string> {
  PathParts parts;
  if (!pattern.Matches(path, parts)) {
    return {"no match"};
  }
  const auto* const first = parts.groups.data();
  return {first, first + pattern.Groups()};
}

auto ReasonAgainst(const std::string& expression) -> std::string {
  try {
    static_cast<void>(PathPattern::Regex(expression));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "none";
}

auto Repeated(std::string_view part, std::size_t times) -> std::string {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) {
    text += part;
  }
  return text;
}

TEST(PathPatternPrefixTest, IncludesWholeSegments) {
  const PathPattern docs = PathPattern::Prefix("/docs");
  EXPECT_EQ(RestOf(docs, "/docs"), "");
  EXPECT_EQ(RestOf(docs, "/docs/"), "/");
  EXPECT_EQ(RestOf(docs, "/docs/a"), "/a");
  EXPECT_EQ(RestOf(docs, "/docs/a/b"), "/a/b");
  for (const char* path : {"", "/", "/d", "/doc", "/docsets", "/docs.html", "/docs?", "/Docs",
                           "/a/docs", "docs", "*", "/docs\\a"}) {
    EXPECT_EQ(RestOf(docs, path), std::nullopt) << path;
  }
}

TEST(PathPatternPrefixTest, TheRootIncludesAllPaths) {
  for (const char* root : {"/", ""}) {
    const PathPattern all = PathPattern::Prefix(root);
    for (const char* path : {"/", "/a", "/a/b/", "*", "", "/\xff"}) {
      EXPECT_EQ(RestOf(all, path), path);
    }
    EXPECT_EQ(all.Groups(), 0U);
  }
}

TEST(PathPatternPrefixTest, IsPlainText) {
  const PathPattern dots = PathPattern::Prefix("/a.b(c)*");
  EXPECT_EQ(RestOf(dots, "/a.b(c)*/d"), "/d");
  EXPECT_EQ(RestOf(dots, "/axb(c)*"), std::nullopt);
  EXPECT_EQ(RestOf(PathPattern::Prefix("/a/b c"), "/a/b c"), "");
}

TEST(PathPatternPrefixTest, ComparesAllBytes) {
  const std::string nul("/a\0b", 4);
  EXPECT_EQ(RestOf(PathPattern::Prefix(nul), nul), "");
  EXPECT_EQ(RestOf(PathPattern::Prefix(nul), "/a"), std::nullopt);
  EXPECT_EQ(RestOf(PathPattern::Prefix("/a"), nul), std::nullopt);
  EXPECT_EQ(RestOf(PathPattern::Prefix("/\xff"), "/\xff/\xfe"), "/\xfe");
}

TEST(PathPatternPrefixTest, RefusesWhatIsNoPathAndQuotesIt) {
  for (const char* path : {"docs", "docs/", "/docs/", "//", "/a//", "*", " /docs", "http://a", "?",
                           "/a//b", "//a", "/.", "/a/..", "/../a", "/a/./b"}) {
    try {
      static_cast<void>(PathPattern::Prefix(path));
      ADD_FAILURE() << path;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
    }
  }
}

TEST(PathPatternPrefixTest, ADotMayBeAPartOfAName) {
  EXPECT_EQ(RestOf(PathPattern::Prefix("/..a/.b/c."), "/..a/.b/c./d"), "/d");
}

TEST(PathPatternPrefixTest, TheRestIsAViewOfThePath) {
  const std::string path = "/docs/a";
  PathParts parts;
  ASSERT_TRUE(PathPattern::Prefix("/docs").Matches(path, parts));
  EXPECT_EQ(parts.rest.data(), path.data() + 5);
}

TEST(PathPatternRegexTest, MatchesThePathAsAWhole) {
  const PathPattern pattern = PathPattern::Regex("/[a-z]+\\.html");
  EXPECT_TRUE(Includes(pattern, "/index.html"));
  for (const char* path : {"/index.html.bak", "/a/index.html", "x/index.html", "/index.htm",
                           "/index-html", "/INDEX.HTML", "/.html", "", "/index.html/"}) {
    EXPECT_FALSE(Includes(pattern, path)) << path;
  }
}

// "a|ab" prefers "a", and then has to try again to reach the end of the path.
TEST(PathPatternRegexTest, AnAlternativeIsChosenForTheWholePath) {
  EXPECT_TRUE(Includes(PathPattern::Regex("/a|/ab"), "/ab"));
  EXPECT_FALSE(Includes(PathPattern::Regex("/a|/ab"), "/abc"));
  EXPECT_EQ(GroupsOf(PathPattern::Regex("/(a|ab)(c|bcd)"), "/abcd"),
            (std::vector<std::string>{"a", "bcd"}));
  EXPECT_EQ(GroupsOf(PathPattern::Regex("/(a+?)(a*?)"), "/aaa"),
            (std::vector<std::string>{"a", "aa"}));
}

TEST(PathPatternRegexTest, ItsGroupsAreViewsOfThePath) {
  const PathPattern pattern = PathPattern::Regex("/([0-9]{4})/([^/]*)");
  EXPECT_EQ(pattern.Groups(), 2U);
  const std::string path = "/2024/turtles";
  PathParts parts;
  ASSERT_TRUE(pattern.Matches(path, parts));
  EXPECT_EQ(parts.groups[0], "2024");
  EXPECT_EQ(parts.groups[0].data(), path.data() + 1);
  EXPECT_EQ(parts.groups[1], "turtles");
  EXPECT_EQ(parts.groups[2], "");
  EXPECT_EQ(parts.rest, "");
}

TEST(PathPatternRegexTest, AGroupThatTookNoPartIsEmpty) {
  const PathPattern pattern = PathPattern::Regex("/(?:(a)|(b))(c)?(d*)");
  EXPECT_EQ(pattern.Groups(), 4U);
  EXPECT_EQ(GroupsOf(pattern, "/b"), (std::vector<std::string>{"", "b", "", ""}));
  EXPECT_EQ(GroupsOf(pattern, "/acdd"), (std::vector<std::string>{"a", "", "c", "dd"}));
}

TEST(PathPatternRegexTest, HasNineGroupsAtMost) {
  const PathPattern nine = PathPattern::Regex("/" + Repeated("(.)", 9));
  EXPECT_EQ(nine.Groups(), PathParts::kMaxGroups);
  EXPECT_EQ(GroupsOf(nine, "/123456789"),
            (std::vector<std::string>{"1", "2", "3", "4", "5", "6", "7", "8", "9"}));
  const std::string ten = "/" + Repeated("(.)", 10);
  EXPECT_NE(ReasonAgainst(ten).find(ten), std::string::npos) << ReasonAgainst(ten);
  EXPECT_NE(ReasonAgainst(ten).find("9 groups"), std::string::npos) << ReasonAgainst(ten);
  EXPECT_NE(ReasonAgainst(Repeated("(", 10) + "a" + Repeated(")", 10)), "none");
  EXPECT_NE(ReasonAgainst(Repeated("(?P<a>.)", 1) + Repeated("(.)", 9)), "none");
  EXPECT_EQ(PathPattern::Regex("/" + Repeated("(?:.)", 10)).Groups(), 0U);
}

TEST(PathPatternRegexTest, RefusesAMalformedExpressionAndQuotesIt) {
  for (const char* expression : {"(", ")", "[", "[z-a]", "*", "a**", "a{2,1}", "\\", "\\q", "(?P<n",
                                 "(?<=a)b", "(?=a)", "(a)\\1", "a{1001}", "[[:no:]]", "(?z)"}) {
    const std::string reason = ReasonAgainst(expression);
    const std::string quoted = std::string("\"") + expression + "\": ";
    const std::size_t at = reason.find(quoted);
    ASSERT_NE(at, std::string::npos) << expression << ": " << reason;
    EXPECT_GT(reason.size(), at + quoted.size()) << "no reason: " << reason;
  }
}

TEST(PathPatternRegexTest, RefusesAnExpressionThatNeedsTooMuchMemory) {
  EXPECT_NE(ReasonAgainst("((a{100}){100}){100}"), "none");
  EXPECT_NE(ReasonAgainst(Repeated("(?:", 5000) + "a" + Repeated("){2}", 5000)), "none");
}

// An expression on which a matcher with backtracking needs a time beyond all limits.
TEST(PathPatternRegexTest, TimeGrowsWithThePathAlone) {
  const std::string path = "/" + std::string(5000, 'a') + "!";
  EXPECT_FALSE(Includes(PathPattern::Regex("/(a+)+"), path));
  EXPECT_FALSE(Includes(PathPattern::Regex("/(a|aa)*(a|a?)*"), path));
  EXPECT_FALSE(Includes(PathPattern::Regex("/(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)[0-9]"), path));
}

TEST(PathPatternRegexTest, ADotIsNoLineFeed) {
  EXPECT_FALSE(Includes(PathPattern::Regex("/.*"), "/a\nb"));
  EXPECT_TRUE(Includes(PathPattern::Regex("(?s)/.*"), "/a\nb"));
  EXPECT_TRUE(Includes(PathPattern::Regex("/[^/]*"), "/a\nb"));
}

TEST(PathPatternRegexTest, ALineFeedEndsNoPath) {
  EXPECT_FALSE(Includes(PathPattern::Regex("/a"), "/a\n"));
  EXPECT_FALSE(Includes(PathPattern::Regex("/a$"), "/a\n"));
  EXPECT_FALSE(Includes(PathPattern::Regex("/a$"), "/a\n/b"));
  EXPECT_FALSE(Includes(PathPattern::Regex("^/a"), "/b\n/a"));
  EXPECT_FALSE(Includes(PathPattern::Regex("(?m)^/a$"), "/b\n/a"));
  EXPECT_TRUE(Includes(PathPattern::Regex("^/a$"), "/a"));
}

// A client may send any byte: "%FF" must not lead past a rule for "/private/.*".
TEST(PathPatternRegexTest, ADotIsAnyOtherByte) {
  const PathPattern pattern = PathPattern::Regex("/private/(.*)");
  for (int byte = 0; byte < 256; ++byte) {
    const std::string path{'/', 'p', 'r', 'i', 'v', 'a', 't', 'e', '/', static_cast<char>(byte)};
    EXPECT_EQ(Includes(pattern, path), byte != '\n') << byte;
  }
  EXPECT_EQ(GroupsOf(pattern, "/private/\xc3\xa9\xff\xc0\x80"),
            (std::vector<std::string>{"\xc3\xa9\xff\xc0\x80"}));
}

TEST(PathPatternRegexTest, TextBeyondAsciiIsComparedByteByByte) {
  EXPECT_TRUE(Includes(PathPattern::Regex("/caf\xc3\xa9"), "/caf\xc3\xa9"));
  EXPECT_FALSE(Includes(PathPattern::Regex("/caf\xc3\xa9"), "/caf\xe9"));
  EXPECT_TRUE(Includes(PathPattern::Regex("/\xff"), "/\xff"));
  EXPECT_FALSE(Includes(PathPattern::Regex("/."), "/\xc3\xa9"));
  EXPECT_TRUE(Includes(PathPattern::Regex("/.."), "/\xc3\xa9"));
}

TEST(PathPatternRegexTest, ANulByteIsAByte) {
  const std::string path("/a\0b", 4);
  EXPECT_TRUE(Includes(PathPattern::Regex("/a.b"), path));
  EXPECT_TRUE(Includes(PathPattern::Regex(path), path));
  EXPECT_FALSE(Includes(PathPattern::Regex("/a"), path));
  EXPECT_FALSE(Includes(PathPattern::Regex(path), "/a"));
}

TEST(PathPatternRegexTest, AnEmptyExpressionMatchesAnEmptyPath) {
  const PathPattern empty = PathPattern::Regex("");
  EXPECT_TRUE(Includes(empty, ""));
  EXPECT_TRUE(Includes(empty, std::string_view()));
  EXPECT_FALSE(Includes(empty, "/"));
  EXPECT_EQ(GroupsOf(PathPattern::Regex("()"), std::string_view()), (std::vector<std::string>{""}));
}

TEST(PathPatternTest, NothingOfAnEarlierMatchIsLeft) {
  const PathPattern prefix = PathPattern::Prefix("/docs");
  const PathPattern two = PathPattern::Regex("/(d)(.*)");
  const PathPattern one = PathPattern::Regex("/(.*)");
  PathParts parts;
  ASSERT_TRUE(prefix.Matches("/docs/a", parts));
  ASSERT_TRUE(two.Matches("/docs", parts));
  EXPECT_EQ(parts.rest, "");
  ASSERT_TRUE(one.Matches("/x", parts));
  EXPECT_EQ(parts.groups[0], "x");
  EXPECT_EQ(parts.groups[1], "");
  ASSERT_TRUE(prefix.Matches("/docs/b", parts));
  EXPECT_EQ(parts.rest, "/b");
  EXPECT_EQ(parts.groups[0], "");
}

TEST(PathPatternTest, ACopyIncludesTheSamePaths) {
  std::optional<PathPattern> regex = PathPattern::Regex("/(a+)");
  std::optional<PathPattern> prefix = PathPattern::Prefix("/a");
  const PathPattern regex_copy = *regex;
  const PathPattern prefix_copy = *prefix;
  regex.reset();
  prefix.reset();
  EXPECT_EQ(GroupsOf(regex_copy, "/aa"), (std::vector<std::string>{"aa"}));
  EXPECT_EQ(RestOf(prefix_copy, "/a/b"), "/b");
}

}  // namespace
}  // namespace TURTLE_SERVER
