#include "sites/rate_table.h"

#include <netinet/in.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

namespace TURTLE_SERVER {

namespace {

// In steps, each of which is at least a millisecond.
constexpr std::uint64_t kYear = std::uint64_t{365} * 24 * 3600 * 1000;

[[noreturn]] void Refuse(const std::string& why) { throw std::invalid_argument("rate: " + why); }

auto Checked(const RateLimit& limit) -> const RateLimit& {
  const auto seconds = limit.per.count();
  if (seconds < 1 || seconds > 24 * 3600) {
    Refuse("per " + std::to_string(seconds) + " s: not 1 s to 1 day");
  }
  const auto per = static_cast<std::uint64_t>(seconds) * 1000;
  if (limit.requests < 1 || limit.requests > per) {
    Refuse(std::to_string(limit.requests) + " requests in " + std::to_string(seconds) +
           " s: not 1, to 1000 a second");
  }
  if (limit.burst < 1 || limit.burst * per > limit.requests * kYear) {
    Refuse("burst " + std::to_string(limit.burst) + ": not 1, to the requests of a year");
  }
  return limit;
}

auto CheckedClients(std::size_t clients) -> std::size_t {
  if (clients < 8 || (clients & (clients - 1)) != 0) {
    Refuse(std::to_string(clients) + " clients: not a power of two from 8 on");
  }
  return clients;
}

// Returns the bytes that identify a client, inside `client`; "" for one without a limit.
auto KeyOf(const NetAddress& client) noexcept -> std::string_view {
  if (client.Family() == AF_INET) {
    const auto* const v4 = reinterpret_cast<const sockaddr_in*>(client.Data());
    return {reinterpret_cast<const char*>(&v4->sin_addr), 4};
  }
  if (client.Family() != AF_INET6) {
    return {};
  }
  const in6_addr& v6 = reinterpret_cast<const sockaddr_in6*>(client.Data())->sin6_addr;
  const char* const bytes = reinterpret_cast<const char*>(&v6);
  return IN6_IS_ADDR_V4MAPPED(&v6) ? std::string_view(bytes + 12, 4) : std::string_view(bytes, 8);
}

}  // namespace

RateTable::RateTable(const RateLimit& limit, std::size_t clients, const HashKey& key)
    : key_(key),
      per_(static_cast<std::uint64_t>(Checked(limit).per.count()) * 1000),
      request_steps_(per_ / limit.requests),
      steps_(request_steps_ * limit.requests),
      burst_steps_(request_steps_ * limit.burst),
      last_set_(CheckedClients(clients) / 8 - 1),
      sets_(std::make_unique<Set[]>(last_set_ + 1)) {}

auto RateTable::Take(const NetAddress& client, TimePoint now) noexcept
    -> std::chrono::milliseconds {
  const std::string_view key = KeyOf(client);
  if (key.empty()) {
    return std::chrono::milliseconds(0);
  }
  const std::uint64_t hash = SipHash<1, 3>(key_, key);
  const std::uint64_t step = StepAt(now);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Bucket bucket = Find(hash, step);
    const std::uint64_t ahead = bucket.ahead + request_steps_;
    if (ahead > burst_steps_) {
      const std::uint64_t missing = (ahead - burst_steps_) * per_;
      return std::chrono::milliseconds((missing + steps_ - 1) / steps_);
    }
    const std::uint64_t word = (hash & ~kTimeMask) | ((step + ahead) & kTimeMask);
    // Relaxed: a word is all there is to know about a client, and no other memory belongs to it.
    if (bucket.word->compare_exchange_strong(bucket.seen, word, std::memory_order_relaxed)) {
      break;
    }
  }
  return std::chrono::milliseconds(0);
}

auto RateTable::StepAt(TimePoint now) const noexcept -> std::uint64_t {
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  const auto elapsed = static_cast<std::uint64_t>(std::max<std::int64_t>(since.count(), 0));
  // In two parts, since years times steps_ would overflow.
  return elapsed / per_ * steps_ + elapsed % per_ * steps_ / per_;
}

auto RateTable::Ahead(std::uint64_t word, std::uint64_t now) noexcept -> std::uint64_t {
  const std::uint64_t distance = (word - now) & kTimeMask;
  return word == 0 || distance > 2 * kYear ? 0 : distance;
}

auto RateTable::Find(std::uint64_t hash, std::uint64_t now) const noexcept -> Bucket {
  Bucket own{nullptr, 0, 0};
  Bucket fullest{nullptr, 0, std::numeric_limits<std::uint64_t>::max()};
  for (Word& word : sets_[hash & last_set_].words) {
    const std::uint64_t seen = word.load(std::memory_order_relaxed);
    const Bucket bucket{&word, seen, Ahead(seen, now)};
    if (((seen ^ hash) & ~kTimeMask) == 0) {
      // Of two, a thread may have made the other one late, after the client had spent its tokens.
      own = own.word == nullptr || bucket.ahead > own.ahead ? bucket : own;
    } else if (bucket.ahead < fullest.ahead) {
      fullest = bucket;
    }
  }
  // A new owner's bucket is full.
  return own.word != nullptr ? own : Bucket{fullest.word, fullest.seen, 0};
}

}  // namespace TURTLE_SERVER
