// One request and its response.
//
// Interface:
//  * GetRequest() returns the client's request. GetClient() returns its address, IsSecure() its
//    scheme, and User() the name with which a password let it in.
//  * OnBody() delivers the request's body, piece by piece, as the client sends it.
//  * Reply() responds, once, within RequestHandler::Handle() or later.
//  * BeginReply(), Write() and End() send a response in pieces, as they become known.
//  * ReplyFrom() lets another path of this server produce the response.
//  * Tap() lets a listener see the response; Filter() lets middleware change it, and Edit() the
//    rules of a site. After them it is compressed, unless KeepPlain() says no.
//  * OnLate() and OnEnd() inform a slow handler of a passed deadline and of the end.
//  * Upgrade() responds by handing the connection over to another protocol.
//  * Attach() keeps what a handler needs until then. It is destroyed with the exchange, at the
//    latest when the client is gone.
//  * Context() returns the values that middleware has stored for the request.
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
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/pin.h"
#include "compress/body_decoder.h"
#include "compress/coding.h"
#include "compress/encoder.h"
#include "core/connection.h"
#include "core/net_address.h"
#include "core/timer_queue.h"
#include "http/request.h"
#include "http/response.h"
#include "web/client_origin.h"
#include "web/reply_editor.h"
#include "web/reply_tap.h"
#include "web/request_context.h"
#include "web/session.h"

namespace TURTLE_SERVER {

class Compression;
class ErrorFormats;
class Exchange;
class Looper;
class ServerResponse;

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

/// The status of a prepared response.
enum class ReadyStatus : std::uint8_t {
  kOk,           ///< 200
  kNotModified,  ///< 304
};

/// A response prepared in the format of HTTP/1.1. Other protocols read its fields from the text.
struct ReadyReply {
  ReadyStatus status = ReadyStatus::kOk;  ///< for the status line
  /// "Name: value\r\n" for each field, with Content-Length if there is a body, an empty line, and
  /// the body, unless it is in `file`.
  std::string_view text{};
  std::size_t body_bytes = 0;  ///< of `text`, at its end, or of `file`; omitted for HEAD
  Pin pin{};                   ///< keeps `text` alive and `file` open until they are sent
  int file = -1;               ///< an open file that is the body; -1: `text` has it
  bool negotiated = false;     ///< its coding was chosen for this client: it is not compressed
};

/// Receives a piece of a request's body; `last` marks the end. The last piece may be empty.
using BodyCallback = std::function<void(std::string_view piece, bool last)>;

/// Changes the response of one exchange before it is sent (Exchange::Filter()).
class ReplyFilter {
 public:
  virtual ~ReplyFilter() = default;

  /// Changes the response when it begins; called once. It has a body if the handler has given all
  /// of it at once. A body that is added here replaces the handler's output.
  /// @param exchange the exchange of the response
  /// @param response changed in place
  virtual void OnReply(Exchange& exchange, ServerResponse& response) noexcept = 0;

 protected:
  ReplyFilter() = default;
  ReplyFilter(const ReplyFilter&) = default;
  auto operator=(const ReplyFilter&) -> ReplyFilter& = default;
};

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

/// Receives how far the response got before its exchange ended.
using EndCallback = std::function<void(ReplyState reply)>;

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

  /// Returns the client's address: the one that trusted proxies name, HttpOptions::trusted_proxies,
  /// or else the connection's, which costs a system call. Empty if the client was gone before.
  [[nodiscard]] auto GetClient() const -> NetAddress;

  /// Returns the address that trusted proxies name; nullptr: the client's is the connection's.
  [[nodiscard]] auto NamedClient() const noexcept -> const NetAddress* {
    return origin_.address ? &*origin_.address : nullptr;
  }

  /// Returns true if the client's request has the scheme https. This function alone decides that.
  [[nodiscard]] auto IsSecure() const noexcept -> bool;

  /// Notes that a password has let the client in. ReplyFrom() removes the name, as the request is
  /// then another.
  /// @param name checked, never only a text that the client has sent; copied
  void SetUser(std::string_view name) { user_ = name; }

  /// Returns the name of SetUser(); "": no password was needed. Any bytes.
  [[nodiscard]] auto User() const noexcept -> std::string_view { return user_; }

  /// Sends the response. The body is left out where HTTP forbids one (HEAD, 304). An error page
  /// gets the format of the path (web/error_formats.h). A second call sends nothing and throws
  /// std::logic_error. If that exception leaves the handler, a response still under way is cut.
  /// @param response with a final status; throws std::invalid_argument for one below 200
  void Reply(const Response& response);

  /// Sends a prepared response. With HTTP/1.1 nothing is allocated, and a large body is not
  /// copied.
  void Reply(const ReadyReply& reply);

