// One thread's event loop, which owns its connections.
//
// Interface:
//  * Loop() runs until Stop(). A round: wait, sort the events, run the timers, serve the
//    connections that are ready, destroy the deleted ones.
//  * AddConnection() takes over a client, DeleteConnection() drops it at the end of the round.
//  * SetDeadline() limits how long a client may take, RunAfter() runs a task later.
//  * Watch() calls back when any other descriptor is ready.
//  * Post() runs a task on the loop's thread.
//  * Stop() lets every connection finish, within the stop timeout.
//  * MeasureLoad() makes the loop keep account of how busy it is.
//
// Every round has the same shape. Events of watches, such as the mailbox's wake-up, are acted on at
// once. Connections are only put on the ready list, and served once all events were seen: each gets
// its handler called once. A connection with more to do is served again in the next round. So
// a client that sends without end can't starve its neighbours. Anything that wants a connection
// served (input, room, a late response, its very first moment) lists it in the same way.
//
// A connection that is deleted, by its own handler or another's, stays valid until the end of the
// round. No client's descriptor is closed before all events of a round were seen, so a number can't
// be reused among them. In later rounds the generation in the event's token distinguishes a
// connection from its predecessor.
//
// A deleted connection's last bytes are not lost: see core/connection_closer.h.
//
// Thread: the loop's, except Stop(), Post(), GetMailbox(), ConnectionCount(), AddedCount(), Load()
// and InLoop(). Before and after Loop(), any one thread. A debug build aborts if another thread
// interferes.
#pragma once

#include <atomic>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/counter.h"
#include "base/unique_fd.h"
#include "core/connection.h"
#include "core/connection_closer.h"
#include "core/deadline_heap.h"
#include "core/engine.h"
#include "core/loop_load.h"
#include "core/mailbox.h"
#include "core/min_rate.h"
#include "core/poller.h"
#include "core/timer_queue.h"

namespace TURTLE_SERVER {

struct ReadScratch;

/// Called with a connection, on its loop's thread.
using ConnectionCallback = std::function<void(Connection*)>;

/// Called when a watched descriptor is ready, on the loop's thread.
using WatchCallback = std::function<void(const PollEvent&)>;

/// The handlers of one kind of connection. All of its connections share one object.
struct ConnectionCallbacks {
  ConnectionCallback on_accept{};  ///< may be empty: a new client, before its first byte
  /// Called when input, end of input, or room for output after a pause may let the connection go
  /// on. A call with nothing to do is legal: Recv() returns {0, false}.
  ConnectionCallback on_handle{};
  /// Called when the deadline has passed; empty: the connection is deleted. It must send its output
  /// by Connection::Send().
  ConnectionCallback on_timeout{};
  /// Called when the loop is about to end; empty: the connection is deleted. Sending: as above.
  ConnectionCallback on_stop{};
  /// May be empty: called last, when the descriptor is closed and the connection is destroyed. Only
  /// GetLooper() and the pointer itself may be used. Must not throw.
  ConnectionCallback on_destroy{};
};

/// Identifies a watch of one loop; ids are never reused.
struct WatchId {
  int fd;                    ///< the watched descriptor
  std::uint32_t generation;  ///< which of the users of that number
};

/// One thread's event loop.
class Looper {
 public:
  /// How long the client of a deleted connection may take its last bytes more slowly than kMinRate,
  /// unless SetFlushRate() was called.
  static constexpr std::chrono::seconds kFlushTime = ConnectionCloser::kFlushTime;
  /// How long a deleted connection's client may take to stop sending, after the last byte.
  static constexpr std::chrono::seconds kLingerTime = ConnectionCloser::kLingerTime;
  /// The stop timeout, unless SetStopTimeout() was called.
  static constexpr std::chrono::seconds kStopTimeout{5};

  /// Throws std::system_error if the process is out of descriptors.
  /// @param clock read in every round, and before each wait
  /// @param poller the kind of poller that it waits with
  explicit Looper(ClockSource clock = Clock::now, PollerKind poller = PollerKind::kAuto);

