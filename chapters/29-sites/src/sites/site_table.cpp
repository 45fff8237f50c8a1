#include "sites/site_table.h"

#include <stdexcept>
#include <string>

namespace TURTLE_SERVER {

SiteTable::SiteTable(const SitesOptions& options) {
  for (const SiteOptions& each : options) {
    AddNames(each, sites_.size());
    sites_.push_back(std::make_unique<const Site>(each));
  }
}

void SiteTable::AddNames(const SiteOptions& options, std::size_t site) {
  if (options.is_default && default_) {
    throw std::invalid_argument("two sites are the default");
  }
  if (options.is_default) {
    default_ = site;
  } else if (options.names.empty()) {
    throw std::invalid_argument("site " + std::to_string(site) + ": it has no name");
  }
  for (const std::string& name : options.names) {
    hosts_.Add(name, site);
  }
}

auto SiteTable::Find(std::string_view host) const noexcept -> std::optional<std::size_t> {
  const std::optional<std::size_t> found = hosts_.Find(host);
  return found ? found : default_;
}

}  // namespace TURTLE_SERVER
