// Counting requests must not slow them down, whatever becomes of the counts.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <csignal>
#include <string>

#include "base/unique_fd.h"
#include "core/socket_calls.h"
#include "support/child.h"
#include "support/http_client.h"

namespace TURTLE_SERVER {
namespace {

TEST(Statistics, ASinkThatDoesNotListenKeepsNobodyWaiting) {
  // It has a port, and room for a connection or two, and nobody takes them out of it.
  const UniqueFd sink(OpenSocket(AF_INET, FdMode::kBlocking));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(sink.Get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(sink.Get(), 0), 0);
  ASSERT_EQ(::getsockname(sink.Get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  test::Child server(test::ExamplePath("counted_server"),
                     {"0", std::to_string(ntohs(address.sin_port))});
  const std::string line = server.ReadLine();
  test::HttpClient client(std::stoi(line.substr(line.rfind(':') + 1)));
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(client.Send(test::Get("/hello")));
    ASSERT_TRUE(client.HasInput(std::chrono::seconds(2)))
        << "request " << i << " waits for the statistics";
    EXPECT_EQ(client.ReadReply().body, "hello\n");
  }
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
}

}  // namespace
}  // namespace TURTLE_SERVER
