// The response to a request, as a value: status, fields, body.
//
// Interface:
//  * Set() and Add() add fields, Remove() removes them. Body() and AddBody() add content: text,
//    parts of files, or both in a row. A file is not read here; it is sent from where it is.
//  * AppendHead() writes the head. How the body's end is marked, and whether the connection is
//    kept, concerns the connection and not the response: a HeadContext says it.
//  * Reset() makes it an empty response again, which reuses the memory.
//  * TextResponse() and ErrorResponse() are the two that everybody needs.
//
// A Response to HEAD is the same: its head is sent as it is, without its body.
//
// Thread: one at a time, like its Pins (base/pin.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/file_slice.h"
#include "http/reply_fields.h"

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
  /// With kLength: the size in bytes of a body that the Response does not hold.
  std::optional<std::uint64_t> length{};
};

/// A piece of a body.
using BodyPiece = std::variant<std::string, FileSlice>;

/// The status, fields and body of one response.
class Response {
 public:
  /// @param status 100 to 999; throws std::invalid_argument for any other
  explicit Response(int status);

  /// Makes it a response without fields and body again, and keeps the memory.
  /// @param status as for the constructor; if it throws, nothing has changed
  void Reset(int status);

  /// Changes only the status. Throws like the constructor.
  void SetStatus(int status);

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

  /// Removes all fields `name`; there may be none. AppendHead() still writes its own.
  /// @param name in any case; may be a part of this response, such as a value
  /// @return this
  auto Remove(std::string_view name) -> Response&;

  /// Returns the value of the first field `name`, in any case; nullopt if there is none. Valid
  /// until the next change.
  [[nodiscard]] auto Find(std::string_view name) const -> std::optional<std::string_view>;

  /// Calls `visit(std::string_view value)` for each field `name`, in any case, in order. It must
  /// not change this response.
  template <class Visit>
  void ForEach(std::string_view name, const Visit& visit) const {
    ReplyFields(fields_).ForEach(name, visit);
  }

  /// Makes `text` the whole body.
  auto Body(std::string text) -> Response&;

  /// Makes a part of a file the whole body.
  auto Body(FileSlice slice) -> Response&;

  /// Adds a piece to the end of the body, for example one of several ranges of a file. An empty
  /// piece is ignored, here as in Body().
  auto AddBody(BodyPiece piece) -> Response&;

  /// Returns the body, in order. It is sent unless the request is HEAD or HasBody() is false.
  [[nodiscard]] auto Pieces() const noexcept -> const std::vector<BodyPiece>& { return pieces_; }

  /// Makes a small page the body, which shows the status and `detail`, escaped; "": none.
  auto ErrorPage(std::string_view detail) -> Response&;

  /// Returns the detail of ErrorPage(), while that page is the body; nullopt for any other body.
  [[nodiscard]] auto ErrorDetail() const noexcept -> const std::optional<std::string>& {
    return error_detail_;
  }

  /// Returns it once: the page stays, and then counts as any other body.
  [[nodiscard]] auto TakeErrorDetail() noexcept -> std::optional<std::string> {
    return std::exchange(error_detail_, std::nullopt);
  }

  /// Returns the size of the body in bytes.
  [[nodiscard]] auto BodySize() const noexcept -> std::uint64_t;

  /// False for a status that never has a body: content given to Body() is then not sent.
  [[nodiscard]] auto HasBody() const noexcept -> bool;

  /// Appends the status line, Date (unless the fields have one; never in 1xx), the body's end
  /// (nothing without a body), Connection unless it is the version's default, the fields, and the
  /// empty line.
  void AppendHead(const HeadContext& context, std::string& out) const;

 private:
  void MakeLine(std::string_view name, std::string_view value);

  int status_;
  std::string fields_;  // as sent: "Name: value\r\n" for each
  std::string line_;    // the line that is being added
  std::vector<BodyPiece> pieces_;
  std::optional<std::string> error_detail_;
};

/// Makes a response with a body of plain text in UTF-8.
[[nodiscard]] auto TextResponse(int status, std::string_view text) -> Response;

/// Makes a response with an ErrorPage().
[[nodiscard]] auto ErrorResponse(int status, std::string_view detail = {}) -> Response;

}  // namespace TURTLE_SERVER
