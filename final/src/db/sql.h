// The text of a statement, which no value can get into.
//
//   connection.Prepare("SELECT text FROM notes WHERE id = ?");          // fine
//   connection.Prepare("SELECT text FROM notes WHERE id = " + id);      // does not compile
//
// An injection begins where a value is made a part of a text. So a text that is made while the
// program runs is refused by the compiler; it takes only literals.
//
// Thread: a value.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// A statement, with a '?' where a value belongs.
class Sql {
 public:
  /// Of a literal, which lives as long as the program.
  template <std::size_t Size>
  constexpr Sql(const char (&literal)[Size]) noexcept  // NOLINT: a literal is one
      : text_(literal, Size - 1) {}

  template <std::size_t Size>
  Sql(char (&)[Size]) = delete;  ///< A buffer is no literal. NOLINT: as above

  /// Of a text that the program has made itself, out of nothing that came from outside: the door
  /// for a migration in a file. Reviewers who look for holes look for this name.
  /// @param text outlives the call that it is given to
  [[nodiscard]] static constexpr auto Trusted(std::string_view text) noexcept -> Sql {
    return Sql(text, 0);
  }

  /// Returns the given text.
  [[nodiscard]] constexpr auto Text() const noexcept -> std::string_view { return text_; }

 private:
  constexpr Sql(std::string_view text, int) noexcept : text_(text) {}

  std::string_view text_;
};

}  // namespace TURTLE_SERVER
