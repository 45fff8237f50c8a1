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
#include "files/root_folder.h"
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

// Compiles the sites, whose pages and passwords are in files. A directory that can't be served is
// found here, since later each loop would find that out by itself.
auto TableOf(const ServeOptions& options) -> std::shared_ptr<const SiteTable> {
  auto table = std::make_shared<const SiteTable>(SitesOf(options));
  for (std::size_t i = 0; i < table->All().size(); ++i) {
    RootFolder(table->All()[i]->Options().root, "sites[" + std::to_string(i) + "].root_path");
  }
  return table;
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
  Log(LogLevel::kError, "the settings are unchanged");
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
      const CommandLine line = reread_();
      taken_ = number;
      Take(line, FilesOf(line));
      notifier_.Ready();
    }
  });
}

void SettingsReader::ReadOnThread(std::uint64_t number) {
  const auto line = std::make_shared<const CommandLine>(reread_());
  const Files files = FilesOf(*line);
  // False: the server has ended.
  static_cast<void>(server_.Loopers().front()->Post([this, number, line, files] {
    OrReady([&] {
      if (number > taken_) {  // else a later reload was faster
        taken_ = number;
        Take(*line, files);
      }
      notifier_.Ready();
    });
  }));
}

// Reads certificates and keys, and compiles the sites.
auto SettingsReader::FilesOf(const CommandLine& line) const -> Files {
  if (line.action != CommandAction::kServe) {
    return {};
  }
  const bool reads_tls = tls_ != nullptr && line.serve.https.HasTls();
  return {TableOf(line.serve), reads_tls ? tls_->Read(TlsOf(line.serve.https)) : nullptr};
}

void SettingsReader::Take(const CommandLine& line, Files files) {
  if (line.action != CommandAction::kServe) {
    LogLines(LogLevel::kError, line.text);
    Log(LogLevel::kError, "the settings are unchanged");
    return;
  }
  // All before any other setting is taken, since they may throw.
  CidrSet blocked(SplitList(line.serve.blocked));
  const HttpOptions http = HttpOf(line.serve);
  AddressLimit address_limit = AddressLimitOf(line.serve);
  auto logs = site_logs_ == nullptr ? nullptr : site_logs_->Open(files.sites);
  server_.SetOptions(http);
  server_.SetMaxConnections(line.serve.max_connections);
  server_.SetAddressLimit(std::move(address_limit));
  server_.Block(std::move(blocked));
  TakeSites(std::move(files.sites), std::move(logs));
  TakeCertificates(line.serve.https, std::move(files.tls));
  logging_.SetLevel(line.serve.log.level);
  LogWarnings(line.serve);
  TellWhatHasToWait(running_, line.serve);
  Log(LogLevel::kInfo, "the settings were reloaded");
}

// A server without TLS has no port for it.
void SettingsReader::TakeCertificates(const HttpsOptions& https,
                                      std::shared_ptr<const TlsContext> context) {
  if (context != nullptr) {
    tls_->Use(std::move(context));
  } else if (https.HasTls() != (tls_ != nullptr)) {
    Log(LogLevel::kWarning, tls_ == nullptr
                                ? "tls.certificate: it is used from the next start on"
                                : "tls.certificate: the old one stays until the next start");
  }
}

// A server without sites has other handlers, which stay until its end.
void SettingsReader::TakeSites(std::shared_ptr<const SiteTable> table,
                               std::shared_ptr<const SiteLogTable> logs) {
  const bool has_sites = !table->All().empty();
  if (sites_ != nullptr && has_sites) {
    site_logs_->Replace(std::move(logs));
    sites_->Replace(std::move(table));
  } else if (has_sites != (sites_ != nullptr)) {
    Log(LogLevel::kWarning, has_sites ? "sites: the directory is served until the next start"
                                      : "sites: they stay until the next start");
  }
}

}  // namespace TURTLE_SERVER
