// How many clients may come from one address.
//
// Interface:
//  * Enter() gives a place, or none when the address has as many as it may.
//  * A place is given back when it goes: hang it on the connection, by what SetState() takes.
//
// Thread: any, also several at once.
#pragma once

#include <cstddef>
#include <memory>

#include "core/net_address.h"

namespace TURTLE_SERVER {

/// Counts clients by address. It may go before its places.
class AddressLimit {
 private:
  struct Counts;

 public:
  /// Counts for one client until it goes.
  class Place {
   public:
    ~Place();
    Place(const Place&) = delete;
    auto operator=(const Place&) -> Place& = delete;

   private:
    friend class AddressLimit;
    Place() = default;
  };

  /// @param most how many clients of one address have a place at a time
  explicit AddressLimit(std::size_t most);

  /// A place for a client, or nullptr.
  /// @param client its address; the port does not matter
  [[nodiscard]] auto Enter(const NetAddress& client) -> std::unique_ptr<Place>;

  /// How many addresses are remembered.
  [[nodiscard]] auto Addresses() const -> std::size_t;

 private:
  std::shared_ptr<Counts> counts_;
};

}  // namespace TURTLE_SERVER
