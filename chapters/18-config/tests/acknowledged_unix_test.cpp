// Unix sockets, for which the kernel counts nothing: their clients may take their time, however
// many there are.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <vector>

#include "base/unique_fd.h"
#include "core/tcp.h"

namespace TURTLE_SERVER {
namespace {

TEST(AcknowledgedUnixTest, EachClientHasAlwaysTakenSomething) {
  struct Client {
    UniqueFd server;
    UniqueFd client;
    std::uint32_t acknowledged = 0;
  };
  std::vector<Client> clients;
  for (int i = 0; i < 5; ++i) {
    std::array<int, 2> pair{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()), 0);
    clients.push_back({UniqueFd(pair[0]), UniqueFd(pair[1])});
  }
  for (std::size_t count = 1; count <= clients.size(); ++count) {
    for (int look = 0; look < 10; ++look) {
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_GT(AcknowledgedSince(clients[i].server.Get(), clients[i].acknowledged), 1'000'000U)
            << "client " << i << " of " << count;
      }
    }
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