  /// Deletes the remaining connections. The loop must not be running.
  ~Looper();

  Looper(const Looper&) = delete;
  auto operator=(const Looper&) -> Looper& = delete;

  /// Runs until Stop(), on the calling thread, which becomes the loop's. Tasks that were posted
  /// before the end run. Runs once.
  void Loop();

  /// Asks the loop to end: it runs the tasks of AtStop(), calls every connection's `on_stop`, and
  /// ends as soon as no connection and no Hold() is left. When the stop timeout has passed, it
  /// drops the rest. Called before Loop(), it has Loop() do just that. Any thread, and signal
  /// handlers.
  void Stop() noexcept;

  /// Limits how long Stop() waits for connections to finish; 0: not at all.
  void SetStopTimeout(std::chrono::milliseconds timeout) noexcept {
    stop_timeout_ = Bounded(timeout);
  }

  /// Limits how slowly the client of a deleted connection may take its last bytes.
  void SetFlushRate(MinRate rate) noexcept {
    closer_.SetFlushRate({rate.bytes_per_second, Bounded(rate.grace)});
  }

  /// Runs `task` when the loop is asked to end, before any `on_stop`: say, to stop accepting.
  void AtStop(Task task) {
    AssertInLoop();
    at_stop_.push_back(std::move(task));
  }

  /// Counts work that belongs to no connection, such as a running program: a loop that stops also
  /// waits for its Release(), within the stop timeout. Loop thread only.
  void Hold() noexcept {
    AssertInLoop();
    ++held_;
  }

  /// Ends the work that one Hold() began. Loop thread only.
  void Release() noexcept {
    AssertInLoop();
    --held_;
  }

  /// True from the AtStop() tasks on: no new work should begin.
  [[nodiscard]] auto Stopping() const noexcept -> bool { return stopping_; }

  /// Runs `task` on the loop's thread. One thread's tasks run in the order in which it posted them.
  /// @return false: the loop has ended, `task` was destroyed and will not run. Any thread.
  [[nodiscard]] auto Post(Task task) -> bool { return mailbox_->Post(std::move(task)); }

  /// Returns the mailbox that Post() uses, for callers that may outlive the loop. Any thread.
  [[nodiscard]] auto GetMailbox() const -> std::shared_ptr<Mailbox> { return mailbox_; }

  /// True on the loop's thread. Before and after Loop(), true on any thread. Any thread.
  [[nodiscard]] auto InLoop() const noexcept -> bool;

  /// Aborts on a thread that is not InLoop(), unless NDEBUG is defined. Any thread.
  void AssertInLoop() const noexcept { assert(InLoop()); }

  /// Takes over a connected, non-blocking socket: calls `on_accept`, and serves the connection in
  /// this round or the next. If the loop is stopping, `on_stop` is called right after `on_accept`.
  /// @param client the descriptor
  /// @param callbacks must outlive the loop
  /// @return the connection; valid, though already deleted, even if `on_accept` deletes it
  /// @throws std::logic_error if `client` is no descriptor, or already in this loop. Two
  ///     owners of one descriptor can't both go on: the second close aborts the process.
  auto AddConnection(UniqueFd client, const ConnectionCallbacks& callbacks) -> Connection*;

  /// Drops the connection with this number: no handler is called any more, its calls do nothing,
  /// and its state is destroyed at the end of the round. The connection itself and its descriptor
  /// live on until its last bytes are sent, or are taken too slowly (core/min_rate.h). Repeated, or
  /// without such a connection, nothing happens.
  /// @param fd the connection's number
  /// @param closing whether to wait for the client's end
  void DeleteConnection(int fd, Closing closing = Closing::kAuto);

  /// Does the same by name, for callers that keep the connection for later: timers, or tasks of
  /// another thread. By then the number may be another client's; a name never is.
  void DeleteConnection(ConnectionId id, Closing closing = Closing::kAuto);

