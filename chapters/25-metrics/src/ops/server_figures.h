// All counters of a server, collected where they are counted and read in one place.
//
//   HttpServer server(NetAddress("0.0.0.0", 80));
//   ServerFigures figures(server);      // from here on it counts
//   figures.AddCache("files", looper, files->SharedCacheStats());
//   const FiguresNow now = figures.Read();
//
// Interface:
//  * The constructor has the server's loops measured and its requests counted.
//  * AddCache(), SetPool() and AddLog() name what else there is to read.
//  * Read() reads all of it.
//
// Nothing is asked of a loop: its counts are in memory, and a loop that is stuck in a callback is
// read like any other.
//
// Thread: the constructor and SetPool() from the owner's, before the server begins; AddCache(),
// AddLog() and Read() from any.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/lru_cache.h"
#include "base/mutex.h"
#include "core/loop_load.h"
#include "ops/process_figures.h"
#include "ops/request_figures.h"
#include "task/task_pool.h"
#include "web/http_server.h"

namespace TURTLE_SERVER {

/// The counts of one loop so far, and its present state.
struct LoopNow {
  LoopTimes times{};            ///< how busy it is
  std::size_t connections = 0;  ///< are there
  std::uint64_t accepted = 0;   ///< connections that it was given, the refused among them
  std::uint64_t refused = 0;    ///< of those, because there was no room
  RequestTotals requests{};     ///< and the responses to them
};

/// A cache of one loop.
struct CacheNow {
  std::string name;      ///< which cache
  std::size_t loop = 0;  ///< the loop of this share
  LruStats stats{};      ///< its statistics
};

/// How many lines of a log are missing.
struct LogNow {
  std::string name;           ///< which log
  std::uint64_t dropped = 0;  ///< lines
};

/// Everything, read at about the same time: the loops go on meanwhile.
struct FiguresNow {
  TimePoint at{};                     ///< when it was read
  std::vector<LoopNow> loops;         ///< in the order of HttpServer::Loopers()
  std::uint64_t blocked = 0;          ///< clients who were turned away, by their address
  std::vector<CacheNow> caches;       ///< in the order in which they were added
  std::optional<TaskFigures> pool{};  ///< nullopt: there is none
  std::size_t pool_threads = 0;       ///< that it has
  std::vector<LogNow> logs;           ///< in the order in which they were added
  ProcessFigures process{};           ///< this program
};

/// Finds the statistics of one server.
class ServerFigures {
 public:
  /// Has `server` counted and measured from now on. Throws std::bad_alloc only.
  /// @param server has not begun; outlives this object, which outlives its Begin()
  /// @param clock the time, for requests and for Read(); called on all threads
  explicit ServerFigures(HttpServer& server, ClockSource clock = Clock::now);

  ServerFigures(const ServerFigures&) = delete;
  auto operator=(const ServerFigures&) -> ServerFigures& = delete;

  /// Reads a loop's share of a cache as well.
  /// @param name of the cache, the same on each loop
  /// @param looper one of the server's
  /// @param stats of it; nullptr: there is no cache, and nothing happens
  void AddCache(std::string name, const Looper& looper, std::shared_ptr<const LruStats> stats);

  /// Reads a pool as well. It outlives the last Read().
  void SetPool(const TaskPool& pool) { pool_ = &pool; }

  /// Reads how many lines of a log were dropped.
  /// @param name of the log
  /// @param dropped tells it, on any thread
  void AddLog(std::string name, std::function<std::uint64_t()> dropped);

  /// Everything as it is now.
  [[nodiscard]] auto Read() const -> FiguresNow;

  /// How the loops spend their time; the part of Read() that asks nobody.
  [[nodiscard]] auto ReadTimes() const -> std::vector<LoopTimes>;

 private:
  struct Cache {
    std::string name;
    std::size_t loop;
    std::shared_ptr<const LruStats> stats;  // shared with the cache, which may have gone
  };
  struct LogSource {
    std::string name;
    std::function<std::uint64_t()> dropped;
  };

  const HttpServer& server_;
  const ClockSource clock_;
  const std::vector<Looper*> loopers_;
  std::vector<std::unique_ptr<RequestFigures>> requests_;  // by loop
  const TaskPool* pool_ = nullptr;

  mutable Mutex mutex_;
  std::vector<Cache> caches_ TURTLE_GUARDED_BY(mutex_);
  std::vector<LogSource> logs_ TURTLE_GUARDED_BY(mutex_);
};

}  // namespace TURTLE_SERVER