  /// Does the same with any status.
  /// @param status the code
  /// @param start the status line and the fields before `reply.text`; includes Date unless that is
  ///     in the text; copied
  /// @param reply the rest; its status is ignored
  void Reply(int status, std::string_view start, const ReadyReply& reply);

  /// Delivers the request's body to `callback`: at least once, never during this call, until the
  /// last piece or the end of the exchange. A request without a body gets one empty piece. If the
  /// body is malformed, too large or too slow, the server sends the error response, and the
  /// exchange ends. The callback may throw, as Handle() may; it can't replace itself.
  ///
  /// The pieces are what the client sent, in its Content-Encoding, unless DecodeBody() was called.
  /// Routes do that; a mounted handler may be a gateway, which passes on the fields and the bytes.
  void OnBody(BodyCallback callback);

  /// Pauses or resumes the delivery of the body, for a handler that can't take more at the moment.
  /// A paused body waits in the client, and that time doesn't count for the body's deadline.
  void HoldBody(bool hold);

  /// Limits the request's body in place of the server's own limit; a longer one gets a 413. Must be
  /// called before any of it was read.
  /// @param most in bytes, inclusive
  virtual void LimitBody(std::uint64_t most) noexcept = 0;

  /// Has OnBody() deliver the body decoded. A body that is damaged gets a 400, and one that grows
  /// beyond its limit or max_ratio a 413. The request keeps its fields: Content-Encoding and
  /// Content-Length are about the bytes that were sent. ReplyFrom() ends this. Must be called
  /// before any of the body was read, and only if DecodesRequests().
  /// @param coding not kIdentity
  /// @param most the limit of the decoded body in bytes, inclusive; nullopt: the server's. The
  ///     limit of LimitBody() is for the coded bytes.
  void DecodeBody(Coding coding, std::optional<std::uint64_t> most);

  /// Returns true if the server decodes the bodies of requests.
  [[nodiscard]] auto DecodesRequests() const noexcept -> bool;

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

  /// Does the same without a copy, if the protocol can.
  /// @param bytes neither move nor change while `pin` lives
  /// @param pin keeps them alive
  void Write(std::string_view bytes, const Pin& pin);

  /// Sends a part of a file as a piece of the body. In a compressed response it is read and encoded
  /// at once, so a response with a large file calls KeepPlain().
  void Write(FileSlice slice);

  /// Ends the response. If bytes promised by `length` are missing, the connection is cut, since
  /// nothing else can inform the client.
  void End();

  /// Gives up a response that can't be completed. If nothing of it was sent, the client gets an
  /// error page. Otherwise the connection is cut, so the client can't mistake a part for the whole.
  /// @param status of the error page
  /// @param detail for its text
  void Abort(int status, std::string_view detail);

  /// Does the same with the caller's own error page.
  void Abort(const Response& page);

  /// Does the same for an exception of the handler, within the catch block: an HttpError gives its
  /// status, anything else a 500 and a line in the log.
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

  /// Calls `callback`, and then those of OnEnd(), if the response has not begun within `limit`.
  /// Replaces an earlier one. An exception gives a logged 500. ReplyFrom() drops the callback.
  /// @param limit from now on
  /// @param callback on the loop's thread
  void OnLate(Clock::duration limit, std::function<void()> callback);

  /// Calls `callback` when the exchange ends. If the response is not complete by then, the client
  /// is gone, or the response was cut. If the client has closed its end, Probe() finds out whether
  /// it still reads. An exception is logged. ReplyFrom() drops the callback.
  /// @param callback on the loop's thread; it must not use the exchange, which is ending
  void OnEnd(EndCallback callback);

  /// Lets `tap` see the response, in place of an earlier tap. Must be called before it begins.
  void Tap(std::unique_ptr<ReplyTap> tap) noexcept { tap_ = std::move(tap); }

  /// Lets `filter` change the response before it begins, in place of another filter. ReplyFrom()
  /// removes it, and Upgrade() bypasses it.
  /// @param filter outlives the exchange
  void Filter(ReplyFilter* filter) {
    RareParts().filter = filter;
    has_filter_ = filter != nullptr;
  }

  /// Lets `editor` change the final response, after any filter, in place of another editor.
  /// ReplyFrom() removes it, and Upgrade() bypasses it. A tap sees an error page as one of
  /// Abort(): the editor may replace it, and would not know a kept copy.
  /// @param editor outlives the exchange
  void Edit(ReplyEditor* editor) noexcept { editor_ = editor; }

  /// Sends this response as it is, even if the server compresses. For one that has a secret beside
  /// text that a stranger may choose: the length of the compressed bytes tells whether the two are
  /// alike (the attack BREACH). ReplyFrom() forgets it.
  void KeepPlain() noexcept { keeps_plain_ = true; }

  /// Returns true if the server compresses, perhaps not this response.
  [[nodiscard]] auto Compresses() const noexcept -> bool { return compression_ != nullptr; }

