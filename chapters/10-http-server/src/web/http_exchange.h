// An HTTP/1.1 exchange (RFC 9112).
//
// This class keeps the state of one HTTP/1.1 request: the place of its head, the framing of its
// body, and whether the connection can be kept. Its session (web/http_session.h) parses one request
// after the other; the exchange reads and writes the bytes of one.
//
// Interface:
//  * Open() parses the head; Keep() lets the exchange outlive the bytes of its head.
//  * IsComplete() is true when the next request may be parsed, or the connection closed.
//
// Http1Shared is shared by the exchanges of one loop, so that a request allocates nothing.
//
// Thread: the loop's.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "core/looper.h"
#include "http/http_parser.h"
#include "http/response.h"
#include "web/exchange.h"
#include "web/loop_http.h"
#include "web/session.h"

namespace TURTLE_SERVER {

class Http1Shared;

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
  [[nodiscard]] auto IsComplete() const noexcept -> bool { return Replied(); }

  /// Returns true if another request may follow the response on this connection.
  [[nodiscard]] auto KeepsConnection() const noexcept -> bool { return keep_alive_; }

  /// Returns how to close a connection that isn't kept. It lingers if the client may have sent
  /// more: a reset for unread bytes would destroy the response (RFC 9112, section 9.6).
  [[nodiscard]] auto HowToClose() const noexcept -> Closing;

 private:
  // Decides whether the connection is kept, and queues the head and, unless the method or the
  // status forbids one, the body.
  void SendWhole(const Response& response) override;
  [[nodiscard]] auto HasTakenMore() const noexcept -> bool;

  Http1Shared& loop_;
  std::size_t unconsumed_bytes_ = 0;  // of the request, at the front of the input
  bool keep_alive_ = true;            // after the response
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

 private:
  LoopHttp& http_;
  std::unique_ptr<HttpExchange> spare_;
  std::string head_;
};

}  // namespace TURTLE_SERVER
