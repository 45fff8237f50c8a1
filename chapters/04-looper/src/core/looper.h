// One thread's event loop, which owns its connections.
//
// Interface:
//  * Loop() runs until Stop(). A round: wait, sort the events, serve the connections that are
//    ready, destroy the deleted ones.
//  * AddConnection() takes over a client, DeleteConnection() drops it at the end of the round.
//  * Watch() calls back when any other descriptor is ready.
//
// Every round has the same shape. Events of watches are acted on at once. Connections are only put
// on the ready list, and served once all events were seen: each gets its handler called once. A
// connection with more to do is served again in the next round. So a client that sends without
// end can't starve its neighbours. Anything that wants a connection served (input, room, a late
// response, its very first moment) lists it in the same way.
//
// A connection that is deleted, by its own handler or another's, stays valid until the end of the
// round. No client's descriptor is closed before all events of a round were seen, so a number can't
// be reused among them. In later rounds the generation in the event's token distinguishes a
// connection from its predecessor.
//
// Thread: the one that calls Loop(), except Stop() and ConnectionCount(), which any may call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/unique_fd.h"
#include "core/connection.h"
#include "core/poller.h"
#include "core/wakeup.h"

namespace TURTLE_SERVER {

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
};

/// Identifies a watch of one loop; ids are never reused.
struct WatchId {
  int fd;                    ///< the watched descriptor
  std::uint32_t generation;  ///< which of the users of that number
};

/// One thread's event loop.
class Looper {
 public:
  /// Throws std::system_error if the process is out of descriptors.
  Looper();

  /// Deletes the remaining connections. The loop must not be running.
  ~Looper();

  Looper(const Looper&) = delete;
  auto operator=(const Looper&) -> Looper& = delete;

  /// Runs until Stop(), on the calling thread, which becomes the loop's. At the end its connections
  /// get one last flush. Runs once.
  void Loop();

  /// Ends the loop after the current round; before Loop(), Loop() returns at once. Any thread, and
  /// signal handlers.
  void Stop() noexcept;

  /// Takes over a connected, non-blocking socket: calls `on_accept`, and serves it in this round
  /// or the next.
  /// @param client the descriptor
  /// @param callbacks must outlive the loop
  /// @return the connection; valid, though already deleted, even if `on_accept` deletes it
  /// @throws std::logic_error if `client` is no descriptor, or already in this loop. Two
  ///     owners of one descriptor can't both go on: the second close aborts the process.
  auto AddConnection(UniqueFd client, const ConnectionCallbacks& callbacks) -> Connection*;

  /// Drops the connection with this number: no handler is called any more, its calls do nothing,
  /// and its queued bytes are flushed once. At the end of the round it is destroyed and its
  /// descriptor closed. Repeated, or without such a connection, nothing happens.
  void DeleteConnection(int fd);

  /// Does the same by name, for code that keeps a connection for later: by then the number may be
  /// another client's; a name never is.
  void DeleteConnection(ConnectionId id);

  /// Returns the connection of that name, or nullptr if it was deleted.
  [[nodiscard]] auto Find(ConnectionId id) const noexcept -> Connection*;

  /// Calls `visit` with every connection that is not deleted. It may add and delete any.
  void ForEachConnection(const ConnectionCallback& visit);

  /// Has the connection's handler called in this round or the next, with or without input.
  void Schedule(Connection* connection);

  /// Calls `callback` whenever `fd` is ready for `interest`, until Unwatch(). Level-triggered
  /// unless `interest` includes Interest::kEdge. The caller still owns the descriptor, and calls
  /// Unwatch() before closing it. Throws std::system_error if the kernel can't watch it (a plain
  /// file), std::logic_error if it is no descriptor, or already in this loop.
  auto Watch(int fd, Interest interest, WatchCallback callback) -> WatchId;

  /// Watches for something else from now on; Interest::kNone pauses the watch.
  void ChangeWatch(WatchId id, Interest interest);

  /// Ends a watch, even from within its callback. Repeated, nothing happens.
  void Unwatch(WatchId id);

  /// Returns the number of connections that are not destroyed yet. Any thread.
  [[nodiscard]] auto ConnectionCount() const noexcept -> std::size_t {
    return connection_count_.load(std::memory_order_relaxed);
  }

 private:
  // The meaning of a descriptor's number in this loop: a connection, a watch, or nothing.
  struct Slot {
    std::uint32_t generation = 0;  // increases when the number is given up
    std::unique_ptr<Connection> connection;
    std::unique_ptr<WatchCallback> watch;
  };

  void Round();
  void Dispatch(const PollEvent& event);  // calls a watch, lists a connection
  void MakeRoomForOneMore();
  void List(Connection& connection);  // once, until it is served
  void ServeReady();
  void Serve(Connection& connection);
  auto Register(Connection& connection) -> bool;  // false: the poller can't take it
  void ReapDeleted();                             // the deleted connections, the ended watches
  void BeginClose(Connection& connection);        // ends its state, sends once more, destroys it
  void Destroy(int fd);                           // closes it and gives up the number
  void End();                                     // drops all connections

  auto SlotOf(int fd) -> Slot&;                // makes one where there is none
  auto NewSlot(int fd) -> Slot&;               // throws std::logic_error for a number below 0
  auto WatchOf(WatchId id) noexcept -> Slot*;  // nullptr: it has ended

  const std::unique_ptr<Poller> poller_;  // const after construction
  Wakeup wakeup_;                         // Stop() wakes the poller by it

  std::atomic<bool> stop_{false};                 // any thread
  std::atomic<std::size_t> connection_count_{0};  // the loop's thread writes, any reads

  // Loop thread only. The lists of connections and watches have room for all there are, so that no
  // later step can fail for want of memory.
  std::vector<Slot> slots_;  // by descriptor
  std::vector<ConnectionId> ready_;
  std::vector<ConnectionId> serving_;
  std::vector<int> dying_;  // deleted, to be destroyed in this round
  std::size_t watch_count_ = 0;
  std::vector<std::unique_ptr<WatchCallback>> retired_;  // ended, but may be running in this round
};

}  // namespace TURTLE_SERVER
