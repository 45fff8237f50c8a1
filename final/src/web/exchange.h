// One request, and the place for its reply.
//
// Interface:
//  * GetRequest() is what the client asked.
//  * OnBody() has the request's body brought, piece by piece, as the client sends it.
//  * Reply() answers it, once, within RequestHandler::Handle() or later.
//  * BeginReply(), Write() and End() answer it in pieces, as they become known.
//  * ReplyFrom() has another path of this server answer it.
//  * Tap() lets somebody hear the reply.
//  * Attach() keeps what a handler needs until then; it is destroyed with the exchange, at the
//    latest when the client is gone.
//
// A body that no handler asks for is not read before the reply: a client that said
// "Expect: 100-continue" then never sends it.
//
// A session has one exchange open at a time: the next request of the same client is not parsed
// before the reply is complete, so replies leave in order without a queue.
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

#include "base/pin.h"
#include "core/clock.h"
#include "core/connection.h"
#include "http/body_reader.h"
#include "http/request.h"
#include "http/response.h"
#include "web/reply_tap.h"

namespace TURTLE_SERVER {

class HttpSession;
class Looper;

/// Names an exchange of one loop for ever.
struct ExchangeId {
  ConnectionId connection;  ///< whose
  std::uint32_t number;     ///< which of its requests

  /// Same exchange?
  friend auto operator==(const ExchangeId& a, const ExchangeId& b) noexcept -> bool {
    return a.connection == b.connection && a.number == b.number;
  }
};

/// Base of what a handler keeps with an exchange that it answers later.
class ExchangeState {
 public:
  virtual ~ExchangeState() = default;

 protected:
  ExchangeState() = default;
  ExchangeState(const ExchangeState&) = default;
  auto operator=(const ExchangeState&) -> ExchangeState& = default;
};

/// The status of a reply that is ready.
enum class ReadyStatus : std::uint8_t {
  kOk,           ///< 200
  kNotModified,  ///< 304
};

/// A reply that is ready to be sent.
struct ReadyReply {
  ReadyStatus status = ReadyStatus::kOk;  ///< what the status line says
  /// "Name: value\r\n" for each field, with Content-Length if there is a body, an empty line, and
  /// the body, unless it is in `file`.
  std::string_view text{};
  std::size_t body_bytes = 0;  ///< of `text`, at its end, or of `file`; left away for HEAD
  Pin pin{};                   ///< keeps `text` alive and `file` open until they are sent
  int file = -1;               ///< an open file that is the body; -1: `text` has it
};

/// A piece of a request's body; `last`: it is complete. The last piece may be empty.
using BodyCallback = std::function<void(std::string_view piece, bool last)>;

/// One request and the place for its reply. Owned by its session.
class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  auto operator=(const Exchange&) -> Exchange& = delete;

  /// What the client asked; valid for as long as the exchange is open. A view that was taken from
  /// it within RequestHandler::Handle() is not: the request moves when the handler has returned
  /// without a reply. Who answers later asks again.
  [[nodiscard]] auto GetRequest() const noexcept -> const Request& { return request_; }

  /// The part of the path behind the prefix under which the handler is mounted: "/a/b", or "". A
  /// view like those of GetRequest().
  [[nodiscard]] auto SubPath() const noexcept -> std::string_view {
    return request_.uri.Path().substr(prefix_bytes_);
  }

  /// Answers the request. The body is left away where HTTP wants none (HEAD, 304). A second reply
  /// sends nothing and throws std::logic_error. If that leaves the handler, a reply that is still
  /// under way is cut.
  void Reply(const Response& response);

  /// Answers the request by bytes that are ready: nothing is allocated, and a large body is not
  /// copied.
  void Reply(const ReadyReply& reply);

  /// The same with any status.
  /// @param status the code
  /// @param start the status line and what stands before `reply.text`, where the Date has to be if
  ///     it is not here; copied
  /// @param reply the rest; its status does not count
  void Reply(int status, std::string_view start, const ReadyReply& reply);

  /// Has the request's body brought to `callback`, which is called at least once, later and never
  /// in here; until its last piece, or until the exchange ends. A request without a body brings one
  /// empty piece. A body that is malformed, too large or too slow is answered for the handler, and
  /// the exchange ends. The callback may throw, as Handle(); it can't replace itself.
  void OnBody(BodyCallback callback);

  /// Stops and resumes the bringing of the body, which then waits in the client: for a handler
  /// that can't take more at the moment.
  void HoldBody(bool hold);

  /// Sets how long the request's body may be, in place of the server's own limit; beyond it: 413.
  /// Before any of it was read.
  /// @param most in bytes, inclusive
  void LimitBody(std::uint64_t most) noexcept { body_->SetMaxBytes(most); }

  /// True if the body's declared length is beyond its limit.
  [[nodiscard]] auto BodyTooLarge() const noexcept -> bool { return body_->TooLarge(); }

  /// What a 413 says of that limit.
  [[nodiscard]] auto BodyLimitText() const -> std::string { return body_->LimitText(); }