  /// Returns the server's compression, for a handler that keeps encoded responses; nullptr: there
  /// is none, or not for this response, or a filter wants to see the plain one first.
  [[nodiscard]] auto GetCompression() const noexcept -> const Compression* {
    return keeps_plain_ || has_filter_ ? nullptr : compression_;
  }

  /// Keeps bits for the request, even after a ReplyFrom(), in place of another owner's.
  /// @param owner only compared
  /// @param bits the result of Marks() for this owner
  void Mark(const void* owner, std::uint64_t bits) noexcept { marks_ = {owner, bits}; }

  /// Returns the bits that Mark() has kept for `owner`; otherwise 0.
  [[nodiscard]] auto Marks(const void* owner) const noexcept -> std::uint64_t {
    return marks_.owner == owner ? marks_.bits : 0;
  }

  /// Returns true if the client asks for another protocol on this connection, and the server can
  /// change to it now: RFC 9110, section 7.8. False once the server is about to stop.
  /// @param protocol its name, such as "websocket", in any case
  [[nodiscard]] virtual auto CanUpgrade(std::string_view protocol) const -> bool;

  /// Sends a 101 and hands the connection over to another session when the handler has returned.
  /// Bytes that the client has sent after its request become that session's input.
  /// @param protocol one for which CanUpgrade() is true; else throws std::logic_error
  /// @param fields of the 101, besides Connection and Upgrade; its status is ignored
  /// @param next makes the session. It is called when this exchange is over, so it must hold copies
  ///     and no references to the request. If it throws, the connection is closed.
  virtual void Upgrade(std::string_view protocol, const Response& fields, const SessionMaker& next);

  /// Sends bytes that make a departed client's kernel reset the connection: an interim response
  /// (RFC 9110, section 15.2), unless the protocol has better means.
  /// @return false if nothing can be sent at this time
  virtual auto Probe() -> bool { return false; }

  /// Returns true once the response has begun.
  [[nodiscard]] auto Begun() const noexcept -> bool { return reply_ != ReplyState::kNone; }

  /// Returns the status of the response, or 0 if it has not begun.
  [[nodiscard]] auto Status() const noexcept -> int { return status_; }

  /// Returns true once the body can't grow: there is none (HEAD, 204, 304), or all of its `length`
  /// was given. Only End() is missing then, so no caller has to wait.
  [[nodiscard]] auto HasWholeBody() const noexcept -> bool {
    return Replied() || (Begun() && (drops_output_ || (has_length_ && promised_ == 0)));
  }

  /// Returns true once the response is complete, or cut.
  [[nodiscard]] auto Replied() const noexcept -> bool { return reply_ >= ReplyState::kComplete; }

  /// Keeps `state` until the exchange ends, in place of what was kept.
  void Attach(std::unique_ptr<ExchangeState> state) noexcept { state_ = std::move(state); }

  /// Returns the values of the request; ReplyFrom() empties them, as the request is then another.
  [[nodiscard]] auto Context() noexcept -> RequestContext& { return context_; }

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

  /// Returns the lines that an editor adds to a prepared response.
  [[nodiscard]] auto AddedLines() const noexcept -> std::string_view { return added_lines_; }

  /// Returns true while the handler waits for a piece of the body that the client has to send.
  [[nodiscard]] auto WantsBody() const noexcept -> bool;

  /// Moves on to a 101 that the protocol is about to send.
  void BeginUpgrade() noexcept {
    Move(ReplyState::kBegun);
    status_ = 101;
  }

  /// Notes that the protocol has sent the 101.
  void EndUpgrade() noexcept { Move(ReplyState::kComplete); }

 private:
  friend class LoopHttp;  // it calls the handlers

  // Few exchanges need these: those of mounts with middleware, and slow ones.
  struct Rare {
    ReplyFilter* filter = nullptr;
    std::optional<TimerId> late_timer;
    std::vector<EndCallback> on_end;
    bool probed = false;                     // the client has been asked whether it is there
    std::unique_ptr<Encoder> encoder;        // of a body that follows in pieces
    std::string coded;                       // its last output
    Coding body_coding = Coding::kIdentity;  // of the request
    std::optional<std::uint64_t> max_plain;  // bytes of its body
    std::unique_ptr<BodyDecoder> decoder;    // once the first bytes are there
  };

  // The protocol's part of a response.

  // Sends a whole response.
  virtual void SendWhole(const Response& response) = 0;
  // Sends a prepared one. `start` is as in Reply(); empty: the status line and Date are missing.
  virtual void SendReady(int status, std::string_view start, const ReadyReply& reply);
  // Sends a head whose body follows, with `length` bytes if that is known.
  virtual void SendHead(const Response& head, std::optional<std::uint64_t> length) = 0;
  // Sends a piece of the body, never an empty one.
  virtual void SendPiece(std::string_view bytes) = 0;
  virtual void SendPiece(FileSlice slice) = 0;
  // Does the same for bytes that `pin` keeps alive.
  virtual void SendPinned(std::string_view bytes, const Pin& /*pin*/) { SendPiece(bytes); }
  // Sends the end marker of the body.
  virtual void SendEnd() = 0;
  // Breaks off a response that has begun.
  virtual void Cut() = 0;

