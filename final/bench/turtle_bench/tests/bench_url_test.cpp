#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "bench/url.h"

namespace TURTLE_SERVER {
namespace {

TEST(UrlTest, IsSplit) {
  struct Case {
    const char* text;
    const char* host;
    int port;
    const char* target;
    const char* authority;
  };
  const std::vector<Case> cases = {
      {"http://127.0.0.1:20080/index.html", "127.0.0.1", 20080, "/index.html", "127.0.0.1:20080"},
      {"http://localhost", "localhost", 80, "/", "localhost"},
      {"http://localhost/", "localhost", 80, "/", "localhost"},
      {"HTTP://a.example:80/b", "a.example", 80, "/b", "a.example"},
      {"http://[::1]:8080/a?b=c", "::1", 8080, "/a?b=c", "[::1]:8080"},
      {"http://[::1]", "::1", 80, "/", "[::1]"},
      {"http://h?q", "h", 80, "/?q", "h"},
      {"http://h:65535?q=http://x/@y", "h", 65535, "/?q=http://x/@y", "h:65535"},
      {"http://h//a%20b", "h", 80, "//a%20b", "h"},
      {"https://a.example", "a.example", 443, "/", "a.example"},
      {"https://a.example:443/b", "a.example", 443, "/b", "a.example"},
      {"HTTPS://a.example:80/b", "a.example", 80, "/b", "a.example:80"},
      {"http://a.example:443/b", "a.example", 443, "/b", "a.example:443"},
      {"https://[::1]/", "::1", 443, "/", "[::1]"},
  };
  for (const Case& each : cases) {
    const Url url = ParseUrl(each.text);
    EXPECT_EQ(url.host, each.host) << each.text;
    EXPECT_EQ(url.port, each.port) << each.text;
    EXPECT_EQ(url.target, each.target) << each.text;
    EXPECT_EQ(url.authority, each.authority) << each.text;
  }
}

TEST(UrlTest, OnlyHttpsIsSecure) {
  EXPECT_TRUE(ParseUrl("https://h/").secure);
  EXPECT_TRUE(ParseUrl("hTTps://h/").secure);
  EXPECT_FALSE(ParseUrl("http://h/").secure);
  EXPECT_FALSE(ParseUrl("http://h:443/?https://").secure);
}

TEST(UrlTest, ARefusalSaysWhy) {
  struct Case {
    const char* text;
    const char* why;
  };
  const std::vector<Case> cases = {
      {"", "http://"},
      {"127.0.0.1:20080", "http://"},
      {"localhost/", "http://"},
      {"http:/h", "http://"},
      {"https:/h", "https://"},
      {"https://", "the host is missing"},
      {"https://h:0/", "the port '0'"},
      {"httpss://h/", "'httpss' is not supported"},
      {"ftp://h/", "'ftp' is not supported"},
      {"http://", "the host is missing"},
      {"http:///a", "the host is missing"},
      {"http://:80/", "the host is missing"},
      {"http://h:/", "the port ''"},
      {"http://h:0/", "the port '0'"},
      {"http://h:65536/", "the port '65536'"},
      {"http://h:80x/", "the port '80x'"},
      {"http://h:-1/", "the port '-1'"},
      {"http://u:p@h/", "user name"},
      {"http://h/#top", "fragment"},
      {"http://h#top", "fragment"},
      {"http://h/a b", "%20"},
      {"http://h/a\r\nX: y", "%20"},
      {"http://h/\xc3\xa4", "%20"},
      {"http://h\n/", "%20"},
      {"http://::1/", "brackets"},
      {"http://[::1/", "']'"},
      {"http://[]/", "IPv6"},
      {"http://[h]/", "IPv6"},
      {"http://[::1]80/", "'80' after the address"},
  };
  for (const Case& each : cases) {
    try {
      const Url url = ParseUrl(each.text);
      ADD_FAILURE() << each.text << " gave " << url.host;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(each.why), std::string::npos)
          << each.text << ": " << error.what();
    }
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
