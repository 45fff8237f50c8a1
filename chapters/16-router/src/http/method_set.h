// A set of request methods, and the text of an Allow field.
//
// Thread: a value.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "http/method.h"

namespace TURTLE_SERVER {

/// The name of a method that has routes, as it is sent; "" for those that have none: TRACE, CONNECT
/// and what is unknown.
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

/// Some of the methods that routes can have.
class MethodSet {
 public:
  /// How many methods there are, routable or not.
  static constexpr std::size_t kMethods = static_cast<std::size_t>(Method::kOther) + 1;

  /// Adds `method`.
  constexpr void Add(Method method) noexcept { bits_ |= BitOf(method); }

  /// Adds those of `other`.
  constexpr void Add(MethodSet other) noexcept { bits_ |= other.bits_; }

  /// Is `method` one of them?
  [[nodiscard]] constexpr auto Has(Method method) const noexcept -> bool {
    return (bits_ & BitOf(method)) != 0;
  }

  /// Is there none?
  [[nodiscard]] constexpr auto Empty() const noexcept -> bool { return bits_ == 0; }

  /// The value of an Allow field (RFC 9110, section 10.2.1): "GET, HEAD, OPTIONS". HEAD goes with
  /// GET, and OPTIONS is always answered.
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
