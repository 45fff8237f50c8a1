// The response of a route's handler.
//
//   res.Status(201).Set("Location", "/users/7").Json({{"id", 7}});
//
// Interface:
//  * Status(), Set(), Add() and SetCookie() make its head.
//  * Text(), Html(), Json() and Body() make its body; Redirect() and Page() both.
//  * Whole() is all of it, to be sent.
//
// Nothing is sent until the handler has returned: until then it may begin again. A loop uses one of
// them again and again, with its memory, so that an ordinary response allocates nothing.
//
// Thread: one at a time; it may be moved to another one.
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

/// Status, fields and body of a handler's answer: 200 and empty, to begin with.
class ServerResponse {
  static constexpr std::string_view kPlainText = "text/plain; charset=utf-8";
  static constexpr std::string_view kHtmlPage = "text/html; charset=utf-8";

  // Of what can be moved only std::string; a literal or a part of a text is copied.
  template <typename Bytes>
  using IfString = std::enable_if_t<std::is_same_v<Bytes, std::string>>;

 public:
  /// @param status as Status()
  explicit ServerResponse(int status = 200) : head_(200) { Status(status); }

  /// @param response its status as Status()
  explicit ServerResponse(Response response) : head_(std::move(response)) {
    Status(head_.Status());
  }

  /// Sets the status.
  /// @param status 200 to 999; throws std::invalid_argument for another one
  /// @return this
  auto Status(int status) -> ServerResponse&;

  /// Returns the status.
  [[nodiscard]] auto Status() const noexcept -> int { return head_.Status(); }

  /// Gives field `name` the one value `value`; see Response::Set().
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
  /// @param bytes anything
  /// @param type for Content-Type; "" sets none
  /// @return this
  auto Body(std::string_view bytes, std::string_view type = {}) -> ServerResponse&;

  /// Makes `bytes`, a std::string that is moved, the body without a copy.
  /// @param bytes anything
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

  /// Removes the body, and gives access to what is left, for code that fills in a Response.
  [[nodiscard]] auto WithoutBody() -> Response&;

  /// Returns the body; "" if it is a part of a file.
  [[nodiscard]] auto Body() const noexcept -> std::string_view;

  /// Makes plain text in UTF-8 the body.
  /// @return this
  auto Text(std::string_view text) -> ServerResponse& { return Body(text, kPlainText); }

  /// The same for a std::string that is moved.
  template <typename Bytes, typename = IfString<Bytes>>
  auto Text(Bytes&& text) -> ServerResponse& {
    return Body(std::forward<Bytes>(text), kPlainText);
  }

  /// Makes a page in UTF-8 the body. Nothing is escaped.
  /// @return this
  auto Html(std::string_view page) -> ServerResponse& { return Body(page, kHtmlPage); }

  /// The same for a std::string that is moved.
  template <typename Bytes, typename = IfString<Bytes>>
  auto Html(Bytes&& page) -> ServerResponse& {
    return Body(std::forward<Bytes>(page), kHtmlPage);
  }

  /// Makes `value` the body, application/json, on one line.
  /// @return this
  auto Json(const nlohmann::json& value) -> ServerResponse&;

  /// Sends the client elsewhere.
  /// @param location where: a path or a URI
  /// @param status 303: ask there by GET; 307 and 308: ask there again by the same method
  /// @return this
  auto Redirect(std::string_view location, int status = 303) -> ServerResponse&;

  /// Makes it the small page that this server has for each status. For an error it gets the format
  /// of the request's path, HttpServer::ErrorFormat().
  /// @param status as Status()
  /// @param detail is shown, escaped; "" for none
  /// @return this
  auto Page(int status, std::string_view detail = {}) -> ServerResponse&;

  /// The memory of a longer body, in bytes, is not used again.
  static constexpr std::size_t kMaxKept = std::size_t{64} * 1024;

  /// Makes it 200 and empty again.
  void Reset();

  /// Returns the detail of a Page() that is the body, Response::TakeErrorDetail().
  [[nodiscard]] auto TakeErrorDetail() noexcept -> std::optional<std::string> {
    return head_.TakeErrorDetail();
  }

  /// Status and fields; with a body if that is a page or a part of a file.
  [[nodiscard]] auto Head() const noexcept -> const Response& { return head_; }

  /// Returns the body, if Head() has none. This object is left without one.
  [[nodiscard]] auto TakeBody() noexcept -> std::string { return std::exchange(body_, {}); }

  /// Returns all of it as one value. This object is left 200 and empty.
  [[nodiscard]] auto Whole() -> Response;

 private:
  void DropPieces();

  Response head_;  // with a body only if that is a page or has files: its texts don't keep memory
  std::string body_;
};

}  // namespace TURTLE_SERVER
