#include "http/cookies.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/response.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::seconds;
using Pairs = std::vector<std::pair<std::string, std::string>>;

auto FieldsOf(const std::vector<std::string_view>& values) -> Headers {
  Headers fields;
  fields.Add("Host", "a");
  for (const std::string_view value : values) {
    fields.Add("cookie", value);
    fields.Add("X-Between", "a=1");
  }
  return fields;
}

auto Parsed(const std::vector<std::string_view>& values) -> Pairs {
  const Headers fields = FieldsOf(values);
  Cookies cookies;
  EXPECT_FALSE(cookies.Parse(fields));
  Pairs pairs;
  for (const Cookie& cookie : cookies) {
    pairs.emplace_back(cookie.name, cookie.value);
  }
  return pairs;
}

TEST(CookiesTest, PairsInTheirOrder) {
  EXPECT_EQ(Parsed({"id=31d4; lang=en-US"}), (Pairs{{"id", "31d4"}, {"lang", "en-US"}}));
  EXPECT_EQ(Parsed({}), Pairs{});
  EXPECT_EQ(Parsed({""}), Pairs{});
}

TEST(CookiesTest, SeveralFieldsAreOne) {
  EXPECT_EQ(Parsed({"a=1; b=2", "c=3", "", "a=4"}),
            (Pairs{{"a", "1"}, {"b", "2"}, {"c", "3"}, {"a", "4"}}));
}

