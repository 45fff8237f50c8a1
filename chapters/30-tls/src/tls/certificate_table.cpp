#include "tls/certificate_table.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/ascii.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::size_t kLongestName = 253;  // RFC 1035, section 2.3.4, as text

// Returns the pattern that is valid for a name: "*.example.org" for "www.example.org". "" if the
// name has a single label.
auto PatternFor(const std::string& name) -> std::string {
  const std::size_t dot = name.find('.');
  return dot == std::string::npos || dot == 0 ? "" : "*" + name.substr(dot);
}

}  // namespace

// A certificate with a pattern counts for each name that it is valid for, and that another one has:
// otherwise a client that can't use the other's key would be left without.
CertificateTable::CertificateTable(const std::vector<std::vector<std::string>>& names) {
  std::map<std::string, Group> valid;
  for (std::size_t number = 0; number < names.size(); ++number) {
    for (const std::string& name : names[number]) {
      Group& group = valid[name];
      if (group.empty() || group.back() != number) {
        group.push_back(number);
      }
    }
  }
  for (auto& [name, group] : valid) {
    const auto pattern = valid.find(PatternFor(name));
    if (name.front() != '*' && pattern != valid.end()) {
      Group all;
      std::set_union(group.begin(), group.end(), pattern->second.begin(), pattern->second.end(),
                     std::back_inserter(all));
      group = std::move(all);
    }
  }
  const bool named = !names.front().empty();
  GroupOf(named ? valid[names.front().front()] : Group{0});
  for (const auto& [name, group] : valid) {
    by_name_.emplace(name, GroupOf(group));
  }
}

auto CertificateTable::GroupOf(Group group) -> std::size_t {
  const auto known = std::find(groups_.begin(), groups_.end(), group);
  const auto number = static_cast<std::size_t>(known - groups_.begin());
  if (known == groups_.end()) {
    groups_.push_back(std::move(group));
  }
  return number;
}

auto CertificateTable::Find(std::string_view host) const noexcept -> std::size_t {
  std::array<char, kLongestName> lower;  // not initialised
  if (host.empty() || host.size() > lower.size()) {
    return 0;
  }
  std::transform(host.begin(), host.end(), lower.begin(), ascii::ToLower);
  const std::string_view name(lower.data(), host.size());
  if (const auto exact = by_name_.find(name); exact != by_name_.end() && name.front() != '*') {
    return exact->second;
  }
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos || dot == 0) {
    return 0;
  }
  lower[dot - 1] = '*';
  const auto pattern = by_name_.find(name.substr(dot - 1));
  return pattern == by_name_.end() ? 0 : pattern->second;
}

}  // namespace TURTLE_SERVER
