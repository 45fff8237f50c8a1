// A configuration: one JSON object, in which comments are allowed.
//
//   {
//     // who may ask
//     "address": "0.0.0.0", "port": 80,
//     "http": {"root_path": "/srv/site", "max_body_size": "1M"}
//   }
//
// Interface:
//  * ReadConfig() stores what a text says, or tells every mistake in it.
//  * ReadConfigFile() does that with a file.
//  * ConfigSchema() is the JSON Schema of it, for editors.
//
// Which keys there are is not known here: the settings say it.
//
// Thread: that of the settings.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/setting.h"

namespace TURTLE_SERVER {

/// A configuration may be so long, in bytes.
constexpr std::size_t kMaxConfigBytes = std::size_t{1} << 20;

/// Stores what a configuration says.
/// @param text JSON (RFC 8259), with comments of C++ between its tokens
/// @param name of the text, for what is said
/// @param settings those that it may name; a part of them has been stored when there are mistakes
/// @return a line for each mistake, without a newline: "site.json: ", the key, the value and what
///     is wanted, or "site.json:3:14: " and what is no JSON in line 3, column 14. Empty: there is
///     none.
[[nodiscard]] auto ReadConfig(std::string_view text, const std::string& name,
                              const std::vector<Setting>& settings) -> std::vector<std::string>;

/// As ReadConfig(), of a file, which is named by its path.
[[nodiscard]] auto ReadConfigFile(const std::string& path, const std::vector<Setting>& settings)
    -> std::vector<std::string>;

/// Returns the JSON Schema (json-schema.org, draft 2020-12) of a configuration, as text.
/// @param settings with their standards
[[nodiscard]] auto ConfigSchema(const std::vector<Setting>& settings) -> std::string;

}  // namespace TURTLE_SERVER
