// A connection as another thread may hold it: not a pointer, but a name and a way to ask.
//
// A Connection* is worth something on its loop's thread only, and there only until the connection
// is deleted. A ticket may be copied, kept and used anywhere, for as long as one likes: at the
// worst, the connection has gone.
//
// Thread: any; made on the loop's.
#pragma once

#include <memory>

#include "core/connection.h"
#include "core/looper.h"
#include "core/mailbox.h"

namespace TURTLE_SERVER {

/// Names one connection of one loop, for other threads.
class ConnectionTicket {
 public:
  /// A ticket for `connection`. On its loop's thread.
  explicit ConnectionTicket(const Connection& connection);

  /// Has `callback` run with the connection, on its loop's thread. Post() sends its output when
  /// it returns; only a task of Looper::Post() has to call Connection::Send() itself.
  /// @param callback called once if the connection is still there. If it throws, that is logged and
  ///     the connection is deleted, as when its own callbacks throw.
  /// @param gone called once instead, on the loop's thread, if it is not; may be empty
  /// @return false: the loop has ended; neither is called.
  [[nodiscard]] auto Post(ConnectionCallback callback, Task gone = {}) const -> bool;

  /// The connection's name within its loop.
  [[nodiscard]] auto Id() const noexcept -> ConnectionId { return id_; }

 private:
  std::shared_ptr<Mailbox> mailbox_;  // shared with the loop, which may end first
  Looper* looper_;                    // used in tasks that it runs itself, so that it is there
  ConnectionId id_;
};

}  // namespace TURTLE_SERVER