  /// Begins a reply whose body follows by Write(). Its end is marked by Content-Length if `length`
  /// is given, else by chunks, or for HTTP/1.0 by the end of the connection.
  /// @param head status and fields; its body is not sent
  /// @param length of the body in bytes, if it is known; that of a 205 is 0
  void BeginReply(const Response& head, std::optional<std::uint64_t> length = std::nullopt);

  /// Sends a piece of the body; dropped where HTTP wants none (HEAD, 304), and beyond `length`.
  /// While CanWrite() is false it is better to wait.
  void Write(std::string_view bytes);

  /// Sends a part of a file as a piece of the body.
  void Write(FileSlice slice);

  /// Ends the reply. If bytes that were promised by `length` are missing, the connection is cut:
  /// nothing else tells the client.
  void End();

  /// Ends a reply that can't be completed: an error page if nothing of it was sent yet, else the
  /// connection is cut, so that the client can't take the part for the whole.
  /// @param status of the error page
  /// @param detail for its text
  void Abort(int status, std::string_view detail);

  /// Has this server answer as if the client had asked for `target` by GET (or HEAD): a local
  /// redirect, RFC 3875, section 6.2.2. What is attached to the exchange goes. The request's body
  /// must have been read, and no reply have begun: else throws std::logic_error. Too many in a row
  /// are answered by 502.
  /// @param target a path, perhaps with a query; whatever is none is answered by 502
  void ReplyFrom(std::string target);

  /// False while so much is unsent that a handler should wait for OnRoom().
  [[nodiscard]] auto CanWrite() const noexcept -> bool;

  /// Calls `callback` when there is room again after CanWrite() was false; now and then also for
  /// nothing. The callback may throw, as Handle(); it can't replace itself.
  void OnRoom(std::function<void()> callback) { on_room_ = std::move(callback); }

  /// Has `tap` hear the reply, in place of the one that was to hear it. Before it begins.
  void Tap(std::unique_ptr<ReplyTap> tap) noexcept { tap_ = std::move(tap); }

  /// True once the reply has begun.
  [[nodiscard]] auto Begun() const noexcept -> bool { return begun_; }

  /// The status of the reply; 0: it has not begun.
  [[nodiscard]] auto Status() const noexcept -> int { return status_; }

  /// True once nothing more can follow in the body: there is none (HEAD, 204, 304), or all of its
  /// `length` was given. Nothing but End() is missing then, so nobody has to wait for it.
  [[nodiscard]] auto HasWholeBody() const noexcept -> bool {
    return begun_ && (drops_output_ || (body_end_ == BodyEnd::kLength && promised_ == 0));
  }

  /// True once the reply is complete.
  [[nodiscard]] auto Replied() const noexcept -> bool { return replied_; }

  /// Keeps `state` until the exchange ends, in place of what was kept.
  void Attach(std::unique_ptr<ExchangeState> state) noexcept { state_ = std::move(state); }

  /// A name that never means another exchange of the same loop.
  [[nodiscard]] auto Id() const noexcept -> ExchangeId;

  /// The connection on which the request came.
  [[nodiscard]] auto GetConnection() const noexcept -> Connection&;

  /// The loop that runs all this.
  [[nodiscard]] auto GetLooper() const noexcept -> Looper&;

 private:
  friend class HttpSession;

  auto Redirect() -> bool;
  void Begin(int status);
  void Send(const Response& whole);
  void TellTap(const Response& whole) noexcept;
  auto Allow(std::uint64_t bytes) noexcept -> std::uint64_t;
  auto WantsBody() const noexcept -> bool;
  void Open(HttpSession& session);
  void Close() noexcept;

  HttpSession* session_ = nullptr;
  Request request_;  // its memory is used again by the next exchange
  std::size_t prefix_bytes_ = 0;
  TimePoint began_at_{};
  std::uint64_t body_bytes_ = 0;  // of the reply, given to the connection
  int status_ = 0;                // of the reply
  bool cut_ = false;
  std::size_t unconsumed_bytes_ = 0;  // of the request, at the front of the input
  bool begun_ = false;
  bool replied_ = false;
  bool body_held_ = false;
  bool body_done_ = true;
  bool end_told_ = false;      // the handler has been given the last piece
  bool continue_due_ = false;  // the client waits for leave to send it
  bool drops_output_ = false;  // HEAD, or a status without a body
  BodyEnd body_end_ = BodyEnd::kLength;
  std::uint64_t promised_ = 0;             // with BodyEnd::kLength: bytes still to be written
  std::optional<std::string> new_target_;  // of ReplyFrom(), until the session has seen it
  std::string target_text_;                // what the redirected request's views look into
  int redirects_ = 0;
  std::optional<BodyReader> body_;
  std::uint64_t body_moved_ = 0;                // bytes since body_deadline_ was set
  std::uint64_t body_dropped_ = 0;              // bytes that came after the reply
  TimePoint body_deadline_ = TimePoint::max();  // while it is the client's turn to send
  BodyCallback on_body_;
  std::function<void()> on_room_;
  std::unique_ptr<ReplyTap> tap_;         // nearly always none
  std::unique_ptr<ExchangeState> state_;  // goes first: the callbacks may look into it
};

}  // namespace TURTLE_SERVER
