// Jobs that get done even if the process that has started one dies.
//
//   const std::optional<Job> job = queue.Take(*connection, Now());
//   if (job) {
//     SendLetter(job->work);
//     queue.Finish(*connection, *job);
//   }
//
// Jobs are rows of a table. A process that takes one has it for a limited time: a lease. If it has
// not finished by then, it may be dead, and the next process gets the job. So a job may be done
// twice, but it is never lost; and a process that finishes too late learns that.
//
// Within a Transaction of the caller, Put() and Finish() take effect with the rest of it: no letter
// without the order, and no order without the letter.
//
// For SQLite. Thread: as for DbConnection; several processes may use the same table.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "db/db_connection.h"

namespace TURTLE_SERVER {

/// A job that a process has taken.
struct Job {
  std::int64_t id = 0;  ///< never used for another job
  std::string work;     ///< the text of the work
  int attempt = 0;      ///< the number of this attempt, 1 at first
};

/// Limits of a JobQueue.
struct JobQueueOptions {
  std::chrono::milliseconds lease{60'000};  ///< how long a taken job is reserved
  int attempts = 5;                         ///< the most attempts of a job
};

/// The table `jobs`.
class JobQueue {
 public:
  using TimePoint = std::chrono::system_clock::time_point;  ///< The same for all processes.

  explicit JobQueue(const JobQueueOptions& options = {});

  /// Creates the table, if it is missing.
  void MakeTable(DbConnection& connection) const;

  /// Adds a job. In the caller's transaction, if there is one. @return the job's id
  auto Put(DbConnection& connection, std::string_view work) const -> std::int64_t;

  /// Takes the oldest job that is free, or whose lease has expired, and that has attempts left.
  /// @param connection without a transaction. @return nullopt if there is none
  [[nodiscard]] auto Take(DbConnection& connection, TimePoint now) const -> std::optional<Job>;

  /// Removes a finished job. In the caller's transaction, if there is one.
  /// @return false if the lease has expired, and another process has taken or finished the job
  [[nodiscard]] auto Finish(DbConnection& connection, const Job& job) const -> bool;

  /// Renews the lease of a long job, from `now` on. @return as for Finish()
  [[nodiscard]] auto Extend(DbConnection& connection, const Job& job, TimePoint now) const -> bool;

  /// Gives back a job that failed, for another attempt from `later` on. @return as for Finish()
  [[nodiscard]] auto GiveBack(DbConnection& connection, const Job& job, TimePoint later) const
      -> bool;

  /// Returns how many jobs have no attempts left, and are not leased at `now`. A person has to look
  /// at them.
  [[nodiscard]] auto Dead(DbConnection& connection, TimePoint now) const -> std::size_t;
};

}  // namespace TURTLE_SERVER
