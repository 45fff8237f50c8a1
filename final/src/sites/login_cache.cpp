#include "sites/login_cache.h"

namespace TURTLE_SERVER {

auto LoginCache::KeyOf(const PasswordFile& users, const BasicLogin& login) const noexcept -> Key {
  return {&users, SipHash<2, 4>(high_, login.Text()), SipHash<2, 4>(low_, login.Text())};
}

auto LoginCache::Has(const PasswordFile& users, const BasicLogin& login, TimePoint now) -> bool {
  const TimePoint* const until = until_.Find(KeyOf(users, login));
  return until != nullptr && now < *until;
}

void LoginCache::Add(const PasswordFile& users, const BasicLogin& login, TimePoint now) {
  until_.Insert(KeyOf(users, login), now + kLifetime, 0);
}

}  // namespace TURTLE_SERVER
