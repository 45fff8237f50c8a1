// One client's HTTP/1.1: requests in, responses out, in order.
//
// OnProgress() is the connection's handler. It parses one request, has it answered and queues the
// response. It goes on as long as there is a whole head in the input, no response is awaited, and
// the client reads what it is sent. The responses leave by one send, because the loop flushes after
// the handler. After a number of requests the other connections of the loop have their turn.
//
// One exchange is open at a time: the next request is not parsed before the response is complete,
// so responses leave in order without a queue.
//
// A body is read for the handler that asks for it, after "100 Continue" if the client waits for
// that. One that no handler wants is read and dropped if it is short; if it is long, or if the
// client still waits for leave to send it, the connection is closed after the response.
//
// Every phase has its deadline: a head or a body that does not end is answered by 408, an idle
// connection and a client that does not read its response are closed.
//
// Thread: the loop's.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "core/connection.h"
#include "core/looper.h"
#include "http/http_parser.h"
#include "http/response.h"
#include "web/http_exchange.h"
#include "web/session.h"

namespace TURTLE_SERVER {

/// The state of one HTTP/1.1 connection.
class HttpSession : public Session {
 public:
  /// Requests that one call of OnProgress() serves. More of them wait until the loop's other
  /// connections have had their turn.
  static constexpr int kMaxRequestsPerCall = 64;

  /// @param connection whose state this is
  /// @param loop what the sessions of the same loop share
  HttpSession(Connection& connection, Http1Shared& loop);
  ~HttpSession() override;

  void OnProgress() override;
  void OnTimeout() override;
  void OnStop() override;

  /// Queues a response after which nothing comes, whatever was asked.
  /// @param connection which the caller closes
  /// @param loop of the connection
  /// @param response whole
  /// @param method of the request, as far as it is known: HEAD gets no body
  static void SendLast(Connection& connection, Http1Shared& loop, const Response& response,
                       Method method = Method::kOther);

 private:
  void OnWake() override { LookAgain(); }
  void ContinueExchange();
  void GoOn();
  void ServeInput();
  void SkipLineEnds();
  auto ServeRequest() -> bool;
  void KeepExchange();
  void Refuse(int status, std::string_view reason, Method method = Method::kOther);
  void Finish();
  void Close(Closing closing);
  void SetDeadlines();
  void LookAgain();
  [[nodiscard]] auto ReadDeadline() const -> TimePoint;
  auto EarnWriteTime() -> bool;
  void OnReadTimeout();
  [[nodiscard]] auto Options() const noexcept -> const HttpOptions& {
    return loop_.Http().Options();
  }

  // Small ones first: they fill up the base's last word.
  std::uint8_t line_ends_ = 0;      // before the request that is due
  std::uint8_t served_ = 0;         // requests, in this call of OnProgress()
  bool in_head_ = false;            // a part of a head has come; its deadline does not move
  bool keep_alive_ = true;          // another request may follow
  bool awaits_turn_ = false;        // its input is served in the next round
  std::uint32_t acknowledged_ = 0;  // bytes, when write_deadline_ last passed
  Http1Shared& loop_;
  HttpParser parser_;
  std::unique_ptr<HttpExchange> exchange_;  // is open
  TimePoint reading_since_;  // the first byte of the head, or when the client last fell silent
  TimePoint write_deadline_ = TimePoint::max();  // while something is unsent
};

static_assert(sizeof(HttpSession) <= 80, "the memory of an idle connection");

}  // namespace TURTLE_SERVER
