// Reads a configuration: one JSON object, in which comments are allowed.
//
//   {
//     // which clients can reach it
//     "address": "0.0.0.0", "port": 80,
//     "http": {"root_path": "/srv/site", "max_body_size": "1M"}
//   }
//
// Interface:
//  * ReadConfig() stores the values of a text, or reports every mistake in it.
//  * ReadConfigFile() does that with a file.
//  * ConfigSchema() returns its JSON Schema, for editors.
//
// The keys are not known here: they come from the settings.
//
// Thread: that of the settings.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/setting.h"

namespace TURTLE_SERVER {

/// The longest configuration, in bytes.
constexpr std::size_t kMaxConfigBytes = std::size_t{1} << 20;

/// Stores the values of a configuration.
/// @param text JSON (RFC 8259), with C++ comments between its tokens
/// @param name of the text, for messages
/// @param settings that it may contain; if there are mistakes, some of them have been stored
/// @return a line for each mistake, without a newline: "site.json: ", the key, the value and the
///     required value, or "site.json:3:14: " and the syntax error in line 3, column 14. Empty if
///     there is none.
[[nodiscard]] auto ReadConfig(std::string_view text, const std::string& name,
                              const std::vector<Setting>& settings) -> std::vector<std::string>;

/// Does the same as ReadConfig() with a file, which is named by its path.
[[nodiscard]] auto ReadConfigFile(const std::string& path, const std::vector<Setting>& settings)
    -> std::vector<std::string>;

/// Returns the JSON Schema (json-schema.org, draft 2020-12) of a configuration, as text.
/// @param settings with their defaults
[[nodiscard]] auto ConfigSchema(const std::vector<Setting>& settings) -> std::string;

}  // namespace TURTLE_SERVER
