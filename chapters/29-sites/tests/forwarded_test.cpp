// The fields of proxies, read from their end: every form, and what hostile clients put before it.
#include "http/forwarded.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace TURTLE_SERVER {
namespace {

using Kind = ForwardedNode::Kind;
using Fields = std::vector<std::pair<std::string, std::string>>;

auto HeadersOf(const Fields& fields) -> Headers {
  Headers headers;
  for (const auto& [name, value] : fields) {
    headers.Add(name, value);
  }
  return headers;
}

// Returns "node/proto" of each element, the last first; then "bad" if that is how the list ends.
auto ElementsOf(const Fields& fields) -> std::vector<std::string> {
  const Headers headers = HeadersOf(fields);
  ForwardedList list(headers);
  ForwardedElement element;
  std::vector<std::string> elements;
  ForwardedState state = list.TakeLast(element);
  for (; state == ForwardedState::kTaken; state = list.TakeLast(element)) {
    elements.push_back(std::string(element.node) + "/" + std::string(element.proto));
  }
  if (state == ForwardedState::kBad) {
    elements.emplace_back("bad");
  }
  return elements;
}

auto Forwarded(const std::string& value) -> std::vector<std::string> {
  return ElementsOf({{"Forwarded", value}});
}

using Elements = std::vector<std::string>;

TEST(ForwardedTest, TheLastElementComesFirst) {
  EXPECT_EQ(Forwarded("for=192.0.2.43, for=198.51.100.17;by=203.0.113.60;proto=http;host=a.test"),
            (Elements{"198.51.100.17/http", "192.0.2.43/"}));
  EXPECT_EQ(ElementsOf({{"X-Forwarded-For", "192.0.2.7, 2001:db8::7,unknown"}}),
            (Elements{"unknown/", "2001:db8::7/", "192.0.2.7/"}));
}

TEST(ForwardedTest, LinesAreOneList) {
  EXPECT_EQ(ElementsOf({{"Forwarded", "for=a, for=b"}, {"Host", "t"}, {"forwarded", "for=c"}}),
            (Elements{"c/", "b/", "a/"}));
  EXPECT_EQ(ElementsOf({{"X-Forwarded-For", "a"}, {"X-FORWARDED-FOR", "b"}}),
            (Elements{"b/", "a/"}));
}

TEST(ForwardedTest, ForwardedComesBeforeTheOlderField) {
  EXPECT_EQ(ElementsOf({{"X-Forwarded-For", "a"}, {"Forwarded", "for=b"}}), (Elements{"b/"}));
  EXPECT_EQ(ElementsOf({{"X-Forwarded-For", "a"}, {"Forwarded", ""}}), Elements());
  EXPECT_EQ(ElementsOf({{"X-Real-IP", "a"}, {"Via", "b"}}), Elements());
}

TEST(ForwardedTest, NamesHaveAnyCaseAndValuesMayBeQuoted) {
  EXPECT_EQ(Forwarded(R"(FOR="[2001:db8::7]:4711";Proto="HTTPS")"),
            (Elements{"[2001:db8::7]:4711/HTTPS"}));
  EXPECT_EQ(Forwarded(R"(for="a,b;c=d", secret="x, for=evil";for=_b)"),
            (Elements{"_b/", "a,b;c=d/"}));
  EXPECT_EQ(Forwarded(R"(for="a\"b\\", for=c)"), (Elements{"c/", R"(a\"b\\/)"}));
  EXPECT_EQ(Forwarded(R"(for="\"")"), (Elements{R"(\"/)"}));
}

TEST(ForwardedTest, SomeSlackIsAllowed) {
  EXPECT_EQ(Forwarded(" ,, for=a ; proto=http ,\t, for=b; ,"), (Elements{"b/", "a/http"}));
  EXPECT_EQ(Forwarded("for=192.0.2.7:80, for=[2001:db8::7]:80, for=2001:db8::7"),
            (Elements{"2001:db8::7/", "[2001:db8::7]:80/", "192.0.2.7:80/"}));
  EXPECT_EQ(Forwarded("by=a;host=b"), (Elements{"/"}));
  EXPECT_EQ(Forwarded(";for=a;;by=b;, ;"), (Elements{"/", "a/"}));
  EXPECT_EQ(ElementsOf({{"X-Forwarded-For", ",a,, b ,"}}), (Elements{"b/", "a/"}));
}

TEST(ForwardedTest, MalformedElementsAreRefused) {
  for (const char* element : {"192.0.2.7",
                              "for",
                              "for=",
                              "for=\"\"",
                              "=a",
                              "for =a",
                              "for= a",
                              "for=a b",
                              "for=a by=b",
                              "for=a;for=b",
                              "for=a;FOR=a",
                              "for=a;proto=http;proto=http",
                              "for=\"a",
                              "for=a\"",
                              "for=\"a\"b",
                              "for=\"a\\\"",
                              "f(r=a",
                              "for=a=b",
                              "for=\x80",
                              "\"",
                              "\\\"",
                              "for=a;\"x\"",
                              "for=\"a\";proto=",
                              "\"for=a\""}) {
    EXPECT_EQ(Forwarded(element), (Elements{"bad"})) << element;
    EXPECT_EQ(Forwarded(std::string(element) + ", for=b").front(), "b/") << element;
  }
}