  auto Redirect() -> bool;
  void Begin(int status);
  [[noreturn]] void RefuseReply(int status) const;
  [[nodiscard]] auto Formatted(const Response& response) const noexcept -> std::optional<Response>;
  auto Filtered(Response response) -> Response;
  void BeginFiltered(const Response& head, std::optional<std::uint64_t> length);
  void SendFiltered(const Response& whole);
  void Send(const Response& whole);
  void SendEdited(const Response& whole);
  void SendBegin(const Response& head, std::optional<std::uint64_t> length);
  void SendFinal(const Response& whole);
  void BeginBody(const Response& head, std::optional<std::uint64_t> length);
  void SendCoded(std::string_view plain, Flush flush);
  void SendCoded(const FileSlice& slice);
  [[nodiscard]] auto IsToBeCoded(int status, const ReadyReply& reply) const noexcept -> bool {
    return GetCompression() != nullptr && !reply.negotiated &&
           (status == 304 || reply.body_bytes != 0);
  }
  void SendReadyEdited(int status, std::string_view start, const ReadyReply& reply);
  void FinishReady(int status, std::string_view start, const ReadyReply& reply);
  void TellTap(const Response& whole) noexcept;
  // Returns true while the handler takes a piece of the body, wherever it comes from.
  [[nodiscard]] auto TakesBody() const noexcept -> bool;
  // Returns true if coded bytes of the body wait to be decoded. rare_ is not null.
  [[nodiscard]] auto HasUndecoded() const noexcept -> bool {
    return rare_->decoder != nullptr && !rare_->decoder->WantsInput();
  }
  auto RareParts() -> Rare&;
  [[nodiscard]] auto HasFilter() const noexcept -> bool { return has_filter_ && !Begun(); }
  auto TakeFilter() noexcept -> ReplyFilter&;
  [[gnu::cold]] void ReplyUnusually(int status, std::string_view start, const ReadyReply& reply);
  void StopLateTimer() noexcept;
  void CloseRareParts() noexcept;
  // Probes a client that has closed its end, if a callback of OnEnd() waits for the news.
  // rare_ may be null: most exchanges have none.
  void AskWhetherGone();
  // Calls the callbacks of OnEnd(), each once, and logs what they throw. rare_ is not null.
  void TellEnd() noexcept;
  void Move(ReplyState to) noexcept;
  auto Allow(std::uint64_t bytes) noexcept -> std::uint64_t;

  Session* session_ = nullptr;
  const ErrorFormats* error_formats_ = nullptr;  // if there are any
  const Compression* compression_ = nullptr;     // if the server compresses
  Request request_;                              // its memory is used again by the next exchange
  std::size_t prefix_bytes_ = 0;
  std::uint32_t number_ = 0;
  ReplyState reply_ = ReplyState::kNone;
  bool has_filter_ = false;   // in rare_, and it has not been called
  bool has_encoder_ = false;  // likewise
  bool has_decoder_ = false;  // of the request's body: rare_ has its coding
  bool keeps_plain_ = false;  // this response is not compressed
  bool body_held_ = false;
  bool end_told_ = false;         // the handler has been given the last piece
  bool drops_output_ = false;     // HEAD, or a status without a body
  bool has_length_ = false;       // of the response's body: promised_ counts
  int status_ = 0;                // of the response
  std::uint64_t body_bytes_ = 0;  // of the response, given to the connection
  TimePoint began_at_{};
  std::uint64_t promised_ = 0;             // bytes still to be written
  std::optional<std::string> new_target_;  // of ReplyFrom(), until the session has seen it
  std::string target_text_;                // the text of the redirected request's views
  int redirects_ = 0;
  struct {
    const void* owner;
    std::uint64_t bits;
  } marks_{};
  ClientOrigin origin_;     // set by the loop's part, if a trusted proxy has sent the request
  std::string user_;        // its memory is used again
  RequestContext context_;  // before its users, which are destroyed first
  BodyCallback on_body_;
  std::function<void()> on_room_;
  std::unique_ptr<ReplyTap> tap_;         // nearly always none
  ReplyEditor* editor_ = nullptr;         // until it has seen the response
  std::string_view added_lines_;          // while a prepared response is sent
  std::unique_ptr<Rare> rare_;            // likewise
  std::unique_ptr<ExchangeState> state_;  // destroyed first: the callbacks may refer to it
};

}  // namespace TURTLE_SERVER
