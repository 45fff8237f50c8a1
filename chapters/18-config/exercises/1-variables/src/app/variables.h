// Replaces variables in the values of a configuration: "/srv/${SITE}/pages".
//
// Thread: that of the lookup; don't use getenv(3) if other threads call setenv(3).
#pragma once

#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>

namespace TURTLE_SERVER {

/// Finds the value of a variable; nullptr if it is not set.
using VariableLookup = std::function<const char*(const std::string& name)>;

/// Returns `text` with the values of its variables. "${NAME}" is replaced by the value,
/// "${NAME:-words}" by the words up to the next '}' if the variable is not set or empty, and "$$"
/// by "$". A name has ASCII letters, digits and '_', and does not begin with a digit. The inserted
/// text is not scanned again.
///
/// @throws std::invalid_argument for the first mistake: "${NAME} is not set", "${ at 7 is not
///     ended", "$ at 7 is neither $$ nor ${NAME}"; places are counted from 1
auto ReplaceVariables(
    std::string_view text, const VariableLookup& look_up = [](const std::string& name) {
      return std::getenv(name.c_str());
    }) -> std::string;

}  // namespace TURTLE_SERVER