TEST(CookiesTest, WhitespaceAroundNameAndValueIsDropped) {
  EXPECT_EQ(Parsed({"a=1;b=2 ;\t c\t= 3 ;  ;;d= "}),
            (Pairs{{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", ""}}));
  EXPECT_EQ(Parsed({"a=1 2"}), (Pairs{{"a", "1 2"}}));
}

TEST(CookiesTest, OneThatHasNoNameIsPassedOver) {
  EXPECT_EQ(Parsed({"alone; =x; =; a=1; ==y"}), (Pairs{{"a", "1"}}));
}

TEST(CookiesTest, OddOnesAreTakenAsTheyAre) {
  EXPECT_EQ(Parsed({"a=b=c==; b{}={\"x\":[1,2]}; \xc3\xa4=\xff; c=%41+"}),
            (Pairs{{"a", "b=c=="}, {"b{}", "{\"x\":[1,2]}"}, {"\xc3\xa4", "\xff"}, {"c", "%41+"}}));
}

// A server that reads a quoted value up to its second quote would give a the value of id, and show
// it wherever it shows a.
TEST(CookiesTest, AQuoteHidesNoSemicolon) {
  EXPECT_EQ(Parsed({"a=\"x; id=secret; b=y\""}),
            (Pairs{{"a", "\"x"}, {"id", "secret"}, {"b", "y\""}}));
  EXPECT_EQ(Parsed({"a=\"x\""}), (Pairs{{"a", "\"x\""}}));
}

TEST(CookiesTest, FoundByName) {
  const Headers fields = FieldsOf({"id=1; ID=2; id=3; empty="});
  Cookies cookies;
  ASSERT_FALSE(cookies.Parse(fields));
  EXPECT_EQ(cookies.Find("id"), "1");
  EXPECT_EQ(cookies.Find("ID"), "2");
  EXPECT_EQ(cookies.Find("empty"), "");
  EXPECT_EQ(cookies.Find("i"), std::nullopt);
  EXPECT_EQ(cookies.Size(), 4U);
  std::string all;
  cookies.ForEach("id", [&](std::string_view value) { all += value; });
  EXPECT_EQ(all, "13");
}

TEST(CookiesTest, TheNumberIsBoundedExactly) {
  CookieLimits limits;
  limits.max_cookies = 2;
  Cookies cookies;
  EXPECT_FALSE(cookies.Parse(FieldsOf({"a=1; x; b=2"}), limits));
  EXPECT_EQ(cookies.Size(), 2U);
  for (const auto& values :
       {std::vector<std::string_view>{"a=1; b=2; c=3"}, {"a=1; b=2", "c=3", "x"}}) {
    const HeadFault fault = cookies.Parse(FieldsOf(values), limits);
    EXPECT_EQ(fault.status, 431);
    EXPECT_STRNE(fault.reason, "");
    EXPECT_EQ(cookies.Size(), 0U);
  }
}

TEST(CookiesTest, ReadsOneRequestAfterTheOther) {
  Cookies cookies;
  ASSERT_FALSE(cookies.Parse(FieldsOf({"a=1; b=2"})));
  ASSERT_FALSE(cookies.Parse(FieldsOf({"c=3"})));
  EXPECT_EQ(cookies.Find("a"), std::nullopt);
  EXPECT_EQ(cookies.Find("c"), "3");
}

// Returns the message that `wrong` throws, "" if it throws none.
auto Refused(const std::function<void()>& wrong) -> std::string {
  try {
    wrong();
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  }
  return "";
}

TEST(SetCookieTest, ByItself) {
  EXPECT_EQ(SetCookie("id", "31d4").Text(), "id=31d4");
  EXPECT_EQ(SetCookie("id", "").Text(), "id=");
  EXPECT_EQ(SetCookie("id", "\"a=b\"").Text(), "id=\"a=b\"");
}

TEST(SetCookieTest, EveryAttribute) {
  const std::string text = SetCookie("id", "1")
                               .Path("/a b")
                               .Domain("example.org")
                               .MaxAge(seconds(3600))
                               .Expires(HttpTime(784111777))
                               .Secure()
                               .HttpOnly()
                               .SameSite(SameSitePolicy::kNone)
                               .Partitioned()
                               .Text();
  EXPECT_EQ(text,
            "id=1; Path=/a b; Domain=example.org; Max-Age=3600; "
            "Expires=Sun, 06 Nov 1994 08:49:37 GMT; Secure; HttpOnly; SameSite=None; Partitioned");
  Response response(200);
  response.Add("Set-Cookie", text);
  EXPECT_EQ(response.Find("Set-Cookie"), text);
}

TEST(SetCookieTest, TheLastWordCounts) {
  SetCookie cookie("id", "1");
  cookie.Path("/a").Path("/b").MaxAge(seconds(1)).MaxAge(seconds(-5));
  cookie.SameSite(SameSitePolicy::kStrict).SameSite(SameSitePolicy::kLax);
  EXPECT_EQ(cookie.Text(), "id=1; Path=/b; Max-Age=0; SameSite=Lax");
  cookie.SameSite(SameSitePolicy::kStrict);
  EXPECT_EQ(cookie.Text(), "id=1; Path=/b; Max-Age=0; SameSite=Strict");
}

TEST(SetCookieTest, NameAndValueHaveTheirCharacters) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string c(1, static_cast<char>(byte));
    const bool is_token = byte > 32 && byte < 127 && c.find_first_of("()<>@,;:\\\"/[]?={}") != 0;
    EXPECT_EQ(Refused([&] { SetCookie("a" + c, "x"); }).empty(), is_token) << byte;
    const bool is_octet = byte > 32 && byte < 127 && c.find_first_of("\",;\\") != 0;
    EXPECT_EQ(Refused([&] { SetCookie("a", "x" + c); }).empty(), is_octet) << byte;
    EXPECT_EQ(Refused([&] { SetCookie("a", "\"" + c + "\""); }).empty(), is_octet) << byte;
  }
  EXPECT_NE(Refused([] { SetCookie("", "x"); }), "");
  EXPECT_NE(Refused([] { SetCookie("a", "\""); }), "");
  EXPECT_NE(Refused([] { SetCookie("a", "\"x"); }), "");
}

TEST(SetCookieTest, WhatABrowserWouldDropForItsSizeIsRefused) {
  EXPECT_EQ(Refused([] { SetCookie("ab", std::string(4094, 'x')); }), "");
  EXPECT_NE(Refused([] { SetCookie("ab", std::string(4095, 'x')); }), "");
  SetCookie cookie("a", "1");
  EXPECT_EQ(Refused([&] { cookie.Path("/" + std::string(1023, 'x')); }), "");
  EXPECT_NE(Refused([&] { cookie.Path("/" + std::string(1024, 'x')); }), "");
  EXPECT_NE(Refused([&] { cookie.Domain(std::string(1025, 'x')); }), "");
}

TEST(SetCookieTest, PathAndDomainStartNothingElse) {
  SetCookie cookie("a", "1");
  cookie.Path("/kept").Domain("kept-1.example");
  for (const char* path :
       {"", "a", "/a; HttpOnly", "/a\r\nX: y", "/a\n", "/\x7f", "/\xc3\xa4", "/ "}) {
    EXPECT_NE(Refused([&] { cookie.Path(path); }), "") << path;
  }
  EXPECT_NE(Refused([&] { cookie.Path(std::string_view("/\0", 2)); }), "");
  for (const char* domain :
       {"", ".a.org", "a.org.", "a.org; Secure", "a_b", "a.org:80", "a b", "\r\n"}) {
    EXPECT_NE(Refused([&] { cookie.Domain(domain); }), "") << domain;
  }
  EXPECT_EQ(cookie.Text(), "a=1; Path=/kept; Domain=kept-1.example") << "a refusal changes nothing";
}

TEST(SetCookieTest, WhatWantsSecureIsRefusedWithoutIt) {
  SetCookie none("a", "1");
  none.SameSite(SameSitePolicy::kNone);
  EXPECT_NE(Refused([&] { (void)none.Text(); }).find("SameSite"), std::string::npos);
  EXPECT_EQ(none.Secure().Text(), "a=1; Secure; SameSite=None");
  SetCookie partitioned("a", "1");
  partitioned.Partitioned();
  EXPECT_NE(Refused([&] { (void)partitioned.Text(); }).find("Partitioned"), std::string::npos);
  EXPECT_EQ(partitioned.Secure().Text(), "a=1; Secure; Partitioned");
}

TEST(SetCookieTest, APrefixOfTheNameIsAPromise) {
  const auto refused = [](const SetCookie& cookie) {
    return !Refused([&] { (void)cookie.Text(); }).empty();
  };
  for (const char* name : {"__Secure-id", "__secure-id"}) {
    EXPECT_TRUE(refused(SetCookie(name, "1"))) << name;
    EXPECT_FALSE(refused(SetCookie(name, "1").Secure())) << name;
    EXPECT_FALSE(refused(SetCookie(name, "1").Secure().Path("/a").Domain("a.org"))) << name;
  }
  for (const char* name : {"__Host-id", "__HOST-id", "__Host-"}) {
    EXPECT_TRUE(refused(SetCookie(name, "1"))) << name;
    EXPECT_TRUE(refused(SetCookie(name, "1").Secure())) << name;
    EXPECT_TRUE(refused(SetCookie(name, "1").Path("/"))) << name;
    EXPECT_TRUE(refused(SetCookie(name, "1").Secure().Path("/a"))) << name;
    EXPECT_TRUE(refused(SetCookie(name, "1").Secure().Path("/").Domain("a.org"))) << name;
    EXPECT_FALSE(refused(SetCookie(name, "1").Secure().Path("/"))) << name;
  }
  EXPECT_TRUE(refused(SetCookie("__Http-id", "1").Secure()));
  EXPECT_TRUE(refused(SetCookie("__Http-id", "1").HttpOnly()));
  EXPECT_FALSE(refused(SetCookie("__Http-id", "1").Secure().HttpOnly()));
  EXPECT_TRUE(refused(SetCookie("__Host-Http-id", "1").Secure().Path("/")));
  EXPECT_TRUE(refused(SetCookie("__Host-Http-id", "1").Secure().HttpOnly()));
  EXPECT_FALSE(refused(SetCookie("__Host-Http-id", "1").Secure().HttpOnly().Path("/")));
  EXPECT_FALSE(refused(SetCookie("__Hos-id", "1")));
}

}  // namespace
}  // namespace TURTLE_SERVER
