// The logins that one loop remembers.
#include "sites/login_cache.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>

#include "support/basic_login.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;

auto LoginOf(const std::string& text) -> BasicLogin {
  return BasicLogin::Parse("Basic " + test::Base64(text)).value();
}

class LoginCacheTest : public testing::Test {
 protected:
  [[nodiscard]] auto Users() const -> PasswordFile {
    folder_.Write("users", "a:$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n");
    return PasswordFile(folder_.Path("users"),
                        [](const std::string&, const std::string& setting) { return setting; });
  }

  test::SiteFolder folder_;
  const PasswordFile users_ = Users();
  const BasicLogin login_ = LoginOf("a:b");
  const TimePoint now_{std::chrono::hours(1)};
  LoginCache cache_;
};

TEST_F(LoginCacheTest, ALoginIsRememberedForAMinute) {
  EXPECT_FALSE(cache_.Has(users_, login_, now_));
  cache_.Add(users_, login_, now_);
  EXPECT_TRUE(cache_.Has(users_, login_, now_));
  EXPECT_TRUE(cache_.Has(users_, login_, now_ + LoginCache::kLifetime - milliseconds(1)));
  EXPECT_FALSE(cache_.Has(users_, login_, now_ + LoginCache::kLifetime))
      << "use does not extend it";
  cache_.Add(users_, login_, now_ + LoginCache::kLifetime);
  EXPECT_TRUE(cache_.Has(users_, login_, now_ + LoginCache::kLifetime));
}

TEST_F(LoginCacheTest, AnotherNameOrPasswordOrFileIsAnotherLogin) {
  const PasswordFile others = Users();
  cache_.Add(users_, login_, now_);
  EXPECT_FALSE(cache_.Has(users_, LoginOf("a:bc"), now_));
  EXPECT_FALSE(cache_.Has(users_, LoginOf("b:bc"), now_));
  EXPECT_FALSE(cache_.Has(users_, LoginOf("a:"), now_));
  EXPECT_FALSE(cache_.Has(others, login_, now_));
}

TEST_F(LoginCacheTest, AfterClearNothingIsRemembered) {
  cache_.Add(users_, login_, now_);
  cache_.Clear();
  EXPECT_FALSE(cache_.Has(users_, login_, now_));
}

TEST_F(LoginCacheTest, TheOldestMakesRoom) {
  cache_.Add(users_, login_, now_);
  const auto other = [](std::size_t number) { return LoginOf("a:" + std::to_string(number)); };
  const auto add = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      cache_.Add(users_, other(i), now_);
    }
  };
  add(0, LoginCache::kMaxLogins - 1);
  EXPECT_TRUE(cache_.Has(users_, login_, now_)) << "all fit, and it is the youngest now";
  add(LoginCache::kMaxLogins - 1, LoginCache::kMaxLogins);
  EXPECT_FALSE(cache_.Has(users_, other(0), now_));
  EXPECT_TRUE(cache_.Has(users_, other(1), now_));
  EXPECT_TRUE(cache_.Has(users_, login_, now_));
}

}  // namespace
}  // namespace TURTLE_SERVER
