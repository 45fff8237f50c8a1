#include "log/log.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>

namespace TURTLE_SERVER {

namespace {

constexpr std::size_t kMaxLine = 1024;  // longer texts are cut: a log line is not a dump

auto Name(LogLevel level) noexcept -> const char* {
  switch (level) {
    case LogLevel::kInfo:
      return "INFO";
    case LogLevel::kWarning:
      return "WARN";
    case LogLevel::kError:
      break;
  }
  return "ERROR";
}

}  // namespace

void Log(LogLevel level, std::string_view text) noexcept {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
  const auto seconds = static_cast<std::time_t>(millis / 1000);
  std::tm utc{};
  gmtime_r(&seconds, &utc);  // gmtime() shares one result between all threads

  std::array<char, kMaxLine> line{};
  std::size_t length = std::strftime(line.data(), line.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  length += static_cast<std::size_t>(std::snprintf(line.data() + length, line.size() - length,
                                                   ".%03dZ %s ", static_cast<int>(millis % 1000),
                                                   Name(level)));
  const std::size_t count = std::min(text.size(), line.size() - length - 1);
  std::transform(text.begin(), text.begin() + count, line.begin() + length, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f ? '?' : c;
  });
  length += count;
  line[length++] = '\n';
  if (write(STDERR_FILENO, line.data(), length) < 0) {
    return;  // stderr itself has failed
  }
}

void LogException(std::string_view what) noexcept {
  const auto tell = [what](const char* how, const char* why) {
    std::array<char, kMaxLine> text{};
    std::snprintf(text.data(), text.size(), "%.*s threw%s%s", static_cast<int>(what.size()),
                  what.data(), how, why);
    Log(LogLevel::kError, text.data());
  };
  try {
    throw;
  } catch (const std::exception& error) {
    tell(": ", error.what());
  } catch (...) {
    tell(" something that is no std::exception", "");
  }
}

}  // namespace TURTLE_SERVER
