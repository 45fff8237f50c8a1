#include "log/log.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>

#include "log/line_pipe.h"
#include "log/log_line.h"
#include "log/logging.h"

namespace TURTLE_SERVER {

namespace {

auto LevelOfEnvironment() noexcept -> LogLevel {
  const char* const text = std::getenv("MIN_LOG_LEVEL");
  return text == nullptr ? LogLevel::kInfo : ParseLogLevel(text).value_or(LogLevel::kInfo);
}

// Has no constructor that runs before main(), so lines logged at that time are written as well.
auto MinLevel() noexcept -> std::atomic<LogLevel>& {
  static std::atomic<LogLevel> level{LevelOfEnvironment()};
  return level;
}

auto Stderr() noexcept -> LinePipe& {
  static LinePipe pipe(STDERR_FILENO);
  return pipe;
}

// Belongs to the current Logging; nullptr: there is none.
auto Writer() noexcept -> std::atomic<LogWriter*>& {
  static std::atomic<LogWriter*> writer{nullptr};
  return writer;
}

auto UrgencyOf(LogLevel level) noexcept -> Urgency {
  return level == LogLevel::kFatal   ? Urgency::kWait
         : level == LogLevel::kError ? Urgency::kNow
                                     : Urgency::kLater;
}

}  // namespace

auto IsLogged(LogLevel level) noexcept -> bool {
  return level >= MinLevel().load(std::memory_order_relaxed);
}

void Log(LogLevel level, std::string_view text) noexcept {
  if (!IsLogged(level)) {
    return;
  }
  const LogLine line(level, text);
  if (LogWriter* const writer = Writer().load(std::memory_order_acquire)) {
    writer->Write(line.View(), UrgencyOf(level));
    return;
  }
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(level == LogLevel::kFatal ? 1 : 0);
  std::string_view left = line.View();
  while (!Stderr().TryWrite(left)) {
    if (Clock::now() >= end) {
      Stderr().CountLost(CountLines(left));
      return;
    }
    Stderr().AwaitRoom(std::chrono::milliseconds(50));
  }
}

Logging::Logging(const LoggingOptions& options)
    : writer_(options.writer), level_before_(MinLevel().load()) {
  LogWriter* none = nullptr;
  if (!Writer().compare_exchange_strong(none, &writer_)) {
    throw std::logic_error("there is a Logging already");
  }
  SetLevel(options.level);
}

void Logging::SetLevel(std::optional<LogLevel> level) noexcept {
  MinLevel().store(level.value_or(level_before_));
}

Logging::~Logging() {
  Writer().store(nullptr);
  MinLevel().store(level_before_);
}

void LogException(std::string_view what) noexcept {
  const auto tell = [what](const char* how, const char* why) {
    std::array<char, LogLine::kMaxBytes> text{};
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
