// The places of addresses: which addresses are one, and that none is lost.
#include "core/address_limit.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <cstddef>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "support/failing_new.h"

namespace TURTLE_SERVER {
namespace {

auto KeyOf(const char* address) -> AddressKey {
  return AddressKeyOf(NetAddress(address, 80)).value_or(0);
}

TEST(AddressLimitTest, AnIpv4AddressIsOneInBothForms) {
  EXPECT_EQ(KeyOf("192.0.2.7"), KeyOf("::ffff:192.0.2.7"));
  EXPECT_NE(KeyOf("192.0.2.7"), KeyOf("192.0.2.8"));
  EXPECT_EQ(AddressKeyOf(NetAddress("192.0.2.7", 1)), AddressKeyOf(NetAddress("192.0.2.7", 2)));
}

TEST(AddressLimitTest, ANetworkOf64BitsIsOne) {
  EXPECT_EQ(KeyOf("2001:db8::1"), KeyOf("2001:db8::ffff:0:0:1"));
  EXPECT_NE(KeyOf("2001:db8::1"), KeyOf("2001:db8:0:1::1"));
  EXPECT_NE(KeyOf("::1"), KeyOf("0.0.0.1"));
}

TEST(AddressLimitTest, OtherAddressesHaveNoKey) {
  EXPECT_FALSE(AddressKeyOf(NetAddress()));
  NetAddress path;
  path.Data()->sa_family = AF_UNIX;
  EXPECT_FALSE(AddressKeyOf(path));
}

TEST(AddressLimitTest, APlaceIsFreeOnceItIsGivenBack) {
  AddressCounts counts;
  std::optional<AddressPlace> first = counts.Take(7, 2);
  std::optional<AddressPlace> second = counts.Take(7, 2);
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(counts.Take(7, 2));
  EXPECT_TRUE(counts.Take(8, 2)) << "another address has its own";
  EXPECT_EQ(counts.Size(), 1U) << "that was given back at once";
  first.reset();
  EXPECT_FALSE(counts.Take(7, 1)) << "by a lower limit there is none";
  EXPECT_TRUE(counts.Take(7, 2));
  second.reset();
  EXPECT_EQ(counts.Size(), 0U);
}

TEST(AddressLimitTest, AMovedPlaceIsGivenBackOnce) {
  AddressCounts counts;
  {
    std::optional<AddressPlace> place = counts.Take(7, 1);
    ASSERT_TRUE(place);
    const AddressPlace moved(*std::move(place));
    place.reset();
    EXPECT_FALSE(counts.Take(7, 1));
  }
  EXPECT_EQ(counts.Size(), 0U);
}

TEST(AddressLimitTest, WithoutMemoryNothingIsTaken) {
  for (std::size_t first = 1; first <= 2; ++first) {
    AddressCounts counts;
    test::FailAllocations(first);
    EXPECT_THROW(static_cast<void>(counts.Take(7, 1)), std::bad_alloc) << first;
    EXPECT_EQ(test::StopFailing(), 1U);
    EXPECT_EQ(counts.Size(), 0U);
    EXPECT_TRUE(counts.Take(7, 1));
  }
}

TEST(AddressLimitTest, ThreadsNeverShareAPlace) {
  constexpr std::size_t kMost = 3;
  AddressCounts counts;
  std::atomic<std::size_t> taken{0};
  std::atomic<bool> too_many{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 5'000; ++round) {
        if (const std::optional<AddressPlace> place = counts.Take(7, kMost)) {
          too_many = too_many || ++taken > kMost;
          --taken;
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_FALSE(too_many);
  EXPECT_EQ(counts.Size(), 0U);
}

}  // namespace
}  // namespace TURTLE_SERVER
