// The HTTP/1.1 session of one client: requests in, responses out, in order.
//
// OnProgress() is the connection's handler. It parses one request, has it handled and queues the
// response. It repeats this while the input has a complete head, no response is pending, and the
// client reads its responses. One send carries all of them, since the loop flushes after the
// handler. After some requests it is the turn of the loop's other connections.
//
// One exchange is open at a time. The next request is not parsed before the response is complete,
// so responses stay in order without a queue.
//
// A body is read if the handler asks for it, after "100 Continue" if the client waits for that. A
// short body that no handler wants is read and dropped. If it is long, or the client still waits
// for "100 Continue", the connection is closed after the response.
//
// Each phase has its deadline. A head or a body that does not end gives a 408; an idle connection
// is closed, and so is that of a client that does not read its response. A channel that does not
// open counts as a head, and its connection is reset.
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
  /// How many requests one call of OnProgress() serves. Further ones wait until the loop's other
  /// connections have had their turn.
  static constexpr int kMaxRequestsPerCall = 64;

  /// @param connection the connection of this session
  /// @param loop shared by the sessions of the same loop
  HttpSession(Connection& connection, Http1Shared& loop);
  ~HttpSession() override;

  void OnProgress() override;
  void OnTimeout() override;
  void OnStop() override;

  [[nodiscard]] auto FindOpen(std::uint32_t number) noexcept -> Exchange* override;

  /// Queues a final response, whatever the request was.
  /// @param connection to be closed by the caller
  /// @param loop of the connection
  /// @param response complete
  /// @param method of the request, as far as it is known: HEAD gets no body
  static void SendLast(Connection& connection, Http1Shared& loop, const Response& response,
                       Method method = Method::kOther);

 private:
  // The part of a client's stream that has begun, and has not ended.
  enum class Reading : std::uint8_t {
    kNothing,  // between two requests
    kChannel,  // the handshake of a channel, from accept on
    kHead      // of a request
  };

  void OnWake() override { LookAgain(); }
  void ContinueExchange();
  void GoOn();

  // Serves the requests at the front of the input, up to the share of one call, until one is
  // incomplete or its exchange stays open, or the connection is paused or ends.
  void ServeInput();

  void SkipLineEnds();
  auto ServeRequest() -> bool;
  void KeepExchange();
  void Refuse(int status, std::string_view reason, Method method = Method::kOther);

  // Ends the complete exchange, and closes the connection if it isn't kept.
  void Finish();

  void HandOver();
  void Close(Closing closing);
  void SetDeadlines();
  void LookAgain();
  [[nodiscard]] auto ReadDeadline() const -> TimePoint;
  auto EarnWriteTime() -> bool;
  void OnReadTimeout();
  [[nodiscard]] auto Options() const noexcept -> const HttpOptions& {
    return loop_.Http().Options();
  }

  // The small ones come first: they fill up the base's last word.
  std::uint8_t line_ends_ = 0;           // before the request that is due
  std::uint8_t served_ = 0;              // requests, in this call of OnProgress()
  Reading reading_ = Reading::kNothing;  // since reading_since_; no byte moves its deadline
  bool keep_alive_ = true;               // another request may follow
  bool awaits_turn_ = false;             // its input is served in the next round of the loop
  std::uint32_t acknowledged_ = 0;       // bytes, when write_deadline_ was set last
  Http1Shared& loop_;
  HttpParser parser_;
  std::unique_ptr<HttpExchange> exchange_;  // set while one is open
  TimePoint reading_since_;  // the first byte of the head, or when the client last fell silent
  TimePoint write_deadline_ = TimePoint::max();  // while something is unsent
};

static_assert(sizeof(HttpSession) <= 80, "the memory of an idle connection");

}  // namespace TURTLE_SERVER
