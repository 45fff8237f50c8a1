// The calls exactly as the documentation shows them: if this doesn't compile, the documentation
// that users have is wrong.
#include <gtest/gtest.h>

#include "core/net_address.h"
#include "core/socket.h"

// User code may reopen the namespace to forward-declare in it.
namespace TURTLE_SERVER {
class Socket;
auto DescriptorOf(const Socket& socket) -> int;
}  // namespace TURTLE_SERVER

auto TURTLE_SERVER::DescriptorOf(const Socket& socket) -> int { return socket.GetFd(); }

namespace {

// Namespace scope, as in the documentation; the body of a function would do as well.
using namespace TURTLE_SERVER;

TEST(DocumentedApi, ServerAndClient) {
  NetAddress local_address("127.0.0.1", 0, Protocol::Ipv4);
  Socket server_sock;
  server_sock.Bind(local_address, true);
  server_sock.Listen();
  local_address = server_sock.LocalAddress();

  Socket client_sock;
  client_sock.Connect(local_address);

  NetAddress client_address;
  int client_fd = server_sock.Accept(client_address);
  ASSERT_GE(client_fd, 0);
  EXPECT_EQ(client_address, client_sock.LocalAddress());

  Socket taken{UniqueFd(client_fd)};  // the caller owns it
  EXPECT_EQ(DescriptorOf(taken), client_fd);
}

TEST(DocumentedApi, BothNames) {
  const TURTLE_SERVER::NetAddress by_name("127.0.0.1", 8080, TURTLE_SERVER::Protocol::Ipv4);
  const turtle::NetAddress by_alias("127.0.0.1", 8080);
  EXPECT_EQ(by_name, by_alias);
}

}  // namespace
