#include "core/looper.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "log/log.h"

namespace TURTLE_SERVER {

namespace {

constexpr Interest kConnectionInterest = Interest::kRead | Interest::kWrite | Interest::kEdge;

auto TokenOf(int fd, std::uint32_t generation) noexcept -> std::uint64_t {
  return std::uint64_t{generation} << 32 | static_cast<std::uint32_t>(fd);
}

// The one place that calls user code. A callback that throws costs its connection at most, never
// the loop. @return false: it threw, which has been logged.
template <typename Callback, typename... Arguments>
auto Guarded(const char* what, const Callback& callback, Arguments&&... arguments) noexcept
    -> bool {
  try {
    callback(std::forward<Arguments>(arguments)...);
    return true;
  } catch (...) {
    LogException(what);
    return false;
  }
}

// Makes room for `count` elements, so that adding up to that many can't fail. It grows like
// push_back().
template <typename Element>
void MakeRoom(std::vector<Element>& vector, std::size_t count) {
  if (vector.capacity() < count) {
    vector.reserve(std::max(count, 2 * vector.capacity()));
  }
}

}  // namespace

Looper::Looper() : poller_(Poller::Create()) {
  Watch(wakeup_.Fd(), Interest::kRead, [this](const PollEvent&) { wakeup_.Clear(); });
}

Looper::~Looper() { End(); }

void Looper::Loop() {
  try {
    while (!stop_.load(std::memory_order_acquire)) {
      Round();
    }
  } catch (...) {  // the poller is broken; in any case, no connection outlives the loop
    End();
    throw;
  }
  End();
}

void Looper::Stop() noexcept {
  stop_.store(true, std::memory_order_release);
  wakeup_.Signal();
}

auto Looper::AddConnection(UniqueFd client, const ConnectionCallbacks& callbacks) -> Connection* {
  const int fd = client.Get();
  Slot& slot = SlotOf(fd);
  if (slot.connection || slot.watch) {
    throw std::logic_error("descriptor " + std::to_string(fd) + " is already in this loop");
  }
  MakeRoomForOneMore();
  slot.connection =
      std::make_unique<Connection>(Socket(std::move(client)), *this, callbacks, slot.generation);
  Connection* connection = slot.connection.get();
  connection_count_.store(ConnectionCount() + 1, std::memory_order_relaxed);
  if (callbacks.on_accept && !Guarded("on_accept", callbacks.on_accept, connection)) {
    DeleteConnection(fd);
  }
  List(*connection);
  return connection;
}

void Looper::DeleteConnection(int fd) {
  const auto index = static_cast<std::size_t>(fd);  // without a connection it may be any number
  if (index < slots_.size() && slots_[index].connection && !slots_[index].connection->Deleted()) {
    slots_[index].connection->Move(ConnectionPhase::kDeleted);
    dying_.push_back(fd);
  }
}

void Looper::DeleteConnection(ConnectionId id) {
  if (Find(id) != nullptr) {
    DeleteConnection(id.fd);
  }
}

auto Looper::Find(ConnectionId id) const noexcept -> Connection* {
  const auto index = static_cast<std::size_t>(id.fd);
  if (id.fd < 0 || index >= slots_.size() || slots_[index].generation != id.generation) {
    return nullptr;
  }
  Connection* connection = slots_[index].connection.get();
  return connection != nullptr && !connection->Deleted() ? connection : nullptr;
}

void Looper::ForEachConnection(const ConnectionCallback& visit) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {  // by index: `visit` may make slots_ grow
    Connection* connection = slots_[i].connection.get();
    if (connection != nullptr && !connection->Deleted()) {
      visit(connection);
    }
  }
}

void Looper::Schedule(Connection* connection) {
  connection->scheduled_ = true;
  List(*connection);
}

auto Looper::Watch(int fd, Interest interest, WatchCallback callback) -> WatchId {
  Slot& slot = SlotOf(fd);
  if (slot.connection || slot.watch) {
    throw std::logic_error("descriptor " + std::to_string(fd) + " is already in this loop");
  }
  // Memory first: the poller must not report a descriptor that has no handler.
  auto watch = std::make_unique<WatchCallback>(std::move(callback));
  MakeRoom(retired_, retired_.size() + watch_count_ + 1);
  poller_->Add(fd, interest, TokenOf(fd, slot.generation));
  slot.watch = std::move(watch);
  ++watch_count_;
  return {fd, slot.generation};
}

void Looper::ChangeWatch(WatchId id, Interest interest) {
  if (WatchOf(id) != nullptr) {
    poller_->Change(id.fd, interest, TokenOf(id.fd, id.generation));
  }
}

void Looper::Unwatch(WatchId id) {
  Slot* slot = WatchOf(id);
  if (slot != nullptr) {
    poller_->Remove(id.fd);
    ++slot->generation;
    --watch_count_;
    retired_.push_back(std::move(slot->watch));
  }
}

