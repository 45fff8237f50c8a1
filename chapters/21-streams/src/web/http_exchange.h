// An HTTP/1.1 exchange (RFC 9112).
//
// This class keeps the state of one HTTP/1.1 request: the place of its head, the framing of its
// body, and whether the connection can be kept. Its session (web/http_session.h) parses one request
// after the other; the exchange reads and writes the bytes of one.
//
// Interface:
//  * Open() parses the head; Keep() lets the exchange outlive the bytes of its head.
//  * DeliverBody() passes received bytes of the body to the handler, or drops them.
//  * EarnBodyTime() and GiveUpBody() decide what happens at a passed deadline.
//  * IsComplete() is true when the next request may be parsed, or the connection closed.
//
// Http1Shared is shared by the exchanges of one loop, so that a request allocates nothing.
//
// Thread: the loop's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "core/looper.h"
#include "http/body_reader.h"
#include "http/http_date.h"
#include "http/http_parser.h"
#include "http/response.h"
#include "web/exchange.h"
#include "web/loop_http.h"
#include "web/session.h"

namespace TURTLE_SERVER {

class Http1Shared;

/// Queues the body of a response, whatever its pieces are.
void WriteBody(Connection& connection, const Response& response);

/// One HTTP/1.1 request and its response.
class HttpExchange final : public Exchange {
 public:
  /// @param loop of the exchange
  explicit HttpExchange(Http1Shared& loop) noexcept : loop_(loop) {}
  ~HttpExchange() override { Close(); }

  HttpExchange(const HttpExchange&) = delete;
  auto operator=(const HttpExchange&) -> HttpExchange& = delete;

  /// Parses the head at the front of the input. With kDone the exchange begins.
  /// @param session of the connection
  /// @param parser of that connection
  /// @return the parser's verdict
  auto Open(Session& session, HttpParser& parser) -> ParseResult;

  /// Drops the head from the input, after making the request independent of it.
  void Keep();

  /// Ends the exchange: drops the rest of the head, and destroys the attached state.
  void Finish() {
    GetConnection().Consume(std::exchange(unconsumed_bytes_, 0));
    Close();
  }

  /// Returns true once the response is complete and nothing of the request is left to read.
  [[nodiscard]] auto IsComplete() const noexcept -> bool {
    return Replied() && (body_done_ || !keep_alive_);
  }

  /// Returns true if another request may follow the response on this connection.
  [[nodiscard]] auto KeepsConnection() const noexcept -> bool { return keep_alive_; }

  /// Returns how to close a connection that isn't kept. It lingers if the client may have sent
  /// more: a reset for unread bytes would destroy the response (RFC 9112, section 9.6).
  [[nodiscard]] auto HowToClose() const noexcept -> Closing;

  /// Returns true if the exchange waits for bytes of the client.
  [[nodiscard]] auto WantsInput() const noexcept -> bool {
    return Replied() ? keep_alive_ && !body_done_ : WantsBody();
  }

  /// Delivers the received part of the body to the handler, or drops it. Sends "100 Continue" to a
  /// client that waits for it.
  void DeliverBody();

  /// Starts the body's deadline when it is the client's turn to send, and stops it otherwise.
  void UpdateBodyDeadline() noexcept;

  /// Returns when the client must have sent more of the body; TimePoint::max() if it need not.
  [[nodiscard]] auto BodyDeadline() const noexcept -> TimePoint { return body_deadline_; }

  /// Extends a passed deadline by the time that newly received bytes of the body have earned. A
  /// client that isn't read has no deadline.
  /// @return false if no bytes were received
  auto EarnBodyTime() noexcept -> bool;

  /// Ends an exchange whose body came too slowly: with a 408, or, once the response has begun, by
  /// closing the connection.
  void GiveUpBody();

  void LimitBody(std::uint64_t most) noexcept override;
  [[nodiscard]] auto BodyTooLarge() const noexcept -> bool override;
  [[nodiscard]] auto BodyLimitText() const -> std::string override;

