// The logins that were right lately, on one loop.
//
// A browser sends the password with each request, and a check takes 50 ms. So a right one is
// remembered for a minute.
//
// Interface:
//  * Has() looks a login up; Add() remembers one; Clear() forgets all.
//
// The passwords are not kept, only 128 bits of a hash under a secret key. The least recently used
// login makes room for a new one. Wrong ones are not remembered: a client could fill the cache.
//
// Thread: the loop's.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "base/keyed_hash.h"
#include "base/lru_cache.h"
#include "sites/basic_auth.h"
#include "sites/password_file.h"

namespace TURTLE_SERVER {

/// The logins of one loop.
class LoginCache {
 public:
  /// How long a login is remembered after its check.
  static constexpr std::chrono::seconds kLifetime{60};

  /// How many are remembered: less than 200 KiB.
  static constexpr std::size_t kMaxLogins = 1024;

  /// Returns true if the login was right at most kLifetime ago. Allocates nothing.
  /// @param users a file, one for which no Clear() has come since Add()
  /// @param login as the client sent it
  /// @param now the loop's time
  [[nodiscard]] auto Has(const PasswordFile& users, const BasicLogin& login, TimePoint now) -> bool;

  /// Remembers a login that is right.
  /// @param users the file that has it; it may be destroyed only after Clear()
  /// @param login as the client sent it
  /// @param now the loop's time
  /// @throws std::bad_alloc
  void Add(const PasswordFile& users, const BasicLogin& login, TimePoint now);

  /// Forgets all logins.
  void Clear() noexcept { until_.Clear(); }

 private:
  struct Key {
    const PasswordFile* users;
    std::uint64_t high;
    std::uint64_t low;

    friend auto operator==(const Key& a, const Key& b) noexcept -> bool {
      return a.users == b.users && a.high == b.high && a.low == b.low;
    }
  };

  // The key is a keyed hash already.
  struct LowHalf {
    auto operator()(const Key& key) const noexcept -> std::uint64_t { return key.low; }
  };

  using Table = LruCache<Key, TimePoint, LowHalf>;

  [[nodiscard]] auto KeyOf(const PasswordFile& users, const BasicLogin& login) const noexcept
      -> Key;

  const HashKey high_ = RandomHashKey();
  const HashKey low_ = RandomHashKey();
  Table until_{kMaxLogins * Table::OverheadBytes(), Table::OverheadBytes()};
};

}  // namespace TURTLE_SERVER