void Looper::Round() {
  using std::chrono::milliseconds;
  const auto timeout = ready_.empty() ? std::optional<milliseconds>() : milliseconds(0);
  for (const PollEvent& event : poller_->Wait(timeout)) {
    Dispatch(event);
  }
  ServeReady();
  ReapDeleted();
}

void Looper::Dispatch(const PollEvent& event) {
  const auto fd = static_cast<int>(event.token & 0xffffffffU);
  Slot& slot = SlotOf(fd);
  if (slot.generation != event.token >> 32) {
    return;  // meant for a predecessor, which left earlier in this round
  }
  if (slot.watch) {
    Guarded("watch", *slot.watch, event);
  } else if (slot.connection) {
    slot.connection->Note(event);
    List(*slot.connection);
  }
}

// This is done while a client can still be refused. From then on it can be listed and deleted even
// without memory, and no fetched event is lost.
void Looper::MakeRoomForOneMore() {
  const std::size_t count = ConnectionCount() + 1;
  MakeRoom(ready_, ready_.size() + count);  // it may also hold names of connections that are gone
  MakeRoom(serving_, count);
  MakeRoom(dying_, count);
}

void Looper::List(Connection& connection) {
  if (!connection.listed_) {
    connection.listed_ = true;
    ready_.push_back(connection.Id());
  }
}

void Looper::ServeReady() {
  ready_.swap(serving_);  // connections listed from here on are served in the next round
  for (std::size_t i = 0; i < serving_.size(); ++i) {  // by index: a handler may add connections
    const ConnectionId id = serving_[i];
    Connection* connection = Find(id);
    if (connection != nullptr) {
      connection->listed_ = false;
      Serve(*connection);
    }
  }
  serving_.clear();
}

void Looper::Serve(Connection& connection) {
  connection.SendQueued();  // there may be room again
  if (connection.WantsHandler()) {
    connection.scheduled_ = false;
    connection.progress_ = false;
    if (!Guarded("on_handle", connection.callbacks_.on_handle, &connection)) {
      DeleteConnection(connection.GetFd());
    }
    if (!connection.Deleted()) {
      connection.SendQueued();  // sends all that the handler wrote, at once
    }
  }
  if (connection.Deleted()) {
    return;
  }
  if (!Register(connection)) {
    DeleteConnection(connection.GetFd());
  } else if (connection.HasMore()) {
    List(connection);
  }
}

// Only after the first service: a connection that was served completely at once never meets the
// poller. Input, room or a FIN that are already there raise an event, epoll(7).
auto Looper::Register(Connection& connection) -> bool {
  if (!connection.registered_) {
    connection.registered_ = Guarded("register", [&] {
      poller_->Add(connection.GetFd(), kConnectionInterest,
                   TokenOf(connection.GetFd(), connection.generation_));
    });
  }
  return connection.registered_;
}

void Looper::ReapDeleted() {
  for (std::size_t i = 0; i < dying_.size(); ++i) {  // by index: a destructor may delete others
    BeginClose(*SlotOf(dying_[i]).connection);
  }
  dying_.clear();
  while (!retired_.empty()) {  // one by one: a callback's captures may end other watches
    const std::unique_ptr<WatchCallback> ended = std::move(retired_.back());
    retired_.pop_back();
  }
}

void Looper::BeginClose(Connection& connection) {
  connection.SetState(nullptr);
  connection.SendQueued();
  Destroy(connection.GetFd());
}

void Looper::Destroy(int fd) {
  const std::unique_ptr<Connection> dead = std::move(SlotOf(fd).connection);
  ++SlotOf(fd).generation;
  connection_count_.store(ConnectionCount() - 1, std::memory_order_relaxed);
  // Closing the descriptor, which happens here, also takes it out of the poller.
}

void Looper::End() {
  ForEachConnection([this](Connection* connection) { DeleteConnection(connection->GetFd()); });
  ReapDeleted();
}

auto Looper::SlotOf(int fd) -> Slot& {
  const auto index = static_cast<std::size_t>(fd);  // a negative number becomes one beyond the end
  return index < slots_.size() ? slots_[index] : NewSlot(fd);
}

auto Looper::NewSlot(int fd) -> Slot& {
  if (fd < 0) {
    throw std::logic_error("there is no descriptor " + std::to_string(fd));
  }
  slots_.resize(static_cast<std::size_t>(fd) + 1);
  return slots_.back();
}

auto Looper::WatchOf(WatchId id) noexcept -> Slot* {
  const auto index = static_cast<std::size_t>(id.fd);
  const bool ours = index < slots_.size() && slots_[index].generation == id.generation &&
                    slots_[index].watch != nullptr;
  return ours ? &slots_[index] : nullptr;
}

}  // namespace TURTLE_SERVER
