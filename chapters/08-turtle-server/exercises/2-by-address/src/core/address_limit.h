// Limits how many clients may come from one address.
//
// Interface:
//  * Enter() returns a place, or none if the address has as many as it may.
//  * Destroying a place returns it: attach it to the connection, by SetState().
//
// Thread: any, several at once.
#pragma once

#include <cstddef>
#include <memory>

#include "core/net_address.h"

namespace TURTLE_SERVER {

/// Counts clients by address. It may be destroyed before its places.
class AddressLimit {
 private:
  struct Counts;

 public:
  /// Counts for one client until it is destroyed.
  class Place {
   public:
    ~Place();
    Place(const Place&) = delete;
    auto operator=(const Place&) -> Place& = delete;

   private:
    friend class AddressLimit;
    Place() = default;
  };

  /// @param most how many clients of one address may have a place at once
  explicit AddressLimit(std::size_t most);

  /// Returns a place for a client, or nullptr.
  /// @param client its address; the port is ignored
  [[nodiscard]] auto Enter(const NetAddress& client) -> std::unique_ptr<Place>;

  /// Returns how many addresses are remembered.
  [[nodiscard]] auto Addresses() const -> std::size_t;

 private:
  std::shared_ptr<Counts> counts_;
};

}  // namespace TURTLE_SERVER
