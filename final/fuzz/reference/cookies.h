// The cookies of a request, as servers read them: RFC 6265, section 4.2, but more forgiving.
//
// Thread: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace TURTLE_SERVER::reference {

/// Returns names and values of the Cookie fields `values`, in their order.
auto ReadCookies(const std::vector<std::string_view>& values)
    -> std::vector<std::pair<std::string, std::string>>;

/// True for a name and a value that Set-Cookie may contain (section 4.1.1).
auto MayBeSet(std::string_view name, std::string_view value) -> bool;

}  // namespace TURTLE_SERVER::reference
