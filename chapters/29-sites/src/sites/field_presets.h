// Names for response fields that many sites set.
//
// Interface:
//  * PresetNames() lists the presets; PresetEdits() returns the changes of one of them.
//  * EditsOfPresets() returns those of several.
//
// For the browser's safety:
//  * "hsts" sets Strict-Transport-Security for a year. Browsers heed it only over HTTPS.
//  * "no-sniff" sets X-Content-Type-Options: a browser does not guess another type.
//  * "no-frames" sets X-Frame-Options and Content-Security-Policy: no page may embed this one.
//  * "origin-referrer" sets Referrer-Policy: other origins get only the origin, not the path.
//  * "csp-self" sets Content-Security-Policy: everything comes from the site itself; no frames.
//
// For caches, one of them in a rule; like every field of a rule, error responses get it, too:
//  * "cache-forever" keeps a response for a year: for files whose names change with their content.
//  * "no-store" keeps no copy.
//  * "revalidate" keeps a copy, and asks the server before each use of it.
//
// Thread: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/namespace.h"
#include "sites/field_edits.h"

namespace TURTLE_SERVER {

/// Returns the names of all presets.
[[nodiscard]] auto PresetNames() -> std::vector<std::string>;

/// Returns the changes of a preset. Each sets a field, FieldEdit::Kind::kSet.
/// @param name of the preset, in lower case
/// @return empty if there is no such preset
[[nodiscard]] auto PresetEdits(std::string_view name) -> std::vector<FieldEdit>;

/// Returns the changes of several presets, in their order. With "csp-self", "no-frames" sets
/// X-Frame-Options only: that policy excludes frames already. Presets that contradict each other
/// set the same field twice, and the last one counts.
/// @param names in any order; throws std::invalid_argument, which names it, for an unknown one
[[nodiscard]] auto EditsOfPresets(const std::vector<std::string>& names) -> std::vector<FieldEdit>;

}  // namespace TURTLE_SERVER
