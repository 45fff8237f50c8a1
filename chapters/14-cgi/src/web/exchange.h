// One request and its response.
//
// Interface:
//  * GetRequest() returns the client's request.
//  * OnBody() delivers the request's body, piece by piece, as the client sends it.
//  * Reply() responds, once, within RequestHandler::Handle() or later.
//  * BeginReply(), Write() and End() send a response in pieces, as they become known.
//  * ReplyFrom() lets another path of this server produce the response.
//  * Attach() keeps what a handler needs until then. It is destroyed with the exchange, at the
//    latest when the client is gone.
//
// If no handler asks for the body, it is not read before the response. A client that waits for
// "100 Continue" then never sends it.
//
// An exchange knows nothing of framing. Each protocol derives its own class (web/http_exchange.h),
// which puts the response on the wire; handlers see only this one.
//
// Thread: the loop's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/connection.h"
#include "http/request.h"
#include "http/response.h"

namespace TURTLE_SERVER {

class Looper;
class Session;

/// Identifies an exchange of one loop; ids are never reused.
struct ExchangeId {
  ConnectionId connection;  ///< the connection of the exchange
  std::uint32_t number;     ///< which of the loop's requests it is

  /// Returns true for the same exchange.
  friend auto operator==(const ExchangeId& a, const ExchangeId& b) noexcept -> bool {
    return a.connection == b.connection && a.number == b.number;
  }
};

/// Base of the state that a handler keeps with an exchange until it responds.
class ExchangeState {
 public:
  virtual ~ExchangeState() = default;

 protected:
  ExchangeState() = default;
  ExchangeState(const ExchangeState&) = default;
  auto operator=(const ExchangeState&) -> ExchangeState& = default;
};

/// Receives a piece of a request's body; `last` marks the end. The last piece may be empty.
using BodyCallback = std::function<void(std::string_view piece, bool last)>;

/// The progress of the response to one request. It only moves forward:
///
///     kNone ──> kBegun ──> kComplete
///       └─────────┴──────> kCut
enum class ReplyState : std::uint8_t {
  kNone,      ///< nothing was sent
  kBegun,     ///< the head was sent, and the body follows
  kComplete,  ///< all of it was given to the connection
  kCut,       ///< it ends in the middle, and so does the connection
};

/// One request and its response. Owned by its session.
class Exchange {
 public:
  virtual ~Exchange() = default;
  Exchange(const Exchange&) = delete;
  auto operator=(const Exchange&) -> Exchange& = delete;

  /// Returns the client's request; valid for as long as the exchange is open. Views taken from it
  /// in RequestHandler::Handle() are not: the request moves if the handler returns without a
  /// response. A handler that responds later must call this again.
  [[nodiscard]] auto GetRequest() const noexcept -> const Request& { return request_; }

  /// Returns the part of the path after the prefix of the handler's mount: "/a/b", or "". The view
  /// is valid like those of GetRequest().
  [[nodiscard]] auto SubPath() const noexcept -> std::string_view {
    return request_.uri.Path().substr(prefix_bytes_);
  }

  /// Sends the response. The body is left out where HTTP forbids one (HEAD, 304). A second call
  /// sends nothing and throws std::logic_error. If that exception leaves the handler, a response
  /// still under way is cut.
  /// @param response with a final status; throws std::invalid_argument for one below 200
  void Reply(const Response& response);

  /// Delivers the request's body to `callback`: at least once, never during this call, until the
  /// last piece or the end of the exchange. A request without a body gets one empty piece. If the
  /// body is malformed, too large or too slow, the server sends the error response, and the
  /// exchange ends. The callback may throw, as Handle() may; it can't replace itself.
  void OnBody(BodyCallback callback);

  /// Pauses or resumes the delivery of the body, for a handler that can't take more at the moment.
  /// A paused body waits in the client, and that time doesn't count for the body's deadline.
  void HoldBody(bool hold);

  /// Returns true if the body's declared length is beyond its limit.
  [[nodiscard]] virtual auto BodyTooLarge() const noexcept -> bool = 0;

  /// Returns the text of the 413, which includes that limit.
  [[nodiscard]] virtual auto BodyLimitText() const -> std::string = 0;

  /// Begins a response whose body follows by Write(). Its end is marked by Content-Length if
  /// `length` is given, else as the protocol can: by chunks, or for HTTP/1.0 by the end of the
  /// connection.
  /// @param head status and fields; its body is not sent
  /// @param length of the body in bytes, if it is known; that of a 205 is 0
  void BeginReply(const Response& head, std::optional<std::uint64_t> length = std::nullopt);

  /// Sends a piece of the body. It is dropped where HTTP forbids a body (HEAD, 304), and beyond
  /// `length`. While CanWrite() is false it is better to wait.
  void Write(std::string_view bytes);

  /// Sends a part of a file as a piece of the body.
  void Write(FileSlice slice);

  /// Ends the response. If bytes promised by `length` are missing, the connection is cut, since
  /// nothing else can inform the client.
  void End();

