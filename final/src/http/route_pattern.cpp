#include "http/route_pattern.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/ascii.h"

namespace TURTLE_SERVER {

namespace {

auto Quoted(std::string_view text) -> std::string { return '"' + std::string(text) + '"'; }

void Require(bool holds, const std::string& otherwise) {
  if (!holds) {
    throw std::invalid_argument(otherwise);
  }
}

auto IsName(std::string_view text) -> bool {
  const auto fits = [](char c) { return ascii::IsLetter(c) || ascii::IsDigit(c) || c == '_'; };
  return !text.empty() && !ascii::IsDigit(text.front()) &&
         std::all_of(text.begin(), text.end(), fits);
}

auto KindOf(std::string_view type) -> SegmentKind {
  if (type == "int") {
    return SegmentKind::kInteger;
  }
  Require(type == "uuid", "there is no type " + Quoted(type) + ", only int and uuid");
  return SegmentKind::kUuid;
}

// Parses the text between the braces.
auto ParseParameter(std::string_view text) -> PatternSegment {
  constexpr std::string_view kDots = "...";
  PatternSegment segment;
  segment.kind = SegmentKind::kPlain;
  if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    segment.kind = KindOf(text.substr(colon + 1));
    text = text.substr(0, colon);
  } else if (text.size() > kDots.size() && text.substr(text.size() - kDots.size()) == kDots) {
    segment.kind = SegmentKind::kRest;
    text.remove_suffix(kDots.size());
  }
  Require(IsName(text), Quoted(text) + " is not a parameter name");
  segment.text = text;
  return segment;
}

// Other routers write a parameter differently. Taken as literals, such patterns would be routes
// that no request can reach.
void RequireOwnSpelling(std::string_view text) {
  const auto write = [&](const std::string& ours) {
    return Quoted(text) + ": a parameter is written " + ours;
  };
  const std::string_view name = text.substr(std::min<std::size_t>(text.size(), 1));
  Require(text.substr(0, 1) != ":" || !IsName(name), write("{" + std::string(name) + "}"));
  Require(text != "*" && text != "**" && (text.substr(0, 1) != "*" || !IsName(name)),
          write("{" + (IsName(name) ? std::string(name) : "rest") + "...} to take the rest"));
  Require(text.size() < 2 || text.front() != '<' || text.back() != '>',
          write("{name}, {name:int} or {name:uuid}"));
}

// A literal is compared with a path without the client's escapes and dots (http/uri.h): one that
// looks like a path with them is a mistake.
auto ParseLiteral(std::string_view text) -> PatternSegment {
  const auto foreign = [](char c) { return ascii::IsControl(c) || c == '\\'; };
  Require(text != "." && text != "..", "no path has a segment " + Quoted(text));
  Require(std::none_of(text.begin(), text.end(), foreign),
          "no path has a backslash or a control character");
  Require(text.find('%') == std::string_view::npos, "paths are compared decoded, without %");
  Require(text.find('?') == std::string_view::npos, "a query is no part of the path");
  Require(text.find_first_of("{}") == std::string_view::npos,
          "a parameter is a whole segment, as in /users/{id}");
  RequireOwnSpelling(text);
  return {SegmentKind::kLiteral, std::string(text)};
}

auto ParseSegment(std::string_view text) -> PatternSegment {
  const bool parameter = text.size() >= 2 && text.front() == '{' && text.back() == '}';
  return parameter ? ParseParameter(text.substr(1, text.size() - 2)) : ParseLiteral(text);
}

void CheckParameters(const std::vector<PatternSegment>& segments) {
  std::vector<std::string_view> names;
  for (const PatternSegment& segment : segments) {
    if (segment.kind != SegmentKind::kLiteral) {
      Require(std::find(names.begin(), names.end(), segment.text) == names.end(),
              "two parameters have the name " + Quoted(segment.text));
      names.push_back(segment.text);
    }
    Require(segment.kind != SegmentKind::kRest || &segment == &segments.back(),
            "nothing can follow {" + segment.text + "...}");
  }
  Require(names.size() <= kMaxParameters,
          "more than " + std::to_string(kMaxParameters) + " parameters");
}

auto IsInteger(std::string_view text) noexcept -> bool {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

auto IsUuid(std::string_view text) noexcept -> bool {
  constexpr std::string_view kForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  return text.size() == kForm.size() &&
         std::equal(text.begin(), text.end(), kForm.begin(), [](char c, char form) {
           return form == '-' ? c == '-' : ascii::HexValue(c) >= 0;
         });
}

}  // namespace

auto ParseRoutePattern(std::string_view pattern) -> std::vector<PatternSegment> {
  Require(!pattern.empty() && pattern.front() == '/', "a path begins with a slash");
  std::vector<PatternSegment> segments;
  std::string_view rest = pattern.substr(1);
  for (;;) {
    const std::size_t slash = rest.find('/');
    const std::string_view text = rest.substr(0, slash);
    Require(!text.empty() || slash == std::string_view::npos, "no path has an empty segment");
    segments.push_back(ParseSegment(text));
    if (slash == std::string_view::npos) {
      break;
    }
    rest.remove_prefix(slash + 1);
  }
  CheckParameters(segments);
  return segments;
}

auto FitsSegment(SegmentKind kind, std::string_view segment) noexcept -> bool {
  switch (kind) {
    case SegmentKind::kInteger:
      return IsInteger(segment);
    case SegmentKind::kUuid:
      return IsUuid(segment);
    case SegmentKind::kPlain:
      return !segment.empty();
    case SegmentKind::kLiteral:
    case SegmentKind::kRest:
      break;
  }
  return false;
}

}  // namespace TURTLE_SERVER
