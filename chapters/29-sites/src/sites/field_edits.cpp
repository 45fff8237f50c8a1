#include "sites/field_edits.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "base/ascii.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::string_view kLineEnd = "\r\n";

// Returns where the line of a field begins in a text of fields; nullopt: there is none before the
// empty line.
auto FindField(std::string_view text, std::string_view name) noexcept
    -> std::optional<std::size_t> {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(kLineEnd, at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.empty()) {
      break;
    }
    if (line.size() > name.size() && line[name.size()] == ':' &&
        ascii::EqualIgnoreCase(line.substr(0, name.size()), name)) {
      return at;
    }
    at = end + kLineEnd.size();
  }
  return std::nullopt;
}

auto IsDate(const FieldEdit& edit) noexcept -> bool {
  return ascii::EqualIgnoreCase(edit.name, "Date");
}

void RemoveLines(std::string_view name, std::string& lines) {
  while (const auto at = FindField(lines, name)) {
    lines.erase(*at, lines.find(kLineEnd, *at) + kLineEnd.size() - *at);
  }
}

}  // namespace

void CheckField(const FieldEdit& edit) {
  static_cast<void>(Response(200).Set(edit.name, edit.value));
  const bool is_type = ascii::EqualIgnoreCase(edit.name, "Content-Type");
  if (is_type || ascii::EqualIgnoreCase(edit.name, "Content-Range")) {
    throw std::invalid_argument("response field " + edit.name + ": written by the handler" +
                                (is_type ? "; `types` of the site changes that of a file" : ""));
  }
}

void ApplyEdits(const std::vector<FieldEdit>& edits, Response& response) {
  for (const FieldEdit& edit : edits) {
    switch (edit.kind) {
      case FieldEdit::Kind::kSet:
        response.Set(edit.name, edit.value);
        break;
      case FieldEdit::Kind::kAdd:
        response.Add(edit.name, edit.value);
        break;
      case FieldEdit::Kind::kRemove:
        response.Remove(edit.name);
        break;
    }
  }
}

auto AppendFieldLines(const std::vector<FieldEdit>& edits, std::string_view start,
                      std::string_view text, std::string& lines) -> bool {
  if (std::any_of(edits.begin(), edits.end(), IsDate)) {
    return false;
  }
  for (const FieldEdit& edit : edits) {
    if (edit.kind != FieldEdit::Kind::kAdd) {
      if (FindField(start, edit.name) || FindField(text, edit.name)) {
        return false;
      }
      RemoveLines(edit.name, lines);
    }
    if (edit.kind != FieldEdit::Kind::kRemove) {
      lines.append(edit.name).append(": ").append(edit.value).append(kLineEnd);
    }
  }
  return true;
}

}  // namespace TURTLE_SERVER