  /// Gives up a response that can't be completed. If nothing of it was sent, the client gets an
  /// error page. Otherwise the connection is cut, so the client can't mistake a part for the whole.
  /// @param status of the error page
  /// @param detail for its text
  void Abort(int status, std::string_view detail);

  /// Does the same for an exception of the handler, within the catch block: a 500 and a log line.
  void AbortThrown();

  /// Responds as if the client had sent a GET (or HEAD) for `target`: a local redirect, RFC
  /// 3875, section 6.2.2. The attached state is destroyed, and unread bytes of the body are
  /// dropped. Throws std::logic_error if a response has begun. Too many redirects in a row give
  /// a 502.
  /// @param target a path, perhaps with a query; anything else gives a 502
  void ReplyFrom(std::string target);

  /// Returns false while so much is unsent that a handler should wait for OnRoom().
  [[nodiscard]] auto CanWrite() const noexcept -> bool;

  /// Calls `callback` when there is room again after CanWrite() was false; spurious calls are
  /// possible. The callback may throw, as Handle() may; it can't replace itself.
  void OnRoom(std::function<void()> callback) { on_room_ = std::move(callback); }

  /// Returns true once the response has begun.
  [[nodiscard]] auto Begun() const noexcept -> bool { return reply_ != ReplyState::kNone; }

  /// Returns true once the body can't grow: there is none (HEAD, 204, 304), or all of its `length`
  /// was given. Only End() is missing then, so no caller has to wait.
  [[nodiscard]] auto HasWholeBody() const noexcept -> bool {
    return Replied() || (Begun() && (drops_output_ || (has_length_ && promised_ == 0)));
  }

  /// Returns true once the response is complete, or cut.
  [[nodiscard]] auto Replied() const noexcept -> bool { return reply_ >= ReplyState::kComplete; }

  /// Keeps `state` until the exchange ends, in place of what was kept.
  void Attach(std::unique_ptr<ExchangeState> state) noexcept { state_ = std::move(state); }

  /// Returns an id that no other exchange of the same loop ever has.
  [[nodiscard]] auto Id() const noexcept -> ExchangeId;

  /// Returns the connection on which the request came.
  [[nodiscard]] auto GetConnection() const noexcept -> Connection&;

  /// Returns the loop of the connection.
  [[nodiscard]] auto GetLooper() const noexcept -> Looper&;

 protected:
  Exchange() = default;

  /// Begins a new exchange in the memory of the last one.
  /// @param session whose request this is; outlives the exchange
  /// @param number of the loop's, LoopHttp::NextNumber()
  void Open(Session& session, std::uint32_t number);

  /// Ends the exchange, destroys the attached state, and keeps memory for the next one. A
  /// protocol's destructor calls it too, since attached state may respond in its destructor.
  void Close() noexcept;

  /// Returns the request, for the protocol to fill in.
  [[nodiscard]] auto RoomForRequest() noexcept -> Request& { return request_; }

  /// Returns the session that the request came to.
  [[nodiscard]] auto GetSession() const noexcept -> Session& { return *session_; }

  /// Returns true while the handler waits for a piece of the body.
  [[nodiscard]] auto WantsBody() const noexcept -> bool;

 private:
  friend class LoopHttp;  // it calls the handlers

  // The protocol's part of a response.

  // Sends a whole response.
  virtual void SendWhole(const Response& response) = 0;
  // Sends a head whose body follows, with `length` bytes if that is known.
  virtual void SendHead(const Response& head, std::optional<std::uint64_t> length) = 0;
  // Sends a piece of the body, never an empty one.
  virtual void SendPiece(std::string_view bytes) = 0;
  virtual void SendPiece(FileSlice slice) = 0;
  // Sends the end marker of the body.
  virtual void SendEnd() = 0;
  // Breaks off a response that has begun.
  virtual void Cut() = 0;

  auto Redirect() -> bool;
  void Begin(int status);
  [[noreturn]] void RefuseReply(int status) const;
  void Move(ReplyState to) noexcept;
  auto Allow(std::uint64_t bytes) noexcept -> std::uint64_t;

  Session* session_ = nullptr;
  Request request_;  // its memory is used again by the next exchange
  std::size_t prefix_bytes_ = 0;
  std::uint32_t number_ = 0;
  ReplyState reply_ = ReplyState::kNone;
  bool body_held_ = false;
  bool end_told_ = false;                  // the handler has been given the last piece
  bool drops_output_ = false;              // HEAD, or a status without a body
  bool has_length_ = false;                // of the response's body: promised_ counts
  std::uint64_t promised_ = 0;             // bytes still to be written
  std::optional<std::string> new_target_;  // of ReplyFrom(), until the session has seen it
  std::string target_text_;                // the text of the redirected request's views
  int redirects_ = 0;
  BodyCallback on_body_;
  std::function<void()> on_room_;
  std::unique_ptr<ExchangeState> state_;  // destroyed first: the callbacks may refer to it
};

}  // namespace TURTLE_SERVER
