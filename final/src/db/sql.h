// The text of a statement, kept free of values.
//
//   connection.Prepare("SELECT text FROM notes WHERE id = ?");          // fine
//   connection.Prepare("SELECT text FROM notes WHERE id = " + id);      // does not compile
//
// An injection starts where a value becomes a part of a text. So the compiler refuses a text that
// is made while the program runs, and accepts only literals.
//
// Thread: any; it is a value.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// A statement, with a '?' for each value.
class Sql {
 public:
  /// Makes a statement from a literal, which lives as long as the program.
  template <std::size_t Size>
  constexpr Sql(const char (&literal)[Size]) noexcept  // NOLINT: a literal is one
      : text_(literal, Size - 1) {}

  template <std::size_t Size>
  Sql(char (&)[Size]) = delete;  ///< A buffer is not a literal. NOLINT: as above

  /// Makes a statement from a text that the program has made, without any outside data: for example
  /// a migration in a file. Reviewers who look for holes look for this name.
  /// @param text outlives the call that receives the statement
  [[nodiscard]] static constexpr auto Trusted(std::string_view text) noexcept -> Sql {
    return Sql(text, 0);
  }

  /// Returns the text of the statement.
  [[nodiscard]] constexpr auto Text() const noexcept -> std::string_view { return text_; }

 private:
  constexpr Sql(std::string_view text, int) noexcept : text_(text) {}

  std::string_view text_;
};

}  // namespace TURTLE_SERVER
