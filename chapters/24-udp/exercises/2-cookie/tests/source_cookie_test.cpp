#include "core/source_cookie.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/counting_new.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr HashKey kKey{0x0706050403020100, 0x0f0e0d0c0b0a0908};
constexpr seconds kLife{60};

auto At(std::int64_t second) -> SourceCookie::TimePoint {
  return SourceCookie::TimePoint(seconds(second));
}

constexpr std::int64_t kNoon = 1'800'000'000;

auto View(const SourceCookie::Bytes& cookie) -> std::string_view {
  return {cookie.data(), cookie.size()};
}

const NetAddress kAda("192.0.2.1", 5000);
const NetAddress kGrace("2001:db8::1", 5000);

TEST(SourceCookieTest, IsGoodForWhomItWasMade) {
  const SourceCookie cookies(kKey, kLife);
  for (const NetAddress& peer : {kAda, kGrace}) {
    const SourceCookie::Bytes cookie = cookies.Make(peer, At(kNoon));
    EXPECT_TRUE(cookies.IsGood(View(cookie), peer, At(kNoon)));
    EXPECT_TRUE(cookies.IsGood(View(cookie), peer, At(kNoon + 5)));
  }
}

TEST(SourceCookieTest, IsGoodForNobodyElse) {
  const SourceCookie cookies(kKey, kLife);
  const std::vector<NetAddress> peers = {
      kAda,
      NetAddress("192.0.2.1", 5001),
      NetAddress("192.0.2.1", 5256),
      NetAddress("192.0.2.2", 5000),
      NetAddress("193.0.2.1", 5000),
      kGrace,
      NetAddress("2001:db8::1", 5001),
      NetAddress("2001:db8::2", 5000),
      NetAddress("3001:db8::1", 5000),
      NetAddress("::ffff:192.0.2.1", 5000),
      NetAddress("::192.0.2.1", 5000),
      NetAddress("c000:201::", 5000),
  };
  for (const NetAddress& owner : peers) {
    const SourceCookie::Bytes cookie = cookies.Make(owner, At(kNoon));
    for (const NetAddress& other : peers) {
      EXPECT_EQ(cookies.IsGood(View(cookie), other, At(kNoon)), owner == other)
          << owner.ToString() << " and " << other.ToString();
    }
  }
}

// The same neighbour's address on another wire is another neighbour's.
TEST(SourceCookieTest, ALinkLocalAddressIsOfItsInterface) {
  const SourceCookie cookies(kKey, kLife);
  NetAddress one("fe80::1", 5000);
  NetAddress two = one;
  reinterpret_cast<sockaddr_in6*>(one.Data())->sin6_scope_id = 1;
  reinterpret_cast<sockaddr_in6*>(two.Data())->sin6_scope_id = 2;
  const SourceCookie::Bytes cookie = cookies.Make(one, At(kNoon));
  EXPECT_TRUE(cookies.IsGood(View(cookie), one, At(kNoon)));
  EXPECT_FALSE(cookies.IsGood(View(cookie), two, At(kNoon)));
}

// The flow label and the padding are no part of an address: operator== does not look at them
// either.
TEST(SourceCookieTest, OnlyTheAddressCounts) {
  const SourceCookie cookies(kKey, kLife);
  NetAddress grace = kGrace;
  reinterpret_cast<sockaddr_in6*>(grace.Data())->sin6_flowinfo = htonl(0x12345);
  NetAddress ada = kAda;
  reinterpret_cast<sockaddr_in*>(ada.Data())->sin_zero[3] = 7;
  ASSERT_EQ(grace, kGrace);
  ASSERT_EQ(ada, kAda);
  EXPECT_TRUE(cookies.IsGood(View(cookies.Make(grace, At(kNoon))), kGrace, At(kNoon)));
  EXPECT_TRUE(cookies.IsGood(View(cookies.Make(ada, At(kNoon))), kAda, At(kNoon)));
}

TEST(SourceCookieTest, LivesAsLongAsItMay) {
  const SourceCookie cookies(kKey, kLife);
  const SourceCookie::Bytes cookie = cookies.Make(kAda, At(kNoon) + milliseconds(900));
  EXPECT_TRUE(cookies.IsGood(View(cookie), kAda, At(kNoon + 60) + milliseconds(999)));
  EXPECT_FALSE(cookies.IsGood(View(cookie), kAda, At(kNoon + 61)));
  EXPECT_FALSE(cookies.IsGood(View(cookie), kAda, At(kNoon + 1'000'000)));
}

TEST(SourceCookieTest, FromTheFutureItIsNotGood) {
  const SourceCookie cookies(kKey, kLife);
  const SourceCookie::Bytes cookie = cookies.Make(kAda, At(kNoon));
  EXPECT_TRUE(cookies.IsGood(View(cookie), kAda, At(kNoon)));
  EXPECT_FALSE(cookies.IsGood(View(cookie), kAda, At(kNoon - 1)));
  EXPECT_FALSE(cookies.IsGood(View(cookie), kAda, At(kNoon - 3600)));
}

