// One client's HTTP: requests in, replies out, in order.
//
// OnProgress() is the connection's handler. As long as there is a whole head in what has come in,
// nobody else has to answer first, and the client reads what it is sent, it parses one request,
// finds its handler and queues the reply. The replies leave by one send, because the loop flushes
// after the handler. After a number of requests the other connections of the loop have their turn.
//
// A body is read for the handler that asks for it, after "100 Continue" if the client waits for
// that. One that nobody wants is read and dropped if it is short; if it is long, or if the client
// still waits for leave to send it, the connection is closed after the reply.
//
// Every phase has its deadline: a head or a body that does not end is answered by 408, an idle
// connection and a client that does not read its reply are let go.
//
// Thread: the loop's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/connection.h"
#include "core/looper.h"
#include "http/http_parser.h"
#include "http/response.h"
#include "web/exchange.h"
#include "web/loop_http.h"

namespace TURTLE_SERVER {

/// The state of one HTTP connection.
class HttpSession : public ConnectionState {
 public:
  /// Requests that one call of OnProgress() serves. More of them wait until the loop's other
  /// connections have had their turn.
  static constexpr int kMaxRequestsPerCall = 64;

  /// @param connection whose state this is
  /// @param loop what the sessions of the same loop share
  HttpSession(Connection& connection, LoopHttp& loop);
  ~HttpSession() override;

  HttpSession(const HttpSession&) = delete;
  auto operator=(const HttpSession&) -> HttpSession& = delete;

  /// Goes on: input, room for output, or a late reply may be there.
  void OnProgress();

  /// A deadline has passed.
  void OnTimeout();

  /// The server is to stop: a request under way is answered, an idle connection is closed.
  void OnStop();

  /// Queues the reply of the exchange that is open; for Exchange.
  void SendReply(Exchange& exchange, const Response& response);

  /// The same with bytes that are ready; for Exchange.
  void SendReply(Exchange& exchange, const ReadyReply& reply);

  /// Queues only the head of it; for Exchange.
  void SendHead(Exchange& exchange, const Response& head, BodyEnd body_end, std::uint64_t length);

  /// Has the session called again, and flushed, unless it is running now; for Exchange.
  void Wake();

  /// Closes the connection in the middle of a reply; for Exchange.
  void Cut(BodyEnd body_end);

  /// Whose state this is.
  [[nodiscard]] auto GetConnection() const noexcept -> Connection& { return connection_; }

  /// The name of the exchange that is open, or would be next.
  [[nodiscard]] auto CurrentId() const noexcept -> ExchangeId {
    return {connection_.Id(), exchange_number_};
  }

 private:
  void GoOn();
  void ServeInput();
  void SkipLineEnds();
  auto ServeRequest() -> bool;
  void Dispatch(Exchange& exchange);
  void ContinueExchange();
  auto BodyIsDue() const noexcept -> bool;
  void DeliverBody();
  void TakeBody(Exchange& exchange);
  void DecideKeepAlive(const Exchange& exchange, BodyEnd body_end) noexcept;
  auto BodyAhead(const Exchange& exchange) const noexcept -> std::optional<std::uint64_t>;
  auto CanDrop(const Exchange& exchange) const noexcept -> bool;
  template <typename Callback>
  void Guard(Exchange& exchange, const Callback& callback);
  void Refuse(int status, std::string_view reason, Method method = Method::kOther);
  void Finish(std::unique_ptr<Exchange> exchange);
  void TellObservers(const Exchange& exchange) noexcept;
  void Close(Closing closing);
  auto HasTakenMore(const Exchange& exchange) const noexcept -> bool;
  void SetDeadlines();
  void LookAgain();
  auto ReadDeadline() const -> TimePoint;
  auto EarnWriteTime() -> bool;
  void OnReadTimeout();
  void OnBodyTimeout(Exchange& exchange);

  auto GetLooper() const noexcept -> Looper& { return *connection_.GetLooper(); }

  Connection& connection_;
  LoopHttp& loop_;
  HttpParser parser_;
  std::unique_ptr<Exchange> exchange_;  // waits for its reply
  TimePoint reading_since_;  // the first byte of the head, or when the client last fell silent
  TimePoint write_deadline_ = TimePoint::max();  // while something is unsent
  std::uint32_t acknowledged_ = 0;               // when the last one passed
  std::uint32_t exchange_number_ = 0;
  bool running_ = false;        // within OnProgress(): whatever is queued now will be flushed
  std::uint8_t line_ends_ = 0;  // before the request that is due
  bool in_head_ = false;        // a part of a head has come; its deadline does not move
  bool keep_alive_ = true;      // after the reply to this request
  std::uint8_t served_ = 0;     // requests, in this call of OnProgress()
  bool awaits_turn_ = false;    // what has come is served in the next round
};

static_assert(sizeof(HttpSession) <= 80, "the memory of an idle connection");

}  // namespace TURTLE_SERVER
