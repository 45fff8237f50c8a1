// A form according to the standard: WHATWG URL, section 5.1.
//
// Thread: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace TURTLE_SERVER::reference {

/// Names and values in their order.
using Pairs = std::vector<std::pair<std::string, std::string>>;

/// Reads a query or a body.
auto ReadForm(std::string_view text) -> Pairs;

}  // namespace TURTLE_SERVER::reference
