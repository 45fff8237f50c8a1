// The files of one site: those of its directory, with the site's rules about missing ones.
//
// Thread: the loop's.
#pragma once

#include <string>
#include <string_view>

#include "files/static_files.h"
#include "sites/site.h"

namespace TURTLE_SERVER {

/// Serves the files of one site on one loop.
class SiteFiles final : public StaticFiles {
 public:
  /// Throws as StaticFiles.
  /// @param looper the loop
  /// @param site outlives this object
  /// @param options cache and limits; the root, the index page and the hidden names are the site's
  SiteFiles(Looper& looper, const Site& site, StaticFilesOptions options);

 private:
  auto OnMissing(Exchange& exchange, const std::string& name, int error) -> bool override;
  auto TypeOf(std::string_view name) const -> std::string_view override;
  auto TryListing(Exchange& exchange) -> bool;
  [[nodiscard]] auto MayTry(const Exchange& exchange, const std::string& candidate,
                            RuleBits rules) const -> bool;

  const Site& site_;
};

}  // namespace TURTLE_SERVER
