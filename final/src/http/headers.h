// The header fields of one request, in the order in which they came.
//
// Names and values are views: the bytes belong to the parsed input (or to a detached Request). The
// list keeps its memory across Clear(), so that the next request costs no allocation.
//
// Interface:
//  * Find() returns the first value of a name; Count() how many there are.
//  * ForEach() visits every field of a name; begin() and end() delimit all fields.
//  * Add(), Clear(), RemoveIf() and Rebase() are for the code that fills it.
//  * TakeListElement() splits a value that is a list: "a, b, c" (RFC 9110, section 5.6.1).
//
// Thread: like a std::vector, one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "http/known_field.h"
#include "http/view_shift.h"

namespace TURTLE_SERVER {

/// One field line.
struct HeaderField {
  std::string_view name;                 ///< As the client wrote it.
  std::string_view value;                ///< Without surrounding whitespace; may be empty.
  KnownField known = KnownField::kNone;  ///< What `name` was recognised as.
};

/// An ordered list of header fields with case-insensitive names.
class Headers {
 public:
  /// Appends a field. At most 65,534 fields: the parser's limit is far below that.
  void Add(std::string_view name, std::string_view value);

  /// Drops all fields and keeps the memory.
  void Clear();

  /// Removes the fields for which `is_unwanted(const HeaderField&)` is true. The rest keep their
  /// order.
  template <class Predicate>
  void RemoveIf(Predicate&& is_unwanted) {
    const std::vector<HeaderField> before = fields_;
    Clear();
    for (const HeaderField& field : before) {
      if (!is_unwanted(field)) {
        Add(field.name, field.value);
      }
    }
  }

  /// Returns the value of the first field `field`, in constant time; nullopt if there is none. An
  /// empty value is a value. `field` must not be KnownField::kNone.
  [[nodiscard]] auto Find(KnownField field) const -> std::optional<std::string_view>;

  /// Returns the value of the first field named `name` in any case; nullopt if there is none.
  [[nodiscard]] auto Find(std::string_view name) const -> std::optional<std::string_view>;

  /// True if there is at least one field `field`.
  [[nodiscard]] auto Has(KnownField field) const -> bool { return (present_ & BitOf(field)) != 0; }

  /// True if `field` occurs more than once: checks that a field is unique in constant time.
  [[nodiscard]] auto IsRepeated(KnownField field) const -> bool {
    return (repeated_ & BitOf(field)) != 0;
  }

  /// Returns the number of field lines `field`.
  [[nodiscard]] auto Count(KnownField field) const -> std::size_t;

  /// Calls `visit(std::string_view value)` for each field `field`, in order.
  template <class Visit>
  void ForEach(KnownField field, Visit&& visit) const {
    if (!Has(field)) {
      return;
    }
    std::size_t i = FirstOf(field);
    visit(fields_[i].value);
    if (IsRepeated(field)) {
      while (++i < fields_.size()) {
        if (fields_[i].known == field) {
          visit(fields_[i].value);
        }
      }
    }
  }

  /// Calls `visit(std::string_view value)` for each field named `name` in any case, in order.
  template <class Visit>
  void ForEach(std::string_view name, Visit&& visit) const {
    for (const HeaderField& field : fields_) {
      if (ascii::EqualIgnoreCase(field.name, name)) {
        visit(field.value);
      }
    }
  }

  /// Returns the number of field lines.
  [[nodiscard]] auto Size() const -> std::size_t { return fields_.size(); }

  /// Returns the first field line, for range-based loops.
  [[nodiscard]] auto begin() const { return fields_.begin(); }

  /// Returns the end of the field lines.
  [[nodiscard]] auto end() const { return fields_.end(); }

  /// Makes all names and values views into a copy of their text.
  void Rebase(const ViewShift& shift);

 private:
  static_assert(kKnownFieldCount <= 32, "a bit for each");

  static auto BitOf(KnownField field) -> std::uint32_t {
    return std::uint32_t{1} << static_cast<unsigned>(field);
  }

  // Returns the index of the first line of a field that occurs.
  auto FirstOf(KnownField field) const -> std::size_t {
    return first_[static_cast<std::size_t>(field)];
  }

  std::vector<HeaderField> fields_;
  std::uint32_t present_ = 0;   // a bit for each known field that occurs
  std::uint32_t repeated_ = 0;  // a bit for each that occurs again
  // Valid where present_ has the bit: Clear() resets the sets of bits, but not this array.
  std::array<std::uint16_t, kKnownFieldCount> first_{};
};

/// Cuts the first element off a comma-separated list that holds no quoted strings.
/// @param rest The list; becomes the part after the first comma, or "".
/// @return The element without the whitespace around it; "" for an empty element.
inline auto TakeListElement(std::string_view& rest) -> std::string_view {
  const std::size_t comma = rest.find(',');
  const std::string_view element = ascii::TrimOws(rest.substr(0, comma));
  rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  return element;
}

}  // namespace TURTLE_SERVER
