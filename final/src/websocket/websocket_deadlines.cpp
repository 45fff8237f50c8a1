// The deadlines of a WebSocketSession: silent clients, idle ones, and those that read or send too
// slowly.
#include <algorithm>
#include <chrono>
#include <utility>

#include "core/min_rate.h"
#include "core/send_queue.h"
#include "core/tcp.h"
#include "websocket/websocket_session.h"

namespace TURTLE_SERVER {

namespace {

// Returns when a timeout passes; 0 means never.
auto After(TimePoint since, std::chrono::milliseconds timeout) noexcept -> TimePoint {
  return timeout.count() == 0 ? TimePoint::max() : since + Bounded(timeout);
}

}  // namespace

// Schedules OnTimeout() for the earliest time at which there may be work.
void WebSocketSession::LookAgain() {
  if (IsOver()) {
    return;
  }
  const TimePoint now = GetLooper().Now();
  if (std::exchange(socket_.progress_, false)) {
    last_message_ = now;
    heard_ = socket_.IsOpen() ? heard_ : now;  // close_timeout counts from our Close on
  }
  if (!socket_.CanSend()) {
    socket_.was_full_ = true;  // even if nothing was refused: the sender may have looked first
  }
  if (GetConnection().UnsentBytes() == 0) {
    write_deadline_ = TimePoint::max();
  } else if (write_deadline_ == TimePoint::max()) {
    write_deadline_ = After(now, Options().write_timeout);
  }
  if (message_bytes_ == 0 || !socket_.IsOpen() || GetConnection().Paused()) {
    message_deadline_ = TimePoint::max();  // nothing is due, or nothing is read
  } else if (message_deadline_ == TimePoint::max()) {
    message_deadline_ = After(now, Options().message_timeout);
    message_checked_ = message_bytes_;
  }
  GetLooper().SetDeadline(&GetConnection(), NextDeadline());
}

auto WebSocketSession::NextDeadline() const noexcept -> TimePoint {
  const TimePoint first = std::min({write_deadline_, message_deadline_, SilenceDeadline()});
  return socket_.IsOpen() ? std::min(first, After(last_message_, Options().idle_timeout)) : first;
}

auto WebSocketSession::SilenceDeadline() const noexcept -> TimePoint {
  const WebSocketOptions& options = Options();
  if (socket_.IsOpen() && !pinged_) {
    return After(heard_, options.ping_interval);
  }
  const std::chrono::milliseconds answer =
      socket_.IsOpen() ? options.pong_timeout : options.close_timeout;
  // A client that reads slowly acknowledges in large steps, since its kernel reports room in them.
  const bool reads_before = queued_ && answer.count() != 0;
  return After(heard_, reads_before ? std::max(answer, options.write_timeout) : answer);
}

void WebSocketSession::OnTimeout() {
  const TimePoint now = GetLooper().Now();
  if (GetConnection().UnsentBytes() == 0) {
    write_deadline_ = TimePoint::max();
  } else if (now >= write_deadline_ && !EarnWriteTime()) {
    End(CloseCode::kAbnormal, {}, Closing::kReset);  // else the kernel would keep unread bytes
    return;
  } else {
    heard_ = now;  // it has something to read, so its silence means nothing
    pinged_ = false;
  }
  if (now >= message_deadline_ && !EarnMessageTime()) {
    Fail(CloseCode::kPolicyViolation, "a message is sent too slowly");
    return;
  }
  if (now >= SilenceDeadline()) {
    OnSilence();
  }
  if (socket_.IsOpen() && now >= After(last_message_, Options().idle_timeout)) {
    socket_.Close(CloseCode::kNormal, "idle");
  }
  if (!IsOver()) {
    LookAgain();
    GetConnection().Send();
  }
}

// A client that is silent gets a Ping. One that stays silent is gone, unless it still reads what
// comes before the Ping, or before our Close.
void WebSocketSession::OnSilence() {
  const bool reads_on = ReadsOn();
  heard_ = GetLooper().Now();
  if (socket_.IsOpen() && !pinged_) {
    pinged_ = true;
    socket_.SendControl(Opcode::kPing, {});
  } else if (!reads_on) {
    End(CloseCode::kAbnormal, {}, Closing::kReset);
  }
}

// Returns true if the client has taken bytes out of the kernel's queue since the last call. Each of
// the two signs alone would deceive: the kernel of a program that is stopped acknowledges what
// fits into its buffer, and the queue for a network that is gone just stays. If the queue has
// become empty only now, the client has its time to respond from now on.
auto WebSocketSession::ReadsOn() noexcept -> bool {
  const int socket = GetConnection().GetFd();
  const std::uint32_t count = AcknowledgedBytes(socket);
  const bool had_queue = std::exchange(queued_, SendQueueBytes(socket) != 0);
  return std::exchange(taken_, count) != count && (had_queue || queued_);
}

// Extends the deadline by the time earned by bytes that the client's kernel has acknowledged.
auto WebSocketSession::EarnWriteTime() -> bool {
  const MinRate rate{Options().min_send_rate, Bounded(Options().write_timeout)};
  const Clock::duration more =
      rate.TimeFor(AcknowledgedSince(GetConnection().GetFd(), acknowledged_));
  write_deadline_ = GetLooper().Now() + more;
  return more > Clock::duration::zero();
}

// Counts the bytes that belong to an incomplete message, or to an incomplete head. A complete
// control frame is neither, so a client can't extend a message by Pings.
void WebSocketSession::CountMessage(ReadEvent event, std::size_t bytes) noexcept {
  constexpr std::int64_t kControlHead = 6;  // the key is a part of it
  message_bytes_ += static_cast<std::int64_t>(bytes);
  if (event == ReadEvent::kMessage) {
    message_bytes_ = 0;
    message_deadline_ = TimePoint::max();  // the next one has its own
  } else if (event == ReadEvent::kPing || event == ReadEvent::kPong) {
    message_bytes_ -= kControlHead + static_cast<std::int64_t>(reader_->Bytes().size());
  }
}

// Extends the deadline by the time earned by bytes of the message.
auto WebSocketSession::EarnMessageTime() noexcept -> bool {
  const MinRate rate{Options().min_message_rate, Bounded(Options().message_timeout)};
  const std::int64_t moved = message_bytes_ - std::exchange(message_checked_, message_bytes_);
  const Clock::duration more =
      rate.TimeFor(static_cast<std::uint64_t>(std::max<std::int64_t>(moved, 0)));
  message_deadline_ = GetLooper().Now() + more;
  return more > Clock::duration::zero();
}

}  // namespace TURTLE_SERVER
