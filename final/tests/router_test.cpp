// Which route matches a path.
#include "http/router.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace TURTLE_SERVER {
namespace {

// Makes a router for GET, whose routes have the numbers of `patterns`.
auto Make(const std::vector<std::string>& patterns) -> Router {
  Router router;
  for (const std::string& pattern : patterns) {
    router.Add(Method::kGet, pattern);
  }
  return router;
}

// Returns the number of the route for `path`; -1: none.
auto RouteOf(const Router& router, std::string_view path, Method method = Method::kGet) -> int {
  const RouteMatch match = router.Find(method, path);
  return match.result == RouteResult::kFound ? static_cast<int>(match.route) : -1;
}

auto Value(const Router& router, std::string_view path, std::string_view name) -> std::string {
  return std::string(
      router.Find(Method::kGet, path).parameters.Find(name).value_or("(no such parameter)"));
}

// Returns the message of Add() for a pattern.
auto Refusal(Router& router, std::string_view pattern, Method method = Method::kGet)
    -> std::string {
  try {
    router.Add(method, pattern);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

auto Refusal(std::string_view pattern, Method method = Method::kGet) -> std::string {
  Router router;
  return Refusal(router, pattern, method);
}

TEST(RouterTest, FindsLiteralPathsAndNoOthers) {
  const Router router = Make({"/", "/users", "/users/", "/users/ada"});
  EXPECT_EQ(RouteOf(router, "/"), 0);
  EXPECT_EQ(RouteOf(router, "/users"), 1);
  EXPECT_EQ(RouteOf(router, "/users/"), 2);
  EXPECT_EQ(RouteOf(router, "/users/ada"), 3);
  for (const char* path : {"", "/user", "/users/ad", "/users/ada/", "/userss", "/USERS", "/ users",
                           "//", "/users/ada/x"}) {
    EXPECT_EQ(RouteOf(router, path), -1) << path;
  }
  EXPECT_EQ(RouteOf(Router(), "/"), -1);
}

TEST(RouterTest, AParameterIsASegmentThatIsNotEmpty) {
  const Router router = Make({"/users/{name}", "/{first}/x/{second}"});
  EXPECT_EQ(Value(router, "/users/ada", "name"), "ada");
  EXPECT_EQ(Value(router, "/users/a b%&?", "name"), "a b%&?");
  EXPECT_EQ(Value(router, "/users/ada", "first"), "(no such parameter)");
  EXPECT_EQ(Value(router, "/a/x/b", "first"), "a");
  EXPECT_EQ(Value(router, "/a/x/b", "second"), "b");
  EXPECT_EQ(RouteOf(router, "/users/"), -1);
  EXPECT_EQ(RouteOf(router, "/a/x/"), -1);
}

TEST(RouterTest, ATypedParameterTakesItsTypeOnly) {
  const Router router = Make({"/n/{n:int}", "/u/{u:uuid}"});
  for (const char* good : {"0", "7", "-7", "9223372036854775807", "-9223372036854775808"}) {
    EXPECT_EQ(Value(router, std::string("/n/") + good, "n"), good);
  }
  for (const char* bad : {"", "+7", "7x", "x7", "-", "0x7", "7.0", "9223372036854775808", " 7"}) {
    EXPECT_EQ(RouteOf(router, std::string("/n/") + bad), -1) << bad;
  }
  EXPECT_EQ(RouteOf(router, "/u/01234567-89ab-cdef-ABCD-EF0123456789"), 1);
  for (const char* bad :
       {"01234567-89ab-cdef-ABCD-EF012345678", "01234567-89ab-cdef-ABCD-EF01234567899",
        "0123456789ab-cdef-ABCD-EF01234567890", "g1234567-89ab-cdef-ABCD-EF0123456789",
        "------------------------------------"}) {
    EXPECT_EQ(RouteOf(router, std::string("/u/") + bad), -1) << bad;
  }
}

TEST(RouterTest, ARestIsAllThatIsLeft) {
  const Router router = Make({"/files/{path...}", "/all/{rest...}", "/all"});
  EXPECT_EQ(Value(router, "/files/a/b/c.txt", "path"), "a/b/c.txt");
  EXPECT_EQ(Value(router, "/files/", "path"), "");
  EXPECT_EQ(Value(router, "/files/a/", "path"), "a/");
  EXPECT_EQ(RouteOf(router, "/files"), -1);
  EXPECT_EQ(RouteOf(router, "/all"), 2);
}

TEST(RouterTest, WhatIsMorePreciseCountsMoreInWhateverOrderItWasAdded) {
  std::vector<std::string> patterns = {"/u/me", "/u/{id:int}", "/u/{name}", "/u/{rest...}", "~/.*"};
  for (int turn = 0; turn < 2; ++turn) {
    const Router router = Make(patterns);
    const auto pattern = [&](std::string_view path) {
      return patterns[static_cast<std::size_t>(RouteOf(router, path))];
    };
    EXPECT_EQ(pattern("/u/me"), "/u/me");
    EXPECT_EQ(pattern("/u/7"), "/u/{id:int}");
    EXPECT_EQ(pattern("/u/you"), "/u/{name}");
    EXPECT_EQ(pattern("/u/7/x"), "/u/{rest...}");
    EXPECT_EQ(pattern("/u/"), "/u/{rest...}");
    EXPECT_EQ(pattern("/x"), "~/.*");
    std::reverse(patterns.begin(), patterns.end());
  }
}

TEST(RouterTest, ABranchThatLeadsNowhereIsLeftAgain) {
  const Router router = Make({"/u/me/a", "/u/{id:int}/b", "/u/{name}/c", "/{x...}"});
  EXPECT_EQ(RouteOf(router, "/u/me/a"), 0);
  EXPECT_EQ(RouteOf(router, "/u/me/c"), 2);
  EXPECT_EQ(RouteOf(router, "/u/7/b"), 1);
  EXPECT_EQ(RouteOf(router, "/u/7/c"), 2);
  EXPECT_EQ(Value(router, "/u/7/c", "name"), "7");
  EXPECT_EQ(Value(router, "/u/7/d", "x"), "u/7/d");
}

TEST(RouterTest, TheRouteOfAnotherMethodIsPassedOver) {
  Router router;
  router.Add(Method::kGet, "/u/me");
  router.Add(Method::kDelete, "/u/{name}");
  router.Add(Method::kPost, "~/u/.*");
  EXPECT_EQ(RouteOf(router, "/u/me", Method::kGet), 0);
  EXPECT_EQ(RouteOf(router, "/u/me", Method::kDelete), 1);
  EXPECT_EQ(RouteOf(router, "/u/me", Method::kPost), 2);
  const RouteMatch match = router.Find(Method::kPut, "/u/me");
  EXPECT_EQ(match.result, RouteResult::kNoMethod);
  EXPECT_EQ(match.allowed.AllowField(), "GET, HEAD, POST, DELETE, OPTIONS");
  EXPECT_EQ(router.Find(Method::kPut, "/v").result, RouteResult::kNoPath);
  EXPECT_EQ(router.Methods().AllowField(), "GET, HEAD, POST, DELETE, OPTIONS");
}

TEST(RouterTest, ARestOfAnotherMethodIsPassedOverToo) {
  Router router;
  router.Add(Method::kPost, "/files/{path...}");
  router.Add(Method::kGet, "~/files/(.*)");
  EXPECT_EQ(RouteOf(router, "/files/a/b"), 1);
  EXPECT_EQ(Value(router, "/files/a/b", "1"), "a/b");
  EXPECT_EQ(Value(router, "/files/a/b", "path"), "(no such parameter)");
  EXPECT_EQ(RouteOf(router, "/files/a/b", Method::kPost), 0);
}

TEST(RouterTest, ANameHasLettersDigitsAndUnderscores) {
  const Router router = Make({"/users/{user_id2}"});
  EXPECT_EQ(Value(router, "/users/ada", "user_id2"), "ada");
}

TEST(RouterTest, ALiteralAndARestAreNoKindsOfOneSegment) {
  EXPECT_FALSE(FitsSegment(SegmentKind::kLiteral, "a"));
  EXPECT_FALSE(FitsSegment(SegmentKind::kRest, "a"));
  EXPECT_TRUE(FitsSegment(SegmentKind::kPlain, "a"));
}

TEST(RouterTest, HeadIsGetUnlessItHasARouteOfItsOwn) {
  Router router;
  router.Add(Method::kGet, "/a");
  router.Add(Method::kGet, "/b");
  router.Add(Method::kHead, "/b");
  router.Add(Method::kPost, "/c");
  EXPECT_EQ(RouteOf(router, "/a", Method::kHead), 0);
  EXPECT_EQ(RouteOf(router, "/b", Method::kHead), 2);
  EXPECT_EQ(RouteOf(router, "/c", Method::kHead), -1);
  EXPECT_EQ(router.Find(Method::kHead, "/c").allowed.AllowField(), "POST, OPTIONS");
}

TEST(RouterTest, EachMethodIsNamedInTheOrderOfAllow) {
  MethodSet methods;
  EXPECT_EQ(methods.AllowField(), "OPTIONS");
  for (const Method method : {Method::kPatch, Method::kDelete, Method::kPut, Method::kPost}) {
    methods.Add(method);
  }
  EXPECT_EQ(methods.AllowField(), "POST, PUT, PATCH, DELETE, OPTIONS");
}

TEST(RouterTest, TheNamesAreThoseOfTheRouteThatIsFound) {
  Router router;
  router.Add(Method::kGet, "/u/{id}");
  router.Add(Method::kPut, "/u/{name}");
  EXPECT_EQ(router.Find(Method::kGet, "/u/7").parameters.Find("id"), "7");
  EXPECT_EQ(router.Find(Method::kPut, "/u/7").parameters.Find("name"), "7");
  EXPECT_EQ(router.Find(Method::kPut, "/u/7").parameters.Find("id"), std::nullopt);
}

TEST(RouterTest, AnExpressionMatchesTheWholePath) {
  const Router router = Make({R"(~/archive/(?P<year>\d{4})/(\d\d)(x)?)", "~/archive/.*"});
  EXPECT_EQ(RouteOf(router, "/archive/2026/11"), 0);
  EXPECT_EQ(Value(router, "/archive/2026/11", "year"), "2026");
  EXPECT_EQ(Value(router, "/archive/2026/11", "2"), "11");
  EXPECT_EQ(Value(router, "/archive/2026/11", "3"), "");
  EXPECT_EQ(RouteOf(router, "/archive/2026/111"), 1) << "not in the middle of a path";
  EXPECT_EQ(RouteOf(router, "/an/archive/2026/11"), -1);
}

TEST(RouterTest, ExpressionsAreTriedInTheOrderInWhichTheyWereAdded) {
  EXPECT_EQ(RouteOf(Make({"~/a.*", "~/ab.*"}), "/abc"), 0);
  EXPECT_EQ(RouteOf(Make({"~/ab.*", "~/a.*"}), "/abc"), 0);
}

// std::regex would take until the end of the universe, or of its stack.
TEST(RouterTest, AnExpressionWithManyWaysToMatchIsLinear) {
  const Router router = Make({"~/(a*)*b"});
  EXPECT_EQ(RouteOf(router, "/" + std::string(100'000, 'a')), -1);
}

TEST(RouterTest, ManyParametersInAPathThatMatchesManyWaysAreTriedOnceEach) {
  Router router;
  const std::string literal = "/a/a/a/a/a/a/a/a";
  for (unsigned mask = 0; mask < 256; ++mask) {  // each segment is "a" or a parameter
    std::string pattern;
    for (unsigned bit = 0; bit < 8; ++bit) {
      pattern += (mask >> bit & 1U) != 0 ? "/{p" + std::to_string(bit) + "}" : "/a";
    }
    router.Add(Method::kGet, pattern);
  }
  EXPECT_EQ(RouteOf(router, literal), 0);
  EXPECT_EQ(RouteOf(router, "/b/b/b/b/b/b/b/b"), 255);
  EXPECT_EQ(RouteOf(router, literal + "/a"), -1);
}

TEST(RouterTest, TwoRoutesForTheSamePathsAreRefused) {
  Router router = Make({"/u/{id}", "/v/{id:int}", "/w/{rest...}", "/x", "~/y"});
  EXPECT_EQ(Refusal(router, "/u/{name}"), R"(route GET "/u/{name}": the same paths as "/u/{id}")");
  EXPECT_NE(Refusal(router, "/v/{n:int}"), "");
  EXPECT_NE(Refusal(router, "/w/{path...}"), "");
  EXPECT_NE(Refusal(router, "/x"), "");
  EXPECT_NE(Refusal(router, "~/y"), "");
  EXPECT_EQ(Refusal(router, "/u/{name}", Method::kPut), "");
  EXPECT_EQ(router.Find(Method::kPut, "/u/7").parameters.Find("name"), "7");
}

TEST(RouterTest, SpellingsOfOtherRoutersAreRefusedWithOurs) {
  EXPECT_EQ(Refusal("/u/:id"), R"(route GET "/u/:id": ":id": a parameter is written {id})");
  EXPECT_EQ(Refusal("/u/<int>"),
            "route GET \"/u/<int>\": \"<int>\": a parameter is written {name}, "
            "{name:int} or {name:uuid}");
  EXPECT_EQ(Refusal("/f/*"),
            R"(route GET "/f/*": "*": a parameter is written {rest...} to take the rest)");
  EXPECT_EQ(Refusal("/f/*path"),
            R"(route GET "/f/*path": "*path": a parameter is written {path...} to take the rest)");
  EXPECT_NE(Refusal("/f/**"), "");
  EXPECT_NE(Refusal("/u/<id>/posts"), "");
  for (const char* literal : {"/items:batch", "/:", "/a*b", "/*.txt", "/~user", "/1<2", "/<1"}) {
    EXPECT_EQ(Refusal(literal), "") << literal;
  }
}

TEST(RouterTest, WhatIsNoPatternIsRefusedByName) {
  EXPECT_EQ(Refusal("users"), R"(route GET "users": a path begins with a slash)");
  EXPECT_EQ(Refusal("/u/{id:float}"),
            R"(route GET "/u/{id:float}": there is no type "float", only int and uuid)");
  const std::string refused = R"(route GET "~/a(b": )";  // why, RE2 says in its own words
  EXPECT_EQ(Refusal("~/a(b").rfind(refused, 0), 0U) << Refusal("~/a(b");
  EXPECT_GT(Refusal("~/a(b").size(), refused.size());
  EXPECT_EQ(Refusal("/x", Method::kTrace), R"(route "/x": this method has no routes)");
  for (const char* pattern : {"",
                              "//",
                              "/a//b",
                              "/a/./b",
                              "/a/..",
                              "/a?b=c",
                              "/a%20b",
                              "/a\\b",
                              "/a\nb",
                              "/{}",
                              "/{a",
                              "/a}",
                              "/{a}b",
                              "/x{a}",
                              "/{7a}",
                              "/{a-b}",
                              "/{...}",
                              "/{a...}/b",
                              "/{a...}/",
                              "/{a}/{a}",
                              "/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}",
                              "~/(a)(b)(c)(d)(e)(f)(g)(h)(i)"}) {
    EXPECT_NE(Refusal(pattern), "") << pattern;
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
