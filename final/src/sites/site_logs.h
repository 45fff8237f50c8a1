// The access logs of a server with sites: a site has its own, or shares the server's.
//
//   SiteLogs logs(options, sites.Table());
//   server.Observe(logs.Observers());
//
// Interface:
//  * Open() opens the files of a new table; Replace() puts them in force.
//  * Version() shows at no cost whether there are others; Get() returns them.
//  * Reopen() follows files that were moved.
//  * Observers() makes an observer for each loop. It writes the line of a request to the log of its
//    site, by the request's host and the table in force when the response is complete.
//
// Requests without a site, and malformed ones, are in the server's log. In JSON, a line names the
// host of its request.
//
// Each file has a thread that writes it, and sites with the same file share both. A loop notices
// a new table when its next request ends. Once all have noticed, a thread closes the files that no
// site names any more, when their lines are written: no loop waits for a disk.
//
// Thread: any; Observers() that of the owner, before the server begins.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "log/log_writer.h"
#include "sites/log_closer.h"
#include "sites/site_table.h"
#include "web/access_log.h"
#include "web/exchange_observer.h"

namespace TURTLE_SERVER {

/// How the lines are written.
struct SiteLogOptions {
  AccessLogFormat format = AccessLogFormat::kCombined;  ///< Of all lines.
  LogWriterOptions writer{};            ///< Of the sites' files; `file` is that of `server`.
  std::shared_ptr<LogWriter> server{};  ///< The server's own log; nullptr: none.
};

/// The open logs of one table. Constant.
struct SiteLogTable {
  using Writer = std::shared_ptr<LogWriter>;  ///< Shared by the sites of one file.

  std::shared_ptr<const SiteTable> sites;  ///< The table.
  std::vector<Writer> writers;             ///< Of each site, in their order; nullptr: none.
  std::map<std::string, Writer> files;     ///< The sites' own ones, by absolute path.
};

/// The logs that are in force, for all loops.
class SiteLogs {
 public:
  /// Opens the files of the first table. Throws as Open().
  /// @param options for all files
  /// @param sites the table; not nullptr
  SiteLogs(SiteLogOptions options, std::shared_ptr<const SiteTable> sites);

  SiteLogs(const SiteLogs&) = delete;
  auto operator=(const SiteLogs&) -> SiteLogs& = delete;

  /// Opens the files of a table that are not open yet.
  /// @param sites the table; not nullptr
  /// @throws std::system_error, which names the file, if one can't be opened; the logs in force
  /// stay
  [[nodiscard]] auto Open(std::shared_ptr<const SiteTable> sites) const
      -> std::shared_ptr<const SiteLogTable>;

  /// Replaces the logs, for responses that end from now on.
  /// @param logs not nullptr
  void Replace(std::shared_ptr<const SiteLogTable> logs);

  /// Returns the number of the table of logs; it grows with each Replace().
  [[nodiscard]] auto Version() const noexcept -> std::uint64_t {
    return version_.load(std::memory_order_acquire);
  }

  /// Returns the logs. They have at least the Version() that was read before.
  [[nodiscard]] auto Get() const -> std::shared_ptr<const SiteLogTable>;

  /// Reopens the sites' own files, LogWriter::Reopen().
  void Reopen() const;

  /// Returns the options.
  [[nodiscard]] auto Options() const noexcept -> const SiteLogOptions& { return options_; }

  /// Returns the factory of observers, HttpServer::Observe(). This object outlives them.
  [[nodiscard]] auto Observers() const -> ObserverFactory;

 private:
  [[nodiscard]] auto OpenFile(const std::string& path) const -> SiteLogTable::Writer;

  const SiteLogOptions options_;
  const std::string server_file_;            // the absolute path
  const std::shared_ptr<LogCloser> closer_;  // shared by the writers
  mutable Mutex mutex_;
  std::shared_ptr<const SiteLogTable> logs_ TURTLE_GUARDED_BY(mutex_);
  std::atomic<std::uint64_t> version_{1};
};

}  // namespace TURTLE_SERVER
