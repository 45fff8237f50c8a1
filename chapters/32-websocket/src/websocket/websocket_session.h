// The session of one WebSocket: frames in, messages to the handler, and an end in good order.
//
//     kOpen ── Close() ──> kClosing ── the client's Close, or close_timeout ──> kClosed
//       └──── the client's Close, a broken rule, or no sign of life ───────────────^
//
// A session that gets a Close responds with one, and closes the connection. One that sends it
// first waits for the client's. A client that breaks a rule gets the code of that rule, and the
// connection is closed without waiting.
//
// Deadlines, in websocket_deadlines.cpp:
//  * A silent client gets a Ping, and must show a sign of life. Any byte is one.
//  * While output is unsent, the client's silence means nothing, since it may not have read the
//  Ping
//    or our Close yet. Then it must go on reading (core/min_rate.h). So it must while the kernel
//    holds output for it.
//  * A message that has begun must go on, at a minimum rate.
//
// Thread: the loop's.
// Source: RFC 6455, sections 5.5 and 7.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "base/clock.h"
#include "web/session.h"
#include "websocket/loop_sockets.h"
#include "websocket/message_reader.h"
#include "websocket/websocket.h"

namespace TURTLE_SERVER {

/// The state of one WebSocket connection.
class WebSocketSession final : public Session {
 public:
  /// How many frames one call of OnProgress() handles. Further ones wait until the loop's other
  /// connections have had their turn.
  static constexpr int kMaxEventsPerCall = 256;

  /// @param connection of which the request was upgraded
  /// @param shared the loop's part of the path
  /// @param agreement of the handshake
  /// @param data of on_request
  WebSocketSession(Connection& connection, LoopSockets& shared, const Agreement& agreement,
                   std::shared_ptr<void> data);
  ~WebSocketSession() override;

  void OnProgress() override;
  void OnTimeout() override;
  void OnStop() override;
  [[nodiscard]] auto FindOpen(std::uint32_t /*number*/) noexcept -> Exchange* override {
    return nullptr;  // requests ended with the upgrade
  }

  /// Calls a function of the user; an exception closes the socket with 1011.
  void Run(const std::function<void(WebSocket&)>& task);

 private:
  void OnWake() override { LookAgain(); }
  void Open();
  auto ServeInput() -> bool;
  void Handle(ReadEvent event);
  void HandleMessage();
  void AnswerClose(CloseCode code, std::string_view reason);
  void Fail(CloseCode code, std::string_view reason);
  void End(CloseCode code, std::string_view reason, Closing closing);
  void TellClose(CloseCode code, std::string_view reason) noexcept;
  void TellRoom();
  [[nodiscard]] auto RulesOfClient() const noexcept -> ReaderRules;
  void LookAgain();
  [[nodiscard]] auto NextDeadline() const noexcept -> TimePoint;
  [[nodiscard]] auto SilenceDeadline() const noexcept -> TimePoint;
  void OnSilence();
  auto ReadsOn() noexcept -> bool;
  auto EarnWriteTime() -> bool;
  void CountMessage(ReadEvent event, std::size_t bytes) noexcept;
  auto EarnMessageTime() noexcept -> bool;
  template <typename Callback>
  auto Guard(const Callback& callback) noexcept -> bool;
  template <typename Callback>
  void Call(const Callback& callback);
  [[nodiscard]] auto Options() const noexcept -> const WebSocketOptions& {
    return shared_.Options();
  }
  [[nodiscard]] auto IsOver() const noexcept -> bool {
    return socket_.phase_ == WebSocket::Phase::kClosed;
  }

  bool opened_ = false;
  bool close_told_ = false;
  bool pinged_ = false;             // since heard_, and no byte has come
  bool queued_ = false;             // the kernel had output when ReadsOn() looked last
  std::uint32_t acknowledged_ = 0;  // AcknowledgedBytes() when EarnWriteTime() looked last
  std::uint32_t taken_ = 0;         // AcknowledgedBytes() when ReadsOn() looked last
  LoopSockets& shared_;
  WebSocket socket_;
  std::unique_ptr<MessageReader> reader_;  // within a message, or with a context
  TimePoint heard_;                        // the client's last byte; then the Ping, or our Close
  TimePoint last_message_;                 // in any direction
  TimePoint write_deadline_ = TimePoint::max();    // while something is unsent
  TimePoint message_deadline_ = TimePoint::max();  // while message_bytes_ isn't 0
  std::int64_t message_bytes_ = 0;    // of a message, or of a frame's head, that isn't complete
  std::int64_t message_checked_ = 0;  // message_bytes_ when message_deadline_ was set last
};

static_assert(sizeof(WebSocketSession) <= 176, "the memory of an idle WebSocket");

}  // namespace TURTLE_SERVER
