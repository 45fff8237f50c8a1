#include "sites/host_table.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "base/ascii.h"
#include "http/uri.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::size_t kMaxName = 253;  // of a domain name, RFC 1035, section 2.3.4
constexpr std::size_t kMaxLabel = 63;

using NameBuffer = std::array<char, kMaxName>;

// Returns the host without its port, and without the dot that ends an absolute name.
auto BareHost(std::string_view host) noexcept -> std::string_view {
  const std::size_t bracket = host.rfind(']');  // the colons of "[::1]:80" before it are no port's
  const std::size_t colon = host.find(':', bracket == std::string_view::npos ? 0 : bracket);
  host = host.substr(0, colon);
  return !host.empty() && host.back() == '.' ? host.substr(0, host.size() - 1) : host;
}

// Writes the name in lower case into the buffer. @return the text there; "" if it is too long
auto Lower(std::string_view name, NameBuffer& buffer) noexcept -> std::string_view {
  if (name.size() > buffer.size()) {
    return {};
  }
  std::transform(name.begin(), name.end(), buffer.begin(), ascii::ToLower);
  return {buffer.data(), name.size()};
}

auto HasEmptyLabel(std::string_view name) noexcept -> bool {
  return name.substr(0, 1) == "." || name.find("..") != std::string_view::npos;
}

auto IsLabel(std::string_view label) noexcept -> bool {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  return !label.empty() && label.size() <= kMaxLabel && label.front() != '-' &&
         label.back() != '-' && std::all_of(label.begin(), label.end(), fits);
}

auto IsDomain(std::string_view name) noexcept -> bool {
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
    if (!IsLabel(name.substr(0, dot))) {
      return false;
    }
    name.remove_prefix(dot + 1);
  }
  return IsLabel(name);
}

}  // namespace

auto HostTable::IsName(std::string_view text) -> bool {
  if (text.empty() || text.size() > kMaxName) {
    return false;
  }
  if (text.front() == '[') {
    return text.back() == ']' && IsValidHost(text) &&
           std::none_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  }
  return IsDomain(text.substr(0, 2) == "*." ? text.substr(2) : text);
}

void HostTable::Add(const std::string& name, std::size_t site) {
  if (!IsName(name)) {
    throw std::invalid_argument("host \"" + name + "\": not a name such as example.org");
  }
  if (!names_.emplace(name.substr(name.front() == '*' ? 1 : 0), site).second) {
    throw std::invalid_argument("host \"" + name + "\": it is there already");
  }
}

// Looks up "a.b.org", then ".b.org", then ".org": the first pattern that is found is the longest.
auto HostTable::Find(std::string_view host) const noexcept -> std::optional<std::size_t> {
  NameBuffer buffer;
  const std::string_view name = Lower(BareHost(host), buffer);
  if (HasEmptyLabel(name)) {
    return std::nullopt;
  }
  for (std::size_t at = 0; at != std::string_view::npos; at = name.find('.', at + 1)) {
    if (const auto found = names_.find(name.substr(at)); found != names_.end()) {
      return found->second;
    }
  }
  return std::nullopt;
}

}  // namespace TURTLE_SERVER
