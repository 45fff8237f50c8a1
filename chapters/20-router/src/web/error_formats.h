// How errors look, by the path of the request.
//
//   server.ErrorFormat("/api", ProblemJson);
//   server.ErrorFormat("/old", [](int, std::string_view detail, ServerResponse& res) {
//     res.Text(detail);
//   });
//
// Every error page of the server is formatted here: those of routes and mounts, and those of the
// parser, for bytes that are no request. Without a format it is a page in HTML.
//
// Thread: filled by the owner before the server begins, constant afterwards. The formatters are
// shared by all loops, and called on several threads at once.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "http/response.h"
#include "web/prefix_map.h"
#include "web/server_response.h"

namespace TURTLE_SERVER {

/// Writes the body of an error.
///
/// `status` is 400 to 599. `detail` describes the error in a sentence of plain text, which is not
/// escaped; it may be "". The response has the status and the fields of the error, such as Allow,
/// and the page in HTML as its body. If the formatter throws, that is logged and the page is sent.
using ErrorFormatter =
    std::function<void(int status, std::string_view detail, ServerResponse& response)>;

/// The formatters of a server.
class ErrorFormats {
 public:
  /// @param prefix "/", or a path such as "/api", without a slash at its end
  /// @param formatter of the errors under it
  /// @throws std::invalid_argument for another prefix, or an empty function
  void Add(std::string prefix, ErrorFormatter formatter);

  /// True if there is none.
  [[nodiscard]] auto Empty() const noexcept -> bool { return formatters_.Empty(); }

  /// Gives `response`, if its body is an error page, the format of the path. Does not throw.
  /// @param path of the request; "" if it is not known
  /// @param response to be changed
  void Format(std::string_view path, ServerResponse& response) const noexcept;

  /// The same for a Response.
  /// @return nullopt: it stays as it is
  [[nodiscard]] auto Formatted(std::string_view path, const Response& response) const noexcept
      -> std::optional<Response>;

 private:
  [[nodiscard]] auto Find(std::string_view path, const Response& response) const noexcept
      -> const ErrorFormatter*;

  PrefixMap<ErrorFormatter> formatters_;
};

/// The formatter for problem details, application/problem+json (RFC 9457): an object with
/// "status", "title", which is its phrase, and "detail", if there is one.
void ProblemJson(int status, std::string_view detail, ServerResponse& response);

}  // namespace TURTLE_SERVER
