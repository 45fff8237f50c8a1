// The request methods (RFC 9110, section 9).
//
// Thread: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// The method of a request. A method that the parser doesn't know is kOther, not an error: the
/// parser does not decide whether it is 501 or is served.
enum class Method : std::uint8_t {
  kGet,
  kHead,
  kPost,
  kPut,
  kDelete,
  kOptions,
  kPatch,
  kTrace,
  kConnect,
  kOther,
};

/// Returns the method named by `text`. Methods are case-sensitive: "get" is kOther.
[[nodiscard]] inline auto MethodOf(std::string_view text) -> Method {
  switch (text.size()) {
    case 3:
      return text == "GET" ? Method::kGet : text == "PUT" ? Method::kPut : Method::kOther;
    case 4:
      return text == "HEAD" ? Method::kHead : text == "POST" ? Method::kPost : Method::kOther;
    case 5:
      return text == "PATCH" ? Method::kPatch : text == "TRACE" ? Method::kTrace : Method::kOther;
    case 6:
      return text == "DELETE" ? Method::kDelete : Method::kOther;
    case 7:
      return text == "OPTIONS"   ? Method::kOptions
             : text == "CONNECT" ? Method::kConnect
                                 : Method::kOther;
    default:
      return Method::kOther;
  }
}

}  // namespace TURTLE_SERVER
