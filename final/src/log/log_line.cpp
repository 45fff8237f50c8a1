#include "log/log_line.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "base/ascii.h"

namespace TURTLE_SERVER {

LogLine::LogLine(LogLevel level, std::string_view text,
                 std::chrono::system_clock::time_point time) noexcept {
  using std::chrono::milliseconds;
  const auto millis = std::chrono::duration_cast<milliseconds>(time.time_since_epoch()).count();
  const auto seconds = static_cast<std::time_t>(millis / 1000);
  std::tm utc{};
  gmtime_r(&seconds, &utc);  // gmtime() shares one result between all threads

  const auto room = [this] { return bytes_.size() - size_; };
  size_ = std::strftime(bytes_.data(), bytes_.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  size_ += static_cast<std::size_t>(std::snprintf(bytes_.data() + size_, room(), ".%03dZ %s ",
                                                  static_cast<int>(millis % 1000),
                                                  NameOf(level).data()));
  text = text.substr(0, room() - 1);
  std::transform(text.begin(), text.end(), bytes_.begin() + size_,
                 [](char c) { return ascii::IsControl(c) ? '?' : c; });
  size_ += text.size();
  bytes_[size_++] = '\n';
}

auto CountLines(std::string_view text) noexcept -> std::uint64_t {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

auto LossLine(std::uint64_t lines) noexcept -> LogLine {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%llu lines of log are missing here",
                static_cast<unsigned long long>(lines));
  return {LogLevel::kWarning, text.data()};
}

}  // namespace TURTLE_SERVER
