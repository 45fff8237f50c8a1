// All sites of a server, and which of them a request belongs to.
//
// Thread: constant, and shared by all loops.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "sites/host_table.h"
#include "sites/site.h"
#include "sites/site_options.h"

namespace TURTLE_SERVER {

/// The compiled table.
class SiteTable {
 public:
  /// Throws as Site and HostTable::Add() do, and std::invalid_argument if a site has neither a name
  /// nor is the default, or if two are the default.
  explicit SiteTable(const SitesOptions& options);

  /// Returns the number of the site that has this host, or else of the default; nullopt: there is
  /// none.
  /// @param host as a request has it, HostTable::Find()
  [[nodiscard]] auto Find(std::string_view host) const noexcept -> std::optional<std::size_t>;

  /// Returns the sites, in the order of their options.
  [[nodiscard]] auto All() const noexcept -> const std::vector<std::unique_ptr<const Site>>& {
    return sites_;
  }

 private:
  void AddNames(const SiteOptions& options, std::size_t site);

  std::vector<std::unique_ptr<const Site>> sites_;
  HostTable hosts_;
  std::optional<std::size_t> default_;
};

}  // namespace TURTLE_SERVER
