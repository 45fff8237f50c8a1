// Lends connections to a database to callers that have a query.
//
//   const DbLease connection = pool.Acquire();
//   connection->Execute("UPDATE notes SET done = ? WHERE id = ?", true, id);
//
// Opening a connection costs the server a thread, a password check and several round trips, so
// connections are kept. A server accepts only so many, so there is a limit, and callers above it
// wait. Both their wait and their queue are limited.
//
// Interface:
//  * Acquire() lends a connection; the DbLease returns it when it is destroyed.
//  * Stats() returns the statistics.
//
// A connection that comes back broken is discarded, and then no other is trusted: each idle one is
// checked before it is lent again. So is one that has been idle for long, because servers and
// firewalls drop it silently. A dead one is silently replaced. A connection that has been unused
// for long is closed when another one comes back.
//
// Thread: any. Acquire() may wait, so not a loop's. Leases must end before the pool does.
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

/// Returns the current time; tests pass their own.
using DbClock = std::function<std::chrono::steady_clock::time_point()>;

/// Limits of a pool.
struct DbPoolOptions {
  std::size_t max_connections = 8;               ///< In use and idle together; 1 or more.
  std::size_t max_waiting = 256;                 ///< Beyond it Acquire() fails at once.
  std::chrono::milliseconds acquire_time{5000};  ///< The longest wait for a connection.
  std::chrono::milliseconds trust_time{30'000};  ///< Once idle this long, it is checked first.
  std::chrono::milliseconds idle_time{300'000};  ///< Once idle this long, it is closed.
};

/// The connections of a pool, and its counts.
struct DbPoolStats {
  std::size_t in_use = 0;      ///< Lent, or being opened for a caller.
  std::size_t idle = 0;        ///< Open, and not lent.
  std::size_t waiting = 0;     ///< Threads in Acquire().
  std::uint64_t lent = 0;      ///< Leases, in total.
  std::uint64_t opened = 0;    ///< Connections, in total.
  std::uint64_t broken = 0;    ///< Discarded.
  std::uint64_t closed = 0;    ///< Idle for too long.
  std::uint64_t timeouts = 0;  ///< Waits that took too long.
  std::uint64_t refused = 0;   ///< Calls while too many were waiting.
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

  /// Gives the connection back. Statements and rows still in use are cut off.
  ~DbLease();

  /// Accesses the connection, until the lease is destroyed.
  auto operator->() const noexcept -> DbConnection* { return connection_.get(); }
  /// As above.
  auto operator*() const& noexcept -> DbConnection& { return *connection_; }
  /// In `Transaction t(*pool.Acquire())` the temporary lease would end before the transaction.
  auto operator*() const&& -> DbConnection& = delete;

 private:
  DbPool* pool_;
  std::unique_ptr<DbConnection> connection_;  // nullptr: it was moved from
  std::uint64_t broken_;                      // DbPoolStats::broken when it was lent
};

/// Lends a limited number of connections.
class DbPool {
 public:
  /// Opens nothing yet.
  /// @param database to which connections are opened
  /// @param options limits
  /// @param clock the time for idle connections and waits
  explicit DbPool(std::unique_ptr<Database> database, DbPoolOptions options = {},
                  DbClock clock = std::chrono::steady_clock::now);

  /// Closes all connections. None may be lent: a lease that outlives its pool ends the program.
  ~DbPool();

  DbPool(const DbPool&) = delete;
  auto operator=(const DbPool&) -> DbPool& = delete;

  /// Lends a connection that was alive a moment ago. Waits for one if necessary: first come, first
  /// served. Checking an old one, or opening one, may take as long as the database's own timeouts
  /// allow.
  /// @throws DbError kTimeout if none came back in time, kBusy if too many are already waiting, or
  ///     an exception of Database::Open()
  [[nodiscard]] auto Acquire() -> DbLease;

  /// Returns the statistics.
  [[nodiscard]] auto Stats() const -> DbPoolStats;

  /// Returns the name of the database.
  [[nodiscard]] auto Name() const -> std::string { return database_->Name(); }

 private:
  friend class DbLease;
  using TimePoint = std::chrono::steady_clock::time_point;

  struct Idle {
    std::unique_ptr<DbConnection> connection;
    TimePoint since{};
    bool trusted = false;  // nothing has broken since it was given back
  };

  // A thread in Acquire(). It waits for the right to a connection, not for a particular one.
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
  std::vector<Idle> idle_ TURTLE_GUARDED_BY(mutex_);  // the most recently used one is last
  std::deque<Waiter*> waiting_ TURTLE_GUARDED_BY(mutex_);
  DbPoolStats stats_ TURTLE_GUARDED_BY(mutex_);
};

}  // namespace TURTLE_SERVER
