#include "core/address_limit.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/turtle_server.h"
#include "support/client.h"
#include "support/server_thread.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::ServerThread;
using Place = std::unique_ptr<AddressLimit::Place>;

TEST(AddressLimit, AnAddressGetsAsManyAsItMay) {
  AddressLimit limit(2);
  Place first = limit.Enter(NetAddress("192.0.2.1", 1000));
  ASSERT_NE(first, nullptr);
  const Place second = limit.Enter(NetAddress("192.0.2.1", 2000));
  EXPECT_NE(second, nullptr);
  EXPECT_EQ(limit.Enter(NetAddress("192.0.2.1", 3000)), nullptr);
  EXPECT_NE(limit.Enter(NetAddress("192.0.2.2", 1000)), nullptr) << "another's affair";
  first.reset();
  const Place third = limit.Enter(NetAddress("192.0.2.1", 3000));
  EXPECT_NE(third, nullptr);
  EXPECT_EQ(limit.Enter(NetAddress("192.0.2.1", 3000)), nullptr);
}

TEST(AddressLimit, OfIpv6TheFirstHalfCounts) {
  AddressLimit limit(1);
  const Place first = limit.Enter(NetAddress("2001:db8:0:1::1", 1));
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(limit.Enter(NetAddress("2001:db8:0:1:ffff:ffff:ffff:ffff", 2)), nullptr);
  EXPECT_NE(limit.Enter(NetAddress("2001:db8:0:2::1", 3)), nullptr);
  EXPECT_NE(limit.Enter(NetAddress("2001:db8:1:1::1", 4)), nullptr);
  EXPECT_EQ(limit.Addresses(), 1U);
}

TEST(AddressLimit, AnIpv4AddressIsNoIpv6Address) {
  AddressLimit limit(1);
  const Place first = limit.Enter(NetAddress("32.1.13.184", 1));
  ASSERT_NE(first, nullptr);
  EXPECT_NE(limit.Enter(NetAddress("2001:db8::1", 1)), nullptr);  // 2001:0db8 is 32.1.13.184
  EXPECT_EQ(limit.Enter(NetAddress("32.1.13.184", 1)), nullptr);
}

TEST(AddressLimit, WhoHasLeftIsForgotten) {
  AddressLimit limit(3);
  std::vector<Place> places;
  for (int i = 0; i < 250; ++i) {
    const std::string ip = "198.51.100." + std::to_string(i);
    places.push_back(limit.Enter(NetAddress(ip, 1)));
    places.push_back(limit.Enter(NetAddress(ip, 2)));
  }
  ASSERT_NE(places.back(), nullptr);
  EXPECT_EQ(limit.Addresses(), 250U);
  places.resize(250);
  EXPECT_EQ(limit.Addresses(), 125U);
  places.clear();
  EXPECT_EQ(limit.Addresses(), 0U);
}

TEST(AddressLimit, ARefusalLeavesNothingBehind) {
  AddressLimit nobody(0);
  EXPECT_EQ(nobody.Enter(NetAddress("192.0.2.1", 1)), nullptr);
  EXPECT_EQ(nobody.Addresses(), 0U);
  AddressLimit one(1);
  Place place = one.Enter(NetAddress("192.0.2.1", 1));
  ASSERT_NE(place, nullptr);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(one.Enter(NetAddress("192.0.2.1", 1)), nullptr);
  }
  place.reset();
  EXPECT_NE(one.Enter(NetAddress("192.0.2.1", 1)), nullptr);
}

// getpeername(2) has no address for a client that is already gone.
TEST(AddressLimit, WhoHasNoAddressAnyMoreGetsNoPlace) {
  AddressLimit limit(1);
  EXPECT_EQ(limit.Enter(NetAddress()), nullptr);
  EXPECT_EQ(limit.Addresses(), 0U);
  EXPECT_NE(limit.Enter(NetAddress("192.0.2.1", 1)), nullptr);
}

TEST(AddressLimit, ItMayGoBeforeItsPlaces) {
  std::optional<AddressLimit> limit(std::in_place, 1);
  Place place = limit->Enter(NetAddress("192.0.2.1", 1));
  ASSERT_NE(place, nullptr);
  limit.reset();
  place.reset();
}

TEST(AddressLimit, ManyThreadsNeverGetMoreThanItAllows) {
  constexpr int kMost = 3;
  AddressLimit limit(kMost);
  std::atomic<int> inside{0};
  std::atomic<int> worst{0};
  std::atomic<int> entered{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 2000; ++k) {
        Place place = limit.Enter(NetAddress("192.0.2.1", k));
        if (place != nullptr) {
          const int now = ++inside;
          for (int seen = worst; now > seen && !worst.compare_exchange_weak(seen, now);) {
          }
          ++entered;
          --inside;
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_GT(entered, 0);
  EXPECT_LE(worst, kMost);
  EXPECT_EQ(limit.Addresses(), 0U);
}

struct Guest : ConnectionState {
  explicit Guest(Place given) : place(std::move(given)) {}
  Place place;
};

TEST(AddressLimit, AServerWithSeveralLoopsKeepsIt) {
  AddressLimit limit(2);
  ServerOptions options;
  options.threads = 3;
  TurtleServer server(NetAddress("127.0.0.1", 0), options);
  server
      .OnAccept([&](Connection* client) {
        Place place = limit.Enter(client->GetPeerAddress());
        if (place == nullptr) {
          client->WriteToWriteBuffer("no");
          client->GetLooper()->DeleteConnection(client->GetFd());
          return;
        }
        client->SetState(std::make_unique<Guest>(std::move(place)));
        client->WriteToWriteBuffer("hi");
      })
      .OnHandle([](Connection* client) {
        if (client->Recv().exit) {
          client->GetLooper()->DeleteConnection(client->GetFd());
        }
      });
  const ServerThread thread(server);
  const int port = server.LocalAddress().Port();
  std::optional<Client> first(std::in_place, port);
  ASSERT_EQ(first->Receive(2), "hi");
  Client second(port);
  ASSERT_EQ(second.Receive(2), "hi");
  Client third(port);
  EXPECT_EQ(third.ReceiveAll(), "no");
  EXPECT_TRUE(third.Ended());

  first.reset();  // the server learns of it when it learns of it
  std::string answer = "no";
  std::optional<Client> fourth;
  const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
  while (answer != "hi" && std::chrono::steady_clock::now() < deadline) {
    fourth.emplace(port);
    answer = fourth->Receive(2);
  }
  EXPECT_EQ(answer, "hi");
  Client fifth(port);
  EXPECT_EQ(fifth.ReceiveAll(), "no");
}

}  // namespace
}  // namespace TURTLE_SERVER
