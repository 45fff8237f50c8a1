#include "websocket/websocket_session.h"

#include <utility>

#include "log/log.h"
#include "websocket/handshake.h"

namespace TURTLE_SERVER {

WebSocketSession::WebSocketSession(Connection& connection, LoopSockets& shared,
                                   const Agreement& agreement, std::shared_ptr<void> data)
    : Session(connection),
      shared_(shared),
      socket_(*this, shared, agreement, std::move(data)),
      heard_(GetLooper().Now()),
      last_message_(heard_) {
  LookAgain();
}

WebSocketSession::~WebSocketSession() {
  socket_.phase_ = WebSocket::Phase::kClosed;
  TellClose(CloseCode::kAbnormal, {});
}

// Calls a function of the user. @return false: it has thrown
template <typename Callback>
auto WebSocketSession::Guard(const Callback& callback) noexcept -> bool {
  try {
    callback();
    return true;
  } catch (...) {
    LogException("a WebSocket's handler");
    return false;
  }
}

// Calls a function of the user that may end the socket: by an exception, or by deleting the
// connection. Then no further function may be called for it.
template <typename Callback>
void WebSocketSession::Call(const Callback& callback) {
  if (!Guard(callback)) {
    Fail(CloseCode::kInternalError, {});
  } else if (GetLooper().Find(GetConnection().Id()) == nullptr) {
    End(CloseCode::kAbnormal, {}, Closing::kAuto);
  }
}

void WebSocketSession::Run(const std::function<void(WebSocket&)>& task) {
  if (!IsOver()) {
    Call([&] { task(socket_); });
  }
}

void WebSocketSession::OnProgress() {
  if (IsOver()) {
    return;
  }
  if (GetConnection().Broken()) {
    End(CloseCode::kAbnormal, {}, Closing::kAuto);
    return;
  }
  if (GetConnection().UnsentBytes() == 0) {
    write_deadline_ = TimePoint::max();  // of earlier output, whose end isn't reported
  }
  SetRunning(true);
  Open();
  TellRoom();
  // Earlier input is handled before more is read. A turn that is over goes on in the next round.
  bool goes_on = ServeInput();
  if (goes_on && !IsOver()) {
    const auto [read, exit] = GetConnection().Recv();
    if (read != 0) {
      pinged_ = false;
      heard_ = socket_.IsOpen() ? GetLooper().Now() : heard_;
    }
    goes_on = ServeInput();
    if (exit && goes_on && !IsOver() && !GetConnection().Paused()) {
      End(CloseCode::kAbnormal, {}, Closing::kAuto);
    }
  }
  if (!goes_on && !IsOver()) {
    GetLooper().Schedule(&GetConnection());
  }
  if (reader_ && reader_->IsIdle()) {
    shared_.GiveBack(std::move(reader_));
  }
  LookAgain();
  SetRunning(false);
}

void WebSocketSession::Open() {
  if (!std::exchange(opened_, true) && shared_.Handlers().on_open) {
    Run(shared_.Handlers().on_open);
  }
}

void WebSocketSession::TellRoom() {
  if (socket_.was_full_ && socket_.CanSend()) {
    socket_.was_full_ = false;
    if (shared_.Handlers().on_room) {
      Run(shared_.Handlers().on_room);
    }
  }
}

auto WebSocketSession::RulesOfClient() const noexcept -> ReaderRules {
  ReaderRules rules;
  rules.max_message_bytes = Options().max_message_bytes;
  rules.max_fragments = Options().max_fragments;
  if (const DeflateTerms* const terms = socket_.Deflate()) {
    rules.inflates = true;
    rules.keeps_context = terms->client_takeover;
    rules.window_bits = terms->client_window_bits;
  }
  return rules;
}

// Handles the frames that have arrived. @return false: more than one turn's worth
auto WebSocketSession::ServeInput() -> bool {
  Connection& connection = GetConnection();
  for (int events = 0; !IsOver() && !connection.Paused() && !connection.Read().empty(); ++events) {
    if (events == kMaxEventsPerCall) {
      return false;
    }
    if (!reader_) {
      reader_ = shared_.TakeReader(RulesOfClient());
    }
    const std::string_view input = connection.Read();
    std::string_view rest = input;
    const ReadEvent event = reader_->Next(rest);
    connection.Consume(input.size() - rest.size());
    CountMessage(event, input.size() - rest.size());
    Handle(event);
  }
  return true;
}

void WebSocketSession::Handle(ReadEvent event) {
  switch (event) {
    case ReadEvent::kNeedInput:
    case ReadEvent::kPong:  // any byte is a sign of life
      break;
    case ReadEvent::kMessage:
      HandleMessage();
      break;
    case ReadEvent::kPing:
      // A Pong after our Close would be dropped (RFC 6455, section 1.4). And a client that sends
      // Pings could put off its end, since it would always have something to read.
      if (socket_.IsOpen()) {
        socket_.SendControl(Opcode::kPong, reader_->Bytes());
      }
      break;
    case ReadEvent::kClose:
      AnswerClose(reader_->Code(), reader_->Bytes());
      break;
    case ReadEvent::kFailed:
      Fail(reader_->Code(), {});
      break;
  }
}

void WebSocketSession::HandleMessage() {
  if (!socket_.IsOpen()) {
    return;  // sent before the client has seen our Close
  }
  last_message_ = GetLooper().Now();
  const auto& on_message = shared_.Handlers().on_message;
  const Message message{reader_->Kind(), reader_->Bytes()};
  if (on_message) {
    Call([&] { on_message(socket_, message); });
  }
}

void WebSocketSession::AnswerClose(CloseCode code, std::string_view reason) {
  if (socket_.IsOpen()) {
    socket_.SendClose(code, {});
  }
  End(code, reason, Closing::kAuto);
}

// The client breaks a rule, or a handler has failed. The loop reads and drops further input, or the
// kernel might reset the connection before the client has seen the code.
void WebSocketSession::Fail(CloseCode code, std::string_view reason) {
  if (socket_.IsOpen()) {
    socket_.SendClose(code, reason);
  }
  End(code, reason, Closing::kLinger);
}

void WebSocketSession::End(CloseCode code, std::string_view reason, Closing closing) {
  socket_.phase_ = WebSocket::Phase::kClosed;
  TellClose(code, reason);
  GetLooper().DeleteConnection(GetConnection().GetFd(), closing);
}

void WebSocketSession::TellClose(CloseCode code, std::string_view reason) noexcept {
  if (!std::exchange(close_told_, true) && opened_ && shared_.Handlers().on_close) {
    Guard([&] { shared_.Handlers().on_close(socket_, code, reason); });
  }
  socket_.subscriptions_.reset();
}

void WebSocketSession::OnStop() {
  socket_.Close(CloseCode::kGoingAway, "the server stops");
  GetConnection().Send();
}

}  // namespace TURTLE_SERVER
