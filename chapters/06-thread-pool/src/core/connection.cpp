#include "core/connection.h"

#include <sys/socket.h>

#include <new>
#include <string_view>
#include <utility>

#include "core/looper.h"
#include "core/read_scratch.h"
#include "log/log.h"

namespace TURTLE_SERVER {

static_assert(sizeof(Connection) <= 80, "the memory of an idle connection");

Connection::Connection(Socket socket, Looper& looper, const ConnectionCallbacks& callbacks,
                       std::uint32_t generation) noexcept
    : looper_(looper),
      callbacks_(callbacks),
      socket_(std::move(socket)),
      generation_(generation),
      readable_(true),  // the request often comes with the connection
      end_known_(false),
      error_known_(false),
      progress_(false),
      scheduled_(false),
      listed_(false),
      registered_(false) {}

Connection::~Connection() {
  ReadScratch& scratch = looper_.GetScratch();
  if (scratch.owner == this) {
    scratch.owner = nullptr;
  }
}

auto Connection::GetPeerAddress() const -> NetAddress {
  NetAddress peer;
  return getpeername(GetFd(), peer.Data(), peer.Length()) == 0 ? peer : NetAddress();
}

auto Connection::Recv() -> RecvResult {
  looper_.AssertInLoop();
  if (Deleted()) {
    return {0, true};
  }
  if (line_ != LineState::kOpen) {
    readable_ = false;
    return {0, true};
  }
  if (Paused() || input_.Size() >= kInputLimit) {  // the scratch has less room than that
    return {0, false};
  }
  progress_ = true;
  const IoResult result = Fill();
  switch (result.status) {
    case IoStatus::kBytes:
      return {result.bytes, false};
    case IoStatus::kWouldBlock:
      readable_ = false;
      return {0, false};
    case IoStatus::kEnd:
      readable_ = false;
      Move(LineState::kEnded);  // the other direction is still open: responses can be sent
      return {0, true};
    case IoStatus::kError:
      break;
  }
  Break();
  readable_ = false;
  return {0, true};
}

auto Connection::Read() const noexcept -> std::string_view {
  const ReadScratch& scratch = looper_.GetScratch();
  return scratch.owner == this
             ? std::string_view(scratch.bytes.data() + scratch.begin, scratch.end - scratch.begin)
             : input_.View();
}

void Connection::Consume(std::size_t count) noexcept {
  progress_ = true;
  ReadScratch& scratch = looper_.GetScratch();
  if (scratch.owner != this) {
    input_.Consume(count);
  } else if (count < scratch.end - scratch.begin) {
    scratch.begin += count;
  } else {
    scratch.owner = nullptr;
  }
}

void Connection::WriteToWriteBuffer(std::string_view bytes) {
  looper_.AssertInLoop();
  if (line_ != LineState::kBroken && !Deleted()) {
    output_.Append(bytes);
    UpdatePaused();
  }
}

void Connection::Send() {
  looper_.AssertInLoop();
  if (!Deleted()) {
    SendQueued();
  }
}

void Connection::Close(Closing closing) { looper_.DeleteConnection(GetFd(), closing); }

void Connection::SendQueued() {
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
  ReadScratch& scratch = looper_.GetScratch();
  if (scratch.owner != nullptr) {
    scratch.owner->Settle();
  }
  const bool direct = !input_.Empty();  // after earlier input, so that Read() is one piece
  char* into = direct ? input_.Prepare(ReadScratch::kSize) : scratch.bytes.data();
  const IoResult result = socket_.Recv(into, ReadScratch::kSize);
  const std::size_t bytes = result.status == IoStatus::kBytes ? result.bytes : 0;
  if (direct) {
    input_.Commit(bytes);
  } else if (bytes != 0) {
    scratch.owner = this;
    scratch.begin = 0;
    scratch.end = bytes;
  }
  // A short read has emptied the socket: the next bytes raise a new event. Only an end that is
  // already known raises none.
  readable_ = bytes == ReadScratch::kSize || end_known_;
  return result;
}

auto Connection::Flush() -> IoResult {
  const IoResult result = socket_.Send(output_.View());
  if (result.status == IoStatus::kBytes) {
    output_.Consume(result.bytes);
  }
  return result;
}

void Connection::Note(const PollEvent& event) noexcept {
  readable_ = readable_ || event.readable || event.peer_closed || event.error;
  end_known_ = end_known_ || event.peer_closed || event.error;
  error_known_ = error_known_ || event.error;
}

auto Connection::WantsHandler() const noexcept -> bool {
  return (readable_ || scheduled_) && phase_ == ConnectionPhase::kOpen;
}

// A handler that takes none of its input has a reason, such as a response that is not ready yet. It
// is called again when something new happens, not in a busy loop.
auto Connection::HasMore() const noexcept -> bool {
  return ((readable_ && progress_) || scheduled_) && phase_ == ConnectionPhase::kOpen;
}

void Connection::Settle() noexcept {
  ReadScratch& scratch = looper_.GetScratch();
  if (scratch.owner != this) {
    return;
  }
  const std::string_view left = Read();
  scratch.owner = nullptr;
  try {
    input_.Append(left);
  } catch (const std::bad_alloc&) {  // its input has a hole now
    LogException("keeping what was read");
    looper_.DeleteConnection(GetFd());
  }
}

// There are two marks, so that a client near one does not toggle it with every segment.
void Connection::UpdatePaused() noexcept {
  const bool too_much = output_.Size() > (Paused() ? kLowWater : kHighWater);
  if (Deleted() || too_much == Paused()) {
    return;
  }
  Move(too_much ? ConnectionPhase::kPaused : ConnectionPhase::kOpen);
  if (!too_much) {
    looper_.Schedule(this);
  }
}

void Connection::Break() noexcept {
  Move(LineState::kBroken);
  output_.Clear();
  if (Paused()) {
    Move(ConnectionPhase::kOpen);
  }
  readable_ = true;  // Recv() must report it to the handler
  looper_.Schedule(this);
}

}  // namespace TURTLE_SERVER
