// The status codes of HTTP and their reason phrases (RFC 9110, section 15; RFC 6585).
//
// Thread: pure functions.
#pragma once

#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Returns the phrase for `status`, such as "Not Found"; "" for a code that is not registered,
/// which is a legal phrase (RFC 9112, section 4).
[[nodiscard]] auto ReasonPhrase(int status) noexcept -> std::string_view;

/// False for responses that never have a body, nor a Content-Length that announces one: 1xx, 204
/// and 304 (RFC 9110, section 6.4.1).
[[nodiscard]] constexpr auto StatusAllowsBody(int status) noexcept -> bool {
  return status >= 200 && status != 204 && status != 304;
}

}  // namespace TURTLE_SERVER