  /// Returns the connection of that name, or nullptr if it was deleted.
  [[nodiscard]] auto Find(ConnectionId id) const noexcept -> Connection*;

  /// Calls `visit` with every connection that is not deleted. It may add and delete any.
  void ForEachConnection(const ConnectionCallback& visit);

  /// Has the connection's handler called in this round or the next, with or without input.
  void Schedule(Connection* connection);

  /// Returns the time at the beginning of this round.
  [[nodiscard]] auto Now() const noexcept -> TimePoint { return now_; }

  /// Runs `task` once, when `delay` has passed since Now(). A delay that means "never", such as
  /// std::chrono::milliseconds::max(), is capped at kForever, so that it can't overflow.
  template <typename Rep, typename Period>
  auto RunAfter(std::chrono::duration<Rep, Period> delay, Task task) -> TimerId {  // NOLINT
    return RunAt(now_ + std::chrono::duration_cast<Clock::duration>(Bounded(delay)),
                 std::move(task));
  }

  /// Cancels a timer. @return false: unknown, cancelled before, or run already.
  auto Cancel(TimerId id) -> bool {
    AssertInLoop();
    return timers_.Cancel(id);
  }

  /// Calls `on_timeout` once `when` has passed, unless the deadline is moved before;
  /// TimePoint::max(): no deadline. Moving it later costs only a store.
  void SetDeadline(Connection* connection, TimePoint when);

  /// Calls `callback` whenever `fd` is ready for `interest`, until Unwatch(). Level-triggered
  /// unless `interest` includes Interest::kEdge. The caller still owns the descriptor, and calls
  /// Unwatch() before closing it. Throws std::system_error if the kernel can't watch it (a plain
  /// file), std::logic_error if it is no descriptor, or already in this loop.
  auto Watch(int fd, Interest interest, WatchCallback callback) -> WatchId;

  /// Calls `callback` whenever a listener has new clients, which Accept() returns. Otherwise as
  /// Watch(), with Interest::kRead.
  auto WatchListener(int listener, WatchCallback callback) -> WatchId;

  /// Takes one client, in the listener's mode.
  /// @param listener the socket of a WatchListener()
  /// @param client gets the client's address, unless it is nullptr
  /// @return as Socket::Accept()
  [[nodiscard]] auto Accept(Socket& listener, NetAddress* client) -> int;

  /// Accepts no more clients from this call on, except by Socket::Accept(). Accept() still returns
  /// clients that were accepted before.
  void StopAccepting(WatchId id);

  /// Watches for something else from now on; Interest::kNone pauses the watch.
  void ChangeWatch(WatchId id, Interest interest);

  /// Ends a watch, even from within its callback. Repeated, nothing happens.
  void Unwatch(WatchId id);

  /// Returns the number of connections that are not destroyed yet. Any thread.
  [[nodiscard]] auto ConnectionCount() const noexcept -> std::size_t {
    return connection_count_.load(std::memory_order_relaxed);
  }

  /// Returns the number of connections that were ever added. Any thread.
  [[nodiscard]] auto AddedCount() const noexcept -> std::uint64_t { return added_count_; }

  /// Makes the loop keep account of its time from now on, which costs one reading of the clock per
  /// round. Before Loop(); repeated, nothing happens.
  void MeasureLoad();

  /// Returns the account that MeasureLoad() began, or nullptr. Any thread, while the loop exists.
  [[nodiscard]] auto Load() const noexcept -> const LoopLoad* { return load_.get(); }

  /// Returns how many of the connections that are not destroyed yet have been deleted and are
  /// sending their last bytes.
  [[nodiscard]] auto PartingCount() const noexcept -> std::size_t { return closer_.Parting(); }

  /// Returns the engine that moves the bytes of this loop's connections; for Connection.
  [[nodiscard]] auto GetEngine() const noexcept -> Engine& { return *engine_; }

