// The response of a route's handler.
//
//   res.Status(201).Set("Location", "/users/7").Json({{"id", 7}});
//
// Interface:
//  * Status(), Set(), Add() and SetCookie() set its head.
//  * Text(), Html(), Json() and Body() set its body; Redirect() and Page() set both.
//  * Whole() returns all of it, to be sent.
//
// Nothing is sent before the handler has returned: until then it can start over. A loop reuses one
// object and its memory again and again, so an ordinary response allocates nothing.
//
// Thread: one at a time; it may be moved to another thread.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/file_slice.h"
#include "http/cookies.h"
#include "http/response.h"

namespace TURTLE_SERVER {

/// Status, fields and body of a handler's response; initially 200 and empty.
class ServerResponse {
  static constexpr std::string_view kPlainText = "text/plain; charset=utf-8";
  static constexpr std::string_view kHtmlPage = "text/html; charset=utf-8";

  // Only a std::string is moved; a literal or a view is copied.
  template <typename Bytes>
  using IfString = std::enable_if_t<std::is_same_v<Bytes, std::string>>;

 public:
  /// @param status as for Status()
  explicit ServerResponse(int status = 200) : head_(200) { Status(status); }

  /// @param response its status is valid for Status()
  explicit ServerResponse(Response response) : head_(std::move(response)) {
    Status(head_.Status());
  }

  /// Sets the status.
  /// @param status 200 to 999; throws std::invalid_argument for any other
  /// @return this
  auto Status(int status) -> ServerResponse&;

  /// Returns the status.
  [[nodiscard]] auto Status() const noexcept -> int { return head_.Status(); }

  /// Sets field `name` to this single value; see Response::Set().
  /// @return this
  auto Set(std::string_view name, std::string_view value) -> ServerResponse&;

  /// Adds a field; see Response::Add().
  /// @return this
  auto Add(std::string_view name, std::string_view value) -> ServerResponse&;

  /// Asks the client to keep a cookie. Throws as SetCookie::Text().
  /// @return this
  auto SetCookie(const TURTLE_SERVER::SetCookie& cookie) -> ServerResponse&;

  /// Returns the value of the first field `name`, in any case; nullopt if there is none. Valid
  /// until the next change.
  [[nodiscard]] auto Find(std::string_view name) const -> std::optional<std::string_view> {
    return head_.Find(name);
  }

  /// Makes a copy of `bytes` the body.
  /// @param bytes any bytes
  /// @param type for Content-Type; "" sets none
  /// @return this
  auto Body(std::string_view bytes, std::string_view type = {}) -> ServerResponse&;

  /// Makes `bytes`, an rvalue std::string, the body without a copy.
  /// @param bytes any bytes
  /// @param type as above
  /// @return this
  template <typename Bytes, typename = IfString<Bytes>>
  auto Body(Bytes&& bytes, std::string_view type = {}) -> ServerResponse& {
    if (!type.empty()) {
      head_.Set("Content-Type", type);
    }
    DropPieces();
    body_ = std::forward<Bytes>(bytes);
    return *this;
  }

  /// Makes a part of a file the body; it is sent by sendfile(2).
  /// @param slice such as OwnFileSlice(fd, 0, size)
  /// @param type as above
  /// @return this
  auto Body(FileSlice slice, std::string_view type = {}) -> ServerResponse&;

  /// Removes the body and returns the rest, for code that fills in a Response.
  [[nodiscard]] auto WithoutBody() -> Response&;

  /// Returns the body; "" if it is a part of a file.
  [[nodiscard]] auto Body() const noexcept -> std::string_view;

  /// Makes plain UTF-8 text the body.
  /// @return this
  auto Text(std::string_view text) -> ServerResponse& { return Body(text, kPlainText); }

  /// Does the same for an rvalue std::string.
  template <typename Bytes, typename = IfString<Bytes>>
  auto Text(Bytes&& text) -> ServerResponse& {
    return Body(std::forward<Bytes>(text), kPlainText);
  }

  /// Makes a UTF-8 HTML page the body. Nothing is escaped.
  /// @return this
  auto Html(std::string_view page) -> ServerResponse& { return Body(page, kHtmlPage); }

  /// Does the same for an rvalue std::string.
  template <typename Bytes, typename = IfString<Bytes>>
  auto Html(Bytes&& page) -> ServerResponse& {
    return Body(std::forward<Bytes>(page), kHtmlPage);
  }

  /// Makes `value` the body, application/json, on one line.
  /// @return this
  auto Json(const nlohmann::json& value) -> ServerResponse&;

  /// Redirects the client.
  /// @param location a path or a URI
  /// @param status 303: use GET there; 307 and 308: use the same method again
  /// @return this
  auto Redirect(std::string_view location, int status = 303) -> ServerResponse&;

  /// Makes the server's small page for a status the body. For an error, the page gets the format of
  /// the request's path, HttpServer::ErrorFormat().
  /// @param status as for Status()
  /// @param detail shown, escaped; "" for none
  /// @return this
  auto Page(int status, std::string_view detail = {}) -> ServerResponse&;

  /// The memory of a body above this many bytes is not reused.
  static constexpr std::size_t kMaxKept = std::size_t{64} * 1024;

  /// Resets it to 200 and empty.
  void Reset();

  /// Returns the detail of a Page() that is the body, Response::TakeErrorDetail().
  [[nodiscard]] auto TakeErrorDetail() noexcept -> std::optional<std::string> {
    return head_.TakeErrorDetail();
  }

  /// Returns status and fields, with a body only if that is a page or a part of a file.
  [[nodiscard]] auto Head() const noexcept -> const Response& { return head_; }

  /// Returns the body, if Head() has none. This object is left without one.
  [[nodiscard]] auto TakeBody() noexcept -> std::string { return std::exchange(body_, {}); }

  /// Returns all of it as one value. This object is then 200 and empty.
  [[nodiscard]] auto Whole() -> Response;

 private:
  void DropPieces();

  Response head_;  // with a body only if it is a page or has files, so its texts don't keep memory
  std::string body_;
};

}  // namespace TURTLE_SERVER
