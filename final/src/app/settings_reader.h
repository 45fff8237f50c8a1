// Reloads the settings of a running server.
//
// If there is any mistake, the new settings are dropped as a whole. Settings that can't change
// while the server runs, such as a port, are logged and wait for a restart.
//
// A directory may be on a remote disk, and a list of networks may be long. So a thread of the pool
// reads, if there is one; the result is applied on the first loop.
//
// Thread: the first loop's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "app/options.h"
#include "log/logging.h"
#include "ops/service_notifier.h"
#include "sites/site_logs.h"
#include "sites/sites.h"
#include "task/task_pool.h"
#include "tls/tls.h"
#include "web/http_server.h"

namespace TURTLE_SERVER {

/// Reloads the settings, as ReadAgain() does.
using Reread = std::function<CommandLine()>;

/// Reloads the settings of one server at each SIGHUP.
class SettingsReader {
 public:
  /// All arguments outlive this object.
  /// @param running the settings with which the server was started
  /// @param reread empty if there is nothing to reload
  /// @param server gets the new limits
  /// @param tls gets the new certificates; nullptr: the server was started without any
  /// @param sites get the new table; nullptr: the server was started without sites
  /// @param site_logs get the new files; nullptr: as above
  /// @param logging gets the new level
  /// @param notifier reports the beginning and the end of reading
  SettingsReader(const ServeOptions& running, const Reread& reread, HttpServer& server, Tls* tls,
                 Sites* sites, SiteLogs* site_logs, Logging& logging,
                 const ServiceNotifier& notifier)
      : running_(running),
        reread_(reread),
        server_(server),
        tls_(tls),
        sites_(sites),
        site_logs_(site_logs),
        logging_(logging),
        notifier_(notifier) {}

  /// Reloads the settings, and logs the result, even an exception.
  /// @param pool ends its threads before this object is destroyed
  void Read(TaskPool& pool);

 private:
  // The content of the files that the settings name.
  struct Files {
    std::shared_ptr<const SiteTable> sites;
    std::shared_ptr<const TlsContext> tls;  // nullptr: no certificate, or no use for one
  };

  void ReadOnThread(std::uint64_t number);
  [[nodiscard]] auto FilesOf(const CommandLine& line) const -> Files;

  // Once the start of a reload was reported, its end must be reported, whatever happens.
  template <typename Step>
  void OrReady(const Step& step) noexcept;

  void Take(const CommandLine& line, Files files);
  void TakeCertificates(const HttpsOptions& https, std::shared_ptr<const TlsContext> context);
  void TakeSites(std::shared_ptr<const SiteTable> table, std::shared_ptr<const SiteLogTable> logs);

  const ServeOptions& running_;
  const Reread& reread_;
  HttpServer& server_;
  Tls* const tls_;
  Sites* const sites_;
  SiteLogs* const site_logs_;  // set if sites_ is
  Logging& logging_;
  const ServiceNotifier& notifier_;
  std::uint64_t asked_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace TURTLE_SERVER
