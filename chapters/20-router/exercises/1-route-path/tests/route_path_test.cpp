#include "http/route_path.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "http/method.h"
#include "http/router.h"
#include "http/uri.h"

namespace TURTLE_SERVER {
namespace {

using std::string_literals::operator""s;

auto Refusal(std::string_view pattern, const RouteValues& values) -> std::string {
  try {
    return "no refusal: " + PathOf(pattern, values);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

// Asks a router for the path, and gets the values back.
void ExpectThereAndBack(std::string_view pattern, const RouteValues& values) {
  const std::string path = PathOf(pattern, values);
  Uri uri;
  ASSERT_FALSE(uri.Parse(path, Method::kGet)) << path;
  Router router;
  router.Add(Method::kGet, pattern);
  const RouteMatch match = router.Find(Method::kGet, uri.Path());
  ASSERT_EQ(match.result, RouteResult::kFound) << path;
  for (const auto& [name, value] : values) {
    EXPECT_EQ(match.parameters.Find(name), value) << path;
  }
}

TEST(RoutePathTest, PatternsWithoutParameters) {
  EXPECT_EQ(PathOf("/", {}), "/");
  EXPECT_EQ(PathOf("/users", {}), "/users");
  EXPECT_EQ(PathOf("/users/", {}), "/users/");
  EXPECT_EQ(PathOf("/a b/\xc3\xa4", {}), "/a%20b/%C3%A4");
}

TEST(RoutePathTest, OneOfEachKind) {
  EXPECT_EQ(PathOf("/users/{id:int}/edit", {{"id", "-42"}}), "/users/-42/edit");
  EXPECT_EQ(PathOf("/u/{id:uuid}", {{"id", "00112233-4455-6677-8899-AABBccddeeff"}}),
            "/u/00112233-4455-6677-8899-AABBccddeeff");
  EXPECT_EQ(PathOf("/{a}/{b}", {{"b", "two"}, {"a", "one"}}), "/one/two");
  EXPECT_EQ(PathOf("/files/{path...}", {{"path", "a/b c/d"}}), "/files/a/b%20c/d");
  EXPECT_EQ(PathOf("/files/{path...}", {{"path", "a/b/"}}), "/files/a/b/");
  EXPECT_EQ(PathOf("/files/{path...}", {{"path", ""}}), "/files/");
}

TEST(RoutePathTest, WhatIsNotUnreservedIsEncoded) {
  EXPECT_EQ(PathOf("/{a}", {{"a", "AZaz09-._~"}}), "/AZaz09-._~");
  EXPECT_EQ(PathOf("/{a}", {{"a", "?#[]@!$&'()*+,;=:%\" <>^`{|}"}}),
            "/%3F%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D%3A%25%22%20%3C%3E%5E%60%7B%7C%7D");
  EXPECT_EQ(PathOf("/{a}", {{"a", "\xc3\xa4\xff"}}), "/%C3%A4%FF");
  EXPECT_EQ(PathOf("/{a}", {{"a", "%41"}}), "/%2541");
}

TEST(RoutePathTest, ThereAndBack) {
  ExpectThereAndBack("/users/{name}/posts/{id:int}", {{"name", "\xc3\xa4 %2e?&#"}, {"id", "7"}});
  ExpectThereAndBack("/files/{path...}", {{"path", "a/%/\xe2\x82\xac/..."}});
  ExpectThereAndBack("/files/{path...}", {{"path", "a/b/"}});
  ExpectThereAndBack("/files/{path...}", {{"path", ""}});
  ExpectThereAndBack("/{a}", {{"a", "..."}});
  ExpectThereAndBack("/{a}", {{"a", ".a"}});
  for (int byte = 0x20; byte < 0x100; ++byte) {
    if (byte != '/' && byte != '\\' && byte != '.' && byte != 0x7f) {
      ExpectThereAndBack("/{a}/{b}", {{"a", std::string(1, static_cast<char>(byte))}, {"b", "x"}});
    }
  }
}

TEST(RoutePathTest, NoRequestCanBringThese) {
  for (const std::string& value :
       {""s, "a/b"s, "/"s, "."s, ".."s, "a\\b"s, "a\nb"s, "\0"s, "\x7f"s}) {
    EXPECT_EQ(Refusal("/{a}", {{"a", value}}), "the value of a does not fit") << value;
  }
  for (const std::string& value :
       {"/a"s, "a//b"s, "//"s, "/"s, "."s, ".."s, "a/../b"s, "a/./b"s, "a/.."s, "a\\b"s, "a/\t"s}) {
    EXPECT_EQ(Refusal("/files/{path...}", {{"path", value}}), "the value of path does not fit")
        << value;
  }
  for (const std::string& value :
       {""s, "x"s, "1x"s, "+1"s, " 1"s, "1.0"s, "9223372036854775808"s}) {
    EXPECT_EQ(Refusal("/{id:int}", {{"id", value}}), "the value of id does not fit") << value;
  }
  EXPECT_EQ(Refusal("/{id:uuid}", {{"id", "00112233-4455-6677-8899-AABBccddeefg"}}),
            "the value of id does not fit");
}

TEST(RoutePathTest, EachParameterHasAValue) {
  EXPECT_EQ(Refusal("/{a}/{b}", {{"a", "x"}}), "no value for b");
  EXPECT_EQ(Refusal("/{path...}", {}), "no value for path");
  EXPECT_EQ(Refusal("/{a}", {{"a", "x"}, {"c", "x"}}), "c is no parameter");
  EXPECT_EQ(Refusal("/users", {{"users", "x"}}), "users is no parameter");
  EXPECT_EQ(Refusal("users", {}), "a path begins with a slash");
}

}  // namespace
}  // namespace TURTLE_SERVER
