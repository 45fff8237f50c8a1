// Measures the price of durability: rows a second into a file.
//
//   commit_cost FILE [ROWS]
#include <chrono>
#include <exception>
#include <functional>
#include <iostream>
#include <optional>
#include <stdexcept>

#include "base/argument.h"
#include "db/sqlite_database.h"

using namespace TURTLE_SERVER;

namespace {

void Measure(const char* what, const SqliteOptions& options, int rows, bool together) {
  const auto connection = SqliteDatabase(options)->Open();
  connection->Execute("CREATE TABLE IF NOT EXISTS rows_ (text TEXT) STRICT");
  Statement insert = connection->Prepare("INSERT INTO rows_ (text) VALUES (?)");
  const auto begin = std::chrono::steady_clock::now();
  std::optional<Transaction> transaction;
  if (together) {
    transaction.emplace(*connection);
  }
  for (int i = 0; i < rows; ++i) {
    insert.Execute("buy milk");
  }
  if (transaction) {
    transaction->Commit();
  }
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  std::cout << what << ": " << static_cast<int>(rows / time.count()) << " rows a second\n";
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  if (argc < 2) {
    std::cerr << "usage: commit_cost FILE [ROWS]\n";
    return 2;
  }
  const int rows = argc > 2 ? ReadNumber("rows", argv[2], 1, 1'000'000) : 1000;
  SqliteOptions options;
  options.file = argv[1];
  Measure("each on disk before the next", options, rows, false);
  Measure("all of them in one transaction", options, rows, true);
  options.sync = SqliteSync::kNormal;
  Measure("each given to the kernel", options, rows, false);
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "commit_cost: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "commit_cost: " << error.what() << '\n';
  return 1;
}
