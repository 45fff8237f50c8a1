// The keys of session tickets: how they differ, and how long each of them serves.
#include "tls/ticket_keys.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/manual_clock.h"

namespace TURTLE_SERVER {
namespace {

constexpr std::chrono::seconds kPeriod = std::chrono::hours(12);
constexpr Clock::duration kTick{1};

auto NameOf(const TicketKey& key) -> std::string { return {key.name.begin(), key.name.end()}; }

auto IsSame(const TicketKey& one, const TicketKey& other) -> bool {
  return one.name == other.name && one.aes == other.aes && one.mac_key == other.mac_key;
}

template <std::size_t Size>
auto IsZero(const std::array<unsigned char, Size>& bytes) -> bool {
  return bytes == std::array<unsigned char, Size>{};
}

class TicketKeysTest : public testing::Test {
 protected:
  // Returns whether a key is found, and as what.
  [[nodiscard]] auto Found(const TicketKey& key) -> std::string {
    const std::optional<FoundTicketKey> found = keys_.Find(NameOf(key));
    if (found) {
      EXPECT_TRUE(IsSame(found->key, key));
    }
    return !found ? "nothing" : found->is_old ? "old" : "current";
  }

  test::ManualClock clock_;
  TicketKeys keys_{kPeriod, clock_.Source()};
};

// --- one key ------------------------------------------------------------------------------------

TEST_F(TicketKeysTest, AKeyIsRandomInAllItsParts) {
  const TicketKey one = keys_.Current();
  const TicketKey other = TicketKeys(kPeriod, clock_.Source()).Current();
  EXPECT_FALSE(IsZero(one.name));
  EXPECT_FALSE(IsZero(one.aes));
  EXPECT_FALSE(IsZero(one.mac_key));
  EXPECT_NE(one.name, other.name);
  EXPECT_NE(one.aes, other.aes);
  EXPECT_NE(one.mac_key, other.mac_key);
  EXPECT_NE(one.aes, one.mac_key);
}

// The bytes are read as volatile: the compiler may take those of a destroyed object for anything.
TEST_F(TicketKeysTest, TheSecretsAreWipedWhenAKeyIsDestroyed) {
  alignas(TicketKey) std::array<unsigned char, sizeof(TicketKey)> memory{};
  auto* const key = new (memory.data()) TicketKey(keys_.Current());
  const auto offset = [&](const auto& part) {
    return static_cast<std::size_t>(reinterpret_cast<unsigned char*>(key) - memory.data()) +
           static_cast<std::size_t>(part.data() - reinterpret_cast<unsigned char*>(key));
  };
  const std::array<std::size_t, 2> secrets = {offset(key->aes), offset(key->mac_key)};
  const auto sum = [&](std::size_t begin) {
    const volatile unsigned char* const bytes = memory.data() + begin;
    unsigned all = 0;
    for (std::size_t i = 0; i < TicketKey::kSecretSize; ++i) {
      all += bytes[i];
    }
    return all;
  };
  for (const std::size_t each : secrets) {
    EXPECT_NE(sum(each), 0U);
  }
  key->~TicketKey();
  for (const std::size_t each : secrets) {
    EXPECT_EQ(sum(each), 0U);
  }
}

// --- the current key ----------------------------------------------------------------------------

TEST_F(TicketKeysTest, AKeyServesForAPeriod) {
  const TicketKey first = keys_.Current();
  EXPECT_TRUE(IsSame(keys_.Current(), first));
  clock_.Advance(kPeriod - kTick);
  EXPECT_TRUE(IsSame(keys_.Current(), first));
  clock_.Advance(kTick);
  const TicketKey second = keys_.Current();
  EXPECT_NE(NameOf(second), NameOf(first));
  EXPECT_NE(second.aes, first.aes);
  EXPECT_NE(second.mac_key, first.mac_key);
}

TEST_F(TicketKeysTest, ThePeriodBeginsWithTheFirstUse) {
  clock_.Advance(10 * kPeriod);
  const TicketKey first = keys_.Current();
  clock_.Advance(kPeriod - kTick);
  EXPECT_TRUE(IsSame(keys_.Current(), first));
  clock_.Advance(5 * kPeriod);
  const TicketKey second = keys_.Current();
  EXPECT_FALSE(IsSame(second, first));
  clock_.Advance(kPeriod - kTick);
  EXPECT_TRUE(IsSame(keys_.Current(), second)) << "it has not served for a period yet";
}

TEST_F(TicketKeysTest, ThreePeriodsHaveThreeKeys) {
  const TicketKey first = keys_.Current();
  clock_.Advance(kPeriod);
  const TicketKey second = keys_.Current();
  EXPECT_EQ(Found(first), "old");
  EXPECT_EQ(Found(second), "current");
  clock_.Advance(kPeriod);
  const TicketKey third = keys_.Current();
  EXPECT_EQ(Found(first), "nothing");
  EXPECT_EQ(Found(second), "old");
  EXPECT_EQ(Found(third), "current");
}

TEST_F(TicketKeysTest, AnEndlessPeriodHasOneKey) {
  TicketKeys keys(std::chrono::seconds::max(), clock_.Source());
  const TicketKey first = keys.Current();
  clock_.Advance(std::chrono::hours(24 * 365 * 50));
  EXPECT_TRUE(IsSame(keys.Current(), first));
}

TEST_F(TicketKeysTest, TheDefaultIsTheSystemsClock) {
  TicketKeys keys(kPeriod);
  EXPECT_TRUE(IsSame(keys.Current(), keys.Current()));
}

// --- keys of tickets ----------------------------------------------------------------------------

TEST_F(TicketKeysTest, AKeyThatNobodyHasMadeIsNotFound) {
  EXPECT_EQ(Found(TicketKey()), "nothing") << "there is no key yet";
  const TicketKey current = keys_.Current();
  EXPECT_EQ(Found(TicketKey()), "nothing");
  for (const std::size_t changed : {std::size_t{0}, TicketKey::kNameSize - 1}) {
    TicketKey other = current;
    other.name[changed] ^= 0x80U;
    EXPECT_EQ(Found(other), "nothing") << changed;
  }
  clock_.Advance(kPeriod);
  static_cast<void>(keys_.Current());
  TicketKey other = current;
  other.name[0] ^= 1U;
  EXPECT_EQ(Found(other), "nothing") << "beside an old key";
}

TEST_F(TicketKeysTest, ANameOfAnotherLengthIsNotFound) {
  const std::string name = NameOf(keys_.Current());
  EXPECT_FALSE(keys_.Find(""));
  EXPECT_FALSE(keys_.Find(std::string_view(name).substr(1)));
  EXPECT_FALSE(keys_.Find(name + "x"));
}

TEST_F(TicketKeysTest, AKeyOpensTicketsForTwoPeriods) {
  const TicketKey first = keys_.Current();
  EXPECT_EQ(Found(first), "current");
  clock_.Advance(kPeriod - kTick);
  EXPECT_EQ(Found(first), "current");
  clock_.Advance(kTick);
  EXPECT_EQ(Found(first), "old") << "nobody has asked for a new key yet";
  const TicketKey second = keys_.Current();
  EXPECT_EQ(Found(first), "old");
  EXPECT_EQ(Found(second), "current");
  clock_.Advance(kPeriod - kTick);
  EXPECT_EQ(Found(first), "old");
  clock_.Advance(kTick);
  EXPECT_EQ(Found(first), "nothing");
  EXPECT_EQ(Found(second), "old");
}

TEST_F(TicketKeysTest, AKeyThatNobodyHasReplacedIsForgottenAllTheSame) {
  const TicketKey first = keys_.Current();
  clock_.Advance(2 * kPeriod - kTick);
  EXPECT_EQ(Found(first), "old");
  clock_.Advance(kTick);
  EXPECT_EQ(Found(first), "nothing");
}

TEST_F(TicketKeysTest, AKeyIsForgottenThoughNobodyHasAskedInTheMeantime) {
  const TicketKey first = keys_.Current();
  clock_.Advance(2 * kPeriod);
  EXPECT_EQ(Found(first), "nothing");
}

TEST_F(TicketKeysTest, ALateSuccessorDoesNotKeepAKeyLonger) {
  const TicketKey first = keys_.Current();
  clock_.Advance(kPeriod + kPeriod / 2);
  const TicketKey second = keys_.Current();
  EXPECT_EQ(Found(first), "old");
  clock_.Advance(kPeriod / 2);
  EXPECT_EQ(Found(first), "nothing");
  EXPECT_EQ(Found(second), "current");
}

// --- threads ------------------------------------------------------------------------------------

TEST_F(TicketKeysTest, AllThreadsGetTheSameKey) {
  std::array<std::string, 4> names;
  std::vector<std::thread> threads;
  threads.reserve(names.size());
  for (std::string& name : names) {
    threads.emplace_back([&] {
      const TicketKey key = keys_.Current();
      name = keys_.Find(NameOf(key)) ? NameOf(key) : "not found";
    });
  }
  for (std::thread& each : threads) {
    each.join();
  }
  for (const std::string& name : names) {
    EXPECT_EQ(name, NameOf(keys_.Current()));
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
