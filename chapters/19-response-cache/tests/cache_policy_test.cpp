// The rules of RFC 9111 on keeping responses, one line for each.
#include "http/cache_policy.h"

#include <gtest/gtest.h>

#include <chrono>
#include <ostream>
#include <string>
#include <vector>

#include "http/http_parser.h"
#include "http/parser_limits.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::seconds;

constexpr HttpTime kNow{784'111'777};  // Sun, 06 Nov 1994 08:49:37 GMT

// --- responses

// The fields of a response, written with a ';' between two lines.
class Fields {
 public:
  explicit Fields(const std::string& lines) : text_(lines.empty() ? "" : lines + ';') {
    for (std::size_t at = text_.find(';'); at != std::string::npos; at = text_.find(';', at)) {
      text_.replace(at, 1, "\r\n");
    }
  }

  auto Judge(int status) const -> Keeping {
    return KeepingOf(status, ReplyFields(text_ + "\r\n"), seconds(10), kNow);
  }

 private:
  std::string text_;
};

struct ReplyRow {
  const char* what;
  int status;
  const char* fields;
  int lifetime;  // 0: not kept
};

auto operator<<(std::ostream& out, const ReplyRow& row) -> std::ostream& { return out << row.what; }

class KeepingTest : public testing::TestWithParam<ReplyRow> {};

