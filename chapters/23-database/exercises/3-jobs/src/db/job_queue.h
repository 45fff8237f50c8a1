// Work that is done even if the process that has begun it dies.
//
//   const std::optional<Job> job = queue.Take(*connection, Now());
//   if (job) {
//     SendLetter(job->work);
//     queue.Finish(*connection, *job);
//   }
//
// Jobs are rows of a table. A process that takes one has it for a while: a lease. If it has not
// finished by then, it may have died, and the next one gets the job. So a job may be done twice,
// but it is not lost; and a process that comes too late is told.
//
// In a Transaction of the caller's, Put() and Finish() count with the rest of it: no letter without
// the order, and no order without the letter.
//
// For SQLite. Thread: as DbConnection; several processes may use the same table.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "db/db_connection.h"

namespace TURTLE_SERVER {

/// Work that somebody has taken.
struct Job {
  std::int64_t id = 0;  ///< of no other job, ever
  std::string work;     ///< the text of the work
  int attempt = 0;      ///< the how manieth this is, 1 at first
};

/// How jobs are given away.
struct JobQueueOptions {
  std::chrono::milliseconds lease{60'000};  ///< how long a job is its taker's
  int attempts = 5;                         ///< how often it is given away, at most
};

/// The table `jobs`.
class JobQueue {
 public:
  using TimePoint = std::chrono::system_clock::time_point;  ///< The same for all processes.

  explicit JobQueue(const JobQueueOptions& options = {});

  /// Makes the table, if it isn't there.
  void MakeTable(DbConnection& connection) const;

  /// Leaves work. In the caller's transaction, if there is one. @return the job's id
  auto Put(DbConnection& connection, std::string_view work) const -> std::int64_t;

  /// Takes the oldest job that nobody has, or whose lease is over, and which was not given away too
  /// often. @param connection without a transaction. @return nullopt: there is none
  [[nodiscard]] auto Take(DbConnection& connection, TimePoint now) const -> std::optional<Job>;

  /// Its work is done: the job goes. In the caller's transaction, if there is one.
  /// @return false: the lease is over; another process has taken the job, or it is done
  [[nodiscard]] auto Finish(DbConnection& connection, const Job& job) const -> bool;

  /// It takes longer: a new lease, from `now` on. @return as Finish()
  [[nodiscard]] auto Extend(DbConnection& connection, const Job& job, TimePoint now) const -> bool;

  /// It could not be done. From `later` on the next may try. @return as Finish()
  [[nodiscard]] auto GiveBack(DbConnection& connection, const Job& job, TimePoint later) const
      -> bool;

  /// How many jobs were given away as often as they may be, and are in nobody's hands at `now`.
  /// Somebody has to look at them.
  [[nodiscard]] auto Dead(DbConnection& connection, TimePoint now) const -> std::size_t;
};

}  // namespace TURTLE_SERVER
