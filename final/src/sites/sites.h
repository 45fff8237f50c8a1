// The sites of a server: several names, each with its own files and rules.
//
//   SiteOptions site;
//   site.names = {"example.org"};
//   site.root = "/srv/example";
//   Sites sites({site});
//   HttpServer server(NetAddress("0.0.0.0", 80));
//   server.Mount("/", sites.Files());
//   server.Begin();
//
// Interface:
//  * Files() makes the handlers for the files of all sites.
//  * Around() puts the rules of the sites around another handler.
//  * UsePool() lets threads check passwords.
//  * Replace() replaces the table while the server runs; Table() returns it.
//
// Thread: any for Replace() and Table(); the owner's for the rest, before the server begins.
#pragma once

#include <memory>
#include <utility>

#include "files/static_files.h"
#include "sites/current_table.h"
#include "sites/site_options.h"
#include "sites/site_table.h"
#include "task/task_pool.h"
#include "web/request_handler.h"

namespace TURTLE_SERVER {

/// The sites of one server. Outlives the server's Begin().
class Sites {
 public:
  /// Throws as SiteTable.
  /// @param options the table
  explicit Sites(const SitesOptions& options);

  Sites(const Sites&) = delete;
  auto operator=(const Sites&) -> Sites& = delete;

  /// Checks the passwords of rules with users on threads. Must be called before Files() and
  /// Around(). Without a pool, or with one that has no threads, the loops check them, and their
  /// other clients wait.
  /// @param pool outlives the server's Begin()
  void UsePool(TaskPool& pool) noexcept { pool_ = &pool; }

  /// Returns the factory of handlers for the sites' files, HttpServer::Mount().
  /// @param options cache and limits. `cache.max_bytes` is for all sites of a loop: 16 MiB if it is
  ///     not set; 0 means no cache.
  [[nodiscard]] auto Files(StaticFilesOptions options = {}) -> HandlerFactory;

  /// Returns the factory of handlers that let the rules of the sites decide before they call one of
  /// `inner`, and change its responses.
  [[nodiscard]] auto Around(HandlerFactory inner) -> HandlerFactory;

  /// Replaces the table, for requests from now on. A request sees one table only. A loop that can't
  /// use the new one, because a directory is missing by now, logs that, keeps its own, and tries
  /// again every second.
  /// @param table the new sites
  void Replace(std::shared_ptr<const SiteTable> table) { table_.Replace(std::move(table)); }

  /// Returns the table in force.
  [[nodiscard]] auto Table() const -> std::shared_ptr<const SiteTable> { return table_.Get(); }

 private:
  CurrentTable table_;
  TaskPool* pool_ = nullptr;
};

}  // namespace TURTLE_SERVER
