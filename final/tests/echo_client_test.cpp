#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "core/socket.h"
#include "support/child.h"

namespace TURTLE_SERVER {
namespace {

using test::Child;
using test::ExamplePath;
using test::ExampleServer;

TEST(EchoClient, PrintsTheReply) {
  const ExampleServer server;
  Child client(ExamplePath("echo_client"), {"127.0.0.1", std::to_string(server.Port())});
  ASSERT_TRUE(client.Write("hello\n"));
  EXPECT_EQ(client.ReadLine(), "hello") << "before the input ends";
  client.CloseInput();
  EXPECT_EQ(client.Wait(), 0);
}

TEST(EchoClient, ReadsWhileItSends) {
  // More than all buffers on the way hold, to a peer that writes all it reads before it reads on.
  Socket listener;
  listener.Bind(NetAddress("127.0.0.1", 0));
  listener.Listen();
  std::thread peer([&listener] {
    NetAddress from;
    Socket socket{UniqueFd(listener.Accept(from))};
    std::string bytes(65536, '\0');
    for (;;) {
      const IoResult received = socket.Recv(bytes.data(), bytes.size());
      if (received.status != IoStatus::kBytes) {
        return;
      }
      std::string_view rest(bytes.data(), received.bytes);
      while (!rest.empty()) {
        const IoResult sent = socket.Send(rest);
        if (sent.status != IoStatus::kBytes) {
          return;
        }
        rest.remove_prefix(sent.bytes);
      }
    }
  });
  std::string input;
  for (int i = 0; input.size() < 16 << 20; ++i) {
    input += std::to_string(i) + '\n';
  }
  {
    Child client(ExamplePath("echo_client"),
                 {"127.0.0.1", std::to_string(listener.LocalAddress().Port())});
    std::thread writer([&client, &input] {
      client.Write(input);
      client.CloseInput();
    });
    EXPECT_TRUE(client.ReadOutput() == input);
    client.Signal(SIGKILL);  // if it were stuck, the threads would be too
    writer.join();
  }
  peer.join();
}

TEST(EchoClient, SaysWhyItCanNotConnect) {
  Socket bound;  // has the port, but doesn't listen
  bound.Bind(NetAddress("127.0.0.1", 0));
  const std::string port = std::to_string(bound.LocalAddress().Port());
  Child client(ExamplePath("echo_client"), {"127.0.0.1", port});
  ASSERT_EQ(client.Wait(), 1);
  EXPECT_EQ(client.ReadErrors(),
            "echo_client: connect 127.0.0.1:" + port + ": Connection refused\n");
}

}  // namespace
}  // namespace TURTLE_SERVER
