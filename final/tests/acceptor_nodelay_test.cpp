// A response in two pieces must not wait for the client's acknowledgement of the first, tcp(7).
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <mutex>
#include <vector>

#include "core/acceptor.h"
#include "support/client.h"
#include "support/loop_thread.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::LoopThread;

auto SendsAtOnce(int fd) -> bool {
  int on = 0;
  socklen_t size = sizeof on;
  return ::getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &size) == 0 && on != 0;
}

TEST(AcceptorNoDelay, EveryClientsSocketSendsSmallPiecesAtOnce) {
  std::mutex mutex;
  std::vector<bool> at_once;  // guarded by mutex
  const ConnectionCallbacks callbacks{
      [&](Connection* connection) {
        const std::lock_guard<std::mutex> lock(mutex);
        at_once.push_back(SendsAtOnce(connection->GetFd()));
        connection->WriteToWriteBuffer("welcome");
      },
      [](Connection* connection) {
        if (connection->Recv().exit) {
          connection->GetLooper()->DeleteConnection(connection->GetFd());
        }
        connection->ClearReadBuffer();
      }};
  std::array<LoopThread, 2> loops;
  Socket listener;
  listener.Bind(NetAddress("127.0.0.1", 0));
  listener.Listen();
  const int port = listener.LocalAddress().Port();
  Acceptor acceptor(loops[0].Get(), std::move(listener), {&loops[0].Get(), &loops[1].Get()},
                    callbacks);
  loops[0].Ask([&] { acceptor.Start(); });
  {
    std::vector<Client> clients;  // two, so one on each loop
    for (int i = 0; i < 2; ++i) {
      clients.emplace_back(port);
      EXPECT_EQ(clients.back().Receive(7), "welcome");
    }
  }
  loops[0].Ask([&] { acceptor.Stop(); });
  const std::lock_guard<std::mutex> lock(mutex);
  EXPECT_EQ(at_once, std::vector<bool>(2, true));
}

}  // namespace
}  // namespace TURTLE_SERVER
