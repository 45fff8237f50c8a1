// The server name that a program is given.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <system_error>

#include "support/cgi_server.h"
#include "support/client.h"
#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using test::CgiServer;
using test::Client;
using test::Get;
using test::HttpClient;
using test::ProgramFolder;
using test::RunningServer;

constexpr const char* kShowNames =
    "printf 'Content-Type: text/plain\\n\\n'\n"
    "echo \"[$SERVER_NAME] [$HTTP_HOST] [$SERVER_PORT]\"\n";

// A host in the target overrides the Host field (RFC 9112, section 3.2.2).
TEST(CgiHostTest, TheHostOfAnAbsoluteTargetIsTheOneThatCounts) {
  const ProgramFolder programs;
  programs.Program("show", kShowNames);
  CgiServer server(programs);
  HttpClient client(server.Port());
  const std::string port = " [" + std::to_string(server.Port()) + "]\n";
  EXPECT_EQ(client
                .Ask("GET http://right.example:81/cgi-bin/show HTTP/1.1\r\n"
                     "Host: wrong.example\r\n\r\n")
                .body,
            "[right.example] [right.example:81]" + port);
  EXPECT_EQ(client.Ask(Get("/cgi-bin/show")).body, "[t] [t]" + port);
}

// An address instead of a name has brackets (RFC 3875, section 4.1.14).
TEST(CgiHostTest, WithoutANameAnIpv6AddressHasBrackets) {
  const ProgramFolder programs;
  programs.Program("show", kShowNames);
  int port = 0;
  const auto setup = [&](HttpServer& http) {
    CgiOptions options;
    options.directory = programs.Path();
    http.Mount("/cgi-bin",
               [options](Looper& looper) { return std::make_unique<Cgi>(looper, options); });
    Socket probe;  // finds a free port
    try {
      probe.Bind(NetAddress("::1", 0));
    } catch (const std::system_error&) {
      return;
    }
    port = probe.LocalAddress().Port();
    probe = Socket();
    http.AlsoListen(NetAddress("::1", port));
  };
  RunningServer server(setup);
  if (port == 0) {
    GTEST_SKIP() << "this machine has no IPv6";
  }
  Client client(port, "::1");
  ASSERT_TRUE(client.Send("GET /cgi-bin/show HTTP/1.0\r\n\r\n"));
  const std::string reply = client.ReceiveAll();
  EXPECT_NE(reply.find("\r\n\r\n[[::1]] [] [" + std::to_string(port) + "]\n"), std::string::npos)
      << reply;
  Client by_address(port, "::1");
  ASSERT_TRUE(by_address.Send("GET /cgi-bin/show HTTP/1.0\r\nHost: [::1]:99\r\n\r\n"));
  const std::string named = by_address.ReceiveAll();
  EXPECT_NE(named.find("\r\n\r\n[[::1]] [[::1]:99] "), std::string::npos) << named;
}

}  // namespace
}  // namespace TURTLE_SERVER
