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

// --- keys of another process --------------------------------------------------------------------

class SavedTicketKeysTest : public TicketKeysTest {
 protected:
  static constexpr std::size_t kFormatSize = 1;
  static constexpr std::size_t kAgeSize = 8;
  static constexpr std::size_t kKeySize =
      1 + kAgeSize + TicketKey::kNameSize + 2 * TicketKey::kSecretSize;

  SavedTicketKeysTest() { other_clock_.Advance(1000 * kPeriod); }

  // Returns a save of two keys, the second of which is current.
  auto SaveTwo() -> std::string {
    first_ = other_.Current();
    other_clock_.Advance(kPeriod);
    second_ = other_.Current();
    return other_.Save();
  }

  // Expects that these bytes are refused, and that the keys stay as they are.
  void ExpectRefused(std::string_view saved, const std::string& what) {
    const TicketKey own = keys_.Current();
    EXPECT_FALSE(keys_.Load(saved)) << what;
    EXPECT_EQ(Found(own), "current") << what;
    EXPECT_EQ(Found(first_), "nothing") << what;
    EXPECT_EQ(Found(second_), "nothing") << what;
  }

  test::ManualClock other_clock_;
  TicketKeys other_{kPeriod, other_clock_.Source()};
  TicketKey first_;
  TicketKey second_;
};

TEST_F(SavedTicketKeysTest, BothKeysArriveWithTheirAges) {
  static_cast<void>(SaveTwo());
  other_clock_.Advance(kPeriod / 4);
  ASSERT_TRUE(keys_.Load(other_.Save()));
  EXPECT_EQ(Found(first_), "old");
  EXPECT_EQ(Found(second_), "current");
  EXPECT_TRUE(IsSame(keys_.Current(), second_));
  clock_.Advance(kPeriod - kPeriod / 4 - kTick);
  EXPECT_EQ(Found(first_), "old");
  EXPECT_TRUE(IsSame(keys_.Current(), second_)) << "it has not served for a whole period yet";
  clock_.Advance(kTick);
  EXPECT_EQ(Found(first_), "nothing") << "two periods, of which most were elsewhere";
  EXPECT_EQ(Found(second_), "old");
  EXPECT_FALSE(IsSame(keys_.Current(), second_));
}

TEST_F(SavedTicketKeysTest, AKeyKeepsItsAgeThroughSeveralProcesses) {
  const TicketKey key = other_.Current();
  other_clock_.Advance(kPeriod / 2);
  ASSERT_TRUE(keys_.Load(other_.Save()));
  clock_.Advance(kPeriod / 4);
  test::ManualClock third_clock;
  TicketKeys third(kPeriod, third_clock.Source());
  ASSERT_TRUE(third.Load(keys_.Save()));
  third_clock.Advance(kPeriod / 4 - kTick);
  EXPECT_TRUE(IsSame(third.Current(), key));
  third_clock.Advance(kTick);
  EXPECT_FALSE(IsSame(third.Current(), key));
}

TEST_F(SavedTicketKeysTest, LoadedKeysTakeThePlaceOfAll) {
  const TicketKey old = keys_.Current();
  clock_.Advance(kPeriod);
  const TicketKey current = keys_.Current();
  const TicketKey loaded = other_.Current();
  ASSERT_TRUE(keys_.Load(other_.Save()));
  EXPECT_EQ(Found(old), "nothing");
  EXPECT_EQ(Found(current), "nothing");
  EXPECT_EQ(Found(loaded), "current");
}

TEST_F(SavedTicketKeysTest, NoKeysCanBeSavedToo) {
  const TicketKey own = keys_.Current();
  const std::string none = other_.Save();
  EXPECT_EQ(none.size(), kFormatSize);
  ASSERT_TRUE(keys_.Load(none));
  EXPECT_EQ(Found(own), "nothing");
  EXPECT_FALSE(IsSame(keys_.Current(), own));
}

