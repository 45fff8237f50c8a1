// The request methods (RFC 9110, section 9), and sets of them.
//
// Thread: pure functions and plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
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

/// Returns the name, as sent, of a method that can have routes; "" for the others: TRACE, CONNECT
/// and unknown ones.
[[nodiscard]] constexpr auto RoutableName(Method method) noexcept -> std::string_view {
  switch (method) {
    case Method::kGet:
      return "GET";
    case Method::kHead:
      return "HEAD";
    case Method::kPost:
      return "POST";
    case Method::kPut:
      return "PUT";
    case Method::kDelete:
      return "DELETE";
    case Method::kOptions:
      return "OPTIONS";
    case Method::kPatch:
      return "PATCH";
    case Method::kTrace:
    case Method::kConnect:
    case Method::kOther:
      break;
  }
  return {};
}

/// A set of methods that can have routes.
class MethodSet {
 public:
  /// The number of methods, with or without routes.
  static constexpr std::size_t kMethods = static_cast<std::size_t>(Method::kOther) + 1;

  /// Adds `method`.
  constexpr void Add(Method method) noexcept { bits_ |= BitOf(method); }

  /// Adds the methods of `other`.
  constexpr void Add(MethodSet other) noexcept { bits_ |= other.bits_; }

  /// True if it contains `method`.
  [[nodiscard]] constexpr auto Has(Method method) const noexcept -> bool {
    return (bits_ & BitOf(method)) != 0;
  }

  /// True if it contains none.
  [[nodiscard]] constexpr auto Empty() const noexcept -> bool { return bits_ == 0; }

  /// Returns the value of an Allow field (RFC 9110, section 10.2.1): "GET, HEAD, OPTIONS". HEAD
  /// comes with GET, and OPTIONS is always answered.
  [[nodiscard]] auto AllowField() const -> std::string {
    constexpr std::array kOrder = {Method::kGet,   Method::kHead,   Method::kPost,   Method::kPut,
                                   Method::kPatch, Method::kDelete, Method::kOptions};
    MethodSet all = *this;
    all.Add(Method::kOptions);
    if (Has(Method::kGet)) {
      all.Add(Method::kHead);
    }
    std::string text;
    for (const Method method : kOrder) {
      if (all.Has(method)) {
        text.append(text.empty() ? "" : ", ").append(RoutableName(method));
      }
    }
    return text;
  }

 private:
  static constexpr auto BitOf(Method method) noexcept -> unsigned {
    return 1U << static_cast<unsigned>(method);
  }

  unsigned bits_ = 0;
};

}  // namespace TURTLE_SERVER
