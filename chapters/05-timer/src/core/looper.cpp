#include "core/looper.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/read_scratch.h"
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

Looper::Looper(ClockSource clock)
    : clock_(std::move(clock)),
      scratch_(new ReadScratch),  // not make_unique, which would fill 64 KiB with zeros
      poller_(Poller::Create()),
      now_(clock_()) {
  Watch(wakeup_.Fd(), Interest::kRead, [this](const PollEvent&) { wakeup_.Clear(); });
}

Looper::~Looper() { End(); }

void Looper::Loop() {
  now_ = clock_();
  try {
    while (!stop_.load(std::memory_order_acquire)) {
      Round();
    }
    BeginStop();
    while ((ConnectionCount() != 0 || held_ != 0) && now_ < stop_deadline_) {
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
  if (stopping_ && !connection->Deleted()) {
    StopConnection(*connection);
  }
  List(*connection);
  return connection;
}

void Looper::DeleteConnection(int fd, Closing closing) {
  const auto index = static_cast<std::size_t>(fd);  // without a connection it may be any number
  if (index < slots_.size() && slots_[index].connection && !slots_[index].connection->Deleted()) {
    slots_[index].connection->Move(ConnectionPhase::kDeleted);
    slots_[index].connection->closing_ = closing;
    dying_.push_back(fd);
  }
}

void Looper::DeleteConnection(ConnectionId id, Closing closing) {
  if (Find(id) != nullptr) {
    DeleteConnection(id.fd, closing);
  }
}

auto Looper::Find(ConnectionId id) const noexcept -> Connection* {
  Connection* connection = At(id);
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

auto Looper::RunAt(TimePoint when, Task task) -> TimerId {
  return timers_.Add(when, [task = std::move(task)] { Guarded("timer", task); });
}

void Looper::SetDeadline(Connection* connection, TimePoint when) {
  if (!connection->Deleted()) {
    SetDeadline(connection->GetFd(), when);
  }
}

// Takes a number: also used by the loop itself, for a connection that is parting.
void Looper::SetDeadline(int fd, TimePoint when) {
  Slot& slot = SlotOf(fd);
  slot.deadline = when;
  if (when < slot.armed) {
    MakeRoom(due_, deadlines_.Size() + 1);  // all of them may be due at once
    deadlines_.Push({when, fd});
    slot.armed = when;
  }
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
  const std::vector<PollEvent>& events = poller_->Wait(Timeout());
  now_ = clock_();
  for (const PollEvent& event : events) {
    Dispatch(event);
  }
  timers_.RunDue(now_);
  ExpireDeadlines();
  ServeReady();
  ReapDeleted();
}

// How long the poller may sleep: not at all while a connection is listed, otherwise until the next
// deadline. Rounded up, or the loop would wake early and spin for the rest of the millisecond.
auto Looper::Timeout() const -> std::optional<std::chrono::milliseconds> {
  if (!ready_.empty()) {
    return std::chrono::milliseconds(0);
  }
  const TimePoint never = TimePoint::max();
  const TimePoint next =
      std::min({timers_.Next().value_or(never), deadlines_.Next().value_or(never), stop_deadline_});
  if (next == never) {
    return std::nullopt;
  }
  const auto left = std::max(next - clock_(), Clock::duration::zero());
  return std::chrono::ceil<std::chrono::milliseconds>(left);
}

// Checks each number whose time in the heap has come, once per round.
void Looper::ExpireDeadlines() {
  // Collects all first: a deadline that a callback sets in the past waits for the next round.
  while (const auto due = deadlines_.PopDue(now_)) {
    due_.push_back(*due);
  }
  for (std::size_t i = 0; i < due_.size(); ++i) {  // by index: a callback may make due_ grow
    Expire(DeadlineHeap::Entry(due_[i]));
  }
  due_.clear();
}

// Checks whether the deadline of this number has passed, or was moved meanwhile. If it has passed,
// the user's callback decides, or the closer.
void Looper::Expire(const DeadlineHeap::Entry& due) {
  Slot& slot = SlotOf(due.fd);
  if (slot.armed != due.when) {
    return;  // an earlier entry has replaced this one
  }
  slot.armed = TimePoint::max();
  const bool passed = slot.deadline <= now_;
  if (!passed && Guarded("deadline", [&] { SetDeadline(due.fd, slot.deadline); })) {
    return;  // it was moved meanwhile: check again then
  }
  slot.deadline = TimePoint::max();
  if (slot.connection && slot.connection->Parting()) {
    GoOnClosing(*slot.connection, &ConnectionCloser::Expire);
  } else if (slot.connection && !slot.connection->Deleted()) {
    Connection* connection = slot.connection.get();
    const ConnectionCallback& on_timeout = connection->callbacks_.on_timeout;
    if (!passed || !on_timeout || !Guarded("on_timeout", on_timeout, connection)) {
      DeleteConnection(due.fd);
    }
  }
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

void Looper::RunTasks(const std::vector<Task>& tasks) {
  for (const Task& task : tasks) {
    Guarded("task", task);
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
    if (stopping_ && clock_() >= stop_deadline_) {
      break;  // the others would have their turn after the end
    }
    const ConnectionId id = serving_[i];
    Connection* connection = At(id);
    if (connection == nullptr) {
      continue;
    }
    connection->listed_ = false;
    if (connection->Parting()) {
      GoOnClosing(*connection, &ConnectionCloser::Serve);
    } else if (!connection->Deleted()) {
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
    connection.Settle();
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
    GoOnClosing(*SlotOf(dying_[i]).connection, &ConnectionCloser::Begin);
  }
  dying_.clear();
  while (!retired_.empty()) {  // one by one: a callback's captures may end other watches
    const std::unique_ptr<WatchCallback> ended = std::move(retired_.back());
    retired_.pop_back();
  }
}

// Without memory to close it properly, the connection is dropped. The loop goes on.
void Looper::GoOnClosing(Connection& connection, CloserStep step) {
  bool over = true;
  Guarded("closing", [&] {
    const ClosingStep next = (closer_.*step)(connection);
    if (next.over || !Register(connection)) {
      return;
    }
    if (next.deadline != Clock::duration::zero()) {
      SetDeadline(connection.GetFd(), now_ + next.deadline);
    }
    if (next.again) {
      List(connection);
    }
    over = false;
  });
  if (over) {
    Destroy(connection.GetFd());
  }
}

void Looper::Destroy(int fd) {
  Slot& slot = SlotOf(fd);
  const std::unique_ptr<Connection> dead = std::move(slot.connection);
  ++slot.generation;
  closer_.Forget(*dead);
  slot.deadline = TimePoint::max();
  connection_count_.store(ConnectionCount() - 1, std::memory_order_relaxed);
  // Closing the descriptor, which happens here, also takes it out of the poller.
}

// Begins the end.
void Looper::BeginStop() {
  // These are the connections that exist now; AddConnection() handles those that come later. No
  // connection is being served, and there is room for all.
  ForEachConnection([this](Connection* connection) { serving_.push_back(connection->Id()); });
  stopping_ = true;
  stop_deadline_ = now_ + stop_timeout_;
  RunTasks(std::exchange(at_stop_, {}));
  for (std::size_t i = 0; i < serving_.size(); ++i) {  // by index, as in ServeReady()
    if (Connection* connection = Find(serving_[i])) {
      StopConnection(*connection);
    }
  }
  serving_.clear();
  ReapDeleted();
}

// Tells a connection that the loop is about to end.
void Looper::StopConnection(Connection& connection) {
  const ConnectionCallback& on_stop = connection.callbacks_.on_stop;
  if (!on_stop || !Guarded("on_stop", on_stop, &connection)) {
    DeleteConnection(connection.GetFd());
  }
}

void Looper::End() {
  ForEachConnection([this](Connection* connection) { DeleteConnection(connection->GetFd()); });
  ReapDeleted();
  for (std::size_t fd = 0; fd < slots_.size(); ++fd) {
    if (slots_[fd].connection) {
      Destroy(static_cast<int>(fd));  // time is up for the last bytes
    }
  }
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

// Returns the connection of that name, deleted or not.
auto Looper::At(ConnectionId id) const noexcept -> Connection* {
  const auto index = static_cast<std::size_t>(id.fd);
  const bool ours =
      id.fd >= 0 && index < slots_.size() && slots_[index].generation == id.generation;
  return ours ? slots_[index].connection.get() : nullptr;
}

auto Looper::WatchOf(WatchId id) noexcept -> Slot* {
  const auto index = static_cast<std::size_t>(id.fd);
  const bool ours = index < slots_.size() && slots_[index].generation == id.generation &&
                    slots_[index].watch != nullptr;
  return ours ? &slots_[index] : nullptr;
}

}  // namespace TURTLE_SERVER
