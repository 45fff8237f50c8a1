// Limits how many connections each address has.
//
// Interface:
//  * AddressLimit is a limit, as a setting.
//  * AddressKeyOf() returns what counts as one address.
//  * AddressCounts::Take() takes a place of an address; AddressPlace gives it back.
//
// An IPv4 address is one address, in either form (::ffff:192.0.2.7). So is each /64 of IPv6, since
// a customer gets at least that many addresses.
//
// One table serves all loops: with a count for each loop, a client could have as many times the
// limit as there are loops. It has a mutex, since it is only used when a client comes or goes. An
// entry is erased with its last place, so there are at most as many entries as counted connections.
//
// Thread: any; a place belongs to one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/keyed_hash.h"
#include "base/mutex.h"
#include "core/cidr_set.h"
#include "core/net_address.h"

namespace TURTLE_SERVER {

/// How many connections an address may have.
struct AddressLimit {
  std::size_t most = 0;  ///< of each address; 0: any number
  CidrSet exempt{};      ///< addresses without this limit, such as proxies, which have many clients
};

/// An IPv4 address, or a /64 of IPv6.
using AddressKey = std::uint64_t;

/// Returns the key of an address; nullopt: it is not an IP address, and can't be counted.
[[nodiscard]] auto AddressKeyOf(const NetAddress& address) noexcept -> std::optional<AddressKey>;

class AddressCounts;

/// Hashes keys with a secret: clients choose their addresses.
class AddressKeyHash {
 public:
  /// Returns the hash of a key.
  auto operator()(AddressKey key) const noexcept -> std::size_t {
    return static_cast<std::size_t>(hash_({reinterpret_cast<const char*>(&key), sizeof key}));
  }

 private:
  KeyedHash hash_;
};

/// One of the places of an address. Its destructor gives it back.
class AddressPlace {
 public:
  /// Takes the place over.
  AddressPlace(AddressPlace&& other) noexcept
      : counts_(std::exchange(other.counts_, nullptr)), key_(other.key_) {}

  /// Gives the place back, if it was not taken over.
  ~AddressPlace();

  AddressPlace(const AddressPlace&) = delete;
  auto operator=(const AddressPlace&) -> AddressPlace& = delete;

 private:
  friend class AddressCounts;
  AddressPlace(AddressCounts& counts, AddressKey key) noexcept : counts_(&counts), key_(key) {}

  AddressCounts* counts_;  // nullptr: another object has the place
  const AddressKey key_;
};

/// The places that are taken, of all addresses.
class AddressCounts {
 public:
  AddressCounts() = default;
  AddressCounts(const AddressCounts&) = delete;
  auto operator=(const AddressCounts&) -> AddressCounts& = delete;

  /// Takes a place of an address.
  /// @param key AddressKeyOf() the address
  /// @param most the places that it may have, at least 1
  /// @return nullopt if all are taken; this object outlives the place
  /// @throws std::bad_alloc; then nothing was taken
  [[nodiscard]] auto Take(AddressKey key, std::size_t most) -> std::optional<AddressPlace>;

  /// Returns the number of addresses that have a place.
  [[nodiscard]] auto Size() const -> std::size_t;

 private:
  friend class AddressPlace;

  void GiveBack(AddressKey key) noexcept;

  mutable Mutex mutex_;
  std::unordered_map<AddressKey, std::size_t, AddressKeyHash> counts_ TURTLE_GUARDED_BY(mutex_);
};

}  // namespace TURTLE_SERVER
