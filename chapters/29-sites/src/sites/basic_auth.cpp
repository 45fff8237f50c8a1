#include "sites/basic_auth.h"

#include <algorithm>
#include <cstdint>

#include "base/ascii.h"

namespace TURTLE_SERVER {

namespace {

// Returns the value of a digit of base64 (RFC 4648, section 4); -1 for any other byte.
auto DigitValue(char c) noexcept -> int {
  if (c >= 'A' && c <= 'Z') {
    return c - 'A';
  }
  if (c >= 'a' && c <= 'z') {
    return c - 'a' + 26;
  }
  if (ascii::IsDigit(c)) {
    return c - '0' + 52;
  }
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

auto PaddingOf(std::string_view text) noexcept -> std::size_t {
  const std::size_t last = text.find_last_not_of('=');
  return text.size() - (last == std::string_view::npos ? 0 : last + 1);
}

// Accepts one spelling only: with padding, and without bits that are dropped.
auto DecodeBase64(std::string_view text) -> std::optional<std::string> {
  const std::size_t padding = PaddingOf(text);
  if (text.size() % 4 != 0 || padding > 2) {
    return std::nullopt;
  }
  std::string bytes;
  std::uint32_t bits = 0;
  std::size_t count = 0;  // of the bits that are in no byte yet
  for (const char c : text.substr(0, text.size() - padding)) {
    const int value = DigitValue(c);
    if (value < 0) {
      return std::nullopt;
    }
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes.push_back(static_cast<char>(bits >> count & 0xffU));
    }
  }
  const bool drops = (bits & ((1U << count) - 1)) != 0;
  return drops ? std::nullopt : std::optional(std::move(bytes));
}

}  // namespace

auto BasicLogin::Of(const Headers& fields) -> std::optional<BasicLogin> {
  if (fields.IsRepeated(KnownField::kAuthorization)) {
    return std::nullopt;
  }
  const std::optional<std::string_view> field = fields.Find(KnownField::kAuthorization);
  return field ? Parse(*field) : std::nullopt;
}

auto BasicLogin::Parse(std::string_view field) -> std::optional<BasicLogin> {
  constexpr std::string_view kScheme = "Basic";
  if (field.size() > kMaxField ||
      !ascii::EqualIgnoreCase(field.substr(0, kScheme.size()), kScheme)) {
    return std::nullopt;
  }
  field.remove_prefix(kScheme.size());
  const std::size_t spaces = std::min(field.find_first_not_of(' '), field.size());
  std::optional<std::string> text = spaces == 0 ? std::nullopt : DecodeBase64(field.substr(spaces));
  if (!text || std::any_of(text->begin(), text->end(), ascii::IsControl)) {
    return std::nullopt;
  }
  const std::size_t colon = text->find(':');
  return colon == std::string::npos ? std::nullopt
                                    : std::optional(BasicLogin(*std::move(text), colon));
}

auto IsRealm(std::string_view text) noexcept -> bool {
  constexpr std::size_t kMaxRealm = 128;
  return !text.empty() && text.size() <= kMaxRealm && text.front() != ' ' && text.back() != ' ' &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

auto Challenge(std::string_view realm) -> Response {
  std::string value = R"(Basic realm=")";
  value.append(realm).append(R"(", charset="UTF-8")");
  return ErrorResponse(401).Set("WWW-Authenticate", value).Set("Cache-Control", "no-store");
}

}  // namespace TURTLE_SERVER
