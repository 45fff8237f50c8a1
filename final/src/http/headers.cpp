#include "http/headers.h"

namespace TURTLE_SERVER {

// Flattened: with calls of KnownFieldOf, a request with a browser's head costs 3 % more.
[[gnu::flatten]] void Headers::Add(std::string_view name, std::string_view value) {
  const KnownField known = KnownFieldOf(name);
  if (known != KnownField::kNone) {
    if (Has(known)) {
      repeated_ |= BitOf(known);
    } else {
      present_ |= BitOf(known);
      first_[static_cast<std::size_t>(known)] = static_cast<std::uint16_t>(fields_.size());
    }
  }
  fields_.push_back({name, value, known});
}

void Headers::Clear() {
  fields_.clear();
  present_ = repeated_ = 0;
}

auto Headers::Find(KnownField field) const -> std::optional<std::string_view> {
  return Has(field) ? std::optional(fields_[FirstOf(field)].value) : std::nullopt;
}

auto Headers::Find(std::string_view name) const -> std::optional<std::string_view> {
  if (const KnownField known = KnownFieldOf(name); known != KnownField::kNone) {
    return Find(known);
  }
  for (const HeaderField& field : fields_) {
    if (ascii::EqualIgnoreCase(field.name, name)) {
      return field.value;
    }
  }
  return std::nullopt;
}

auto Headers::Count(KnownField field) const -> std::size_t {
  std::size_t count = 0;
  ForEach(field, [&](std::string_view) { ++count; });
  return count;
}

void Headers::Rebase(const ViewShift& shift) {
  for (HeaderField& field : fields_) {
    shift(field.name);
    shift(field.value);
  }
}

}  // namespace TURTLE_SERVER
