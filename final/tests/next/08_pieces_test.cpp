// TCP keeps the order of the bytes, not the pieces in which they were sent. A request is a request,
// however it arrives.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/turtle_server.h"
#include "support/client.h"
#include "support/request_log.h"
#include "support/server_thread.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::RequestLog;
using test::ServerThread;
using Targets = std::vector<std::string>;

// Returns the requests that a server understands when a browser sends these pieces, one after the
// other.
auto Understood(const std::vector<std::string>& pieces) -> Targets {
  RequestLog log;
  ServerOptions options;
  options.threads = 1;
  TurtleServer server(NetAddress("127.0.0.1", 0), options);
  server.OnHandle([&](Connection* client) { log.Handle(client); });
  const ServerThread thread(server);
  Client browser(server.LocalAddress().Port());
  std::size_t sent = 0;
  for (const std::string& piece : pieces) {
    EXPECT_TRUE(browser.Send(piece));
    sent += piece.size();
    EXPECT_TRUE(log.Await(sent));  // on a slow line, the next piece comes much later
  }
  return log.Targets();
}

TEST(Pieces, ARequestInOnePiece) {
  EXPECT_EQ(Understood({"GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"}), Targets{"/hello"});
}

TEST(Pieces, ARequestInTwoPieces) {
  EXPECT_EQ(Understood({"GET /hel", "lo HTTP/1.1\r\nHost: a\r\n\r\n"}), Targets{"/hello"});
}

TEST(Pieces, TwoRequestsInOnePiece) {
  EXPECT_EQ(Understood({"GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n"}),
            (Targets{"/a", "/b"}));
}

}  // namespace
}  // namespace TURTLE_SERVER
