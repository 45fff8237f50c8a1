// Formats error responses by the path of the request.
//
//   server.ErrorFormat("/api", ProblemJson);
//   server.ErrorFormat("/old", [](int, std::string_view detail, ServerResponse& res) {
//     res.Text(detail);
//   });
//
// Every error page of the server is formatted here: those of routes and mounts, and those that the
// parser causes for malformed requests. Without a format it is an HTML page.
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

/// Writes the body of an error response.
///
/// `status` is 400 to 599. `detail` describes the error in a sentence of plain text, which is not
/// escaped; it may be "". The response has the status and fields of the error, and the HTML page as
/// its body. If the formatter throws, that is logged and the page is sent.
using ErrorFormatter =
    std::function<void(int status, std::string_view detail, ServerResponse& response)>;

/// The error formatters of a server.
class ErrorFormats {
 public:
  /// @param prefix "/", or a path such as "/api", without a slash at its end
  /// @param formatter of the errors below that path
  /// @throws std::invalid_argument for any other prefix, or an empty function
  void Add(std::string prefix, ErrorFormatter formatter);

  /// Returns true if there are no formatters.
  [[nodiscard]] auto Empty() const noexcept -> bool { return formatters_.Empty(); }

  /// Formats the body of `response` for the path if it is an error page. Does not throw.
  /// @param path of the request; "" if it is not known
  /// @param response changed in place
  void Format(std::string_view path, ServerResponse& response) const noexcept;

  /// Does the same for a Response.
  /// @return nullopt if it needs no change
  [[nodiscard]] auto Formatted(std::string_view path, const Response& response) const noexcept
      -> std::optional<Response>;

 private:
  [[nodiscard]] auto Find(std::string_view path, const Response& response) const noexcept
      -> const ErrorFormatter*;

  PrefixMap<ErrorFormatter> formatters_;
};

/// Formats an error as problem details, application/problem+json (RFC 9457): an object with
/// "status", "title" (the status phrase) and, if there is one, "detail".
void ProblemJson(int status, std::string_view detail, ServerResponse& response);

}  // namespace TURTLE_SERVER
