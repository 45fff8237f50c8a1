// The fields of a response, parsed from the text in which they are sent.
//
// It is not Headers: those of a request are read a hundred thousand times a second and recognise
// frequently used names; here a name is compared when it is looked up.
//
// Interface:
//  * Find() returns the first value of a name, ForEach() visits all; begin() and end() delimit all.
//
// Thread: like a std::vector, one thread at a time.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/ascii.h"

namespace TURTLE_SERVER {

/// One field line of a response.
struct ReplyField {
  std::string_view name;   ///< as sent
  std::string_view value;  ///< without surrounding whitespace
};

/// The fields of a response, in order. They are views into its text.
class ReplyFields {
 public:
  /// Holds no fields.
  ReplyFields() = default;

  /// @param lines "Name: value\r\n" for each, as a Response writes them, and perhaps an empty line
  explicit ReplyFields(std::string_view lines) {
    constexpr std::string_view kLineEnd = "\r\n";
    for (std::size_t end = lines.find(kLineEnd); end != std::string_view::npos && end != 0;
         end = lines.find(kLineEnd)) {
      const std::string_view line = lines.substr(0, end);
      const std::size_t colon = line.find(':');
      fields_.push_back({line.substr(0, colon), ascii::TrimOws(line.substr(colon + 1))});
      lines.remove_prefix(end + kLineEnd.size());
    }
  }

  /// Returns the value of the first field `name` in any case; nullopt if there is none.
  [[nodiscard]] auto Find(std::string_view name) const -> std::optional<std::string_view> {
    for (const ReplyField& field : fields_) {
      if (ascii::EqualIgnoreCase(field.name, name)) {
        return field.value;
      }
    }
    return std::nullopt;
  }

  /// Calls `visit(std::string_view value)` for each field `name` in any case, in order.
  template <class Visit>
  void ForEach(std::string_view name, const Visit& visit) const {
    for (const ReplyField& field : fields_) {
      if (ascii::EqualIgnoreCase(field.name, name)) {
        visit(field.value);
      }
    }
  }

  /// Returns the first field, for range-based loops.
  [[nodiscard]] auto begin() const { return fields_.begin(); }

  /// Returns the end of the fields.
  [[nodiscard]] auto end() const { return fields_.end(); }

 private:
  std::vector<ReplyField> fields_;
};

}  // namespace TURTLE_SERVER
