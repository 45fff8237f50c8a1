// Limits how often each client may send a request, in memory of a fixed size.
//
// Interface:
//  * Take() counts a request of a client, and returns how long it should have waited.
//
// A token bucket: a client has up to `burst` tokens, and `requests` new ones every `per`. Each
// request takes one. The bucket is kept as one time, the one at which it will be full again. This
// is GCRA, the generic cell rate algorithm of ITU-T I.371. A request moves that time by
// per / requests. It is refused if the time would then lie more than `burst` requests ahead.
//
// An IPv4 address is a client, in either form (::ffff:192.0.2.7). So is each /64 of IPv6, since a
// customer gets at least that many addresses. A client of a socket in the file system has no
// address, and no limit.
//
// All loops share one table, so a client that has a connection to each gains nothing. It is an
// array of atomic words, in sets of eight: a client's hash, under a secret key, selects the set. A
// word has 24 more bits of the hash, and 40 bits of the time. If all eight belong to other clients,
// the one whose bucket is fullest gives way. So a million addresses push each other out, but cost
// no memory, and no loop waits for another. If each of them sends one request, a busy client gives
// way only once its own bucket lacks one request at most. It may give way sooner if seven others
// of its set are busier. One client in two million is taken for another, whose bucket it shares.
//
// Time is counted in steps, a whole number to each request: as many as milliseconds fit into
// per / requests. A step is thus 1 to 2 ms, and no rate is rounded: 7 requests in 2 s have 285
// steps each, and 2 s have 1995 steps. Zero is the start of the clock, on Linux that of the
// machine. After 34 years or more the 40 bits wrap, so a time is compared by its distance from now.
// It lies ahead if that is at most two years, and otherwise in the past. Only a word that keeps its
// time for more than 32 years is misread.
//
// Thread: any.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "base/counter.h"
#include "base/keyed_hash.h"
#include "core/net_address.h"

namespace TURTLE_SERVER {

/// How many requests a client may send.
struct RateLimit {
  std::uint32_t requests = 0;   ///< in each `per`; at least 1, and at most 1000 a second
  std::chrono::seconds per{1};  ///< at least 1 s, and at most a day
  std::uint32_t burst = 1;      ///< how many at once; at least 1, and at most those of a year
};

/// The clients of one limit.
class RateTable {
 public:
  /// How many clients are remembered: 512 KiB.
  static constexpr std::size_t kClients = 65'536;

  /// Allocates all of the memory.
  /// @param limit of each client
  /// @param clients how many are remembered, a power of two, at least 8
  /// @param key decides which clients share a set; random but in tests
  /// @throws std::invalid_argument if a number is out of its range; the text names it
  explicit RateTable(const RateLimit& limit, std::size_t clients = kClients,
                     const HashKey& key = RandomHashKey());

  /// Counts a request, unless it is refused. Allocates nothing, and never waits for a thread.
  ///
  /// Threads that meet a new client at the same moment may give it a word each. The emptiest bucket
  /// counts, so the client gains about one request for each of the other threads. A request that
  /// loses its word to other requests kAttempts times is served without being counted.
  /// @param client address of the client
  /// @param now the loop's time; loops may differ
  /// @return zero if it may be served; otherwise the time until one would be, rounded up
  auto Take(const NetAddress& client, TimePoint now) noexcept -> std::chrono::milliseconds;

 private:
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "no loop waits for another");

  // A client's word: the highest 24 bits of its hash, and below them the step at which its bucket
  // is full. Zero: free.
  using Word = std::atomic<std::uint64_t>;

  struct alignas(kCacheLine) Set {
    std::array<Word, 8> words{};
  };

  // A client's word as it was read, and the steps until the client's bucket is full.
  struct Bucket {
    Word* word;
    std::uint64_t seen;
    std::uint64_t ahead;
  };

  static constexpr std::uint64_t kTimeMask = (std::uint64_t{1} << 40) - 1;
  static constexpr int kAttempts = 64;

  // Returns the whole steps from the start of the clock.
  [[nodiscard]] auto StepAt(TimePoint now) const noexcept -> std::uint64_t;

  // Returns how many steps after `now` the bucket of a word will be full; 0 if it is.
  static auto Ahead(std::uint64_t word, std::uint64_t now) noexcept -> std::uint64_t;

  // Finds the word of a client, or the one that gives way to it.
  [[nodiscard]] auto Find(std::uint64_t hash, std::uint64_t now) const noexcept -> Bucket;

  const HashKey key_;
  const std::uint64_t per_;            // ms
  const std::uint64_t request_steps_;  // steps from one token to the next
  const std::uint64_t steps_;          // in each per_
  const std::uint64_t burst_steps_;    // in which an empty bucket fills
  const std::size_t last_set_;         // all bits set
  const std::unique_ptr<Set[]> sets_;
};

}  // namespace TURTLE_SERVER
