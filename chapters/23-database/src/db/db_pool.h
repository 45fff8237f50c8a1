// Connections to a database, lent to callers that have a query.
//
//   const DbLease connection = pool.Acquire();
//   connection->Execute("UPDATE notes SET done = ? WHERE id = ?", true, id);
//
// To open a connection takes the server a thread, a password and several ways there and back, so
// they are kept. A server takes only so many, so there is a limit, and callers above it wait. No
// caller waits for ever, and the queue is bounded: both are limits, too.
//
// Interface:
//  * Acquire() lends a connection; the DbLease gives it back when it goes.
//  * Stats() says how it is going.
//
// A connection that comes back broken is thrown away, and then no other is trusted: each that lay
// idle is asked whether it is alive before it is lent again. So is one that has been idle for long,
// because servers and firewalls forget it silently. A dead one is replaced, without a word to the
// caller. A connection that nobody has needed for long is closed when another one comes back.
//
// Thread: any. Acquire() may wait, so not a loop's. Leases end before the pool does.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/condition.h"
#include "base/mutex.h"
#include "db/database.h"

namespace TURTLE_SERVER {

class DbPool;

/// Says what time it is; tests pass one of their own.
using DbClock = std::function<std::chrono::steady_clock::time_point()>;

/// How many, and how long.
struct DbPoolOptions {
  std::size_t max_connections = 8;               ///< In use and idle together; 1 or more.
  std::size_t max_waiting = 256;                 ///< Above it Acquire() fails at once.
  std::chrono::milliseconds acquire_time{5000};  ///< The longest wait for a turn.
  std::chrono::milliseconds trust_time{30'000};  ///< Idle for longer, it is asked first.
  std::chrono::milliseconds idle_time{300'000};  ///< Idle for longer, it is closed.
};

/// The connections of a pool, and its counts.
struct DbPoolStats {
  std::size_t in_use = 0;      ///< Lent, or being opened for somebody.
  std::size_t idle = 0;        ///< Open, and in nobody's hands.
  std::size_t waiting = 0;     ///< Threads in Acquire().
  std::uint64_t lent = 0;      ///< Leases, all told.
  std::uint64_t opened = 0;    ///< Connections, all told.
  std::uint64_t broken = 0;    ///< Thrown away.
  std::uint64_t closed = 0;    ///< Idle for too long.
  std::uint64_t timeouts = 0;  ///< Waits that were too long.
  std::uint64_t refused = 0;   ///< Came when too many waited.
};

/// A connection for as long as this object lives. It may be moved.
class DbLease {
 public:
  /// For DbPool.
  DbLease(DbPool& pool, std::unique_ptr<DbConnection> connection, std::uint64_t broken) noexcept
      : pool_(&pool), connection_(std::move(connection)), broken_(broken) {}
  DbLease(DbLease&&) noexcept = default;
  auto operator=(DbLease&&) -> DbLease& = delete;
  DbLease(const DbLease&) = delete;
  auto operator=(const DbLease&) -> DbLease& = delete;

  /// Gives it back. Statements and rows that are still held are cut off.
  ~DbLease();

  /// The connection, until the lease goes.
  auto operator->() const noexcept -> DbConnection* { return connection_.get(); }
  /// As above.
  auto operator*() const& noexcept -> DbConnection& { return *connection_; }
  /// A lease that nobody keeps has gone when `Transaction t(*pool.Acquire())` goes on.
  auto operator*() const&& -> DbConnection& = delete;

 private:
  DbPool* pool_;
  std::unique_ptr<DbConnection> connection_;  // nullptr: it has moved on
  std::uint64_t broken_;                      // DbPoolStats::broken when it was lent
};

/// A bounded number of connections.
class DbPool {
 public:
  /// Opens nothing yet.
  /// @param database that connections are opened to
  /// @param options limits
  /// @param clock the time by which connections are idle, and waits are over
  explicit DbPool(std::unique_ptr<Database> database, DbPoolOptions options = {},
                  DbClock clock = std::chrono::steady_clock::now);

  /// Closes all connections. None may be lent: a lease that outlives its pool ends the program.
  ~DbPool();

  DbPool(const DbPool&) = delete;
  auto operator=(const DbPool&) -> DbPool& = delete;

  /// Lends a connection that was alive a moment ago. Waits for one if need be: first come, first
  /// served. To ask an old one whether it lives, or to open one, may take as long as the database's
  /// own timeouts allow.
  /// @throws DbError kTimeout when none came back in time, kBusy when too many wait already, or
  ///     what Database::Open() throws
  [[nodiscard]] auto Acquire() -> DbLease;

  /// How it is going.
  [[nodiscard]] auto Stats() const -> DbPoolStats;

  /// Which database.
  [[nodiscard]] auto Name() const -> std::string { return database_->Name(); }

 private:
  friend class DbLease;
  using TimePoint = std::chrono::steady_clock::time_point;

  struct Idle {
    std::unique_ptr<DbConnection> connection;
    TimePoint since{};
    bool trusted = false;  // nothing has broken since it was given back
  };

  // A thread in Acquire(). It waits for the right to have a connection, not for a particular one.
  struct Waiter {
    Condition changed;
    bool served = false;
  };

  void AwaitTurn();
  void GiveUpTurn() noexcept;
  auto TakeIdle() -> std::unique_ptr<DbConnection>;
  void GiveBack(std::unique_ptr<DbConnection> connection, std::uint64_t broken_before) noexcept;
  void CountBroken() noexcept TURTLE_REQUIRES(mutex_);
  void PassTurnOn() noexcept TURTLE_REQUIRES(mutex_);
  void CloseOld(TimePoint now) noexcept;

  const std::unique_ptr<Database> database_;
  const DbPoolOptions options_;
  const DbClock clock_;

  mutable Mutex mutex_;
  std::vector<Idle> idle_ TURTLE_GUARDED_BY(mutex_);  // the one that was used last, last
  std::deque<Waiter*> waiting_ TURTLE_GUARDED_BY(mutex_);
  DbPoolStats stats_ TURTLE_GUARDED_BY(mutex_);
};

}  // namespace TURTLE_SERVER
