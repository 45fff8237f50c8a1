// The deadlines of a WebSocketSession: silent clients, idle ones, and those that don't read.
#include <algorithm>
#include <chrono>
#include <utility>

#include "core/min_rate.h"
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
  GetLooper().SetDeadline(&GetConnection(), NextDeadline());
}

auto WebSocketSession::NextDeadline() const noexcept -> TimePoint {
  const TimePoint silence = std::min(write_deadline_, SilenceDeadline());
  return socket_.IsOpen() ? std::min(silence, After(last_message_, Options().idle_timeout))
                          : silence;
}

auto WebSocketSession::SilenceDeadline() const noexcept -> TimePoint {
  if (!socket_.IsOpen()) {
    return After(heard_, Options().close_timeout);
  }
  return After(heard_, pinged_ ? Options().pong_timeout : Options().ping_interval);
}

void WebSocketSession::OnTimeout() {
  const TimePoint now = GetLooper().Now();
  if (GetConnection().UnsentBytes() == 0) {
    write_deadline_ = TimePoint::max();
  } else if (now >= write_deadline_ && !EarnWriteTime()) {
    End(CloseCode::kAbnormal, {}, Closing::kReset);  // else the kernel would keep unread bytes
    return;
  } else if (socket_.IsOpen()) {
    heard_ = now;  // it has something to read, so its silence means nothing
    pinged_ = false;
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

// A client that is silent gets a Ping. One that stays silent is gone.
void WebSocketSession::OnSilence() {
  if (!socket_.IsOpen() || pinged_) {
    End(CloseCode::kAbnormal, {}, Closing::kReset);
    return;
  }
  heard_ = GetLooper().Now();
  pinged_ = true;
  socket_.SendControl(Opcode::kPing, {});
}

// Extends the deadline by the time earned by bytes that the client's kernel has acknowledged.
auto WebSocketSession::EarnWriteTime() -> bool {
  const MinRate rate{Options().min_send_rate, Bounded(Options().write_timeout)};
  const Clock::duration more =
      rate.TimeFor(AcknowledgedSince(GetConnection().GetFd(), acknowledged_));
  write_deadline_ = GetLooper().Now() + more;
  return more > Clock::duration::zero();
}

}  // namespace TURTLE_SERVER
