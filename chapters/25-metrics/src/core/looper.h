// One thread's event loop, and the owner of its connections.
//
// Interface:
//  * Loop() runs until Stop(): wait, sort the events, run the timers, serve the connections that
//    are ready, bury the deleted.
//  * AddConnection() takes over a client, DeleteConnection() lets it go at the end of the round.
//  * SetDeadline() limits how long a client may take, RunAfter() runs a task later.
//  * Watch() calls back when any other descriptor is ready.
//  * Post() runs a task on the loop's thread.
//  * Stop() lets every connection finish, within the stop timeout.
//  * MeasureLoad() has it keep account of how busy it is.
//
// A round has one shape. Events of watches are acted on at once, the mailbox's wake-up among them.
// Connections are only put on the ready list, and served after all events were seen: each gets its
// handler called once. One that has more to do is served at the end of the next round. So a client
// that sends without end can't starve its neighbours, and anything that wants a connection served
// (input, room, a late response, its very first moment) does the same: it lists it.
//
// A connection that is deleted, by its own handler or by another's, stays valid until the end of
// the round. No client's descriptor is closed before all events of a round were seen, so a number
// can't come back among them. In later rounds the generation in the event's token tells it from its
// predecessor.
//
// A deleted connection's last bytes are not lost: core/connection_closer.h.
//
// Thread: the loop's, but for Stop(), Post(), GetMailbox(), ConnectionCount(), AddedCount(), Load()
// and InLoop(). Before and after Loop() any one thread. A debug build aborts if another one
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

/// The handlers of one kind of connection. Made once and shared by all of them.
struct ConnectionCallbacks {
  ConnectionCallback on_accept{};  ///< may be empty: a new client, before its first byte
  /// Input, end of input, or room for output after a pause may let the connection go on. A call
  /// with nothing to do is legal: Recv() says {0, false}.
  ConnectionCallback on_handle{};
  /// The deadline has passed; empty: the connection is deleted. Its output is sent by
  /// Connection::Send().
  ConnectionCallback on_timeout{};
  /// The loop is to end; empty: the connection is deleted. Sending is as in `on_timeout`.
  ConnectionCallback on_stop{};
};

/// Identifies a watch of one loop; ids are never reused.
struct WatchId {
  int fd;                    ///< the watched descriptor
  std::uint32_t generation;  ///< which of the users of that number
};

/// One thread's event loop.
class Looper {
 public:
  /// How long the client of a deleted connection may take fewer of its last bytes than kMinRate,
  /// as long as SetFlushRate() was not called.
  static constexpr std::chrono::seconds kFlushTime = ConnectionCloser::kFlushTime;
  /// How long a deleted connection's client may take to stop sending, after the last byte.
  static constexpr std::chrono::seconds kLingerTime = ConnectionCloser::kLingerTime;
  /// The stop timeout as long as SetStopTimeout() was not called.
  static constexpr std::chrono::seconds kStopTimeout{5};

  /// Throws std::system_error when the process is out of descriptors.
  /// @param clock asked once in every round
  explicit Looper(ClockSource clock = Clock::now);

  /// Deletes what is left. The loop must not be running.
  ~Looper();

  Looper(const Looper&) = delete;
  auto operator=(const Looper&) -> Looper& = delete;

  /// Runs until Stop(), on the thread that calls it, which becomes the loop's. Tasks that were
  /// posted before the end run. Runs once.
  void Loop();

  /// Asks the loop to end: it runs the tasks of AtStop(), calls every connection's `on_stop`, and
  /// ends as soon as no connection and no Hold() is left. When the stop timeout has passed, it cuts
  /// off the rest. Any thread, and signal handlers. Before Loop(), Loop() does just that.
  void Stop() noexcept;

  /// Limits how long Stop() waits for connections to finish; 0: not at all.
  void SetStopTimeout(std::chrono::milliseconds timeout) noexcept {
    stop_timeout_ = Bounded(timeout);
  }

  /// Limits how slowly the client of a deleted connection may take its last bytes.
  void SetFlushRate(MinRate rate) noexcept {
    closer_.SetFlushRate({rate.bytes_per_second, Bounded(rate.grace)});
  }

  /// Runs `task` when the loop is asked to end, before any `on_stop`: to stop accepting, say.
  void AtStop(Task task) {
    AssertInLoop();
    at_stop_.push_back(std::move(task));
  }

  /// Counts work that is no connection's, such as a program that still runs: a loop that stops
  /// waits for its Release(), too, within the stop timeout. Loop thread only.
  void Hold() noexcept {
    AssertInLoop();
    ++held_;
  }

  /// Ends what one Hold() began. Loop thread only.
  void Release() noexcept {
    AssertInLoop();
    --held_;
  }

  /// True from the AtStop() tasks on: no work should be begun.
  [[nodiscard]] auto Stopping() const noexcept -> bool { return stopping_; }

  /// Runs `task` on the loop's thread, in the order of the posts of one thread.
  /// @return false: the loop has ended, `task` was destroyed and will not run. Any thread.
  [[nodiscard]] auto Post(Task task) -> bool { return mailbox_->Post(std::move(task)); }

  /// The mailbox that Post() uses, for callers that may outlive the loop. Any thread.
  [[nodiscard]] auto GetMailbox() const -> std::shared_ptr<Mailbox> { return mailbox_; }

  /// True on the loop's thread. Before Loop() and after it, on any. Any thread.
  [[nodiscard]] auto InLoop() const noexcept -> bool;

  /// Aborts on a thread that is not InLoop(), unless NDEBUG is defined. Any thread.
  void AssertInLoop() const noexcept { assert(InLoop()); }

