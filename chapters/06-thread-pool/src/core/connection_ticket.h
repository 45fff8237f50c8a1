// A connection as another thread may hold it: not a pointer, but a name and a way to reach it.
//
// A Connection* is valid on its loop's thread only, and there only until the connection is deleted.
// A ticket may be copied, kept and used anywhere and for any time: at worst, the connection is
// gone.
//
// Thread: any; made on the loop's.
#pragma once

#include <memory>

#include "core/connection.h"
#include "core/looper.h"
#include "core/mailbox.h"

namespace TURTLE_SERVER {

/// Identifies one connection of one loop, for other threads.
class ConnectionTicket {
 public:
  /// Makes a ticket for `connection`. On its loop's thread.
  explicit ConnectionTicket(const Connection& connection);

  /// Has `callback` run with the connection, on its loop's thread. The output is sent when
  /// `callback` returns; only a task of Looper::Post() has to call Connection::Send() itself.
  /// @param callback called once if the connection is still there. If it throws, that is logged and
  ///     the connection is deleted, as when its own callbacks throw.
  /// @param gone called once instead, on the loop's thread, if it is not; may be empty
  /// @return false: the loop has ended; neither is called.
  [[nodiscard]] auto Post(ConnectionCallback callback, Task gone = {}) const -> bool;

  /// Returns the connection's name within its loop.
  [[nodiscard]] auto Id() const noexcept -> ConnectionId { return id_; }

 private:
  std::shared_ptr<Mailbox> mailbox_;  // shared with the loop, which may end first
  Looper* looper_;                    // used only in tasks that it runs itself, so it still exists
  ConnectionId id_;
};

}  // namespace TURTLE_SERVER
