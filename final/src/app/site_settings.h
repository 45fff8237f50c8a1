// The settings of the sites in a configuration: the table "sites".
//
//   "sites": [
//     {"names": ["example.org", "*.example.org"], "root_path": "/srv/example",
//      "rules": [{"path": "/old", "redirect": "/new$rest", "status": 301}]},
//     {"default": "on", "root_path": "/srv/other"}]
//
// Interface:
//  * AddSites() adds the table to the settings.
//
// Within a rule, "presets" come first, then "remove", "set" and "add": the keys of a JSON object
// have no order. Texts in lists have no commas.
//
// Thread: that of the settings.
#pragma once

#include <cstddef>

#include "app/setting.h"
#include "sites/site_options.h"

namespace TURTLE_SERVER {

/// The most sites.
constexpr std::size_t kMaxSites = 1000;

/// Adds the key "sites", without a flag.
/// @param list gets the setting
/// @param sites where the values are stored; outlives the list
void AddSites(SettingList& list, SitesOptions& sites);

}  // namespace TURTLE_SERVER