  /// Takes over a connected, non-blocking socket: calls `on_accept`, and serves it in this round
  /// or the next. While the loop stops, `on_stop` is called right after `on_accept`.
  /// @param client the descriptor
  /// @param callbacks must outlive the loop
  /// @return the connection; valid, though already deleted, even if `on_accept` deletes it
  /// @throws std::logic_error if `client` is none, or in this loop already
  auto AddConnection(UniqueFd client, const ConnectionCallbacks& callbacks) -> Connection*;

  /// Lets the connection with this number go: no handler is called any more, its calls do
  /// nothing, and its state is destroyed at the end of the round. The connection itself and its
  /// descriptor live on until its last bytes are sent, or come too slowly (core/min_rate.h).
  /// Repeated, or without such a connection, nothing happens.
  /// @param fd the connection's number
  /// @param closing whether to wait for the client's end
  void DeleteConnection(int fd, Closing closing = Closing::kAuto);

  /// The same by name: what is kept for later, by a timer or a task of another thread. A number may
  /// be another client's by then; a name is never.
  void DeleteConnection(ConnectionId id, Closing closing = Closing::kAuto);

  /// The connection of that name, nullptr if it was deleted.
  [[nodiscard]] auto Find(ConnectionId id) const noexcept -> Connection*;

  /// Calls `visit` with every connection that is not deleted. It may add and delete any.
  void ForEachConnection(const ConnectionCallback& visit);

  /// Has the connection's handler called, in this round or the next, input or not.
  void Schedule(Connection* connection);

  /// The time at the beginning of this round.
  [[nodiscard]] auto Now() const noexcept -> TimePoint { return now_; }

  /// Runs `task` once, when `delay` has passed since Now(). A delay that means "never", such as
  /// std::chrono::milliseconds::max(), is cut to kForever before it could overflow.
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
  /// TimePoint::max(): no deadline. Moving it later costs a store.
  void SetDeadline(Connection* connection, TimePoint when);

  /// Calls `callback` whenever `fd` is ready for `interest`, until Unwatch(). Level-triggered
  /// unless Interest::kEdge is in it. The descriptor stays the caller's, who calls Unwatch()
  /// before closing it. Throws std::system_error if the kernel can't watch it (a plain file),
  /// std::logic_error if it is none, or in this loop already.
  auto Watch(int fd, Interest interest, WatchCallback callback) -> WatchId;

  /// Watches for something else from now on; Interest::kNone rests.
  void ChangeWatch(WatchId id, Interest interest);

  /// Ends a watch, also from within its callback. Repeated, nothing happens.
  void Unwatch(WatchId id);

  /// Connections that are not destroyed yet. Any thread.
  [[nodiscard]] auto ConnectionCount() const noexcept -> std::size_t {
    return connection_count_.load(std::memory_order_relaxed);
  }

  /// Connections that were ever added. Any thread.
  [[nodiscard]] auto AddedCount() const noexcept -> std::uint64_t { return added_count_; }

  /// Has the loop keep account of its time from now on, which costs a reading of the clock in each
  /// round. Before Loop(); repeated, nothing happens.
  void MeasureLoad();

  /// Begun by MeasureLoad(); nullptr: not begun. Any thread, as long as the loop exists.
  [[nodiscard]] auto Load() const noexcept -> const LoopLoad* { return load_.get(); }

  /// Of the connections that are not destroyed yet, those that have been deleted and are sending
  /// their last bytes.
  [[nodiscard]] auto PartingCount() const noexcept -> std::size_t { return closer_.Parting(); }

  /// The room that this loop's connections read into; for Connection.
  [[nodiscard]] auto GetScratch() const noexcept -> ReadScratch& { return *scratch_; }

 private:
  using CloserStep = ClosingStep (ConnectionCloser::*)(Connection&);

  // The meaning of a descriptor's number in this loop: a connection, a watch, or nothing.
  struct Slot {
    std::uint32_t generation = 0;  // grows when the number is given up
    std::unique_ptr<Connection> connection;
    std::unique_ptr<WatchCallback> watch;
    TimePoint deadline = TimePoint::max();
    // The time of the number's valid entry in deadlines_; max(): none. It outlives the connection,
    // and serves the next one of the same number: a thousand short connections make one entry.
    TimePoint armed = TimePoint::max();
  };
  static_assert(sizeof(Slot) == 40, "the memory of an idle connection");

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
  const std::unique_ptr<Poller> poller_;
  const std::shared_ptr<Mailbox> mailbox_;  // shared with posters, who may outlive the loop
  std::unique_ptr<LoopLoad> load_;          // const once the loop runs

  std::atomic<bool> stop_{false};                 // any thread
  std::atomic<std::thread::id> thread_{};         // the one that runs Loop(); none: any may call
  std::atomic<std::size_t> connection_count_{0};  // the loop's thread writes, any reads
  Counter added_count_;                           // likewise

  // Loop thread only. The lists of connections and watches have room for all there are, so that
  // nothing of what happens to them can fail for want of memory.
  TimePoint now_;
  TimerQueue timers_;
  DeadlineHeap deadlines_;
  std::vector<DeadlineHeap::Entry> due_;  // being looked at; has room for all of deadlines_
  std::size_t held_ = 0;
  bool stopping_ = false;
  std::chrono::milliseconds stop_timeout_ = kStopTimeout;
  TimePoint stop_deadline_ = TimePoint::max();
  std::vector<Task> at_stop_;
  std::vector<Slot> slots_;  // by descriptor
  std::vector<ConnectionId> ready_;
  std::vector<ConnectionId> serving_;
  ConnectionCloser closer_;
  std::vector<int> dying_;  // deleted, to be buried in this round
  std::size_t watch_count_ = 0;
  std::vector<std::unique_ptr<WatchCallback>> retired_;  // ended, may be running in this round
};

}  // namespace TURTLE_SERVER
