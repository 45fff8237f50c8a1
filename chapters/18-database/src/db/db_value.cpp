#include "db/db_value.h"

#include <array>

namespace TURTLE_SERVER {

auto TypeName(const DbValue& value) noexcept -> std::string_view {
  constexpr std::array<std::string_view, std::variant_size_v<DbValue>> kNames = {
      "NULL", "a whole number", "a number", "a text", "bytes"};
  return kNames[value.index()];
}

void db_value_detail::FailConversion(const DbValue& value, std::string_view wanted) {
  throw DbError(DbErrorKind::kType, "a value",
                std::string(TypeName(value)).append(" is not ").append(wanted));
}

}  // namespace TURTLE_SERVER
