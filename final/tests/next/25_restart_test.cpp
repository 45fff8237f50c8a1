// A server that is told to end must not turn away clients whom the kernel has let in.
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <vector>

#include "support/http_client.h"
#include "support/site_folder.h"
#include "support/turtle.h"

namespace TURTLE_SERVER {
namespace {

TEST(Restart, WhoeverIsConnectedIsAnswered) {
  constexpr int kClients = 200;
  const test::SiteFolder folder;
  folder.Write("index.html", "hello");
  test::Turtle turtle({folder.Path(), "--port", "0", "--threads", "1"});
  ASSERT_GT(turtle.Port(), 0) << turtle.FirstLine() << turtle.ReadErrors();

  turtle.Signal(SIGSTOP);  // as a server is that has much to do: the kernel goes on without it
  std::vector<std::unique_ptr<test::HttpClient>> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<test::HttpClient>(turtle.Port()));
    ASSERT_TRUE(clients.back()->Send(test::Get("/", "Connection: close\r\n")));
  }
  turtle.Signal(SIGTERM);
  turtle.Signal(SIGCONT);

  int answered = 0;
  for (const auto& client : clients) {
    answered += client->ReadReply().status == 200 ? 1 : 0;
  }
  EXPECT_EQ(answered, kClients) << "the others were connected, had asked, and got a reset";
  EXPECT_EQ(turtle.Wait(), 0);
}

}  // namespace
}  // namespace TURTLE_SERVER
