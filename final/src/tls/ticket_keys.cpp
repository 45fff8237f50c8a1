#include "tls/ticket_keys.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <algorithm>
#include <utility>

#include "tls/openssl.h"

namespace TURTLE_SERVER {

namespace {

template <std::size_t Size>
void FillAtRandom(std::array<unsigned char, Size>& bytes) {
  RequireOpenSsl(RAND_bytes(bytes.data(), static_cast<int>(Size)), "RAND_bytes");
}

auto MakeKey() -> TicketKey {
  TicketKey key;
  FillAtRandom(key.name);
  FillAtRandom(key.aes);
  FillAtRandom(key.mac_key);
  return key;
}

auto Has(const TicketKey& key, std::string_view name) noexcept -> bool {
  return std::equal(
      name.begin(), name.end(), key.name.begin(), key.name.end(),
      [](char one, unsigned char other) { return static_cast<unsigned char>(one) == other; });
}

}  // namespace

TicketKey::~TicketKey() {
  OPENSSL_cleanse(aes.data(), aes.size());
  OPENSSL_cleanse(mac_key.data(), mac_key.size());
}

TicketKeys::TicketKeys(std::chrono::seconds period, ClockSource now)
    : period_(Bounded(period)), now_(std::move(now)) {}

auto TicketKeys::Current() -> TicketKey {
  const MutexLock lock(mutex_);
  Rotate();
  if (!current_) {
    current_ = Dated{MakeKey(), now_()};
  }
  return current_->key;
}

auto TicketKeys::Find(std::string_view name) -> std::optional<FoundTicketKey> {
  const MutexLock lock(mutex_);
  Rotate();
  if (current_ && Has(current_->key, name)) {
    return FoundTicketKey{current_->key, false};
  }
  if (previous_ && Has(previous_->key, name)) {
    return FoundTicketKey{previous_->key, true};
  }
  return std::nullopt;
}

// Also called by Find(): otherwise clients of TLS 1.2 that only resume would keep an old key in
// use.
void TicketKeys::Rotate() {
  const TimePoint now = now_();
  if (current_ && now - current_->since >= period_) {
    previous_ = std::exchange(current_, std::nullopt);
  }
  if (previous_ && now - previous_->since >= 2 * period_) {
    previous_.reset();
  }
}

}  // namespace TURTLE_SERVER
