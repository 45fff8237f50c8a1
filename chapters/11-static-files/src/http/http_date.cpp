#include "http/http_date.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/ascii.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 7> kLongDays{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                    "Thursday", "Friday", "Saturday"};
constexpr std::int64_t kSecondsPerDay = 86400;

struct Date {
  int year;
  int month;  // 1 to 12
  int day;    // 1 to 31
};

// Returns the days since 1970-01-01 in the Gregorian calendar. The year is counted from March, so
// that the leap day is its last one and the months' lengths follow a line: 153 days in 5 months.
constexpr auto DaysOf(Date date) -> std::int64_t {
  const int year = date.month > 2 ? date.year : date.year - 1;
  const int era = (year >= 0 ? year : year - 399) / 400;
  const int year_of_era = year - era * 400;
  const int month = date.month > 2 ? date.month - 3 : date.month + 9;
  const int day_of_year = (153 * month + 2) / 5 + date.day - 1;
  const int day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return static_cast<std::int64_t>(era) * 146097 + day_of_era - 719468;
}

constexpr auto DateOf(std::int64_t days) -> Date {
  days += 719468;
  const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const int day_of_era = static_cast<int>(days - era * 146097);
  const int year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int month = (5 * day_of_year + 2) / 153;
  const int year = static_cast<int>(era) * 400 + year_of_era + (month < 10 ? 0 : 1);
  return {year, month < 10 ? month + 3 : month - 9, day_of_year - (153 * month + 2) / 5 + 1};
}

static_assert(DaysOf({1970, 1, 1}) == 0 && DateOf(-1).year == 1969 && DateOf(11016).day == 29);

constexpr auto DaysInMonth(int year, int month) -> int {
  if (month == 2) {
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return leap ? 29 : 28;
  }
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

void PutNumber(char* to, int width, int value) {
  while (width-- > 0) {
    to[width] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
}

// Parses one date from the front. After the first mismatch everything fails.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  auto Done() const -> bool { return good_ && rest_.empty(); }

  auto Literal(std::string_view expected) -> Scanner& {
    if (good_ && rest_.substr(0, expected.size()) == expected) {
      rest_.remove_prefix(expected.size());
    } else {
      good_ = false;
    }
    return *this;
  }

  // Takes exactly `width` digits.
  auto Number(std::size_t width, int& value) -> Scanner& {
    good_ = good_ && rest_.size() >= width &&
            std::all_of(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(width),
                        ascii::IsDigit);
    if (good_) {
      value = 0;
      for (const char c : rest_.substr(0, width)) {
        value = value * 10 + (c - '0');
      }
      rest_.remove_prefix(width);
    }
    return *this;
  }

  // Takes one of `names`; `index` counts from 0.
  template <std::size_t kSize>
  auto OneOf(const std::array<std::string_view, kSize>& names, int& index) -> Scanner& {
    for (std::size_t i = 0; good_ && i < kSize; ++i) {
      if (rest_.substr(0, names[i].size()) == names[i]) {
        index = static_cast<int>(i);
        rest_.remove_prefix(names[i].size());
        return *this;
      }
    }
    good_ = false;
    return *this;
  }

  auto Time(int& hour, int& minute, int& second) -> Scanner& {
    return Number(2, hour).Literal(":").Number(2, minute).Literal(":").Number(2, second);
  }

  // Takes two digits, of which the first may be a space, as asctime(3) writes the day.
  auto PaddedNumber(int& value) -> Scanner& {
    if (good_ && !rest_.empty() && rest_.front() == ' ') {
      rest_.remove_prefix(1);
      return Number(1, value);
    }
    return Number(2, value);
  }

 private:
  std::string_view rest_;
  bool good_ = true;
};

// "More than 50 years in the future" means the previous century (RFC 9110, section 5.6.7).
auto YearOf(int two_digits, HttpTime now) -> int {
  std::int64_t days = now.count() / kSecondsPerDay;
  const int this_year = DateOf(days).year;
  const int year = this_year - this_year % 100 + two_digits;
  if (year > this_year + 50) {
    return year - 100;
  }
  return year <= this_year - 50 ? year + 100 : year;
}

}  // namespace

void AppendHttpDate(HttpTime time, std::string& out) {
  const std::int64_t seconds = std::clamp(time, kMinHttpTime, kMaxHttpTime).count();
  // Rounded down, even before 1970.
  const std::int64_t days =
      (seconds >= 0 ? seconds : seconds - (kSecondsPerDay - 1)) / kSecondsPerDay;
  const int second_of_day = static_cast<int>(seconds - days * kSecondsPerDay);
  const Date date = DateOf(days);
  // 1970-01-01 was a Thursday.
  const auto weekday = static_cast<std::size_t>(((days + 4) % 7 + 7) % 7);

  std::array<char, 30> text{"Sun, 06 Nov 1994 08:49:37 GMT"};
  kDays[weekday].copy(text.data(), 3);
  PutNumber(&text[5], 2, date.day);
  kMonths[static_cast<std::size_t>(date.month - 1)].copy(&text[8], 3);
  PutNumber(&text[12], 4, date.year);
  PutNumber(&text[17], 2, second_of_day / 3600);
  PutNumber(&text[20], 2, second_of_day / 60 % 60);
  PutNumber(&text[23], 2, second_of_day % 60);
  out.append(text.data(), text.size() - 1);
}

auto ParseHttpDate(std::string_view text, HttpTime now) -> std::optional<HttpTime> {
  int weekday = 0;
  int month = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  Date date{};
  const std::size_t comma = text.find(',');
  Scanner scan(text);
  if (comma == 3) {  // Sun, 06 Nov 1994 08:49:37 GMT
    scan.OneOf(kDays, weekday).Literal(", ").Number(2, date.day).Literal(" ");
    scan.OneOf(kMonths, month).Literal(" ").Number(4, date.year).Literal(" ");
    scan.Time(hour, minute, second).Literal(" GMT");
  } else if (comma != std::string_view::npos) {  // Sunday, 06-Nov-94 08:49:37 GMT
    scan.OneOf(kLongDays, weekday).Literal(", ").Number(2, date.day).Literal("-");
    scan.OneOf(kMonths, month).Literal("-").Number(2, date.year).Literal(" ");
    scan.Time(hour, minute, second).Literal(" GMT");
    date.year = YearOf(date.year, now);
  } else {  // Sun Nov  6 08:49:37 1994
    scan.OneOf(kDays, weekday).Literal(" ").OneOf(kMonths, month).Literal(" ");
    scan.PaddedNumber(date.day).Literal(" ").Time(hour, minute, second).Literal(" ");
    scan.Number(4, date.year);
  }
  date.month = month + 1;
  // 60 is a leap second, and becomes the second after it.
  if (!scan.Done() || date.day < 1 || date.day > DaysInMonth(date.year, date.month) || hour > 23 ||
      minute > 59 || second > 60) {
    return std::nullopt;
  }
  return HttpTime(DaysOf(date) * kSecondsPerDay + hour * 3600 + minute * 60 + second);
}

auto CachedDate::At(HttpTime now) -> std::string_view {
  if (now != time_ || text_.empty()) {
    time_ = now;
    text_.clear();
    AppendHttpDate(now, text_);
  }
  return text_;
}

}  // namespace TURTLE_SERVER
