// A value that goes into a statement or comes out of a row.
//
// Interface:
//  * DbValue is one of the five types of a database.
//  * ToDbValue() makes one from a program's value; for a type without a meaning in a database, it
//    doesn't compile.
//  * FromDbValue() makes a program's value, or throws a DbError: no conversion loses information.
//
//
// Thread: any; these are values.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "db/db_error.h"

namespace TURTLE_SERVER {

/// Bytes that are not text; NUL is an ordinary byte. Borrowed.
struct Blob {
  std::string_view bytes;  ///< of any value
};

/// NULL, an integer, a number, a UTF-8 text or bytes. The last two are borrowed.
using DbValue = std::variant<std::nullptr_t, std::int64_t, double, std::string_view, Blob>;

/// Returns "NULL", "a whole number", …
[[nodiscard]] inline auto TypeName(const DbValue& value) noexcept -> std::string_view {
  constexpr std::array<std::string_view, std::variant_size_v<DbValue>> kNames = {
      "NULL", "a whole number", "a number", "a text", "bytes"};
  return kNames[value.index()];
}

namespace db_value_detail {

template <class Type>
inline constexpr bool kIsOptional = false;
template <class Type>
inline constexpr bool kIsOptional<std::optional<Type>> = true;

// 'a' is a number in C++, but its author means a text.
template <class Type>
inline constexpr bool kIsCharacter =
    std::is_same_v<Type, char> || std::is_same_v<Type, wchar_t> || std::is_same_v<Type, char16_t> ||
    std::is_same_v<Type, char32_t>;

[[noreturn]] inline void FailConversion(const DbValue& value, std::string_view wanted) {
  throw DbError(DbErrorKind::kType, "a value",
                std::string(TypeName(value)).append(" is not ").append(wanted));
}

}  // namespace db_value_detail

/// Makes a parameter from `value`: nullptr, bool, an integer, a number, a text, a Blob, or an
/// optional of these. Texts are borrowed; a null `const char*` is NULL.
/// @throws DbError kType for a number that a database can't store: above the highest std::int64_t,
///     infinite, or NaN
template <class Type>
[[nodiscard]] auto ToDbValue(const Type& value) -> DbValue {
  static_assert(!db_value_detail::kIsCharacter<Type>, "a character is not a number: pass a text");
  if constexpr (std::is_same_v<Type, DbValue> || std::is_same_v<Type, std::nullptr_t> ||
                std::is_same_v<Type, Blob>) {
    return value;
  } else if constexpr (db_value_detail::kIsOptional<Type>) {
    return value ? ToDbValue(*value) : DbValue(nullptr);
  } else if constexpr (std::is_integral_v<Type>) {  // bool is one
    if constexpr (std::is_unsigned_v<Type> && sizeof(Type) == sizeof(std::uint64_t)) {
      if (value > static_cast<Type>(INT64_MAX)) {
        throw DbError(DbErrorKind::kType, "a parameter", "the number is too large");
      }
    }
    return static_cast<std::int64_t>(value);
  } else if constexpr (std::is_floating_point_v<Type>) {
    if (!std::isfinite(value)) {  // SQLite would silently store NULL
      throw DbError(DbErrorKind::kType, "a parameter", "the number is not finite");
    }
    return static_cast<double>(value);
  } else {
    static_assert(std::is_convertible_v<const Type&, std::string_view>,
                  "a database has no such values");
    if constexpr (std::is_pointer_v<Type>) {
      if (value == nullptr) {
        return nullptr;
      }
    }
    return std::string_view(value);
  }
}

/// Makes a program's value from `value`.
///
/// A bool must be 0 or 1, an integer must fit, and a double may come from an integer that it
/// represents exactly; NULL is for std::optional only.
/// @throws DbError kType with the actual type, but not the value
template <class Type>
[[nodiscard]] auto FromDbValue(const DbValue& value) -> Type {
  if constexpr (db_value_detail::kIsOptional<Type>) {
    if (std::holds_alternative<std::nullptr_t>(value)) {
      return std::nullopt;
    }
    return FromDbValue<typename Type::value_type>(value);
  } else if constexpr (std::is_same_v<Type, bool>) {
    const auto* const number = std::get_if<std::int64_t>(&value);
    if (number == nullptr || (*number != 0 && *number != 1)) {
      db_value_detail::FailConversion(value, "0 or 1");
    }
    return *number == 1;
  } else if constexpr (std::is_integral_v<Type>) {
    static_assert(!db_value_detail::kIsCharacter<Type>, "ask for a text");
    const auto* const number = std::get_if<std::int64_t>(&value);
    if (number == nullptr || static_cast<std::int64_t>(static_cast<Type>(*number)) != *number ||
        (std::is_unsigned_v<Type> && *number < 0)) {
      db_value_detail::FailConversion(value, "a whole number of that size");
    }
    return static_cast<Type>(*number);
  } else if constexpr (std::is_same_v<Type, double>) {
    constexpr std::int64_t kExact = std::int64_t{1} << 53;
    if (const auto* const number = std::get_if<std::int64_t>(&value);
        number != nullptr && *number >= -kExact && *number <= kExact) {
      return static_cast<double>(*number);
    }
    const auto* const number = std::get_if<double>(&value);
    if (number == nullptr) {
      db_value_detail::FailConversion(value, "a number");
    }
    return *number;
  } else if constexpr (std::is_same_v<Type, Blob>) {
    const auto* const blob = std::get_if<Blob>(&value);
    if (blob == nullptr) {
      db_value_detail::FailConversion(value, "bytes");
    }
    return *blob;
  } else {
    static_assert(std::is_same_v<Type, std::string> || std::is_same_v<Type, std::string_view>,
                  "a database has no such values");
    const auto* const text = std::get_if<std::string_view>(&value);
    if (text == nullptr) {
      db_value_detail::FailConversion(value, "a text");
    }
    return Type(*text);
  }
}

}  // namespace TURTLE_SERVER
