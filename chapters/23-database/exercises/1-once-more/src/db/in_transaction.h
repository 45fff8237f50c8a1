// A transaction that is retried when another one uses the same rows.
//
//   InTransaction(*connection, 5, [&](DbConnection& bank) {
//     bank.Execute("UPDATE accounts SET sum = sum - ? WHERE id = ?", sum, from);
//     bank.Execute("UPDATE accounts SET sum = sum + ? WHERE id = ?", sum, to);
//   });
//
// Thread: as for DbConnection.
#pragma once

#include <functional>

#include "db/db_connection.h"

namespace TURTLE_SERVER {

/// Waits before the next attempt. @param attempts how many have failed, 1 at first
using AttemptPause = std::function<void(int attempts)>;

/// Sleeps for a random time: at most 2 ms at first, and twice as long after each attempt.
void PauseAtRandom(int attempts);

/// Begins a transaction, calls `body`, and commits. A kBusy anywhere rolls back, and it starts
/// again from the beginning.
/// @param connection without a transaction
/// @param attempts the most attempts; at least 1
/// @param body the work; may be called several times
/// @param pause called between two attempts, without a transaction
/// @return the number of attempts
/// @throws DbError kBusy of the last attempt; and, rolled back at once, any other exception
///     of `body`
auto InTransaction(DbConnection& connection, int attempts,
                   const std::function<void(DbConnection&)>& body,
                   const AttemptPause& pause = PauseAtRandom) -> int;

}  // namespace TURTLE_SERVER
