// Changes the responses of all handlers.
//
// A handler decides about its own response. Some rules hold for all responses under a path, even
// for error pages: a Strict-Transport-Security, or a site's own page for a 404. Middleware
// (web/routes.h) can do that for a group, but a prepared response must then be taken apart. An
// editor sees the text, and may add lines before it instead.
//
// Thread: the loop's.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "http/response.h"

namespace TURTLE_SERVER {

class Exchange;

/// Which part of a response an editor sees.
enum class Edited : std::uint8_t {
  kWhole,  ///< All of it: the body may be replaced.
  kHead    ///< The body follows in pieces.
};

/// Changes the response of an exchange before it is sent, Exchange::Edit().
class ReplyEditor {
 public:
  virtual ~ReplyEditor() = default;

  /// Changes the fields of a response, and, if it sees the whole, the body.
  /// @param exchange of the response
  /// @param response changed in place; its status stays
  /// @param part what is there
  virtual void Edit(Exchange& exchange, Response& response, Edited part) noexcept = 0;

  /// Returns the lines to add to a prepared response, "Name: value\r\n" for each.
  /// @param exchange of the response
  /// @param start its first fields, after a status line; may be empty
  /// @param text its other fields, and the body
  /// @return valid until the next call; nullopt if Edit() has to see the response
  virtual auto LinesFor(Exchange& exchange, std::string_view start, std::string_view text) noexcept
      -> std::optional<std::string_view> = 0;

 protected:
  ReplyEditor() = default;
  ReplyEditor(const ReplyEditor&) = default;
  auto operator=(const ReplyEditor&) -> ReplyEditor& = default;
};

}  // namespace TURTLE_SERVER
