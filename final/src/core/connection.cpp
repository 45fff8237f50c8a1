#include "core/connection.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <new>
#include <string_view>
#include <utility>

#include "core/engine.h"
#include "core/looper.h"
#include "core/read_scratch.h"
#include "log/log.h"

namespace TURTLE_SERVER {

static_assert(sizeof(Connection) <= 64, "the memory of an idle connection");

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
  if (callbacks_.on_destroy) {
    callbacks_.on_destroy(this);
  }
  ReadScratch& scratch = looper_.GetScratch();
  if (scratch.owner == this) {
    scratch.owner = nullptr;
  }
}

auto Connection::GetPeerAddress() const -> NetAddress {
  if (const NetAddress* const known = sealing_ ? sealing_->channel->PeerAddress() : nullptr) {
    return *known;
  }
  NetAddress peer;
  return getpeername(GetFd(), peer.Data(), peer.Length()) == 0 ? peer : NetAddress();
}

void Connection::SetChannel(std::unique_ptr<Channel> channel) {
  if (channel != nullptr) {
    sealing_ = std::make_unique<Sealing>();
    sealing_->channel = std::move(channel);
  }
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
      return {result.bytes, line_ == LineState::kChannelBroken && result.bytes == 0};
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
  return scratch.owner == this ? std::string_view(scratch.begin, scratch.Size()) : input_.View();
}

void Connection::Consume(std::size_t count) noexcept {
  progress_ = true;
  ReadScratch& scratch = looper_.GetScratch();
  if (scratch.owner != this) {
    input_.Consume(count);
  } else if (count < scratch.Size()) {
    scratch.begin += count;
  } else {
    scratch.owner = nullptr;
  }
}

void Connection::WriteToWriteBuffer(std::string_view bytes) {
  looper_.AssertInLoop();
  if (TakesOutput()) {
    output_.Append(bytes);
    if (output_.Size() > kLowWater) {  // otherwise it can't be too much
      UpdatePaused();
    }
  }
}

void Connection::WritePinned(std::string_view bytes, Pin pin) {
  looper_.AssertInLoop();
  if (TakesOutput()) {
    output_.AppendPinned(bytes, std::move(pin));
    if (output_.Size() > kLowWater) {
      UpdatePaused();
    }
  }
}

