// Which media types are worth compressing.
//
// Text shrinks to a third. Images, films and archives are compressed already: another pass costs
// time, and makes them longer.
//
// Thread: a pure function.
#pragma once

#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Returns true for text of any kind, and for a few formats that are not compressed by themselves.
/// @param content_type a field's value, such as "text/html; charset=utf-8"
[[nodiscard]] auto IsCompressible(std::string_view content_type) noexcept -> bool;

}  // namespace TURTLE_SERVER
