// Basic authentication, RFC 7617: a name and a password in each request.
//
//   Authorization: Basic YWxpY2U6c2VjcmV0
//
// Interface:
//  * BasicLogin::Of() reads the name and the password of a request.
//  * Challenge() makes the response that asks for them; IsRealm() checks its text.
//
// The password is encoded, not encrypted: without TLS in front, everybody on the way can read it.
//
// Thread: any.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "http/headers.h"
#include "http/response.h"

namespace TURTLE_SERVER {

/// The name and the password that a client has sent.
class BasicLogin {
 public:
  /// The longest value of the field, in bytes.
  static constexpr std::size_t kMaxField = 1024;

  /// Returns the login of a request; nullopt if there is no field Authorization, or several, or if
  /// Parse() refuses it.
  [[nodiscard]] static auto Of(const Headers& fields) -> std::optional<BasicLogin>;

  /// Parses a value of the field.
  /// @param field "Basic", in any case, and base64 with its padding
  /// @return nullopt for another scheme, malformed base64, a text without a colon or with a control
  ///     character, and for a field that is too long
  [[nodiscard]] static auto Parse(std::string_view field) -> std::optional<BasicLogin>;

  /// Returns the name, the text before the first colon; may be empty. Any bytes from 0x20 on but
  /// 0x7F.
  [[nodiscard]] auto Name() const noexcept -> std::string_view {
    return std::string_view(text_).substr(0, colon_);
  }

  /// Returns the password, the text after that colon; may be empty. Bytes as above.
  [[nodiscard]] auto Password() const noexcept -> std::string_view {
    return std::string_view(text_).substr(colon_ + 1);
  }

  /// Returns both, with the colon between them. No other login has the same text.
  [[nodiscard]] auto Text() const noexcept -> std::string_view { return text_; }

 private:
  BasicLogin(std::string text, std::size_t colon) : text_(std::move(text)), colon_(colon) {}

  std::string text_;
  std::size_t colon_;
};

/// Returns true for a text that can be a realm: printable ASCII without quotes and backslashes, at
/// most 128 bytes, and no space at its ends.
[[nodiscard]] auto IsRealm(std::string_view text) noexcept -> bool;

/// Makes the 401 that asks for a name and a password. No cache may keep it.
/// @param realm IsRealm(); browsers show it, and send the same password for all of its paths
[[nodiscard]] auto Challenge(std::string_view realm) -> Response;

}  // namespace TURTLE_SERVER