TEST_P(KeepingTest, Holds) {
  const ReplyRow& row = GetParam();
  const Keeping keeping = Fields(row.fields).Judge(row.status);
  EXPECT_EQ(keeping.allowed, row.lifetime > 0);
  if (keeping.allowed) {
    EXPECT_EQ(keeping.lifetime, seconds(row.lifetime));
  }
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(Statuses, KeepingTest, testing::Values(
    ReplyRow{"says nothing", 200, "", 10},
    ReplyRow{"203", 203, "", 10},
    ReplyRow{"204", 204, "", 10},
    ReplyRow{"300", 300, "", 10},
    ReplyRow{"301", 301, "", 10},
    ReplyRow{"308", 308, "", 10},
    ReplyRow{"404", 404, "", 10},
    ReplyRow{"405", 405, "", 10},
    ReplyRow{"410", 410, "", 10},
    ReplyRow{"414", 414, "", 10},
    ReplyRow{"501", 501, "", 10},
    ReplyRow{"302 has to say so", 302, "", 0},
    ReplyRow{"302 says so", 302, "Cache-Control: max-age=5", 5},
    ReplyRow{"302 is public", 302, "Cache-Control: public", 10},
    ReplyRow{"400 has to say so", 400, "", 0},
    ReplyRow{"500 has to say so", 500, "", 0},
    ReplyRow{"503 says so", 503, "Cache-Control: max-age=1", 1},
    ReplyRow{"206 is a part", 206, "Cache-Control: max-age=5", 0},
    ReplyRow{"304 is none", 304, "Cache-Control: max-age=5", 0},
    ReplyRow{"100 is none", 100, "Cache-Control: max-age=5", 0}));

INSTANTIATE_TEST_SUITE_P(CacheControl, KeepingTest, testing::Values(
    ReplyRow{"no-store", 200, "Cache-Control: no-store", 0},
    ReplyRow{"in any case", 200, "Cache-Control: No-Store", 0},
    ReplyRow{"no-store beats max-age", 200, "Cache-Control: max-age=5, no-store", 0},
    ReplyRow{"on another line", 200, "Cache-Control: max-age=5;Cache-Control: no-store", 0},
    ReplyRow{"private", 200, "Cache-Control: private", 0},
    ReplyRow{"private for a field", 200, "Cache-Control: private=\"X-A, X-B\", max-age=5", 0},
    ReplyRow{"no-cache", 200, "Cache-Control: no-cache", 0},
    ReplyRow{"no-cache for a field", 200, "Cache-Control: no-cache=\"X-A\"", 0},
    ReplyRow{"max-age", 200, "Cache-Control: max-age=60", 60},
    ReplyRow{"in quotes", 200, "Cache-Control: max-age=\"60\"", 60},
    ReplyRow{"max-age of 0", 200, "Cache-Control: max-age=0", 0},
    ReplyRow{"no number", 200, "Cache-Control: max-age=soon", 0},
    ReplyRow{"a negative number", 200, "Cache-Control: max-age=-1", 0},
    ReplyRow{"no value", 200, "Cache-Control: max-age", 0},
    ReplyRow{"an endless number", 200, "Cache-Control: max-age=99999999999999999999999", 2'147'483'647},
    ReplyRow{"the first of two", 200, "Cache-Control: max-age=5, max-age=60", 5},
    ReplyRow{"s-maxage beats max-age", 200, "Cache-Control: max-age=60, s-maxage=5", 5},
    ReplyRow{"s-maxage of 0", 200, "Cache-Control: max-age=60, s-maxage=0", 0},
    ReplyRow{"a quoted comma is no end", 200, "Cache-Control: ext=\"a, no-store\", max-age=5", 5},
    ReplyRow{"a quoted quote neither", 200, "Cache-Control: ext=\"a\\\", no-store\", max-age=5", 5},
    ReplyRow{"what is unknown is passed over", 200, "Cache-Control: immutable, max-age=5", 5},
    ReplyRow{"empty elements too", 200, "Cache-Control: ,, max-age=5,", 5},
    ReplyRow{"must-understand what is known", 200, "Cache-Control: must-understand, no-store, max-age=5", 5},
    ReplyRow{"must-understand what is not", 299, "Cache-Control: must-understand, max-age=5", 0},
    ReplyRow{"an unknown status that says so", 299, "Cache-Control: max-age=5", 5},
    ReplyRow{"must-revalidate is what is done anyway", 200, "Cache-Control: must-revalidate, max-age=5", 5}));

INSTANTIATE_TEST_SUITE_P(OtherFields, KeepingTest, testing::Values(
    ReplyRow{"Expires", 200, "Expires: Sun, 06 Nov 1994 08:50:37 GMT", 60},
    ReplyRow{"Expires counts from Date", 200,
             "Date: Sun, 06 Nov 1994 08:50:07 GMT;Expires: Sun, 06 Nov 1994 08:50:37 GMT", 30},
    ReplyRow{"Expires in the past", 200, "Expires: Sun, 06 Nov 1994 08:49:37 GMT", 0},
    ReplyRow{"Expires is no date", 200, "Expires: 0", 0},
    ReplyRow{"max-age beats Expires", 200, "Expires: 0;Cache-Control: max-age=5", 5},
    ReplyRow{"Age", 200, "Age: 4;Cache-Control: max-age=5", 1},
    ReplyRow{"too old already", 200, "Age: 5;Cache-Control: max-age=5", 0},
    ReplyRow{"Age is no number", 200, "Age: x;Cache-Control: max-age=5", 5},
    ReplyRow{"Set-Cookie", 200, "Cache-Control: public, max-age=5;Set-Cookie: a=1", 0},
    ReplyRow{"Vary: *", 200, "Vary: *;Cache-Control: max-age=5", 0},
    ReplyRow{"Vary: * among others", 200, "Vary: Accept, *", 0},
    ReplyRow{"Vary is no list of names", 200, "Vary: Accept Language", 0},
    ReplyRow{"eight names", 200, "Vary: a, b, c, d, e, f, g, h", 10},
    ReplyRow{"nine names", 200, "Vary: a, b, c, d, e, f, g, h, i", 0}));
// clang-format on

TEST(KeepingTest, NamesOfVaryAreInLowerCaseInOrderAndOnce) {
  const Keeping keeping = Fields("Vary: B-b, ,Accept;Vary: a-A, b-B").Judge(200);
  EXPECT_EQ(keeping.vary, (std::vector<std::string>{"a-a", "accept", "b-b"}));
}

TEST(KeepingTest, ARequestWithCookieNeedsAWordAboutKeepingOrACookieInVary) {
  const auto for_cookies = [](const char* fields) { return Fields(fields).Judge(200).for_cookies; };
  EXPECT_FALSE(for_cookies(""));
  EXPECT_FALSE(for_cookies("Vary: Accept"));
  EXPECT_TRUE(for_cookies("Vary: Cookie"));
  EXPECT_TRUE(for_cookies("Cache-Control: public"));
  EXPECT_TRUE(for_cookies("Cache-Control: max-age=1"));
  EXPECT_TRUE(for_cookies("Expires: Sun, 06 Nov 1994 08:50:37 GMT"));
}

// --- requests

class CacheAskTest : public testing::Test {
 protected:
  auto Parse(const std::string& line, const std::string& fields = "") -> const Request& {
    text_ = line + " HTTP/1.1\r\nHost: A.example:80\r\n" + fields + "\r\n";
    HttpParser parser(limits_);
    request_.Clear();
    EXPECT_EQ(parser.Parse(text_, request_).state, ParseState::kDone) << text_;
    return request_;
  }

  auto UseOf(const std::string& line, const std::string& fields = "") -> CacheUse {
    return AskOf(Parse(line, fields)).use;
  }

  auto Key(const std::string& line) -> std::string {
    std::string key;
    AppendCacheKey(Parse(line), key);
    return key;
  }

  const ParserLimits limits_{};
  std::string text_;
  Request request_;
};

TEST_F(CacheAskTest, SomeRequestsAreNoneOfItsBusiness) {
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"}) {
    EXPECT_EQ(UseOf(std::string(method) + " /"), CacheUse::kNone) << method;
  }
  for (const char* field : {"Authorization: Basic x", "Range: bytes=0-1", "If-Match: \"a\"",
                            "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT",
                            "Content-Length: 1", "Cache-Control: no-store"}) {
    EXPECT_EQ(UseOf("GET /", std::string(field) + "\r\n"), CacheUse::kNone) << field;
  }
}

TEST_F(CacheAskTest, SomeAreServedButNeverWait) {
  EXPECT_EQ(UseOf("GET /"), CacheUse::kShared);
  EXPECT_EQ(UseOf("GET /", "Content-Length: 0\r\n"), CacheUse::kShared) << "no body";
  EXPECT_EQ(UseOf("HEAD /"), CacheUse::kAlone);
  for (const char* field : {"Cookie: a=1", "If-None-Match: \"a\"", "Cache-Control: max-age=1",
                            "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"}) {
    EXPECT_EQ(UseOf("GET /", std::string(field) + "\r\n"), CacheUse::kAlone) << field;
  }
}

TEST_F(CacheAskTest, ReadsTheDirectives) {
  const auto ask = [&](const std::string& directives) {
    return AskOf(Parse("GET /", "Cache-Control: " + directives + "\r\n"));
  };
  EXPECT_TRUE(ask("no-cache").wants_new);
  EXPECT_FALSE(ask("no-transform").wants_new);
  EXPECT_TRUE(ask("Only-If-Cached, max-stale").only_if_cached);
  EXPECT_EQ(ask("max-age=7, min-fresh=3").max_age, seconds(7));
  EXPECT_EQ(ask("max-age=7, min-fresh=3").min_fresh, seconds(3));
  EXPECT_EQ(ask("max-age=7, max-age=5").max_age, seconds(5));
  EXPECT_EQ(ask("max-age=x").max_age, seconds(0));
  EXPECT_GT(ask("min-fresh=x").min_fresh, seconds(1'000'000));
  EXPECT_FALSE(ask("").wants_new);
}

TEST_F(CacheAskTest, WhatMayChangeSomethingInvalidates) {
  for (const Method safe : {Method::kGet, Method::kHead, Method::kOptions, Method::kTrace}) {
    EXPECT_FALSE(Invalidates(safe));
  }
  for (const Method other :
       {Method::kPost, Method::kPut, Method::kDelete, Method::kPatch, Method::kOther}) {
    EXPECT_TRUE(Invalidates(other));
  }
}

TEST_F(CacheAskTest, TheKeyIsHostAndTarget) {
  EXPECT_EQ(Key("GET /A/b?c=D"), "a.example /A/b?c=D");
  EXPECT_EQ(Key("GET /A/b"), "a.example /A/b");
  EXPECT_EQ(Key("GET /A/b?d&c"), "a.example /A/b?d&c") << "order counts";
  EXPECT_EQ(Key("GET http://B.example/A?x"), "b.example /A?x") << "of the target, not of Host";
  EXPECT_EQ(Key("GET http://B.example"), "b.example /");
  EXPECT_EQ(Key("GET http://B.example?x"), "b.example /?x");
}

TEST_F(CacheAskTest, OneTargetHasOneKeyHoweverItIsWritten) {
  for (const char* target :
       {"//A/b", "/A//b", "/./A/b", "/A/x/../b", "/x/../A/./b", "/%41/b", "/A/%62", "/%41/%2e/b",
        "http://a.example/A/b", "http://A.EXAMPLE:80/A//b", "http://a.example:/A/b",
        "http://a.example:080/A/b", "https://a.example:443/A/b"}) {
    EXPECT_EQ(Key(std::string("GET ") + target), "a.example /A/b") << target;
  }
  EXPECT_EQ(Key("GET http://a.example:443/A/b"), "a.example:443 /A/b");
  EXPECT_EQ(Key("GET https://a.example:80/A/b"), "a.example:80 /A/b");
  EXPECT_EQ(Key("GET http://a.example:8080/A/b"), "a.example:8080 /A/b");
  EXPECT_EQ(Key("GET http://[::1]:80/"), "[::1] /");
  EXPECT_EQ(Key("GET http://[::80]/"), "[::80] /");
  EXPECT_EQ(Key("GET /A/b/"), "a.example /A/b/") << "another target";
}

TEST_F(CacheAskTest, WhatAHandlerMaySeeHasALineOfItsOwn) {
  EXPECT_EQ(Key("GET /a&b%26c"), "a.example /a&b&c\n/a&b%26c");
  EXPECT_EQ(Key("GET /a%3Fb"), "a.example /a?b\n/a%3Fb") << "not /a?b";
  EXPECT_EQ(Key("GET /a?b%41=%2f"), "a.example /a?bA=%2F\n?b%41=%2f");
  EXPECT_EQ(Key("GET /a?"), "a.example /a\n?");
  EXPECT_EQ(Key("GET /a?%zz"), "a.example /a?%zz");
}

TEST_F(CacheAskTest, AVariantIsALineForEachField) {
  const auto variant = [&](const std::string& fields) {
    std::string key = "k";
    AppendVariant({"accept", "x-a"}, Parse("GET /", fields), key);
    return key;
  };
  EXPECT_EQ(variant("Accept: b\r\nX-A: c\r\n"), "k\naccept,b\nx-a,c");
  EXPECT_EQ(variant("x-a: c\r\nACCEPT: b\r\n"), "k\naccept,b\nx-a,c");
  EXPECT_EQ(variant("Accept: b\r\nAccept: c\r\n"), "k\naccept,b,c\nx-a");
  EXPECT_EQ(variant("Accept:\r\n"), "k\naccept,\nx-a") << "an empty field is there";
}

}  // namespace
}  // namespace TURTLE_SERVER
