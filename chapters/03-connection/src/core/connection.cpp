#include "core/connection.h"

#include <cassert>
#include <utility>

namespace TURTLE_SERVER {

Connection::Connection(Socket socket) noexcept : socket_(std::move(socket)) {}

auto Connection::Recv() -> RecvResult {
  if (line_ != LineState::kOpen) {
    return {0, true};
  }
  if (paused_) {
    return {0, false};
  }
  const IoResult result = Fill();
  switch (result.status) {
    case IoStatus::kBytes:
      return {result.bytes, false};
    case IoStatus::kWouldBlock:
      return {0, false};
    case IoStatus::kEnd:
      Move(LineState::kEnded);  // the other direction is still open: responses can be sent
      return {0, true};
    case IoStatus::kError:
      break;
  }
  Break();
  return {0, true};
}

void Connection::WriteToWriteBuffer(std::string_view bytes) {
  if (line_ != LineState::kBroken) {
    output_.Append(bytes);
    UpdatePaused();
  }
}

void Connection::Send() {
  while (!output_.Empty()) {
    const IoResult result = Flush();
    if (result.status == IoStatus::kError) {
      Break();
      return;
    }
    if (result.status != IoStatus::kBytes) {
      break;
    }
  }
  UpdatePaused();
}

auto Connection::Fill() -> IoResult {
  const IoResult result = socket_.Recv(input_.Prepare(kRecvSize), kRecvSize);
  input_.Commit(result.status == IoStatus::kBytes ? result.bytes : 0);
  return result;
}

auto Connection::Flush() -> IoResult {
  const IoResult result = socket_.Send(output_.View());
  if (result.status == IoStatus::kBytes) {
    output_.Consume(result.bytes);
  }
  return result;
}

// There are two marks, so that a client near one does not toggle it with every segment.
void Connection::UpdatePaused() noexcept {
  paused_ = output_.Size() > (paused_ ? kLowWater : kHighWater);
}

void Connection::Break() noexcept {
  Move(LineState::kBroken);
  output_.Clear();
  paused_ = false;
}

void Connection::Move(LineState to) noexcept {
  assert(MayMove(line_, to));
  line_ = to;
}

}  // namespace TURTLE_SERVER
