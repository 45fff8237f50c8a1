#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "support/child.h"
#include "support/client.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::ExampleServer;

class RelayTest : public testing::Test {
 protected:
  RelayTest() {
    listener_.Bind(NetAddress("127.0.0.1", 0));
    listener_.Listen();
    relay_.emplace("relay",
                   std::vector<std::string>{"0", std::to_string(listener_.LocalAddress().Port())});
  }

  // The server's end of the connection that the relay has made for the newest client.
  auto Accept() -> Socket {
    pollfd waiting{listener_.GetFd(), POLLIN, 0};
    if (::poll(&waiting, 1, 10'000) != 1) {
      ADD_FAILURE() << "the relay does not call the server";
      return {};
    }
    NetAddress from;
    return Socket(UniqueFd(listener_.Accept(from)));
  }

  // Returns all bytes until the other end has finished; the wait is bounded.
  static auto ReceiveAll(Socket& socket) -> std::string {
    const timeval limit{10, 0};
    ::setsockopt(socket.GetFd(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    std::string all;
    std::vector<char> bytes(65536);
    for (;;) {
      const IoResult received = socket.Recv(bytes.data(), bytes.size());
      if (received.status != IoStatus::kBytes) {
        EXPECT_EQ(received.status, IoStatus::kEnd);
        return all;
      }
      all.append(bytes.data(), received.bytes);
    }
  }

  static auto SendAll(Socket& socket, std::string_view bytes) -> bool {
    while (!bytes.empty()) {
      const IoResult sent = socket.Send(bytes);
      if (sent.status != IoStatus::kBytes) {
        return false;
      }
      bytes.remove_prefix(sent.bytes);
    }
    return true;
  }

  static auto Pattern() -> std::string {
    std::string all(std::size_t{8} * 1024 * 1024, '\0');
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = static_cast<char>(i * 31 + i / 251);
    }
    return all;
  }

  Socket listener_;
  std::optional<ExampleServer> relay_;
};

TEST_F(RelayTest, PassesOnBothWays) {
  Client client(relay_->Port());
  Socket server = Accept();
  ASSERT_TRUE(client.Send("question"));
  char bytes[8];
  ASSERT_EQ(::recv(server.GetFd(), bytes, 8, MSG_WAITALL), 8);
  EXPECT_EQ(std::string(bytes, 8), "question");
  ASSERT_TRUE(SendAll(server, "answer"));
  EXPECT_EQ(client.Receive(6), "answer");
}

TEST_F(RelayTest, AnEndIsPassedOnAndTheOtherWayStaysOpen) {
  Client client(relay_->Port());
  Socket server = Accept();
  ASSERT_TRUE(client.Send("all"));
  client.FinishSending();
  EXPECT_EQ(ReceiveAll(server), "all");
  ASSERT_TRUE(SendAll(server, "late answer"));
  EXPECT_EQ(server.ShutdownWrite(), 0);
  EXPECT_EQ(client.ReceiveAll(), "late answer");
  EXPECT_TRUE(client.Ended());
}

TEST_F(RelayTest, MegabytesBothWaysByteForByte) {
  Client client(relay_->Port());
  Socket server = Accept();
  const std::string all = Pattern();
  std::thread up([&] {
    EXPECT_TRUE(client.Send(all));
    client.FinishSending();
  });
  std::thread down([&] {
    EXPECT_TRUE(SendAll(server, all));
    EXPECT_EQ(server.ShutdownWrite(), 0);
  });
  std::string arrived;
  std::thread reader([&] { arrived = ReceiveAll(server); });
  EXPECT_TRUE(client.ReceiveAll() == all);
  up.join();
  down.join();
  reader.join();
  EXPECT_TRUE(arrived == all);
}

TEST_F(RelayTest, WhoIsNotReadIsStoppedAndOthersAreServed) {
  Client greedy(relay_->Port());
  Socket silent = Accept();
  const std::string piece(65536, 'x');
  std::size_t taken = 0;
  constexpr std::size_t kFarTooMuch = std::size_t{64} * 1024 * 1024;
  const int fd = greedy.GetSocket().GetFd();
  for (pollfd room{fd, POLLOUT, 0}; taken < kFarTooMuch && ::poll(&room, 1, 500) == 1;) {
    const ssize_t count = ::send(fd, piece.data(), piece.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    ASSERT_GT(count, 0);
    taken += static_cast<std::size_t>(count);
  }
  EXPECT_LT(taken, kFarTooMuch) << "the relay keeps all of it";
  Client client(relay_->Port());
  Socket server = Accept();
  ASSERT_TRUE(client.Send("quick"));
  client.FinishSending();
  EXPECT_EQ(ReceiveAll(server), "quick");
  greedy.FinishSending();
  EXPECT_EQ(ReceiveAll(silent).size(), taken) << "and nothing of it is lost";
}

TEST_F(RelayTest, AServerThatIsNotThereCostsTheClientOnly) {
  listener_ = Socket();
  for (int i = 0; i < 3; ++i) {
    Client client(relay_->Port());
    EXPECT_EQ(client.ReceiveAll(), "");
    EXPECT_TRUE(client.Ended() || client.WasReset());
  }
}

TEST_F(RelayTest, AResetOfOneEndsTheOther) {
  Client client(relay_->Port());
  Socket server = Accept();
  ASSERT_TRUE(client.Send("x"));
  char byte = 0;
  ASSERT_EQ(::recv(server.GetFd(), &byte, 1, 0), 1);
  client.Reset();
  const timeval limit{10, 0};
  ::setsockopt(server.GetFd(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  const IoResult received = server.Recv(&byte, 1);
  EXPECT_TRUE(received.status == IoStatus::kEnd ||
              (received.status == IoStatus::kError && received.error == ECONNRESET));
}

}  // namespace
}  // namespace TURTLE_SERVER
