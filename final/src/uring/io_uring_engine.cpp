#ifdef TURTLE_WITH_IO_URING

#include "uring/io_uring_engine.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

#include "core/net_address.h"
#include "core/read_scratch.h"
#include "core/send_file.h"
#include "core/socket.h"

namespace TURTLE_SERVER {

namespace {

// A completion is tagged with 4 bits for its kind, 28 for the descriptor and 32 for the generation.
constexpr int kFdBits = 28;
constexpr std::uint32_t kFdMask = (1U << kFdBits) - 1;

// If this many buffers wait for a connection that nobody reads, its receive is cancelled.
constexpr std::uint16_t kMaxArrived = 64;

// The ring does not send anything longer. So nothing that it sends can have paused its connection,
// and the loop need not know when all of it has left.
constexpr std::size_t kLongSend = std::size_t{64} * 1024;

constexpr std::size_t kEventsAtOnce = Ring::kCompletions + 1024;

}  // namespace

auto MakeIoUringEngine() -> std::unique_ptr<Engine> { return std::make_unique<IoUringEngine>(); }

IoUringEngine::IoUringEngine() { events_.reserve(kEventsAtOnce); }

void IoUringEngine::Endpoint::Reset() noexcept {
  token = 0;
  queue = nullptr;
  error = 0;
  first = last = kNoBuffer;
  arrived = 0;
  receiving = input = hang_up = sending = room = full = by_call = ended = last_word = stopping =
      is_new = false;
}

// --- descriptors that are not clients ------------------------------------------------------------

void IoUringEngine::Add(int fd, Interest interest, std::uint64_t token) {
  watches_.Add(fd, interest, token);
}

void IoUringEngine::Change(int fd, Interest interest, std::uint64_t token) {
  watches_.Change(fd, interest, token);
}

void IoUringEngine::Remove(int fd) { watches_.Remove(fd); }

// One-shot, not multishot: after epoll has reported its events, it is asked again whether it has
// more, as a level-triggered watch must be.
void IoUringEngine::AwaitWatches() noexcept {
  if (!awaits_watches_ && ring_.HasRoom(1)) {
    Poll(Act::kWatches, watches_.Fd(), POLLIN);
    awaits_watches_ = true;
  }
}

// --- a round -------------------------------------------------------------------------------------

auto IoUringEngine::Wait(std::optional<std::chrono::milliseconds> timeout)
    -> const std::vector<PollEvent>& {
  events_.clear();
  AwaitWatches();
  bool known = !awaits_watches_;  // otherwise nobody would see their events
  for (Listener& listener : listeners_) {
    if (listener.listening && !listener.accepting && !listener.resting && listener.error == 0) {
      StartAccepting(listener);  // there was no room for it before
    }
    known = known || listener.HasNews();
  }
  ring_.Enter(known ? std::chrono::milliseconds(0) : timeout);
  if (ring_.HandedOver()) {
    messages_used_ = 0;
  }
  ring_.Reap([this](const io_uring_cqe& done) { Completed(done); });
  for (const Listener& listener : listeners_) {
    if (listener.HasNews()) {
      events_.push_back({listener.token, true, false, false, false});
    }
  }
  if (std::exchange(watches_ready_, false)) {
    const std::vector<PollEvent>& ready = watches_.Wait(std::chrono::milliseconds(0));
    events_.insert(events_.end(), ready.begin(), ready.end());
  }
  return events_;
}

void IoUringEngine::Completed(const io_uring_cqe& done) noexcept {
  const auto act = static_cast<Act>(done.user_data >> 60);
  const auto fd = static_cast<int>(done.user_data >> 32 & kFdMask);
  const auto generation = static_cast<std::uint32_t>(done.user_data);
  const bool more = (done.flags & IORING_CQE_F_MORE) != 0;
  switch (act) {
    case Act::kNothing:
      return;
    case Act::kWatches:
      --under_way_;
      awaits_watches_ = false;
      watches_ready_ = true;
      return;
    case Act::kAccept:
      under_way_ -= more ? 0 : 1;
      OnAccept(done, fd, At(fd).generation == generation);
      return;
    case Act::kReceive:
      under_way_ -= more ? 0 : 1;
      OnReceive(done, At(fd), At(fd).generation == generation);
      return;
    case Act::kInput:
    case Act::kHangUp:
    case Act::kRoom:
      under_way_ -= more ? 0 : 1;
      if (At(fd).generation == generation) {
        OnPoll(act, done.res, more, At(fd));
      }
      return;
    case Act::kSend:
      if (At(fd).generation == generation) {
        OnSend(fd, done.res, At(fd));
      }
      return;
  }
}

void IoUringEngine::Tell(const Endpoint& endpoint, bool readable, bool error) noexcept {
  if (events_.size() < events_.capacity()) {
    events_.push_back({endpoint.token, readable || error, true, endpoint.ended, error});
  }
}

// --- input ---------------------------------------------------------------------------------------

void IoUringEngine::Adopt(int fd, std::uint64_t token) {
  MakeRoomFor(fd);
  Endpoint& endpoint = At(fd);
  endpoint.Reset();
  endpoint.token = token;
  endpoint.by_call = endpoint.is_new = true;  // the request often comes with the connection
}

auto IoUringEngine::Expect(int fd, std::uint64_t /*token*/) noexcept -> Expecting {
  return AwaitInput(fd) ? Expecting::kOnce : Expecting::kNever;
}

auto IoUringEngine::AwaitInput(int fd) noexcept -> bool {
  Endpoint& endpoint = At(fd);
  if (endpoint.receiving || endpoint.input || endpoint.error != 0) {
    return true;
  }
  if (endpoint.sending && endpoint.last_word) {
    return true;  // most are closed once that has left, and its result is reported
  }
  if (!usable_ || !ring_.HasRoom(1)) {
    return false;
  }
  if (endpoint.is_new) {
    endpoint.is_new = endpoint.by_call = false;  // nobody has asked whether there is input
  }
  if (endpoint.first != kNoBuffer || endpoint.by_call || endpoint.ended) {
    if (!endpoint.hang_up) {  // reported once
      Poll(Act::kHangUp, fd, 0).len = IORING_POLL_ADD_MULTI;
      endpoint.hang_up = true;
    }
    return true;
  }
  if (buffers_left_ == 0) {
    // A receive would fail at once, and be restarted, and so on.
    Poll(Act::kInput, fd, POLLIN);
    endpoint.input = true;
    return true;
  }
  io_uring_sqe& submission = Submit(Act::kReceive, IORING_OP_RECV, fd);
  submission.flags = IOSQE_BUFFER_SELECT;
  submission.ioprio = IORING_RECV_MULTISHOT;
  endpoint.receiving = true;
  ++under_way_;
  return true;
}

void IoUringEngine::OnReceive(const io_uring_cqe& done, Endpoint& endpoint, bool known) noexcept {
  const bool more = (done.flags & IORING_CQE_F_MORE) != 0;
  if (known && !more) {
    endpoint.receiving = endpoint.stopping = false;
  }
  if ((done.flags & IORING_CQE_F_BUFFER) != 0) {
    const auto buffer = static_cast<std::uint16_t>(done.flags >> IORING_CQE_BUFFER_SHIFT);
    --buffers_left_;
    if (!known || done.res <= 0) {
      GiveBack(buffer);
    } else {
      arrived_[buffer] = {kNoBuffer, static_cast<std::uint16_t>(done.res)};
      (endpoint.first == kNoBuffer ? endpoint.first : arrived_[endpoint.last].next) = buffer;
      endpoint.last = buffer;
      ++endpoint.arrived;
    }
  }
  const auto fd = static_cast<int>(&endpoint - endpoints_.data());
  if (!known) {
    return;
  }
  if (done.res == -ECANCELED) {
    // Too many bytes were waiting. If they have been taken meanwhile, this restarts the receive;
    // otherwise it makes the poller report the connection's end.
    if (!AwaitInput(fd)) {
      Tell(endpoint, true, false);
    }
    return;
  }
  if (done.res == 0) {
    endpoint.ended = true;
  } else if (done.res == -ENOBUFS || done.res == -EAGAIN || done.res == -EINTR) {
    endpoint.by_call = true;  // all buffers are taken, and there is input
  } else if (done.res < 0) {
    endpoint.error = -done.res;
  } else if (more && endpoint.arrived >= kMaxArrived && !endpoint.stopping && ring_.HasRoom(1)) {
    Cancel(Act::kReceive, fd);
    endpoint.stopping = true;
  }
  Tell(endpoint, true, endpoint.error != 0);
}

auto IoUringEngine::Receive(Socket& socket, char* room) noexcept -> Received {
  if (lent_ != kNoBuffer) {
    GiveBack(std::exchange(lent_, kNoBuffer));
  }
  Endpoint& endpoint = At(socket.GetFd());
  endpoint.is_new = false;
  const auto more = [&endpoint] {
    return endpoint.first != kNoBuffer || endpoint.by_call || endpoint.ended || endpoint.error != 0;
  };
  if (endpoint.arrived == 1) {
    lent_ = TakeFirst(endpoint);
    const std::size_t size = arrived_[lent_].size;
    return {{IoStatus::kBytes, size, 0}, ring_.Buffer(lent_), more()};
  }
  if (endpoint.first != kNoBuffer) {
    // There are several: one copy joins them and lets the kernel have the buffers back.
    std::size_t size = 0;
    while (endpoint.first != kNoBuffer &&
           size + arrived_[endpoint.first].size <= ReadScratch::kSize) {
      const std::uint16_t buffer = TakeFirst(endpoint);
      std::memcpy(room + size, ring_.Buffer(buffer), arrived_[buffer].size);
      size += arrived_[buffer].size;
      GiveBack(buffer);
    }
    return {{IoStatus::kBytes, size, 0}, room, more()};
  }
  if (endpoint.error != 0) {
    return {{IoStatus::kError, 0, endpoint.error}};
  }
  if (!Works() || endpoint.by_call) {
    const IoResult result = socket.Recv(room, ReadScratch::kSize);
    const bool full = result.status == IoStatus::kBytes && result.bytes == ReadScratch::kSize;
    endpoint.by_call = full;
    endpoint.ended = result.status == IoStatus::kEnd;
    endpoint.error = result.status == IoStatus::kError ? result.error : 0;
    return {result, room, full || !Works()};
  }
  return {{endpoint.ended ? IoStatus::kEnd : IoStatus::kWouldBlock, 0, 0}};
}

void IoUringEngine::GiveBack(std::uint16_t buffer) noexcept {
  ring_.GiveBack(buffer);
  ++buffers_left_;
}

auto IoUringEngine::TakeFirst(Endpoint& endpoint) noexcept -> std::uint16_t {
  const std::uint16_t buffer = endpoint.first;
  endpoint.first = arrived_[buffer].next;
  --endpoint.arrived;
  return buffer;
}

// --- output --------------------------------------------------------------------------------------

auto IoUringEngine::Send(Socket& socket, OutQueue& queue, bool last) -> IoResult {
  const int fd = socket.GetFd();
  if (!Works()) {
    return queue.FlushTo(socket, last);
  }
  Endpoint& endpoint = At(fd);
  if (endpoint.error != 0) {
    return {IoStatus::kError, 0, endpoint.error};
  }
  if (endpoint.sending || endpoint.full) {
    endpoint.last_word = endpoint.last_word || last;
    return {IoStatus::kWouldBlock, 0, 0};
  }
  io_uring_sqe* submission = nullptr;
  if (queue.Files() == 0 && queue.Size() < kLongSend && ring_.HasRoom(1)) {
    submission = PrepareSend(fd, queue, last);
  }
  if (submission == nullptr) {
    // A part of a file goes by sendfile(2), which has no equal here. A long send would fall short
    // anyway: a call knows that at once.
    const IoResult result = queue.FlushTo(socket, last);
    const bool waits = result.status == IoStatus::kWouldBlock && AwaitRoom(fd, endpoint);
    return result.status == IoStatus::kWouldBlock && !waits
               ? IoResult{IoStatus::kBytes, result.bytes, 0}  // try again
               : result;
  }
  submission->user_data = Tag(Act::kSend, fd, endpoint.generation);
  endpoint.queue = &queue;
  endpoint.submission = ring_.Last();
  endpoint.sending = true;
  endpoint.last_word = last;
  return {IoStatus::kWouldBlock, 0, 0};
}

// Prepares a send of the queue's front; returns nullptr if that is not possible.
auto IoUringEngine::PrepareSend(int fd, const OutQueue& queue, bool last) noexcept
    -> io_uring_sqe* {
  Message* const message = NextMessage();
  if (message == nullptr) {
    return nullptr;
  }
  const auto [pieces, bytes, more_follows] =
      queue.Gather(message->parts.data(), OutQueue::kMaxFlushBytes, last);
  if (pieces == 0) {
    return nullptr;
  }
  io_uring_sqe& submission = ring_.Next();
  submission.fd = fd;
  if (pieces == 1) {
    submission.opcode = IORING_OP_SEND;
    submission.addr = reinterpret_cast<std::uintptr_t>(message->parts[0].iov_base);
    submission.len = static_cast<std::uint32_t>(bytes);
  } else {
    message->header = msghdr{};
    message->header.msg_iov = message->parts.data();
    message->header.msg_iovlen = pieces;
    submission.opcode = IORING_OP_SENDMSG;
    submission.addr = reinterpret_cast<std::uintptr_t>(&message->header);
    submission.len = 1;
    ++messages_used_;
  }
  submission.msg_flags = static_cast<std::uint32_t>(SendFlags(more_follows)) | MSG_DONTWAIT;
  At(fd).asked = static_cast<std::uint32_t>(bytes);
  return &submission;
}

auto IoUringEngine::NextMessage() noexcept -> Message* {
  try {
    if (messages_used_ == messages_.size()) {
      messages_.push_back(std::make_unique<Message>());
    }
    return messages_[messages_used_].get();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void IoUringEngine::OnSend(int fd, int result, Endpoint& endpoint) noexcept {
  endpoint.sending = false;
  OutQueue* const queue = std::exchange(endpoint.queue, nullptr);
  if (queue == nullptr) {
    return;  // it was cleared meanwhile
  }
  const bool full = result == -EAGAIN;
  const std::uint32_t sent = result < 0 ? 0 : static_cast<std::uint32_t>(result);
  if (result < 0 && !full && result != -EINTR) {
    endpoint.error = -result;
  }
  queue->Consume(sent);
  const bool waits = (full || (result >= 0 && sent < endpoint.asked)) && AwaitRoom(fd, endpoint);
  if (endpoint.last_word || (!waits && !queue->Empty())) {
    Tell(endpoint, false, false);
  }
}

// Works like an edge: one request covers each time that room returns after there was none.
auto IoUringEngine::AwaitRoom(int fd, Endpoint& endpoint) noexcept -> bool {
  if (!endpoint.room) {
    if (!ring_.HasRoom(1)) {
      return false;
    }
    Poll(Act::kRoom, fd, POLLOUT).len = IORING_POLL_ADD_MULTI;
    endpoint.room = true;
  }
  endpoint.full = true;
  return true;
}

void IoUringEngine::OnPoll(Act act, int result, bool more, Endpoint& endpoint) noexcept {
  if (act == Act::kRoom) {
    endpoint.room = more;
    endpoint.full = false;
  } else {
    endpoint.input = endpoint.input && act != Act::kInput;
    endpoint.hang_up = act == Act::kHangUp ? more : endpoint.hang_up;
    if (act == Act::kHangUp && result >= 0 && (result & (POLLERR | POLLHUP)) == 0) {
      return;  // the client's end, POLLRDHUP, comes after its bytes
    }
    endpoint.by_call = !endpoint.receiving && !endpoint.ended && endpoint.error == 0;
  }
  const bool error = result >= 0 && (result & POLLERR) != 0;
  Tell(endpoint, act != Act::kRoom, error);
}

void IoUringEngine::Forget(int fd) noexcept {
  Endpoint& endpoint = At(fd);
  if (endpoint.queue != nullptr) {
    endpoint.queue = nullptr;
    if (ring_.Withdraw(endpoint.submission)) {
      endpoint.sending = false;
    }
  }
}

// --- closing -------------------------------------------------------------------------------------

void IoUringEngine::Close(UniqueFd fd) noexcept {
  const int number = fd.Get();
  Forget(number);
  Endpoint& endpoint = At(number);
  if (Works() && ring_.HasRoom(5)) {
    CloseByRing(fd.Release(), endpoint);
  } else {
    if (Works()) {
      ::shutdown(number, SHUT_RDWR);  // ends pending requests, which can't be cancelled
    }
    Leave(endpoint);
  }
}

// A pending request holds the socket, which would stay open until the request ends.
void IoUringEngine::CloseByRing(int fd, Endpoint& endpoint) noexcept {
  ring_.Close(fd);
  if (endpoint.receiving) {
    Cancel(Act::kReceive, fd);
  }
  if (endpoint.input) {
    Cancel(Act::kInput, fd);
  }
  if (endpoint.hang_up) {
    Cancel(Act::kHangUp, fd);
  }
  if (endpoint.room) {
    Cancel(Act::kRoom, fd);
  }
  Leave(endpoint);
}

void IoUringEngine::Leave(Endpoint& endpoint) noexcept {
  while (endpoint.first != kNoBuffer) {
    GiveBack(TakeFirst(endpoint));
  }
  endpoint.Reset();
  ++endpoint.generation;
}

// Closing the ring would end the pending requests, but only some time later, and until then the
// sockets stay open.
void IoUringEngine::Finish() noexcept {
  if (!std::exchange(usable_, false)) {
    return;
  }
  listeners_.clear();
  if (!ring_.HasOwner()) {
    return;
  }
  try {
    if (ring_.HasRoom(1)) {
      io_uring_sqe& all = Submit(Act::kNothing, IORING_OP_ASYNC_CANCEL, -1);
      all.cancel_flags = IORING_ASYNC_CANCEL_ANY | IORING_ASYNC_CANCEL_ALL;
    }
    constexpr std::chrono::milliseconds kPatience{100};
    for (int round = 0; round < 10; ++round) {
      ring_.Enter(under_way_ == 0 ? std::chrono::milliseconds(0) : kPatience);
      events_.clear();
      ring_.Reap([this](const io_uring_cqe& done) { Completed(done); });
      if (under_way_ == 0) {
        break;
      }
    }
  } catch (const std::system_error&) {
    // If this fails, closing the ring ends them.
  }
}

// --- clients -------------------------------------------------------------------------------------

auto IoUringEngine::Find(int listener) noexcept -> Listener* {
  const auto found = std::find_if(listeners_.begin(), listeners_.end(),
                                  [listener](const Listener& each) { return each.fd == listener; });
  return found == listeners_.end() ? nullptr : &*found;
}

void IoUringEngine::Listen(int listener, std::uint64_t token) {
  MakeRoomFor(listener);
  if (Find(listener) == nullptr) {
    listeners_.emplace_back(listener);
  }
  Listener& added = *Find(listener);
  added.token = token;
  added.listening = true;
  StartAccepting(added);
}

void IoUringEngine::StartAccepting(Listener& listener) noexcept {
  if (!usable_ || !ring_.HasRoom(1)) {
    return;
  }
  io_uring_sqe& submission = Submit(Act::kAccept, IORING_OP_ACCEPT, listener.fd);
  submission.ioprio = IORING_ACCEPT_MULTISHOT;
  submission.accept_flags = SOCK_CLOEXEC | SOCK_NONBLOCK;
  listener.submission = ring_.Last();
  listener.accepting = true;
  ++under_way_;
}

void IoUringEngine::OnAccept(const io_uring_cqe& done, int fd, bool known) noexcept {
  UniqueFd client(done.res >= 0 ? done.res : -1);
  Listener* const listener = known ? Find(fd) : nullptr;
  if (listener == nullptr) {
    return;  // nobody listens there any more: the client is closed
  }
  listener->accepting = (done.flags & IORING_CQE_F_MORE) != 0;
  if (client) {
    try {
      listener->clients.push_back(std::move(client));
    } catch (const std::bad_alloc&) {
      listener->error = ENOMEM;  // and the client is closed
    }
  } else if (done.res != -ECANCELED && done.res != -EINTR && done.res != -ECONNABORTED) {
    listener->error = -done.res;
  }
  if (!listener->accepting && listener->listening && listener->error == 0) {
    StartAccepting(*listener);
  }
}

// A multishot accept has no room for addresses, so each address is requested when it is needed.
auto IoUringEngine::Accept(Socket& listener, NetAddress* client) noexcept -> int {
  const int fd = TakeClient(listener.GetFd());
  if (fd >= 0 && client != nullptr) {
    NetAddress address;
    *client = getpeername(fd, address.Data(), address.Length()) == 0 ? address : NetAddress();
  }
  return fd;
}

auto IoUringEngine::TakeClient(int listener) noexcept -> int {
  errno = EAGAIN;
  Listener* const found = Find(listener);
  if (found == nullptr) {
    return -1;
  }
  if (found->next < found->clients.size()) {
    return found->clients[found->next++].Release();
  }
  found->clients.clear();
  found->next = 0;
  if (found->error != 0) {
    errno = std::exchange(found->error, 0);
  } else if (!found->listening) {
    listeners_.erase(listeners_.begin() + (found - listeners_.data()));
  } else if (!found->accepting) {
    StartAccepting(*found);
  }
  return -1;
}

void IoUringEngine::Rest(int listener, bool rests) noexcept {
  if (Listener* const found = Find(listener)) {
    found->resting = rests;
  }
}

// The request holds the listener. A client that comes from here on may be another process's.
void IoUringEngine::StopAccepting(int listener) noexcept {
  Listener* const found = Find(listener);
  if (found == nullptr || !found->listening) {
    return;
  }
  found->listening = false;
  if (found->accepting && ring_.Withdraw(found->submission)) {
    --under_way_;
  } else if (found->accepting && ring_.HasRoom(1)) {
    Cancel(Act::kAccept, listener);
    ring_.HandOver();
  }
  TakeWhoIsThere(*found);
  ++At(listener).generation;
}

void IoUringEngine::Unlisten(int listener) noexcept {
  StopAccepting(listener);
  if (Listener* const found = Find(listener)) {
    listeners_.erase(listeners_.begin() + (found - listeners_.data()));
  }
}

// Takes clients that the kernel has accepted but this round has not seen.
void IoUringEngine::TakeWhoIsThere(Listener& listener) noexcept {
  const std::uint64_t tag = Tag(Act::kAccept, listener.fd, At(listener.fd).generation);
  ring_.Peek([&](io_uring_cqe& done) {
    if (done.user_data == tag && done.res >= 0) {
      UniqueFd client(std::exchange(done.res, -ECANCELED));
      try {
        listener.clients.push_back(std::move(client));
      } catch (const std::bad_alloc&) {
        listener.error = ENOMEM;  // and the client is closed
      }
    }
  });
}

// --- requests ------------------------------------------------------------------------------------

auto IoUringEngine::Tag(Act act, int fd, std::uint32_t generation) noexcept -> std::uint64_t {
  return std::uint64_t{static_cast<std::uint8_t>(act)} << 60 |
         std::uint64_t{static_cast<std::uint32_t>(fd) & kFdMask} << 32 | generation;
}

void IoUringEngine::MakeRoomFor(int fd) {
  if (static_cast<std::uint32_t>(fd) > kFdMask) {
    throw std::system_error(EMFILE, std::generic_category(), "io_uring: " + std::to_string(fd));
  }
  if (static_cast<std::size_t>(fd) >= endpoints_.size()) {
    endpoints_.resize(static_cast<std::size_t>(fd) + 1);
  }
}

auto IoUringEngine::Submit(Act act, std::uint8_t operation, int fd) noexcept -> io_uring_sqe& {
  io_uring_sqe& submission = ring_.Next();
  submission.opcode = operation;
  submission.fd = fd;
  const bool is_own = act != Act::kNothing && act != Act::kWatches;
  submission.user_data = Tag(act, fd, is_own ? At(fd).generation : 0);
  return submission;
}

auto IoUringEngine::Poll(Act act, int fd, unsigned events) noexcept -> io_uring_sqe& {
  io_uring_sqe& submission = Submit(act, IORING_OP_POLL_ADD, fd);
  submission.poll32_events = events;  // POLLERR, POLLHUP and POLLRDHUP are always reported
  ++under_way_;
  return submission;
}

void IoUringEngine::Cancel(Act act, int fd) noexcept {
  io_uring_sqe& submission = Submit(Act::kNothing, IORING_OP_ASYNC_CANCEL, -1);
  submission.addr = Tag(act, fd, At(fd).generation);
  submission.flags = IOSQE_CQE_SKIP_SUCCESS;
}

}  // namespace TURTLE_SERVER

#endif  // TURTLE_WITH_IO_URING
