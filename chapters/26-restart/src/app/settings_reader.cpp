#include "app/settings_reader.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "app/serve_check.h"
#include "app/serve_parts.h"
#include "app/serve_settings.h"
#include "core/cidr_set.h"
#include "log/log.h"
#include "log/log_line.h"

namespace TURTLE_SERVER {

namespace {

void LogLines(LogLevel level, const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    Log(level, line);
  }
}

// Allocates nothing, since memory may be what was missing.
void LogWhyNot(const char* why) noexcept {
  std::array<char, LogLine::kMaxBytes> text{};
  std::snprintf(text.data(), text.size(), "the settings were not reloaded: %s", why);
  Log(LogLevel::kError, text.data());
}

// Logs the new settings that need a restart.
void TellWhatHasToWait(ServeOptions running, ServeOptions wanted) {
  const SettingList now = ServeSettings(running);
  const SettingList then = ServeSettings(wanted);
  for (std::size_t i = 0; i < now.All().size(); ++i) {
    const Setting& setting = now.All()[i];
    const std::string value = then.All()[i].show();
    if (setting.reload == Reload::kNextStart && setting.show() != value) {
      Log(LogLevel::kWarning, setting.name.key + " is '" + setting.show() +
                                  "' until the next start, and '" + value + "' from then on");
    }
  }
  if (running.mysql.password != wanted.mysql.password) {  // the values must not be shown
    Log(LogLevel::kWarning, "mysql.password changes at the next start");
  }
}

}  // namespace

template <typename Step>
void SettingsReader::OrReady(const Step& step) noexcept {
  try {
    step();
    return;
  } catch (const std::exception& error) {
    LogWhyNot(error.what());
  } catch (...) {
    LogWhyNot("unknown exception");
  }
  notifier_.Ready();
}

void SettingsReader::Read(TaskPool& pool) {
  notifier_.Reloading();
  OrReady([&] {
    if (!reread_) {
      Log(LogLevel::kWarning, "SIGHUP: without a configuration (-f) there is nothing to reload");
      notifier_.Ready();
      return;
    }
    const std::uint64_t number = ++asked_;
    const auto task =
        MakeTask([this, number](const PoolTask&) { OrReady([&] { ReadOnThread(number); }); });
    if (pool.Submit(task, {Priority::kHigh}) != SubmitResult::kAccepted) {
      Take(reread_());
      notifier_.Ready();
    }
  });
}

void SettingsReader::ReadOnThread(std::uint64_t number) {
  const auto line = std::make_shared<const CommandLine>(reread_());
  // False: the server has ended.
  static_cast<void>(server_.Loopers().front()->Post([this, number, line] {
    OrReady([&] {
      if (number > taken_) {  // else a later reload was faster
        taken_ = number;
        Take(*line);
      }
      notifier_.Ready();
    });
  }));
}

void SettingsReader::Take(const CommandLine& line) {
  if (line.action != CommandAction::kServe) {
    LogLines(LogLevel::kError, line.text);
    Log(LogLevel::kError, "the settings are unchanged");
    return;
  }
  CidrSet blocked(SplitList(line.serve.blocked));  // before any other setting, since it may throw
  server_.SetOptions(HttpOf(line.serve));
  server_.SetMaxConnections(line.serve.max_connections);
  server_.Block(std::move(blocked));
  logging_.SetLevel(line.serve.log.level);
  LogWarnings(line.serve);
  TellWhatHasToWait(running_, line.serve);
  Log(LogLevel::kInfo, "the settings were reloaded");
}

}  // namespace TURTLE_SERVER