  /// Returns the memory that this loop's connections read into; for Connection.
  [[nodiscard]] auto GetScratch() const noexcept -> ReadScratch& { return *scratch_; }

 private:
  using CloserStep = ClosingStep (ConnectionCloser::*)(Connection&);

  // The kind of a watch.
  enum class Watched : std::uint8_t { kDescriptor, kListener };

  // The meaning of a descriptor's number in this loop: a connection, a watch, or nothing.
  struct Slot {
    std::uint32_t generation = 0;  // increases when the number is given up
    Watched watched = Watched::kDescriptor;
    std::unique_ptr<Connection> connection;
    std::unique_ptr<WatchCallback> watch;
    TimePoint deadline = TimePoint::max();
    // The time of the number's valid entry in deadlines_; max(): none. It outlives the connection,
    // and serves the next one of the same number: a thousand short connections make one entry.
    TimePoint armed = TimePoint::max();
  };
  static_assert(sizeof(Slot) == 40, "the memory of an idle connection");

  template <typename Begin>
  auto AddWatch(int fd, Watched watched, WatchCallback callback, const Begin& begin) -> WatchId;
  void Round();
  auto Wait() -> const std::vector<PollEvent>&;
  auto Timeout(std::optional<TimePoint> now) const -> std::optional<std::chrono::milliseconds>;
  void ExpireDeadlines();
  void Expire(const DeadlineHeap::Entry& due);
  void SetDeadline(int fd, TimePoint when);
  void Dispatch(const PollEvent& event);
  void RunTasks(const std::vector<Task>& tasks);
  void MakeRoomForOneMore();
  void List(Connection& connection);
  void ServeReady();
  void Serve(Connection& connection);
  auto Register(Connection& connection) -> bool;
  void ReapDeleted();
  void GoOnClosing(Connection& connection, CloserStep step);
  void Destroy(int fd);
  auto RunAt(TimePoint when, Task task) -> TimerId;
  void BeginStop();
  void StopConnection(Connection& connection);
  void End();

  auto SlotOf(int fd) -> Slot&;
  auto NewSlot(int fd) -> Slot&;
  auto At(ConnectionId id) const noexcept -> Connection*;
  auto WatchOf(WatchId id) noexcept -> Slot*;

  const ClockSource clock_;  // const after construction
  const std::unique_ptr<ReadScratch> scratch_;
  const std::unique_ptr<Engine> engine_;
  Poller* const poller_;                    // the engine's
  const std::shared_ptr<Mailbox> mailbox_;  // shared with posters, which may outlive the loop
  std::unique_ptr<LoopLoad> load_;          // const once the loop runs

  std::atomic<bool> stop_{false};                 // any thread
  std::atomic<std::thread::id> thread_{};         // the one that runs Loop(); none: any may call
  std::atomic<std::size_t> connection_count_{0};  // the loop's thread writes, any reads
  Counter added_count_;                           // as above

  // Loop thread only. The lists of connections and watches have room for all there are, so that no
  // later step can fail for want of memory.
  TimePoint now_;
  TimerQueue timers_;
  DeadlineHeap deadlines_;
  std::vector<DeadlineHeap::Entry> due_;  // being checked; has room for all of deadlines_
  std::size_t held_ = 0;
  bool stopping_ = false;
  std::chrono::milliseconds stop_timeout_ = kStopTimeout;
  TimePoint stop_deadline_ = TimePoint::max();
  std::vector<Task> at_stop_;
  std::vector<Slot> slots_;  // by descriptor
  std::vector<ConnectionId> ready_;
  std::vector<ConnectionId> serving_;
  ConnectionCloser closer_;
  std::vector<int> dying_;  // deleted, to be destroyed in this round
  std::size_t watch_count_ = 0;
  std::vector<std::unique_ptr<WatchCallback>> retired_;  // ended, but may be running in this round
};

}  // namespace TURTLE_SERVER
