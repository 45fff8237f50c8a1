#include "core/connection_closer.h"

#include <sys/socket.h>

#include <cstdint>
#include <memory>

#include "core/tcp.h"

namespace TURTLE_SERVER {

namespace {

// Replaces the user's state in a parting connection.
struct PartingState : ConnectionState {
  std::uint32_t acknowledged = 0;  // in bytes, when its time was last up
};

constexpr ClosingStep kOver{Clock::duration::zero(), true};

// Makes the next close(2) drop what the kernel still has to send, and reset the connection.
void ResetOnClose(int fd) noexcept {
  const linger at_once{1, 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

}  // namespace

// Most connections have sent their last bytes, and have left no input unread: they are closed
// without another system call.
auto ConnectionCloser::Begin(Connection& connection) -> ClosingStep {
  connection.SetState(nullptr);
  if (connection.sealing_ != nullptr && connection.closing_ != Closing::kReset) {
    connection.EndOutput();
  }
  connection.SendQueued();
  if (connection.closing_ == Closing::kReset) {
    ResetOnClose(connection.GetFd());
    return kOver;
  }
  const bool done = connection.UnsentBytes() == 0 && !connection.readable_;
  const bool quick = connection.closing_ == Closing::kAuto || connection.line_ == LineState::kEnded;
  if (connection.line_ == LineState::kBroken || (done && quick)) {
    return kOver;
  }
  connection.ClearReadBuffer();
  connection.SetState(std::make_unique<PartingState>());
  connection.Move(ConnectionPhase::kParting);
  ++parting_;
  ClosingStep next = Linger(connection);
  if (next.deadline == Clock::duration::zero()) {
    next.deadline = flush_rate_.grace;
  }
  return next;
}

auto ConnectionCloser::Serve(Connection& connection) -> ClosingStep {
  connection.SendQueued();
  return Linger(connection);
}

// Reads once in each round. When all is sent, the connection is done, or half-closed if it lingers.
auto ConnectionCloser::Linger(Connection& connection) -> ClosingStep {
  if (connection.line_ != LineState::kEnded && connection.line_ != LineState::kBroken) {
    const IoResult unread = connection.Fill();
    connection.ClearReadBuffer();
    if (unread.status == IoStatus::kBytes) {
      connection.closing_ = Closing::kLinger;  // the client is still sending
    }
    if (unread.status == IoStatus::kEnd) {
      connection.Move(LineState::kEnded);
    } else if (unread.status == IoStatus::kError) {
      connection.Move(LineState::kBroken);
    }
  }
  const bool ended = connection.line_ == LineState::kEnded;
  const bool sent = connection.UnsentBytes() == 0;
  ClosingStep next;
  next.over = connection.line_ == LineState::kBroken ||
              (sent && (ended || connection.closing_ == Closing::kAuto));
  next.again = connection.readable_ && !ended;
  if (!next.over && sent && connection.phase_ == ConnectionPhase::kParting) {
    connection.Move(ConnectionPhase::kHalfClosed);
    connection.socket_.ShutdownWrite();
    next.deadline = kLingerTime;
  }
  return next;
}

// A client that has only failed to stop sending has had its time. The first check has nothing to
// compare with: everything that was ever acknowledged counts, which earns most a whole grace.
auto ConnectionCloser::Expire(Connection& connection) -> ClosingStep {
  if (connection.phase_ == ConnectionPhase::kHalfClosed) {
    return kOver;
  }
  auto& state = static_cast<PartingState&>(*connection.State());
  const Clock::duration earned =
      flush_rate_.TimeFor(AcknowledgedSince(connection.GetFd(), state.acknowledged));
  if (earned > Clock::duration::zero()) {
    return {earned};
  }
  ResetOnClose(connection.GetFd());  // or the kernel would keep for minutes what nobody reads
  return kOver;
}

}  // namespace TURTLE_SERVER
