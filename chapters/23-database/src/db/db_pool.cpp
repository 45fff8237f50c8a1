#include "db/db_pool.h"

#include <algorithm>
#include <cstdlib>

#include "base/clock.h"
#include "log/log.h"

namespace TURTLE_SERVER {

DbLease::~DbLease() {
  if (connection_) {
    pool_->GiveBack(std::move(connection_), broken_);
  }
}

DbPool::DbPool(std::unique_ptr<Database> database, DbPoolOptions options, DbClock clock)
    : database_(std::move(database)), options_(options), clock_(std::move(clock)) {
  idle_.reserve(options_.max_connections);  // so that returning one can't fail
}

// Without the lock: no other thread may use it any more.
DbPool::~DbPool() {
  if (stats_.in_use != 0) {
    Log(LogLevel::kFatal, "a connection is lent by a pool that is destroyed");
    std::abort();
  }
}

auto DbPool::Acquire() -> DbLease {
  AwaitTurn();
  try {
    std::unique_ptr<DbConnection> connection = TakeIdle();
    const bool opens = connection == nullptr;
    if (opens) {
      connection = database_->Open();
    }
    const MutexLock lock(mutex_);
    ++stats_.lent;
    stats_.opened += opens ? 1 : 0;
    return {*this, std::move(connection), stats_.broken};
  } catch (...) {
    GiveUpTurn();  // the next caller may have more luck
    throw;
  }
}

// Returns with the right to one connection, which counts as `in_use`.
void DbPool::AwaitTurn() {
  Waiter self;
  const TimePoint end = clock_() + Bounded(options_.acquire_time);
  const MutexLock lock(mutex_);
  if (stats_.in_use < options_.max_connections) {  // then no other thread waits
    ++stats_.in_use;
    return;
  }
  if (waiting_.size() >= options_.max_waiting) {
    ++stats_.refused;
    throw DbError(DbErrorKind::kBusy, Name(), "too many wait for a connection");
  }
  waiting_.push_back(&self);
  while (!self.served) {
    const TimePoint now = clock_();
    if (now >= end) {
      waiting_.erase(std::find(waiting_.begin(), waiting_.end(), &self));
      ++stats_.timeouts;
      throw DbError(DbErrorKind::kTimeout, Name(), "no connection was given back in time");
    }
    self.changed.WaitUntil(mutex_, std::chrono::steady_clock::now() + (end - now));
  }
}

// Passes the right to the caller that has waited longest, or back to the pool.
void DbPool::PassTurnOn() noexcept {
  if (waiting_.empty()) {
    --stats_.in_use;
    return;
  }
  Waiter& next = *waiting_.front();
  waiting_.pop_front();
  next.served = true;
  next.changed.NotifyOne();
}

void DbPool::GiveUpTurn() noexcept {
  const MutexLock lock(mutex_);
  PassTurnOn();
}

// Returns the most recently used one, if it is alive. If not, returns none: the others are likely
// dead as well, and checking each of them may take long.
auto DbPool::TakeIdle() -> std::unique_ptr<DbConnection> {
  const TimePoint now = clock_();
  Idle taken;
  {
    const MutexLock lock(mutex_);
    if (idle_.empty()) {
      return nullptr;
    }
    taken = std::move(idle_.back());
    idle_.pop_back();
  }
  const bool fresh = taken.trusted && now - taken.since < options_.trust_time;
  if (!fresh && !taken.connection->Ping()) {
    taken.connection.reset();  // before another is opened: the server counts both
    const MutexLock lock(mutex_);
    CountBroken();
  }
  return std::move(taken.connection);
}

void DbPool::GiveBack(std::unique_ptr<DbConnection> connection,
                      std::uint64_t broken_before) noexcept {
  // No code could end a transaction that outlives its lease.
  const bool broken = connection->IsBroken() || connection->InTransaction();
  connection->CutOff();
  if (broken) {
    connection.reset();  // outside the lock: it may say goodbye to the server
  }
  const TimePoint now = clock_();
  {
    const MutexLock lock(mutex_);
    if (broken) {
      CountBroken();
    } else {
      idle_.push_back({std::move(connection), now, stats_.broken == broken_before});
    }
    PassTurnOn();
  }
  CloseOld(now);
}

// Distrusts all others, too: a restarted server or a bad cable affects all of them.
void DbPool::CountBroken() noexcept {
  ++stats_.broken;
  for (Idle& other : idle_) {
    other.trusted = false;
  }
}

// Closes one at a time, and outside the lock, because it says goodbye to the server.
void DbPool::CloseOld(TimePoint now) noexcept {
  for (;;) {
    std::unique_ptr<DbConnection> old;
    const MutexLock lock(mutex_);
    // The longest idle ones are in front.
    if (idle_.empty() || now - idle_.front().since < options_.idle_time) {
      return;
    }
    old = std::move(idle_.front().connection);
    idle_.erase(idle_.begin());
    ++stats_.closed;
  }
}

auto DbPool::Stats() const -> DbPoolStats {
  const MutexLock lock(mutex_);
  DbPoolStats stats = stats_;
  stats.idle = idle_.size();
  stats.waiting = waiting_.size();
  return stats;
}

}  // namespace TURTLE_SERVER
