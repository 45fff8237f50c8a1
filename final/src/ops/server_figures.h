// All counters of a server, collected where they are counted and read in one place.
//
//   HttpServer server(NetAddress("0.0.0.0", 80));
//   ServerFigures figures(server);      // from here on it counts
//   figures.AddCache("files", looper, files->SharedCacheStats());
//   const FiguresNow now = figures.Read();
//
// Interface:
//  * The constructor starts to measure the server's loops and count its requests.
//  * AddCache(), SetPool(), SetHandshakes(), AddLog() and AddLogs() add other sources.
//  * Read() reads all of them.
//
// No loop is asked: its counts are in memory, and a loop that is stuck in a callback can be read
// like any other.
//
// Thread: the constructor, SetPool() and SetHandshakes() on the owner's, before the server begins;
// AddCache(), AddLog(), AddLogs() and Read() on any.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/lru_cache.h"
#include "base/mutex.h"
#include "core/loop_load.h"
#include "ops/process_figures.h"
#include "ops/request_figures.h"
#include "task/task_pool.h"
#include "tls/tls.h"
#include "web/http_server.h"

namespace TURTLE_SERVER {

/// The counters and the present state of one loop.
struct LoopNow {
  LoopTimes times{};            ///< how busy it is
  std::size_t connections = 0;  ///< present ones
  std::uint64_t accepted = 0;   ///< connections that it was given, including refused ones
  std::uint64_t refused = 0;    ///< of those, for lack of room
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

/// All statistics, read at about the same time: the loops continue meanwhile.
struct FiguresNow {
  TimePoint at{};                        ///< when it was read
  std::vector<LoopNow> loops;            ///< in the order of HttpServer::Loopers()
  std::uint64_t blocked = 0;             ///< clients refused because of their address
  std::vector<CacheNow> caches;          ///< in the order in which they were added
  std::optional<TaskFigures> pool{};     ///< nullopt: there is none
  std::size_t pool_threads = 0;          ///< of that pool
  std::optional<TlsStats> handshakes{};  ///< nullopt: no client has TLS
  std::vector<LogNow> logs;              ///< in the order in which they were added
  ProcessFigures process{};              ///< this program
};

/// Collects the statistics of one server.
class ServerFigures {
 public:
  /// Counts and measures `server` from now on. Throws only std::bad_alloc.
  /// @param server has not begun; outlives this object, which outlives its Begin()
  /// @param clock the time, for requests and for Read(); called on all threads
  explicit ServerFigures(HttpServer& server, ClockSource clock = Clock::now);

  ServerFigures(const ServerFigures&) = delete;
  auto operator=(const ServerFigures&) -> ServerFigures& = delete;

  /// Adds one loop's part of a cache.
  /// @param name of the cache, the same on each loop
  /// @param looper one of the server's
  /// @param stats of the cache; nullptr: there is none, and nothing happens
  void AddCache(std::string name, const Looper& looper, std::shared_ptr<const LruStats> stats);

  /// Adds a pool, which outlives the last Read().
  void SetPool(const TaskPool& pool) { pool_ = &pool; }

  /// Adds the count of handshakes.
  /// @param read returns it, on any thread
  void SetHandshakes(std::function<TlsStats()> read) { handshakes_ = std::move(read); }

  /// Adds the count of a log's dropped lines.
  /// @param name of the log
  /// @param dropped returns the count, on any thread
  void AddLog(std::string name, std::function<std::uint64_t()> dropped);

  /// Adds logs that may begin and end while the server runs.
  /// @param read returns those of the moment, on any thread; each name belongs to one log only
  void AddLogs(std::function<std::vector<LogNow>()> read);

  /// Returns the current statistics.
  [[nodiscard]] auto Read() const -> FiguresNow;

  /// Returns how the loops spend their time: the cheap part of Read().
  [[nodiscard]] auto ReadTimes() const -> std::vector<LoopTimes>;

 private:
  struct Cache {
    std::string name;
    std::size_t loop;
    std::shared_ptr<const LruStats> stats;  // shared with the cache, which may be gone
  };
  using LogSource = std::function<std::vector<LogNow>()>;

  const HttpServer& server_;
  const ClockSource clock_;
  const std::vector<Looper*> loopers_;
  std::vector<std::unique_ptr<RequestFigures>> requests_;  // by loop
  const TaskPool* pool_ = nullptr;
  std::function<TlsStats()> handshakes_;  // empty: there are none

  mutable Mutex mutex_;
  std::vector<Cache> caches_ TURTLE_GUARDED_BY(mutex_);
  std::vector<LogSource> logs_ TURTLE_GUARDED_BY(mutex_);
};

}  // namespace TURTLE_SERVER
