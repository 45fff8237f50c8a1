// A loop that stands still must keep only its own clients waiting.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "core/turtle_server.h"
#include "support/busy.h"
#include "support/client.h"
#include "support/handlers.h"
#include "support/server_thread.h"

namespace TURTLE_SERVER {
namespace {

// Where there is no such choice, nothing is chosen.
template <typename Options>
auto AcceptOnEachLoop(Options& options) -> decltype(void(options.accept)) {
  options.accept = std::decay_t<decltype(options.accept)>::kPerLoop;
}
template <typename... Options>
void AcceptOnEachLoop(const Options&... /*options*/) {}

TEST(BusyAcceptor, KeepsNobodyFromTheOtherLoops) {
  ServerOptions options;
  options.threads = 4;
  AcceptOnEachLoop(options);
  TurtleServer server(NetAddress("127.0.0.1", 0), options);
  server.OnHandle(test::Echo);
  const test::ServerThread running(server);
  const test::Busy busy(*server.Loopers().front());
  std::vector<std::unique_ptr<test::Client>> clients;
  for (int i = 0; i < 64; ++i) {
    clients.push_back(std::make_unique<test::Client>(server.LocalAddress().Port()));
    ASSERT_TRUE(clients.back()->Send("hello"));
  }
  // Three loops have nothing else to do.
  const auto deadline = std::chrono::steady_clock::now() + test::kPatience / 4;
  int served = 0;
  while (served == 0 && std::chrono::steady_clock::now() < deadline) {
    for (const auto& client : clients) {
      served += client->Receive(5, std::chrono::milliseconds(1)) == "hello" ? 1 : 0;
    }
  }
  EXPECT_GT(served, 0) << "64 clients wait for one loop, and three loops wait for clients";
}

}  // namespace
}  // namespace TURTLE_SERVER
