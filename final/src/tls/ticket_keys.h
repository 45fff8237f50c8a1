// The keys of session tickets.
//
// A ticket is the state of a session, encrypted by the server and kept by the client, so that the
// server has to remember nothing. An attacker that has the key can open the tickets, and in TLS 1.2
// the recorded sessions too. So a key is made at random, never stored in a file, and replaced after
// a while.
//
// Interface:
//  * Current() returns the key that encrypts new tickets.
//  * Find() returns the key that a ticket names, as long as it is remembered.
//  * Save() and Load() hand the keys over to another process.
//
// All loops share the keys: a client comes back to any of them.
//
// Thread: any.
// Source: RFC 5077, sections 4 and 5.5; RFC 8446, section 4.6.1
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/namespace.h"

namespace TURTLE_SERVER {

/// One key: a name that the ticket carries, and two secrets. They are wiped when it is destroyed.
struct TicketKey {
  static constexpr std::size_t kNameSize = 16;    ///< as OpenSSL has it, in bytes
  static constexpr std::size_t kSecretSize = 32;  ///< of AES-256 and of HMAC-SHA-256, in bytes

  TicketKey() = default;
  TicketKey(const TicketKey&) = default;
  auto operator=(const TicketKey&) -> TicketKey& = default;
  ~TicketKey();

  std::array<unsigned char, kNameSize> name{};       ///< random, too
  std::array<unsigned char, kSecretSize> aes{};      ///< encrypts
  std::array<unsigned char, kSecretSize> mac_key{};  ///< authenticates
};

/// A key that was found.
struct FoundTicketKey {
  TicketKey key;        ///< a copy
  bool is_old = false;  ///< the client should get a new ticket
};

/// The current key and its predecessor.
class TicketKeys {
 public:
  /// @param period how long each key encrypts new tickets; it opens them for twice as long
  /// @param now the current time
  explicit TicketKeys(std::chrono::seconds period, ClockSource now = Clock::now);

  /// Returns the key for new tickets; a new one if the last has served for the whole period.
  /// @throws std::runtime_error if the system has no random bytes
  [[nodiscard]] auto Current() -> TicketKey;

  /// Returns the key with this name.
  /// @param name TicketKey::kNameSize bytes
  /// @return nullopt: it was never one of ours, or it is too old
  [[nodiscard]] auto Find(std::string_view name) -> std::optional<FoundTicketKey>;

  /// Returns the keys and their ages: a secret.
  [[nodiscard]] auto Save() -> std::string;

  /// Takes the keys of another process in place of its own.
  /// @param saved the result of its Save(), a moment ago
  /// @return false: the bytes are not from Save(), and nothing has changed
  auto Load(std::string_view saved) -> bool;

 private:
  // A key, and when it began to serve.
  struct Dated {
    TicketKey key;
    TimePoint since;
  };

  void Rotate() TURTLE_REQUIRES(mutex_);

  const std::chrono::seconds period_;
  const ClockSource now_;
  Mutex mutex_;
  std::optional<Dated> current_ TURTLE_GUARDED_BY(mutex_);
  std::optional<Dated> previous_ TURTLE_GUARDED_BY(mutex_);
};

}  // namespace TURTLE_SERVER