TEST_F(SavedTicketKeysTest, AnOldKeyAloneIsSavedAsOne) {
  const TicketKey key = other_.Current();
  other_clock_.Advance(kPeriod);
  ASSERT_TRUE(keys_.Load(other_.Save()));
  EXPECT_EQ(Found(key), "old");
  EXPECT_FALSE(IsSame(keys_.Current(), key));
}

TEST_F(SavedTicketKeysTest, AKeyThatIsTooOldIsNotSaved) {
  static_cast<void>(other_.Current());
  other_clock_.Advance(2 * kPeriod);
  EXPECT_EQ(other_.Save().size(), kFormatSize);
}

TEST_F(SavedTicketKeysTest, AKeyThatIsTooOldHereIsForgotten) {
  TicketKeys longer(10 * kPeriod, other_clock_.Source());
  const TicketKey key = longer.Current();
  other_clock_.Advance(2 * kPeriod - kTick);
  ASSERT_TRUE(keys_.Load(longer.Save()));
  EXPECT_EQ(Found(key), "old") << "it has served for longer than keys do here";
  other_clock_.Advance(std::chrono::milliseconds(1));
  ASSERT_TRUE(keys_.Load(longer.Save()));
  EXPECT_EQ(Found(key), "nothing");
}

TEST_F(SavedTicketKeysTest, AnAgeHasALimit) {
  TicketKeys endless(std::chrono::seconds::max(), other_clock_.Source());
  const TicketKey key = endless.Current();
  other_clock_.Advance(std::chrono::hours(24 * 365 * 50));
  const std::string saved = endless.Save();
  EXPECT_EQ(saved.substr(kFormatSize + 1, kAgeSize), "ffffffff");
  TicketKeys other(std::chrono::seconds::max(), clock_.Source());
  ASSERT_TRUE(other.Load(saved));
  EXPECT_TRUE(IsSame(other.Current(), key));
  ASSERT_TRUE(keys_.Load(saved));
  EXPECT_EQ(Found(key), "nothing");
}

// Cut after a whole key, it is what a process with fewer keys would have saved.
TEST_F(SavedTicketKeysTest, ASaveThatIsCutIsRefused) {
  const std::string saved = SaveTwo();
  ASSERT_EQ(saved.size(), kFormatSize + 2 * kKeySize);
  for (std::size_t size = 0; size < saved.size(); ++size) {
    if (size != kFormatSize && size != kFormatSize + kKeySize) {
      ExpectRefused(std::string_view(saved).substr(0, size), std::to_string(size));
    }
  }
  ExpectRefused(saved + "c", "one byte more");
  ASSERT_TRUE(keys_.Load(saved));
}

TEST_F(SavedTicketKeysTest, AnotherFormatIsRefused) {
  std::string saved = SaveTwo();
  for (const char format : {'0', '2', '\0', 'c'}) {
    saved[0] = format;
    ExpectRefused(saved, std::string(1, format));
  }
}

TEST_F(SavedTicketKeysTest, AnUnknownPartIsRefused) {
  const std::string saved = SaveTwo();
  for (const std::size_t at : {kFormatSize, kFormatSize + kKeySize}) {
    for (const char part : {'C', 'x', '\0', '0'}) {
      std::string changed = saved;
      changed[at] = part;
      ExpectRefused(changed, std::to_string(at) + part);
    }
  }
}

TEST_F(SavedTicketKeysTest, APartThatComesTwiceIsRefused) {
  const std::string saved = SaveTwo();
  for (const char part : {'c', 'p'}) {
    std::string changed = saved;
    changed[kFormatSize] = part;
    changed[kFormatSize + kKeySize] = part;
    ExpectRefused(changed, std::string(1, part));
  }
}

TEST_F(SavedTicketKeysTest, AnAgeThatIsNoNumberIsRefused) {
  const std::string saved = SaveTwo();
  for (const std::size_t part : {kFormatSize, kFormatSize + kKeySize}) {
    for (std::size_t i = 1; i <= kAgeSize; ++i) {
      for (const char digit : {'g', ' ', '-', '+', 'x', '\0'}) {
        std::string changed = saved;
        changed[part + i] = digit;
        ExpectRefused(changed, std::to_string(part + i) + digit);
      }
    }
  }
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
