// The fields of a form, application/x-www-form-urlencoded: the query of a target, or the body of a
// POST (WHATWG URL, section 5.1).
//
//     name=Ada+Lovelace&tag=a&tag=b&note=50%25
//
// Interface:
//  * Parse() reads the text; the fields then keep the order in which they came.
//  * Find() returns the first value of a name; ForEach() visits all of them.
//  * begin() and end() visit every field.
//
// Most names and values mean themselves and are views into the text. One with a '+' or an escape is
// decoded into memory of the Form, which is reused for the next text.
//
// No text is malformed. A '%' without two hexadecimal digits after it means itself, as
// the standard and browsers have it: people type "?q=100%". A path refuses that
// (http/uri.h), because a path decides what is opened; a value is only data. For the same
// reason no decoded byte is refused: a value may hold any byte, even line ends and NUL,
// and need not be UTF-8. Code that puts it into a page, a path or a database query
// escapes it there.
//
// Thread: like a std::vector, one thread at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "http/head_fault.h"

namespace TURTLE_SERVER {

/// One field of a form.
struct FormField {
  std::string_view name;   ///< Decoded; may be empty ("=value").
  std::string_view value;  ///< Decoded; "" for a name without '=', too.
};

/// Limits how much of a form is accepted. The limits of the head or the body bound its size.
struct FormLimits {
  std::size_t max_fields = 1000;  ///< The most that are accepted.
};

/// The fields of one form.
class Form {
 public:
  Form() = default;
  Form(const Form&) = delete;
  /// Moves the fields. Views returned earlier stay valid and belong to the new Form.
  Form(Form&&) noexcept = default;
  auto operator=(const Form&) -> Form& = delete;
  /// Does the same; the previous fields are gone.
  auto operator=(Form&&) noexcept -> Form& = default;
  ~Form() = default;

  /// Reads `text`, replacing earlier fields.
  /// @param text a query without its '?', or a whole body; must outlive the returned views
  /// @param limits how many fields are accepted
  /// @return no fault, or 400: too many fields; then there are none. To drop only the excess would
  ///     be to answer a different question from the one asked.
  auto Parse(std::string_view text, const FormLimits& limits = {}) -> HeadFault;

  /// Drops all fields and keeps the memory.
  void Clear() noexcept;

  /// Returns the value of the first field named exactly `name`; nullopt if there is none.
  [[nodiscard]] auto Find(std::string_view name) const -> std::optional<std::string_view>;

  /// Calls `visit(std::string_view value)` for each field named exactly `name`, in order.
  template <class Visit>
  void ForEach(std::string_view name, Visit&& visit) const {
    for (const FormField& field : fields_) {
      if (field.name == name) {
        visit(field.value);
      }
    }
  }

  /// Returns the number of fields.
  [[nodiscard]] auto Size() const noexcept -> std::size_t { return fields_.size(); }

  /// Returns the first field, for range-based loops.
  [[nodiscard]] auto begin() const noexcept { return fields_.begin(); }

  /// Returns the end of the fields.
  [[nodiscard]] auto end() const noexcept { return fields_.end(); }

 private:
  auto Decode(std::string_view text, std::size_t room) -> std::string_view;

  std::vector<FormField> fields_;
  std::vector<char>
      decoded_;  // never grows while views look into it; a moved vector keeps its bytes
};

}  // namespace TURTLE_SERVER