// A client's part of a list comes first, whatever it is.
TEST(ForwardedTest, NothingBeforeAnElementChangesIt) {
  for (const std::string_view start :
       {"", ",", "\"", "for=\"", "for=\"\\", "\\", "for=\"a, ", "for=evil;", "for=evil;x=\"\\\"",
        "\"\"\"", "for=\"a\"\\\"", "=;=,=\"", "\x80\xff", "for=\"a\\\\\\\""}) {
    for (const std::string end : {"for=192.0.2.7", "for=\"[::1]:80\";proto=http", "by=b;for=c"}) {
      const Elements alone = Forwarded(end);
      EXPECT_EQ(Forwarded(std::string(start) + ", " + end).front(), alone.front()) << start;
      EXPECT_EQ(ElementsOf({{"Forwarded", std::string(start)}, {"Forwarded", end}}).front(),
                alone.front())
          << start;
    }
  }
}

TEST(ForwardedTest, AnyBytesEnd) {
  const std::string_view bytes = "\",;=\\ a";
  std::string text;
  for (std::size_t number = 0; number < 7 * 7 * 7 * 7 * 7 * 7; ++number) {
    text.clear();
    for (std::size_t rest = number; rest != 0; rest /= 7) {
      text += bytes[rest % 7];
    }
    EXPECT_LE(Forwarded(text).size(), text.size() + 1) << text;
  }
}

TEST(ForwardedTest, ALongListTakesLinearTime) {
  for (const char* unit : {"for=1.1.1.1,", "\"", "\\\"", "\"\\", ",", "\\", "a\",\""}) {
    std::string text;
    while (text.size() < 1'000'000) {
      text += unit;
    }
    EXPECT_LE(Forwarded(text).size(), text.size());
    EXPECT_EQ(Forwarded(text + ", for=a").front(), "a/");
  }
}

struct NodeCase {
  const char* text;
  Kind kind;
  const char* ip = "";
  const char* port = "";
};

TEST(ForwardedNodeTest, EveryFormIsDivided) {
  for (const NodeCase& each :
       {NodeCase{"192.0.2.7", Kind::kIpv4, "192.0.2.7"},
        NodeCase{"192.0.2.7:4711", Kind::kIpv4, "192.0.2.7", "4711"},
        NodeCase{"192.0.2.7:_http", Kind::kIpv4, "192.0.2.7"},
        NodeCase{"[2001:db8::7]", Kind::kIpv6, "2001:db8::7"},
        NodeCase{"[2001:db8::7]:80", Kind::kIpv6, "2001:db8::7", "80"},
        NodeCase{"2001:db8::7", Kind::kIpv6, "2001:db8::7"},
        NodeCase{"[::ffff:192.0.2.7]", Kind::kIpv6, "::ffff:192.0.2.7"},
        NodeCase{"unknown", Kind::kHidden}, NodeCase{"UnKnown:80", Kind::kHidden},
        NodeCase{"_gateway7", Kind::kHidden}, NodeCase{"_a.b-c_d:_e", Kind::kHidden},
        NodeCase{"example.org", Kind::kIpv4, "example.org"}}) {
    const ForwardedNode node = ParseForwardedNode(each.text);
    EXPECT_EQ(node.kind, each.kind) << each.text;
    EXPECT_EQ(node.ip, each.ip) << each.text;
    if (node.kind != Kind::kHidden) {
      EXPECT_EQ(node.port, each.port) << each.text;
    }
  }
}

TEST(ForwardedNodeTest, OtherTextsAreRefused) {
  for (const char* text : {"", ":", ":80", "192.0.2.7:", "[]", "[", "[192.0.2.7]", "[2001:db8::7",
                           "[2001:db8::7]80", "[2001:db8::7]:", "[::1]x:80"}) {
    EXPECT_EQ(ParseForwardedNode(text).kind, Kind::kBad) << text;
  }
  EXPECT_NE(ParseForwardedNode("_").kind, Kind::kHidden);
  EXPECT_NE(ParseForwardedNode("_a b").kind, Kind::kHidden);
}

TEST(ForwardedProtoTest, TheLastOneCounts) {
  EXPECT_EQ(LastForwardedProto(HeadersOf({{"x-forwarded-proto", "https"}})), "https");
  EXPECT_EQ(LastForwardedProto(HeadersOf({{"X-Forwarded-Proto", "https, http "}})), "http");
  EXPECT_EQ(LastForwardedProto(
                HeadersOf({{"X-Forwarded-Proto", "https"}, {"X-Forwarded-Proto", "http"}})),
            "http");
  EXPECT_EQ(LastForwardedProto(HeadersOf({{"X-Forwarded-Proto", "https,"}})), "");
  EXPECT_EQ(LastForwardedProto(HeadersOf({{"Host", "t"}})), "");
}

}  // namespace
}  // namespace TURTLE_SERVER
