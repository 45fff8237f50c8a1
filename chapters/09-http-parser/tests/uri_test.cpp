#include "http/uri.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace TURTLE_SERVER {
namespace {

auto PathOf(std::string_view target) -> std::string {
  Uri uri;
  const HeadFault fault = uri.Parse(target, Method::kGet);
  return fault ? std::to_string(fault.status) : std::string(uri.Path());
}

TEST(UriTest, PathIsDecodedOnceAndNormal) {
  const std::pair<const char*, const char*> cases[] = {
      {"/", "/"},
      {"/index.html", "/index.html"},
      {"/a%20b", "/a b"},
      {"/%C3%A4", "/\xc3\xa4"},
      {"/100%25", "/100%"},
      {"/%252e%252e/x", "/%2e%2e/x"},  // decoded twice this would be a way up
      {"/%61/", "/a/"},
      {"/%61", "/a"},
      {"/%61/b/", "/a/b/"},
      {"/./a/", "/a/"},
      {"/a/../b/", "/b/"},
      {"/a/./b", "/a/b"},
      {"/a/../b", "/b"},
      {"/a/b/..", "/a/"},
      {"/a/b/.", "/a/b/"},
      {"/a/%2e%2E/b", "/b"},
      {"/a/b/../../c", "/c"},
      {"/..a/b..", "/..a/b.."},
      {"/.../x", "/.../x"},
      {"/.well-known/x", "/.well-known/x"},
      {"//evil.example/..", "/"},
      {"//a///b//", "/a/b/"},
      {"/a//../b", "/b"},
      {"/a&1&2", "/a&1&2"},
      {"/a;v=1/b+c", "/a;v=1/b+c"},
      {"/a?/../b%00\\", "/a"},
  };
  for (const auto& [target, path] : cases) {
    EXPECT_EQ(PathOf(target), path) << target;
  }
}

TEST(UriTest, RefusesWhatCouldMeanSomethingElseToTheNextReader) {
  for (const char* target : {"/..",
                             "/../etc/passwd",
                             "/a/../../b",
                             "/%2e%2e/x",
                             "/a/%2e%2e/%2e./b",
                             "/.%2e/",
                             "/./../x",
                             "//../x",
                             "/a%2Fb",
                             "/a%2fb",
                             "/..%2f..%2fetc",
                             "/a\\b",
                             "/..\\..\\x",
                             "/a%5Cb",
                             "/a%00",
                             "/a%00.html",
                             "/a%0d%0aSet-Cookie:x",
                             "/a%7f",
                             "/%",
                             "/%2",
                             "/%zz",
                             "/%2g",
                             "/a%%",
                             "/%u002e",
                             "/a#b",
                             "/a?b#c",
                             "a",
                             "a/b",
                             "?x",
                             "..",
                             "*a"}) {
    EXPECT_EQ(PathOf(target), "400") << target;
  }
}

TEST(UriTest, QueryStaysAsItWasSent) {
  Uri uri;
  ASSERT_FALSE(uri.Parse("/a%20b?x=%2F&y=?", Method::kGet));
  EXPECT_EQ(uri.Path(), "/a b");
  EXPECT_EQ(uri.RawPath(), "/a%20b");
  EXPECT_TRUE(uri.HasQuery());
  EXPECT_EQ(uri.Query(), "x=%2F&y=?");
  ASSERT_FALSE(uri.Parse("/a?", Method::kGet));
  EXPECT_TRUE(uri.HasQuery());
  EXPECT_EQ(uri.Query(), "");
  ASSERT_FALSE(uri.Parse("/a", Method::kGet));
  EXPECT_FALSE(uri.HasQuery());
  EXPECT_EQ(uri.Path(), "/a");
}

TEST(UriTest, AbsoluteForm) {
  Uri uri;
  ASSERT_FALSE(uri.Parse("HTTP://example.org:8080/a/../b?c", Method::kGet));
  EXPECT_EQ(uri.Form(), TargetForm::kAbsolute);
  EXPECT_EQ(uri.Authority(), "example.org:8080");
  EXPECT_EQ(uri.Path(), "/b");
  EXPECT_EQ(uri.Query(), "c");
  ASSERT_FALSE(uri.Parse("http://[::1]:80?q", Method::kGet));
  EXPECT_EQ(uri.Authority(), "[::1]:80");
  EXPECT_EQ(uri.Path(), "/");
  EXPECT_EQ(uri.RawPath(), "");
  EXPECT_EQ(uri.Query(), "q");
  for (const char* target :
       {"http:/a", "http://", "http:///a", "http://:80/", "http://a b/", "http://user@host/",
        "http://u:p@h/", "http://a:x/", "http://a:65536/", "http://[::1/", "http://[a]/",
        "ftp://a/", "file:///etc/passwd", "://a/", "http://a/../b", "http://a\\b/", "http://a/b#c",
        "http://a#c"}) {
    EXPECT_EQ(PathOf(target), "400") << target;
  }
}

TEST(UriTest, ASchemeAloneIsRefusedAndNothingIsThrown) {
  for (const char* target : {"http", "HTTPS", "http:", "https:/"}) {
    EXPECT_EQ(PathOf(target), "400") << target;
  }
}

TEST(UriTest, AsteriskAndAuthorityBelongToTheirMethods) {
  Uri uri;
  ASSERT_FALSE(uri.Parse("*", Method::kOptions));
  EXPECT_EQ(uri.Form(), TargetForm::kAsterisk);
  EXPECT_EQ(uri.Path(), "*");
  EXPECT_EQ(PathOf("*"), "400");
  ASSERT_FALSE(uri.Parse("example.org:443", Method::kConnect));
  EXPECT_EQ(uri.Form(), TargetForm::kAuthority);
  EXPECT_EQ(uri.Authority(), "example.org:443");
  EXPECT_EQ(uri.Path(), "");
  for (const char* target : {"example.org", "/", "*", "http://a/", ":443", "a:b", "u@a:1"}) {
    EXPECT_TRUE(uri.Parse(target, Method::kConnect)) << target;
  }
}

TEST(UriTest, ConnectNeedsAPortThatIsNotEmpty) {
  Uri uri;
  EXPECT_FALSE(uri.Parse("[::1]:443", Method::kConnect));
  for (const char* target : {"example.org:", "[::1]", "[::1]:", "127.0.0.1", "a:65536"}) {
    EXPECT_TRUE(uri.Parse(target, Method::kConnect)) << target;
  }
}

TEST(UriTest, SurvivesAMove) {
  Uri uri;
  ASSERT_FALSE(uri.Parse("/%61", Method::kGet));  // short: the text lies inside the string object
  const Uri moved = std::move(uri);
  EXPECT_EQ(moved.Path(), "/a");
}

TEST(HostTest, ValidAndInvalid) {
  for (const char* host : {"", "a", "localhost:80", "127.0.0.1", "a.b-c_d~e:65535", "a:", "[::1]",
                           "[::ffff:1.2.3.4]:80", "%41.example", "a,b"}) {
    EXPECT_TRUE(IsValidHost(host)) << host;
  }
  for (const char* host : {":80",     "a b",  "a:b",     "a:65536", "a:99999999999999999999",
                           "a:80:80", "a/b",  "user@a",  "[::1",    "::1",
                           "[]",      "[1]",  "[::1]80", "[::g]",   "a\\b",
                           "a%4",     "a%zz", "a?b",     "a#b",     "<a>",
                           "\xc3\xa4"}) {
    EXPECT_FALSE(IsValidHost(host)) << host;
  }
}

TEST(HostTest, AddressesInBracketsFollowTheGrammar) {
  Uri uri;
  for (const std::string literal : {"::",
                                    "::1",
                                    "1::",
                                    "1:2:3:4:5:6:7:8",
                                    "1::8",
                                    "::2:3:4:5:6:7:8",
                                    "1:2:3:4:5:6:7::",
                                    "1::3:4:5:6:7:8",
                                    "1:2:3::5:6:7",
                                    "abcd:EF01::09",
                                    "0001::",
                                    "::1.2.3.4",
                                    "::ffff:0.0.0.0",
                                    "1:2:3:4:5:6:255.249.199.10",
                                    "1::5:6:1.2.3.4",
                                    "::2:3:4:5:6:1.2.3.4",
                                    "v1.a",
                                    "V1F.a:b",
                                    "va.-._~!$&'()*+,;=:09azAZ",
                                    "v0.:"}) {
    EXPECT_TRUE(IsValidHost('[' + literal + ']')) << literal;
    EXPECT_TRUE(IsValidHost('[' + literal + "]:80")) << literal;
    EXPECT_FALSE(uri.Parse("http://[" + literal + "]/", Method::kGet)) << literal;
    EXPECT_FALSE(uri.Parse('[' + literal + "]:443", Method::kConnect)) << literal;
  }
  for (const std::string literal : {"",
                                    ":",
                                    ":::",
                                    "1",
                                    "1:",
                                    ":1",
                                    "1:2",
                                    "1:2:3:4:5:6:7",
                                    "1:2:3:4:5:6:7:8:9",
                                    "1:2:3:4:5:6:7:8::",
                                    "::1:2:3:4:5:6:7:8",
                                    "1:2:3:4::5:6:7:8",
                                    "1::2::3",
                                    "::1::",
                                    "1:::2",
                                    "1:2:3:4:5:6:7:",
                                    ":2:3:4:5:6:7:8",
                                    "12345::",
                                    "00001::",
                                    "g::",
                                    "::g",
                                    "::1:",
                                    "1.2.3.4",
                                    "::1.2.3",
                                    "::1.2.3.4.5",
                                    "::1.2.3.",
                                    "::.2.3.4",
                                    "::1..3.4",
                                    "::1.2.3.256",
                                    "::1.2.3.999",
                                    "::1.2.3.1000",
                                    "::01.2.3.4",
                                    "::00.2.3.4",
                                    "::1.2.3.a",
                                    "::1.2.3.4:1",
                                    "1.2.3.4::",
                                    "1:2:3:4:5:6:7:1.2.3.4",
                                    "::2:3:4:5:6:7:1.2.3.4",
                                    "1:2:3:4:5:1.2.3.4",
                                    "::1%25eth0",
                                    "fe80::1%eth0",
                                    " ::1",
                                    "::1 ",
                                    "[::1]",
                                    "v",
                                    "v1",
                                    "v1.",
                                    "v.a",
                                    ".a",
                                    "vg.a",
                                    "v1.a/b",
                                    "v1.a@b",
                                    "v1.%41",
                                    "x1.a",
                                    "1.a"}) {
    EXPECT_FALSE(IsValidHost('[' + literal + ']')) << literal;
    EXPECT_TRUE(uri.Parse("http://[" + literal + "]/", Method::kGet)) << literal;
    EXPECT_TRUE(uri.Parse('[' + literal + "]:443", Method::kConnect)) << literal;
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
