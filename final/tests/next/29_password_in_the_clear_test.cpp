// A password must not cross the network in the clear, in either direction.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "core/turtle_server.h"
#include "support/client.h"
#include "support/handlers.h"
#include "support/server_thread.h"
#if __has_include("support/tls_line.h")
#include "support/tls_line.h"
#else
namespace TURTLE_SERVER::test {

// A line between a client and a server, and all its bytes.
class TlsLine {
 public:
  // There is nothing that protects it yet.
  void Protect(ServerOptions& /*options*/) {}

  auto Exchange(int port, std::string_view text) -> std::string {
    Client client(port);
    const std::string echo = client.Send(text) ? client.Receive(text.size()) : "";
    wire_.append(text).append(echo);
    return echo;
  }

  [[nodiscard]] auto Wire() const -> const std::string& { return wire_; }

 private:
  std::string wire_;
};

}  // namespace TURTLE_SERVER::test
#endif

namespace TURTLE_SERVER {
namespace {

constexpr std::string_view kPassword = "turtles all the way down";

TEST(Password, IsNotOnTheWireInTheClear) {
  test::TlsLine line;
  ServerOptions options;
  line.Protect(options);
  TurtleServer server(NetAddress("127.0.0.1", 0), options);
  server.OnHandle(test::Echo);
  const test::ServerThread running(server);
  ASSERT_EQ(line.Exchange(server.LocalAddress().Port(), kPassword), kPassword);
  ASSERT_GE(line.Wire().size(), 2 * kPassword.size()) << "there and back";
  EXPECT_EQ(line.Wire().find(kPassword), std::string::npos) << "anyone on the way can read it";
}

}  // namespace
}  // namespace TURTLE_SERVER
