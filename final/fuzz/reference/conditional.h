// Dates and conditions by the grammar: RFC 9110, sections 5.6.7, 8.8.3 and 13.
//
// Thread: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace TURTLE_SERVER::reference {

/// Returns the seconds since 1970 that an HTTP-date names; nullopt if it is not a date.
/// @param text the date alone
/// @param this_year for a year of two digits: less than 50 years after it
auto ReadDate(std::string_view text, int this_year) -> std::optional<std::int64_t>;

/// The validators of a representation.
struct State {
  std::string tag;  ///< opaque, with its quotes; "": none
  bool strong = false;
  std::optional<std::int64_t> modified;
  bool exists = true;
};

/// Field lines, names in lower case.
using Fields = std::vector<std::pair<std::string, std::string>>;

/// Returns "serve", "serve all" (a Range does not apply), "304" or "412": section 13.2.2.
auto Evaluate(std::string_view method, const Fields& fields, const State& state, int this_year)
    -> std::string;

}  // namespace TURTLE_SERVER::reference