  [[nodiscard]] auto CanUpgrade(std::string_view protocol) const -> bool override;
  void Upgrade(std::string_view protocol, const Response& fields,
               const SessionMaker& next) override;

  /// Returns true from Upgrade() until TakeNext().
  [[nodiscard]] auto HasNext() const noexcept -> bool { return next_ != nullptr; }

  /// Returns the maker of the session that takes over the connection.
  [[nodiscard]] auto TakeNext() noexcept -> SessionMaker { return std::exchange(next_, nullptr); }

  auto Probe() -> bool override;

 private:
  // Decides whether the connection is kept, and queues the head and, unless the method or the
  // status forbids one, the body.
  void SendWhole(const Response& response) override;
  void SendReady(int status, std::string_view start, const ReadyReply& reply) override;
  void SendHead(const Response& head, std::optional<std::uint64_t> length) override;
  void SendPiece(std::string_view bytes) override;
  void SendPiece(FileSlice slice) override;
  void SendPinned(std::string_view bytes, const Pin& pin) override;
  void SendEnd() override;
  void Cut() override;

  void BeginChunk(std::uint64_t bytes);
  void EndChunk();
  void TakeBody();
  void WriteHead(const Response& head, BodyEnd body_end, std::uint64_t length);
  void DecideKeepAlive(BodyEnd body_end) noexcept;
  [[nodiscard]] auto BodyAhead() const noexcept -> std::optional<std::uint64_t>;
  [[nodiscard]] auto CanDrop() const noexcept -> bool;
  [[nodiscard]] auto HasTakenMore() const noexcept -> bool;
  [[nodiscard]] auto Lists(std::string_view field, std::string_view name) const -> bool;

  Http1Shared& loop_;
  std::size_t unconsumed_bytes_ = 0;  // of the request, at the front of the input
  bool keep_alive_ = true;            // after the response
  bool body_done_ = true;
  bool continue_due_ = false;  // the client waits for "100 Continue"
  BodyEnd body_end_ = BodyEnd::kLength;
  std::optional<BodyReader> body_;              // if there is one
  std::uint64_t body_moved_ = 0;                // bytes since body_deadline_ was set
  std::uint64_t body_dropped_ = 0;              // bytes that came after the response
  TimePoint body_deadline_ = TimePoint::max();  // while it is the client's turn to send
  SessionMaker next_;
};

/// HTTP/1.1 state of one loop, shared by its sessions.
class Http1Shared {
 public:
  /// @param http has the requests served; outlives this object
  explicit Http1Shared(LoopHttp& http) noexcept : http_(http) {}
  Http1Shared(const Http1Shared&) = delete;
  auto operator=(const Http1Shared&) -> Http1Shared& = delete;

  /// Returns the loop's handlers and limits.
  [[nodiscard]] auto Http() const noexcept -> LoopHttp& { return http_; }

  /// Returns an unopened exchange, from GiveBack() or new.
  [[nodiscard]] auto TakeExchange() -> std::unique_ptr<HttpExchange> {
    return spare_ ? std::move(spare_) : std::make_unique<HttpExchange>(*this);
  }

  /// Keeps a finished exchange for the next request.
  void GiveBack(std::unique_ptr<HttpExchange> exchange) noexcept { spare_ = std::move(exchange); }

  /// Returns an empty string to write a head in; its memory is reused.
  [[nodiscard]] auto HeadScratch() noexcept -> std::string&;

  /// Returns the status line and the Date line of a ready reply. Valid until the next call.
  [[nodiscard]] auto ReadyStart(ReadyStatus status) -> std::string_view;

 private:
  LoopHttp& http_;
  std::unique_ptr<HttpExchange> spare_;
  std::string head_;
  HttpTime start_time_{};                    // of both ready_starts_
  std::array<std::string, 2> ready_starts_;  // by ReadyStatus
};

}  // namespace TURTLE_SERVER
