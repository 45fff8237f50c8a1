#include "http/http_date.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace TURTLE_SERVER {

namespace {

constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::int64_t kSecondsPerDay = 86400;

struct Date {
  int year;
  int month;  // 1 to 12
  int day;    // 1 to 31
};

// Returns the date of a day counted from 1970-01-01, in the Gregorian calendar. The year is counted
// from March, so that the leap day is its last one and the months' lengths follow a line: 153 days
// in 5 months.
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

static_assert(DateOf(-1).year == 1969 && DateOf(11016).day == 29);

void PutNumber(char* to, int width, int value) {
  while (width-- > 0) {
    to[width] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
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

auto CachedDate::At(HttpTime now) -> std::string_view {
  if (now != time_ || text_.empty()) {
    time_ = now;
    text_.clear();
    AppendHttpDate(now, text_);
  }
  return text_;
}

}  // namespace TURTLE_SERVER
