#include "core/address_limit.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

namespace TURTLE_SERVER {

auto AddressKeyOf(const NetAddress& address) noexcept -> std::optional<AddressKey> {
  // No client comes from 0000::/8, so an IPv4 address can be a number of that range.
  constexpr AddressKey kIpv4 = AddressKey{1} << 32;
  AddressKey key = 0;
  std::uint32_t v4 = 0;
  if (address.Family() == AF_INET) {
    std::memcpy(&v4, &reinterpret_cast<const sockaddr_in*>(address.Data())->sin_addr, sizeof v4);
    return kIpv4 | ntohl(v4);
  }
  if (address.Family() != AF_INET6) {
    return std::nullopt;
  }
  const in6_addr& v6 = reinterpret_cast<const sockaddr_in6*>(address.Data())->sin6_addr;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&v6);
  if (IN6_IS_ADDR_V4MAPPED(&v6)) {
    std::memcpy(&v4, bytes + 12, sizeof v4);
    return kIpv4 | ntohl(v4);
  }
  for (std::size_t i = 0; i < sizeof key; ++i) {
    key = key << 8 | bytes[i];
  }
  return key;
}

AddressPlace::~AddressPlace() {
  if (counts_ != nullptr) {
    counts_->GiveBack(key_);
  }
}

auto AddressCounts::Take(AddressKey key, std::size_t most) -> std::optional<AddressPlace> {
  const MutexLock lock(mutex_);
  std::size_t& count = counts_[key];  // a new one is 0, which is below any limit
  if (count >= most) {
    return std::nullopt;
  }
  ++count;
  return AddressPlace(*this, key);
}

auto AddressCounts::Size() const -> std::size_t {
  const MutexLock lock(mutex_);
  return counts_.size();
}

void AddressCounts::GiveBack(AddressKey key) noexcept {
  const MutexLock lock(mutex_);
  const auto found = counts_.find(key);
  if (--found->second == 0) {
    counts_.erase(found);
  }
}

}  // namespace TURTLE_SERVER
