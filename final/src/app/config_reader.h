// Stores the values of a parsed configuration, or reports every mistake in it.
//
// Interface:
//  * ReadValues() does both.
//  * ShownValue() returns a value for a message.
//
// Thread: that of the settings.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/setting.h"

namespace TURTLE_SERVER {

/// Stores the values of a configuration.
/// @param config at most 16 values deep, since it is read by recursion
/// @param settings that it may contain; if there are mistakes, some of them have been stored
/// @return a line for each mistake, without a newline: the key, such as "sites[1].names[0]", the
///     value and the required value. Empty if there is none.
[[nodiscard]] auto ReadValues(const nlohmann::ordered_json& config,
                              const std::vector<Setting>& settings) -> std::vector<std::string>;

/// Returns a value as a part of a sentence: one line of ASCII, at most 60 bytes.
[[nodiscard]] auto ShownValue(const nlohmann::ordered_json& value) -> std::string;

}  // namespace TURTLE_SERVER
