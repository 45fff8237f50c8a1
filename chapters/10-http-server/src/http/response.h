// The response to a request, as a value: status, fields, body.
//
// Interface:
//  * Set() and Add() add fields, Body() sets the content.
//  * AppendHead() writes the head. How the body's end is marked, and whether the connection is
//    kept, concerns the connection and not the response: a HeadContext says it.
//  * TextResponse() and ErrorResponse() are the two that everybody needs.
//
// A Response to HEAD is the same: its head is sent as it is, without its body.
//
// Thread: one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// How the client learns where the body ends (RFC 9112, section 6).
enum class BodyEnd : std::uint8_t {
  kLength,   ///< by Content-Length: the size of the Response's body
  kChunked,  ///< by the last chunk; the body is written piece by piece, only for HTTP/1.1
  kClose,    ///< by the end of the connection
};

/// The connection's part of a head.
struct HeadContext {
  std::string_view date{};              ///< now, as an HTTP date (CachedDate); "": no Date field
  int minor_version = 1;                ///< of the request
  bool keep_alive = true;               ///< another request may follow on this connection
  BodyEnd body_end = BodyEnd::kLength;  ///< with kClose, `keep_alive` counts as false
};

/// The status, fields and body of one response.
class Response {
 public:
  /// @param status 100 to 999; throws std::invalid_argument for any other
  explicit Response(int status);

  /// Returns the status code.
  [[nodiscard]] auto Status() const noexcept -> int { return status_; }

  /// Sets field `name` to the one value `value`; earlier ones are dropped.
  ///
  /// Throws std::invalid_argument, and changes nothing, if `name` is not a token or `value` has a
  /// control character other than tab. A CR LF in a value would start a field, or a response, of
  /// somebody else's choice. It also throws for fields that AppendHead() writes by itself:
  /// Connection, Content-Length, Transfer-Encoding.
  /// @param name in any case
  /// @param value without surrounding whitespace
  /// @return this
  auto Set(std::string_view name, std::string_view value) -> Response&;

  /// Adds a field line, even if there already is one of this name. Throws like Set().
  auto Add(std::string_view name, std::string_view value) -> Response&;

  /// Returns the value of the first field `name`, in any case; nullopt if there is none. Valid
  /// until the next change.
  [[nodiscard]] auto Find(std::string_view name) const -> std::optional<std::string_view>;

  /// Makes `text` the whole body.
  auto Body(std::string text) -> Response&;

  /// Returns the body. It is sent unless the request is HEAD or HasBody() is false.
  [[nodiscard]] auto Text() const noexcept -> const std::string& { return text_; }

  /// False for a status that never has a body: content given to Body() is then not sent.
  [[nodiscard]] auto HasBody() const noexcept -> bool;

  /// Appends the status line, Date (unless the fields have one; never in 1xx), the body's end
  /// (nothing without a body), Connection unless it is the version's default, the fields, and the
  /// empty line.
  void AppendHead(const HeadContext& context, std::string& out) const;

 private:
  int status_;
  std::string fields_;  // as sent: "Name: value\r\n" for each
  std::string text_;
};

/// Makes a response with a body of plain text in UTF-8.
[[nodiscard]] auto TextResponse(int status, std::string_view text) -> Response;

/// Makes a response with a small page that shows the status and `detail`, escaped; "": none.
[[nodiscard]] auto ErrorResponse(int status, std::string_view detail = {}) -> Response;

}  // namespace TURTLE_SERVER
