#include "http/form.h"

#include <algorithm>

#include "base/ascii.h"

namespace TURTLE_SERVER {

namespace {

// Returns the byte that the escape at the front of `text` stands for, or -1 if there is none.
auto EscapedByte(std::string_view text) -> int {
  if (text.size() < 3) {
    return -1;
  }
  const int high = ascii::HexValue(text[1]);
  const int low = ascii::HexValue(text[2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

}  // namespace

auto Form::Parse(std::string_view text, const FormLimits& limits) -> HeadFault {
  Clear();
  while (!text.empty()) {
    const std::string_view field = text.substr(0, text.find('&'));
    if (!field.empty()) {  // "a&&b" has two fields
      if (fields_.size() == limits.max_fields) {
        Clear();
        return {400, "too many fields in the form"};
      }
      const std::size_t equals = std::min(field.find('='), field.size());
      const std::string_view name = Decode(field.substr(0, equals), text.size());
      const std::string_view value = field.substr(std::min(equals + 1, field.size()));
      fields_.push_back({name, Decode(value, text.size())});
    }
    text.remove_prefix(std::min(field.size() + 1, text.size()));
  }
  return {};
}

void Form::Clear() noexcept {
  fields_.clear();
  decoded_.clear();
}

auto Form::Find(std::string_view name) const -> std::optional<std::string_view> {
  for (const FormField& field : fields_) {
    if (field.name == name) {
      return field.value;
    }
  }
  return std::nullopt;
}

// `room` is the length of the remaining text: decoding shortens, so one reservation, made at the
// first escape, holds everything that may follow.
auto Form::Decode(std::string_view text, std::size_t room) -> std::string_view {
  constexpr std::string_view kEncoded = "+%";
  std::size_t end = text.find_first_of(kEncoded);
  if (end == std::string_view::npos) {
    return text;
  }
  if (decoded_.empty()) {
    decoded_.reserve(room);
  }
  const std::size_t start = decoded_.size();
  for (; end != std::string_view::npos; end = text.find_first_of(kEncoded)) {
    decoded_.insert(decoded_.end(), text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end));
    text.remove_prefix(end);
    const int byte = text.front() == '+' ? ' ' : EscapedByte(text);
    decoded_.push_back(byte < 0 ? '%' : static_cast<char>(byte));
    text.remove_prefix(byte < 0 || text.front() == '+' ? 1 : 3);
  }
  decoded_.insert(decoded_.end(), text.begin(), text.end());
  return {decoded_.data() + start, decoded_.size() - start};
}

}  // namespace TURTLE_SERVER