void Connection::WriteFile(FileSlice slice) {
  looper_.AssertInLoop();
  if (TakesOutput()) {
    output_.AppendFile(std::move(slice));
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
  if (!output_.Empty() || (sealing_ != nullptr && sealing_->HasOutput())) {
    const IoResult result = Flush();
    if (result.status == IoStatus::kError) {
      Break();
      return;
    }
    if (result.status == IoStatus::kBytes &&
        (!output_.Empty() || (sealing_ != nullptr && sealing_->HasOutput()))) {
      looper_.Schedule(this);  // enough for this round; the kernel may not report more room
    }
  }
  if (Paused()) {
    UpdatePaused();  // the queue is shorter now, or the engine has sent some of it since
  }
}

auto Connection::Fill() -> IoResult {
  ReadScratch& scratch = looper_.GetScratch();
  if (scratch.owner != nullptr) {
    scratch.owner->Settle();
  }
  if (sealing_ != nullptr) {
    return FillThroughChannel();
  }
  // The bytes follow what is left, so that Read() is one piece. They are read there at once, or
  // copied from the memory of an engine that receives ahead.
  const bool follows = !input_.Empty();
  const bool direct = follows && !looper_.GetEngine().ReceivesAhead();
  char* const room = direct ? input_.Prepare(ReadScratch::kSize) : scratch.bytes.data();
  const Received received = looper_.GetEngine().Receive(socket_, room);
  // An end that is already known raises no further event.
  readable_ = received.more || end_known_;
  if (received.result.status != IoStatus::kBytes) {
    return received.result;
  }
  const std::size_t bytes = received.result.bytes;
  if (!follows) {
    scratch.Hold(this, received.bytes, bytes);
  } else if (direct) {
    input_.Commit(bytes);
  } else {
    input_.Append({received.bytes, bytes});
  }
  return received.result;
}

// The wire bytes need the scratch only until they are opened.
auto Connection::FillThroughChannel() noexcept -> IoResult {
  if (sealing_->ended) {
    return {IoStatus::kEnd, 0, 0};
  }
  const KeptInput kept = sealing_->channel->Kept();
  if (kept == KeptInput::kWaits && !sealing_->discards) {
    if (!Deleted()) {
      readable_ = false;  // its handler is called when the channel no longer waits
      return {IoStatus::kWouldBlock, 0, 0};
    }
    sealing_->discards = true;  // no handler will be called: nothing can be sealed any more
    sealing_->end_due = false;
    output_.Clear();
  }
  Received received{};
  if (kept == KeptInput::kReady && !sealing_->discards) {
    received.result.status = IoStatus::kBytes;  // none new
    received.more = true;                       // the socket was not looked at since
  } else {
    received = looper_.GetEngine().Receive(socket_, looper_.GetScratch().bytes.data());
  }
  readable_ = received.more || end_known_;
  if (received.result.status != IoStatus::kBytes || sealing_->discards) {
    return received.result;
  }
  try {
    const std::size_t bytes = Open({received.bytes, received.result.bytes});
    return {bytes == 0 && sealing_->ended ? IoStatus::kEnd : IoStatus::kBytes, bytes, 0};
  } catch (...) {  // part of what the bytes meant is lost
    LogException("opening input");
    return {IoStatus::kError, 0, ENOMEM};
  }
}

// @return new bytes of input
auto Connection::Open(std::string_view wire) -> std::size_t {
  const std::size_t before = input_.Size();
  const ChannelStatus status = sealing_->channel->Open(wire, input_, sealing_->wire);
  if (status != ChannelStatus::kOpen) {
    readable_ = true;  // Recv() must report it to the handler
    sealing_->ended = status == ChannelStatus::kEnded;
  }
  if (status == ChannelStatus::kBroken) {
    Move(LineState::kChannelBroken);
    sealing_->discards = true;
    sealing_->end_due = false;
    output_.Clear();  // the engine sends the other queue
  }
  if (UnsentBytes() > kLowWater) {  // by the channel's own bytes, too
    UpdatePaused();
  }
  if (Deleted() && UnsentBytes() != 0) {
    looper_.Schedule(this);  // it may be able to seal now; after a handler, the loop sends anyway
  }
  return input_.Size() - before;
}

// A deleted connection's FIN travels with its last bytes.
auto Connection::Flush() -> IoResult {
  if (sealing_ != nullptr) {
    return FlushThroughChannel();
  }
  return looper_.GetEngine().Send(socket_, output_, Deleted());
}

auto Connection::FlushThroughChannel() noexcept -> IoResult {
  OutQueue& wire = sealing_->wire;
  try {
    std::size_t sent = 0;
    IoResult result;
    do {
      if (const int error = Seal(); error != 0) {
        return {IoStatus::kError, sent, error};
      }
      if (wire.Empty()) {  // all is sent, or waits for the channel
        return {output_.Empty() ? IoStatus::kBytes : IoStatus::kWouldBlock, sent, 0};
      }
      result = looper_.GetEngine().Send(socket_, wire, Deleted() && output_.Empty());
      sent += result.bytes;
    } while (result.status == IoStatus::kBytes && wire.Empty() && !output_.Empty() &&
             sent < OutQueue::kMaxFlushBytes);
    return {result.status, sent, result.error};
  } catch (...) {  // part of the sealed output is lost
    LogException("sealing output");
    return {IoStatus::kError, 0, ENOMEM};
  }
}

// Seals output until enough waits for the socket. @return 0 or an errno value
auto Connection::Seal() -> int {
  std::array<char, kSealStep> plain;  // not initialised
  while (!output_.Empty() && sealing_->wire.Size() < kSealAhead && sealing_->channel->CanSeal()) {
    const IoResult copied = output_.Copy(plain.data(), plain.size());
    if (copied.status == IoStatus::kError) {
      return copied.error;
    }
    sealing_->channel->Seal({plain.data(), copied.bytes}, sealing_->wire);
    output_.Consume(copied.bytes);
  }
  if (output_.Empty() && sealing_->end_due) {
    sealing_->end_due = false;
    sealing_->discards = true;
    sealing_->channel->SealEnd(sealing_->wire);
  }
  return 0;
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
  const bool too_much = sealing_ == nullptr ? HasTooMuch(output_.Size()) : HasTooMuchForChannel();
  if (Deleted() || too_much == Paused()) {
    return;
  }
  Move(too_much ? ConnectionPhase::kPaused : ConnectionPhase::kOpen);
  if (!too_much) {
    looper_.Schedule(this);
  }
}

// While a channel can't seal, it needs input to make progress.
auto Connection::HasTooMuchForChannel() const noexcept -> bool {
  return sealing_->channel->CanSeal() && HasTooMuch(UnsentBytes());
}

void Connection::Break() noexcept {
  Move(LineState::kBroken);
  looper_.GetEngine().Forget(GetFd());
  output_.Clear();
  if (sealing_ != nullptr) {
    sealing_->wire.Clear();
    sealing_->discards = true;
    sealing_->end_due = false;
  }
  if (Paused()) {
    Move(ConnectionPhase::kOpen);
  }
  readable_ = true;  // Recv() must report it to the handler
  looper_.Schedule(this);
}

}  // namespace TURTLE_SERVER
