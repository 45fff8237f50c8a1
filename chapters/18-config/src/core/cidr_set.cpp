#include "core/cidr_set.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <string_view>

namespace TURTLE_SERVER {

namespace {

using Bits = std::array<std::uint8_t, 16>;

constexpr std::size_t kMappedBits = 96;  // the prefix of an IPv4 address
constexpr std::size_t kAllBits = 128;

// ::ffff:a.b.c.d
auto Mapped(const void* quad) noexcept -> Bits {
  Bits bits{};
  bits[10] = bits[11] = 0xff;
  std::memcpy(&bits[12], quad, sizeof(in_addr));
  return bits;
}

auto BitsOf(const NetAddress& address) noexcept -> std::optional<Bits> {
  switch (address.Family()) {
    case AF_INET:
      return Mapped(&reinterpret_cast<const sockaddr_in*>(address.Data())->sin_addr);
    case AF_INET6: {
      Bits bits{};
      std::memcpy(bits.data(), &reinterpret_cast<const sockaddr_in6*>(address.Data())->sin6_addr,
                  bits.size());
      return bits;
    }
    default:
      return std::nullopt;
  }
}

// Parses the number after the slash, from 0 to `highest`. @return false: it is not valid.
auto ParsePrefix(std::string_view text, std::size_t highest, std::size_t& prefix) -> bool {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, prefix);
  const bool padded = text.size() > 1 && text.front() == '0';
  return error == std::errc() && stop == end && !padded && prefix <= highest;
}

// Sets all bits after the prefix. @return false: one of them was set.
auto FillBehind(std::size_t prefix, Bits& bits) noexcept -> bool {
  for (std::size_t bit = prefix; bit < kAllBits; ++bit) {
    const auto mask = static_cast<std::uint8_t>(0x80U >> bit % 8);
    if ((bits[bit / 8] & mask) != 0) {
      return false;
    }
    bits[bit / 8] |= mask;
  }
  return true;
}

// Returns the next number. Not called for the last one.
auto After(Bits bits) noexcept -> Bits {
  for (std::size_t i = bits.size(); i-- > 0 && ++bits[i] == 0;) {
  }
  return bits;
}

}  // namespace

CidrSet::CidrSet(const std::vector<std::string>& networks) {
  std::vector<Range> all;
  for (const std::string& network : networks) {
    const std::optional<Range> range = Parse(network);
    if (!range) {
      throw std::invalid_argument("\"" + network + "\" is neither an address nor a network");
    }
    all.push_back(*range);
  }
  std::sort(all.begin(), all.end(),
            [](const Range& one, const Range& other) { return one.first < other.first; });
  for (const Range& range : all) {
    // Written so that nothing is computed beyond the last of all addresses.
    if (ranges_.empty() ||
        (ranges_.back().last < range.first && After(ranges_.back().last) < range.first)) {
      ranges_.push_back(range);
    } else {
      ranges_.back().last = std::max(ranges_.back().last, range.last);
    }
  }
}

auto CidrSet::IsNetwork(const std::string& text) -> bool { return Parse(text).has_value(); }

auto CidrSet::Contains(const NetAddress& address) const noexcept -> bool {
  const std::optional<Bits> bits = BitsOf(address);
  if (!bits) {
    return false;
  }
  const auto behind =
      std::upper_bound(ranges_.begin(), ranges_.end(), *bits,
                       [](const Bits& one, const Range& range) { return one < range.first; });
  return behind != ranges_.begin() && *bits <= std::prev(behind)->last;
}

auto CidrSet::Parse(const std::string& text) -> std::optional<Range> {
  if (text.find('\0') != std::string::npos) {
    return std::nullopt;  // inet_pton(3) would stop reading here
  }
  const std::size_t slash = text.find('/');
  const std::string address = text.substr(0, slash);
  Range range{};
  in_addr quad{};
  std::size_t before = 0;
  if (inet_pton(AF_INET, address.c_str(), &quad) == 1) {
    range.first = Mapped(&quad);
    before = kMappedBits;
  } else if (inet_pton(AF_INET6, address.c_str(), range.first.data()) != 1) {
    return std::nullopt;
  }
  std::size_t prefix = kAllBits - before;
  if (slash != std::string::npos &&
      !ParsePrefix(std::string_view(text).substr(slash + 1), prefix, prefix)) {
    return std::nullopt;
  }
  range.last = range.first;
  return FillBehind(before + prefix, range.last) ? std::optional(range) : std::nullopt;
}

}  // namespace TURTLE_SERVER
