#include "core/address_limit.h"

namespace TURTLE_SERVER {

AddressLimit::AddressLimit(std::size_t /*most*/) {}  // TODO

AddressLimit::Place::~Place() = default;  // TODO

auto AddressLimit::Enter(const NetAddress& /*client*/) -> std::unique_ptr<Place> {
  return nullptr;  // TODO
}

auto AddressLimit::Addresses() const -> std::size_t {
  return 0;  // TODO
}

}  // namespace TURTLE_SERVER
