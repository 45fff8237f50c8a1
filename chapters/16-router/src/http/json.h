// JSON that comes from strangers (RFC 8259).
//
// Interface:
//  * ParseJson() understands a body, or throws what becomes a 400 with the place of the mistake.
//  * FormatJson() writes a value.
//
// Callers include <nlohmann/json.hpp>; here its name will do.
//
// Thread: pure functions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "http/http_error.h"

namespace TURTLE_SERVER {

/// How deep arrays and objects may be nested. The parser needs no stack for that, but many a
/// function that walks through a value does.
inline constexpr int kMaxJsonDepth = 64;

/// Understands `text`.
/// @throws HttpError 400 when it is no JSON, or too deep; the text names line and column, and what
///     was found there
[[nodiscard]] auto ParseJson(std::string_view text) -> nlohmann::json;

/// Writes `value`, on one line. Bytes in it that are no UTF-8 come out as U+FFFD.
[[nodiscard]] auto FormatJson(const nlohmann::json& value) -> std::string;

}  // namespace TURTLE_SERVER