// In February 2106.
TEST(SourceCookieTest, TheSecondsMayBeginAnew) {
  constexpr std::int64_t kFull = std::int64_t{1} << 32;
  const SourceCookie cookies(kKey, kLife);
  const SourceCookie::Bytes cookie = cookies.Make(kAda, At(kFull - 5));
  EXPECT_TRUE(cookies.IsGood(View(cookie), kAda, At(kFull + 10)));
  EXPECT_TRUE(cookies.IsGood(View(cookie), kAda, At(kFull + 55)));
  EXPECT_FALSE(cookies.IsGood(View(cookie), kAda, At(kFull + 56)));
  EXPECT_FALSE(cookies.IsGood(View(cookies.Make(kAda, At(kFull + 5))), kAda, At(kFull - 5)));
}

TEST(SourceCookieTest, NoBitOfItMayBeAnother) {
  const SourceCookie cookies(kKey, kLife);
  const SourceCookie::Bytes cookie = cookies.Make(kAda, At(kNoon));
  for (std::size_t bit = 0; bit < 8 * cookie.size(); ++bit) {
    SourceCookie::Bytes forged = cookie;
    forged[bit / 8] = static_cast<char>(forged[bit / 8] ^ (1 << bit % 8));
    // Later, so that one which says that it is younger is not from the future.
    EXPECT_FALSE(cookies.IsGood(View(forged), kAda, At(kNoon))) << bit;
    EXPECT_FALSE(cookies.IsGood(View(forged), kAda, At(kNoon + 40))) << bit;
  }
}

TEST(SourceCookieTest, AnyBytesMayCome) {
  const SourceCookie cookies(kKey, kLife);
  const SourceCookie::Bytes bytes = cookies.Make(kAda, At(kNoon));
  const std::string cookie(View(bytes));
  for (std::size_t size = 0; size < cookie.size(); ++size) {
    EXPECT_FALSE(cookies.IsGood(cookie.substr(0, size), kAda, At(kNoon))) << size;
  }
  EXPECT_FALSE(cookies.IsGood(cookie + "x", kAda, At(kNoon)));
  EXPECT_FALSE(cookies.IsGood(std::string(SourceCookie::kSize, '\0'), kAda, At(0)));
  EXPECT_FALSE(cookies.IsGood(std::string(65507, 'x'), kAda, At(kNoon)));
}

TEST(SourceCookieTest, OnlyTheKeyMakesIt) {
  const SourceCookie cookies(kKey, kLife);
  const SourceCookie same(kKey, kLife);
  const SourceCookie other({kKey.k0, kKey.k1 + 1}, kLife);
  const SourceCookie another({kKey.k0 + 1, kKey.k1}, kLife);
  const SourceCookie::Bytes cookie = cookies.Make(kAda, At(kNoon));
  EXPECT_TRUE(same.IsGood(View(cookie), kAda, At(kNoon))) << "a second server of the same service";
  EXPECT_FALSE(other.IsGood(View(cookie), kAda, At(kNoon)));
  EXPECT_FALSE(another.IsGood(View(cookie), kAda, At(kNoon)));
}

TEST(SourceCookieTest, TheKeyBeforeIsStillTaken) {
  SourceCookie cookies(kKey, kLife);
  const SourceCookie::Bytes first = cookies.Make(kAda, At(kNoon));
  cookies.Renew({1, 2});
  const SourceCookie::Bytes second = cookies.Make(kAda, At(kNoon));
  EXPECT_NE(first, second);
  EXPECT_TRUE(cookies.IsGood(View(first), kAda, At(kNoon)));
  EXPECT_TRUE(cookies.IsGood(View(second), kAda, At(kNoon)));
  cookies.Renew({3, 4});
  EXPECT_FALSE(cookies.IsGood(View(first), kAda, At(kNoon)));
  EXPECT_TRUE(cookies.IsGood(View(second), kAda, At(kNoon)));
}

// A key that is all zeros is not "none".
TEST(SourceCookieTest, AKeyThatNobodyHasGivenIsNoKey) {
  const SourceCookie cookies(kKey, kLife);
  const SourceCookie forger(HashKey{}, kLife);
  EXPECT_FALSE(cookies.IsGood(View(forger.Make(kAda, At(kNoon))), kAda, At(kNoon)));
}

TEST(SourceCookieTest, AllocatesNothing) {
  const SourceCookie cookies(kKey, kLife);
  test::allocations = 0;
  test::counts_allocations = true;
  int good = 0;
  for (int i = 0; i < 100; ++i) {
    const SourceCookie::Bytes cookie = cookies.Make(i % 2 == 0 ? kAda : kGrace, At(kNoon));
    good += cookies.IsGood(View(cookie), kAda, At(kNoon)) ? 1 : 0;
  }
  test::counts_allocations = false;
  EXPECT_EQ(test::allocations, 0U);
  EXPECT_EQ(good, 50);
}

}  // namespace
}  // namespace TURTLE_SERVER
