#include "reference/conditional.h"

#include <algorithm>

#include "reference/text.h"

namespace TURTLE_SERVER::reference {

namespace {

constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";

// True if `text` looks like `pattern`: 'd' is a digit, '@' a month of three letters, '_' a digit or
// a space, any other character itself.
auto Looks(std::string_view text, std::string_view pattern) -> bool {
  std::size_t at = 0;
  for (const char wanted : pattern) {
    if (at >= text.size()) {
      return false;
    }
    if (wanted == '@') {
      const std::size_t month = kMonths.find(text.substr(at, 3));
      if (text.size() - at < 3 || month == std::string_view::npos || month % 3 != 0) {
        return false;
      }
      at += 3;
    } else if (wanted == 'd'   ? IsDigit(text[at])
               : wanted == '_' ? IsDigit(text[at]) || text[at] == ' '
                               : text[at] == wanted) {
      ++at;
    } else {
      return false;
    }
  }
  return at == text.size();
}

auto NumberAt(std::string_view text, std::size_t at, std::size_t digits) -> int {
  int number = 0;
  for (const char c : text.substr(at, digits)) {
    number = number * 10 + (c == ' ' ? 0 : c - '0');
  }
  return number;
}

auto IsLeap(int year) -> bool { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

auto DaysIn(int month, int year) -> int {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 1 && IsLeap(year) ? 29 : kDays[month];
}

// Counts the days one year and one month after the other.
auto SecondsOf(int year, std::string_view month_name, int day, std::string_view time)
    -> std::optional<std::int64_t> {
  const int month = static_cast<int>(kMonths.find(month_name) / 3);
  const int hour = NumberAt(time, 0, 2);
  const int minute = NumberAt(time, 3, 2);
  const int second = NumberAt(time, 6, 2);
  if (day < 1 || day > DaysIn(month, year) || hour > 23 || minute > 59 || second > 60) {
    return std::nullopt;
  }
  std::int64_t days = day - 1;
  for (int i = 0; i < month; ++i) {
    days += DaysIn(i, year);
  }
  for (int y = 1970; y < year; ++y) {
    days += IsLeap(y) ? 366 : 365;
  }
  for (int y = year; y < 1970; ++y) {
    days -= IsLeap(y) ? 366 : 365;
  }
  return ((days * 24 + hour) * 60 + minute) * 60 + second;
}

auto StartsWithOneOf(std::string_view text, const std::vector<std::string_view>& names)
    -> std::size_t {
  for (const std::string_view name : names) {
    if (text.substr(0, name.size()) == name) {
      return name.size();
    }
  }
  return 0;
}

struct Tag {
  bool weak;
  std::string opaque;
};

// entity-tag = [ "W/" ] DQUOTE *etagc DQUOTE, at the beginning of `text`, which it is taken from.
auto TakeTag(std::string_view& text) -> std::optional<Tag> {
  const bool weak = text.substr(0, 2) == "W/";
  std::string_view rest = text.substr(weak ? 2 : 0);
  if (rest.empty() || rest.front() != '"') {
    return std::nullopt;
  }
  const std::size_t inside =
      Prefix(rest.substr(1), [](char c) { return c != '"' && c != ' ' && !IsCtl(c); });
  if (rest.substr(1 + inside, 1) != "\"") {
    return std::nullopt;
  }
  const Tag tag{weak, std::string(rest.substr(0, inside + 2))};
  text = rest.substr(inside + 2);
  return tag;
}

// Returns the tags of a list, up to the first invalid element.
auto TagsOf(std::string_view list) -> std::vector<Tag> {
  std::vector<Tag> tags;
  for (;;) {
    list = list.substr(Prefix(list, [](char c) { return c == ',' || c == ' ' || c == '\t'; }));
    const std::optional<Tag> tag = TakeTag(list);
    list = Trim(list);
    if (!tag || (!list.empty() && list.front() != ',')) {
      return tags;
    }
    tags.push_back(*tag);
  }
}

auto ValuesOf(const Fields& fields, std::string_view name) -> std::vector<std::string> {
  std::vector<std::string> values;
  for (const auto& [key, value] : fields) {
    if (key == name) {
      values.push_back(value);
    }
  }
  return values;
}

auto IsSame(const Tag& tag, const State& state, bool strongly) -> bool {
  return !state.tag.empty() && tag.opaque == state.tag &&
         (!strongly || (!tag.weak && state.strong));
}

auto Matches(const std::vector<std::string>& lines, const State& state, bool strongly) -> bool {
  for (const std::string& line : lines) {
    if (line == "*" && state.exists) {
      return true;
    }
    for (const Tag& tag : TagsOf(line)) {
      if (IsSame(tag, state, strongly)) {
        return true;
      }
    }
  }
  return false;
}

// Returns the date of a field that occurs once.
auto DateOf(const Fields& fields, std::string_view name, int this_year)
    -> std::optional<std::int64_t> {
  const std::vector<std::string> lines = ValuesOf(fields, name);
  return lines.size() == 1 ? ReadDate(lines[0], this_year) : std::nullopt;
}

auto IfRangeHolds(const std::vector<std::string>& lines, const State& state, int this_year)
    -> bool {
  if (lines.size() != 1) {
    return false;
  }
  std::string_view rest = lines[0];
  if (const std::optional<Tag> tag = TakeTag(rest)) {
    return rest.empty() && IsSame(*tag, state, true);
  }
  const std::optional<std::int64_t> date = ReadDate(lines[0], this_year);
  return date && state.strong && state.modified == date;
}

}  // namespace

auto ReadDate(std::string_view text, int this_year) -> std::optional<std::int64_t> {
  const std::vector<std::string_view> short_days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  const std::vector<std::string_view> long_days{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                "Thursday", "Friday", "Saturday"};
  // rfc850-date = day-name-l "," SP 06-Nov-94 SP 08:49:37 SP GMT
  if (const std::size_t name = StartsWithOneOf(text, long_days)) {
    const std::string_view rest = text.substr(name);
    if (!Looks(rest, ", dd-@-dd dd:dd:dd GMT")) {
      return std::nullopt;
    }
    int year = this_year - 49;
    while (year % 100 != NumberAt(rest, 9, 2)) {
      ++year;
    }
    return SecondsOf(year, rest.substr(5, 3), NumberAt(rest, 2, 2), rest.substr(12, 8));
  }
  const std::size_t name = StartsWithOneOf(text, short_days);
  const std::string_view rest = text.substr(name);
  if (name == 0) {
    return std::nullopt;
  }
  // IMF-fixdate = day-name "," SP 06 Nov 1994 SP 08:49:37 SP GMT
  if (Looks(rest, ", dd @ dddd dd:dd:dd GMT")) {
    return SecondsOf(NumberAt(rest, 9, 4), rest.substr(5, 3), NumberAt(rest, 2, 2),
                     rest.substr(14, 8));
  }
  // asctime-date = day-name SP Nov ( 2DIGIT / SP DIGIT ) 08:49:37 SP 1994
  if (Looks(rest, " @ _d dd:dd:dd dddd")) {
    return SecondsOf(NumberAt(rest, 17, 4), rest.substr(1, 3), NumberAt(rest, 5, 2),
                     rest.substr(8, 8));
  }
  return std::nullopt;
}

auto Evaluate(std::string_view method, const Fields& fields, const State& state, int this_year)
    -> std::string {
  const bool reads = method == "GET" || method == "HEAD";
  const std::vector<std::string> match = ValuesOf(fields, "if-match");
  const std::vector<std::string> none_match = ValuesOf(fields, "if-none-match");
  const std::vector<std::string> range = ValuesOf(fields, "if-range");
  const auto unmodified = DateOf(fields, "if-unmodified-since", this_year);
  const auto modified = DateOf(fields, "if-modified-since", this_year);

  // 1. If-Match; 2. If-Unmodified-Since where there is none.
  if (!match.empty() && !Matches(match, state, true)) {
    return "412";
  }
  if (match.empty() && unmodified && state.modified && *state.modified > *unmodified) {
    return "412";
  }
  // 3. If-None-Match; 4. If-Modified-Since where there is none.
  if (!none_match.empty() && Matches(none_match, state, false)) {
    return reads ? "304" : "412";
  }
  if (reads && none_match.empty() && modified && state.modified && *state.modified <= *modified) {
    return "304";
  }
  // 5. If-Range. Only GET has ranges at all.
  const bool in_parts = method == "GET" && (range.empty() || IfRangeHolds(range, state, this_year));
  return in_parts ? "serve" : "serve all";
}

}  // namespace TURTLE_SERVER::reference
