// Chooses certificates by the name that a client asks for, the server name of RFC 6066, section 3.
//
// Interface:
//  * The constructor forms groups: certificates that are valid for the same name.
//  * Find() returns the group for a name. The first group is for all other names.
//
// A pattern such as "*.example.org" stands for one label: it is valid for "www.example.org", but
// not for "a.b.example.org" (RFC 6125, section 6.4.3).
//
// Thread: constant once it is made; any. Find() allocates nothing.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// The certificates of a server, as groups of numbers.
class CertificateTable {
 public:
  /// The numbers of some certificates, in ascending order.
  using Group = std::vector<std::size_t>;

  /// @param names of each certificate, in lower case: "example.org", "*.example.org". At least one
  ///     certificate, which may have no name
  explicit CertificateTable(const std::vector<std::vector<std::string>>& names);

  /// Returns all groups; the first has the first certificate.
  [[nodiscard]] auto Groups() const noexcept -> const std::vector<Group>& { return groups_; }

  /// Returns the number of the group for a host.
  /// @param host in any case, without a port; "": the client has named none
  [[nodiscard]] auto Find(std::string_view host) const noexcept -> std::size_t;

 private:
  auto GroupOf(Group group) -> std::size_t;

  std::vector<Group> groups_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
};

}  // namespace TURTLE_SERVER
