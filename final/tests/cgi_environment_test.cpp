#include "cgi/cgi_environment.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

namespace TURTLE_SERVER {
namespace {

using namespace std::string_view_literals;  // NOLINT(google-build-using-namespace): for ""sv
using Variables = std::map<std::string, std::string>;

auto PlainRequest() -> CgiRequestInfo {
  CgiRequestInfo info;
  info.method = "GET";
  info.script_name = "/cgi-bin/show";
  info.server_name = "example.org";
  info.server_port = 20080;
  info.server_protocol = "HTTP/1.1";
  info.server_software = "turtle/1.0";
  info.remote_addr = "192.0.2.7";
  return info;
}

// Reads the environment as a program would.
auto Read(const CgiEnvironment& environment) -> Variables {
  Variables variables;
  for (char* const* entry = environment.Envp(); *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    EXPECT_TRUE(variables.emplace(text.substr(0, equals), text.substr(equals + 1)).second) << text;
  }
  return variables;
}

auto BuildOrFail(const CgiRequestInfo& info, const std::vector<std::string>& inherited = {})
    -> Variables {
  const auto environment = CgiEnvironment::Build(info, inherited);
  if (!environment) {
    ADD_FAILURE() << "no environment";
    return {};
  }
  return Read(*environment);
}

TEST(CgiEnvironmentTest, APlainRequestHasTheVariablesThatMustBe) {
  const Variables expected = {{"GATEWAY_INTERFACE", "CGI/1.1"},
                              {"PATH", "/bin"},
                              {"QUERY_STRING", ""},
                              {"REMOTE_ADDR", "192.0.2.7"},
                              {"REMOTE_HOST", "192.0.2.7"},
                              {"REQUEST_METHOD", "GET"},
                              {"SCRIPT_NAME", "/cgi-bin/show"},
                              {"SERVER_NAME", "example.org"},
                              {"SERVER_PORT", "20080"},
                              {"SERVER_PROTOCOL", "HTTP/1.1"},
                              {"SERVER_SOFTWARE", "turtle/1.0"}};
  EXPECT_EQ(BuildOrFail(PlainRequest(), {"PATH=/bin"}), expected);
}

TEST(CgiEnvironmentTest, TheOptionalOnesAppearWithTheirValues) {
  CgiRequestInfo info = PlainRequest();
  info.path_info = "/a b";
  info.path_translated = "/srv/www/a b";
  info.query_string = "x=%20&y";
  info.content_type = "text/plain";
  info.content_length = 0;
  info.auth_type = "Basic";
  info.remote_user = "anna";
  info.https = true;
  const Variables variables = BuildOrFail(info);
  EXPECT_EQ(variables.at("PATH_INFO"), "/a b");
  EXPECT_EQ(variables.at("PATH_TRANSLATED"), "/srv/www/a b");
  EXPECT_EQ(variables.at("QUERY_STRING"), "x=%20&y");  // the program decodes it
  EXPECT_EQ(variables.at("CONTENT_TYPE"), "text/plain");
  EXPECT_EQ(variables.at("CONTENT_LENGTH"), "0");
  EXPECT_EQ(variables.at("AUTH_TYPE"), "Basic");
  EXPECT_EQ(variables.at("REMOTE_USER"), "anna");
  EXPECT_EQ(variables.at("HTTPS"), "on");

  info.path_info = "";
  EXPECT_EQ(BuildOrFail(info).count("PATH_TRANSLATED"), 0U);
}

TEST(CgiEnvironmentTest, HeadersBecomeVariables) {
  CgiRequestInfo info = PlainRequest();
  info.headers = {{"Accept-Language", "de"}, {"accept-language", "en"},
                  {"Cookie", "a=1"},         {"cookie", "b=2"},
                  {"X-Real-IP2", ""},        {"Content-Encoding", "gzip"}};
  const Variables variables = BuildOrFail(info);
  EXPECT_EQ(variables.at("HTTP_ACCEPT_LANGUAGE"), "de, en");
  EXPECT_EQ(variables.at("HTTP_COOKIE"), "a=1; b=2");
  EXPECT_EQ(variables.at("HTTP_X_REAL_IP2"), "");
  EXPECT_EQ(variables.at("HTTP_CONTENT_ENCODING"), "gzip");
}

// CVE-2016-5385 and similar: programs take HTTP_PROXY for their own proxy.
TEST(CgiEnvironmentTest, ProxyNeverBecomesHttpProxy) {
  for (const std::string_view name : {"Proxy", "proxy", "PROXY", "pRoXy"}) {
    CgiRequestInfo info = PlainRequest();
    info.headers = {{name, "http://evil.example"}};
    EXPECT_EQ(BuildOrFail(info).count("HTTP_PROXY"), 0U) << name;
  }
}

TEST(CgiEnvironmentTest, WhatANameCantSayWithoutDoubtIsDropped) {
  CgiRequestInfo info = PlainRequest();
  info.headers = {{"X_User", "forged"},
                  {"X.User", "forged"},
                  {"X=User", "forged"},
                  {"Prox\xd9", "x"},
                  {"", "x"},
                  {"X-User", "real"}};
  Variables variables = BuildOrFail(info);
  EXPECT_EQ(variables.at("HTTP_X_USER"), "real");
  variables.erase("HTTP_X_USER");
  EXPECT_EQ(variables, BuildOrFail(PlainRequest()));
}

TEST(CgiEnvironmentTest, SecretsAndFramingStayHere) {
  CgiRequestInfo info = PlainRequest();
  info.headers = {{"Authorization", "Basic c2VjcmV0"},
                  {"Proxy-Authorization", "Basic c2VjcmV0"},
                  {"Content-Length", "7"},
                  {"Content-Type", "a/b"},
                  {"Transfer-Encoding", "chunked"},
                  {"Connection", "close"},
                  {"Keep-Alive", "5"},
                  {"TE", "trailers"},
                  {"Upgrade", "h2c"},
                  {"Expect", "100-continue"}};
  EXPECT_EQ(BuildOrFail(info), BuildOrFail(PlainRequest()));
}

TEST(CgiEnvironmentTest, TheRequestWinsOverTheInherited) {
  CgiRequestInfo info = PlainRequest();
  info.headers = {{"X-A", "request"}};
  const Variables variables = BuildOrFail(
      info, {"PATH=/bin", "QUERY_STRING=stale", "HTTP_X_A=stale", "TZ=UTC=0", "PATH=/twice"});
  EXPECT_EQ(variables.at("QUERY_STRING"), "");
  EXPECT_EQ(variables.at("HTTP_X_A"), "request");
  EXPECT_EQ(variables.at("TZ"), "UTC=0");
  EXPECT_EQ(variables.at("PATH"), "/bin");
}

TEST(CgiEnvironmentTest, ANulByteIsRefusedWhereverItIs) {
  CgiRequestInfo info = PlainRequest();
  info.path_info = "/a\0/etc"sv;
  EXPECT_FALSE(CgiEnvironment::Build(info, {}));
  info = PlainRequest();
  info.query_string = "a\0b"sv;
  EXPECT_FALSE(CgiEnvironment::Build(info, {}));
  info = PlainRequest();
  info.headers = {{"X-A", "fine"}, {"X-A", "\0"sv}};
  EXPECT_FALSE(CgiEnvironment::Build(info, {}));
}

TEST(CgiEnvironmentTest, AnEntryThatExecveRefusesIsRefusedBefore) {
  CgiRequestInfo info = PlainRequest();
  // With "HTTP_X=" before and the NUL after it, Linux counts all of it.
  const std::string fits(CgiEnvironment::kMaxEntryBytes - 1 - 7, 'x');
  info.headers = {{"X", fits}};
  EXPECT_TRUE(CgiEnvironment::Build(info, {}));
  const std::string too_long = fits + "x";
  info.headers = {{"X", too_long}};
  EXPECT_FALSE(CgiEnvironment::Build(info, {}));
}

TEST(CgiEnvironmentTest, MovingKeepsThePointers) {
  auto built = CgiEnvironment::Build(PlainRequest(), {"A=b"});  // short: inside the string object
  ASSERT_TRUE(built);
  const Variables before = Read(*built);
  const CgiEnvironment moved = std::move(*built);
  built.reset();
  EXPECT_EQ(Read(moved), before);
  EXPECT_EQ(moved.Find("A"), "b");
  EXPECT_EQ(moved.Find("QUERY_STRING"), "");
  EXPECT_EQ(moved.Find("QUERY"), std::nullopt);
}

TEST(CgiEnvironmentTest, PathIsAlwaysInherited) {
  ASSERT_EQ(setenv("TURTLE_TEST_VARIABLE", "here", 1), 0);
  ASSERT_EQ(unsetenv("TURTLE_TEST_ABSENT"), 0);
  const char* path = std::getenv("PATH");
  const std::string saved = path != nullptr ? path : "";
  ASSERT_EQ(setenv("PATH", "/somewhere", 1), 0);
  EXPECT_EQ(InheritVariables({"TURTLE_TEST_VARIABLE", "TURTLE_TEST_ABSENT", "PATH"}),
            (std::vector<std::string>{"PATH=/somewhere", "TURTLE_TEST_VARIABLE=here"}));
  ASSERT_EQ(unsetenv("PATH"), 0);
  EXPECT_EQ(InheritVariables({}), std::vector<std::string>{"PATH=/usr/local/bin:/usr/bin:/bin"});
  ASSERT_EQ(setenv("PATH", saved.c_str(), 1), 0);
  EXPECT_THROW((void)InheritVariables({"A=B"}), std::invalid_argument);
  EXPECT_THROW((void)InheritVariables({""}), std::invalid_argument);
}

TEST(CgiEnvironmentTest, AnAddressHasNoZone) {
  EXPECT_EQ(HostNumber(NetAddress("fe80::1%lo", 80)), "fe80::1");
  EXPECT_EQ(HostNumber(NetAddress("::1", 80)), "::1");
  EXPECT_EQ(HostNumber(NetAddress("127.0.0.1", 80)), "127.0.0.1");
  EXPECT_EQ(HostNumber(NetAddress()), "");
}

}  // namespace
}  // namespace TURTLE_SERVER
