#include "db/migrate.h"

namespace TURTLE_SERVER {

auto Migrate(DbConnection& connection, const std::vector<Migration>& steps) -> std::size_t {
  for (const Migration& step : steps) {
    for (const Sql& sql : step.statements) {
      connection.Execute(sql);  // TODO: once, and all or nothing
    }
  }
  return steps.size();
}

}  // namespace TURTLE_SERVER
