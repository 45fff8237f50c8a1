#include "db/in_transaction.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

namespace TURTLE_SERVER {

void PauseAtRandom(int attempts) {
  static thread_local std::minstd_rand random(std::random_device{}());
  const int most = 1000 << std::min(attempts, 10);
  std::this_thread::sleep_for(
      std::chrono::microseconds(std::uniform_int_distribution<int>(0, most)(random)));
}

auto InTransaction(DbConnection& connection, int /*attempts*/,
                   const std::function<void(DbConnection&)>& body, const AttemptPause& /*pause*/)
    -> int {
  Transaction transaction(connection);
  body(connection);
  transaction.Commit();
  return 1;  // TODO: retry
}

}  // namespace TURTLE_SERVER
