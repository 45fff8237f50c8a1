#include "tls/ticket_keys.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <system_error>
#include <utility>

#include "tls/openssl.h"

namespace TURTLE_SERVER {

namespace {

using std::chrono::milliseconds;

constexpr std::string_view kFormat = "1";
constexpr std::size_t kAgeDigits = 8;  // hexadecimal: 49 days
constexpr std::size_t kSavedKey =
    1 + kAgeDigits + TicketKey::kNameSize + 2 * TicketKey::kSecretSize;

// Appends an age, 49 days at most.
void AppendAge(std::string& text, milliseconds age) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto number = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(age.count(), 0, std::numeric_limits<std::uint32_t>::max()));
  for (std::size_t i = kAgeDigits; i-- > 0;) {
    text += kDigits[number >> (4 * i) & 0xF];
  }
}

// Takes the number off the front. @return nullopt: it is none
auto TakeAge(std::string_view& text) -> std::optional<milliseconds> {
  std::uint32_t age = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + kAgeDigits, age, 16);
  if (error != std::errc() || end != text.data() + kAgeDigits) {
    return std::nullopt;
  }
  text.remove_prefix(kAgeDigits);
  return milliseconds(age);
}

template <std::size_t Size>
void AppendBytes(std::string& text, const std::array<unsigned char, Size>& bytes) {
  text.append(bytes.begin(), bytes.end());
}

template <std::size_t Size>
void TakeBytes(std::string_view& text, std::array<unsigned char, Size>& bytes) {
  std::copy_n(text.begin(), Size, bytes.begin());
  text.remove_prefix(Size);
}

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

// The text begins with the number of its format. Each key follows with its part, 'c' for the
// current one and 'p' for the previous one, and its age in milliseconds: clocks of two processes
// may differ.
auto TicketKeys::Save() -> std::string {
  const MutexLock lock(mutex_);
  Rotate();
  std::string saved;
  saved.reserve(kFormat.size() + 2 * kSavedKey);  // growth would leave copies in freed memory
  saved += kFormat;
  for (const auto& [part, dated] : {std::pair('c', &current_), std::pair('p', &previous_)}) {
    if (*dated) {
      saved += part;
      AppendAge(saved, std::chrono::duration_cast<milliseconds>(now_() - (*dated)->since));
      AppendBytes(saved, (*dated)->key.name);
      AppendBytes(saved, (*dated)->key.aes);
      AppendBytes(saved, (*dated)->key.mac_key);
    }
  }
  return saved;
}

auto TicketKeys::Load(std::string_view saved) -> bool {
  if (saved.substr(0, kFormat.size()) != kFormat) {
    return false;
  }
  std::optional<Dated> current;
  std::optional<Dated> previous;
  const TimePoint now = now_();
  for (saved.remove_prefix(kFormat.size()); !saved.empty();) {
    std::optional<Dated>& dated = saved.front() == 'c' ? current : previous;
    if (saved.size() < kSavedKey || (saved.front() != 'c' && saved.front() != 'p') || dated) {
      return false;
    }
    saved.remove_prefix(1);
    const std::optional<milliseconds> age = TakeAge(saved);
    if (!age) {
      return false;
    }
    dated.emplace(Dated{{}, now - *age});
    TakeBytes(saved, dated->key.name);
    TakeBytes(saved, dated->key.aes);
    TakeBytes(saved, dated->key.mac_key);
  }
  const MutexLock lock(mutex_);
  current_ = std::move(current);
  previous_ = std::move(previous);
  return true;
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
