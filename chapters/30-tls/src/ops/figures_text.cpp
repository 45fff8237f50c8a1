#include "ops/figures_text.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "http/metrics_text.h"
#include "http/status.h"

namespace TURTLE_SERVER {

namespace {

using nlohmann::json;

constexpr std::string_view kOther = "other";

auto Seconds(Clock::duration time) -> double { return std::chrono::duration<double>(time).count(); }

// Counts each status with a name separately. Programs may use any number, and clients may choose
// the program; so all other statuses are counted together.
auto CountsByCode(const RequestTotals& totals) -> std::map<std::string, std::uint64_t> {
  std::map<std::string, std::uint64_t> counts;
  for (const auto& [status, count] : totals.statuses) {
    const bool named = !ReasonPhrase(status).empty();
    counts[named ? std::to_string(status) : std::string(kOther)] += count;
  }
  return counts;
}

// Adds a metric with one value for each loop.
template <typename Number>
void AddByLoop(const FiguresNow& now, std::string_view name, MetricType type, std::string_view help,
               const Number& number, MetricsText& text) {
  text.Begin(name, type, help);
  for (std::size_t i = 0; i < now.loops.size(); ++i) {
    const std::string loop = std::to_string(i);
    text.Add({{"loop", loop}}, number(now.loops[i]));
  }
}

void AddLoops(const FiguresNow& now, MetricsText& text) {
  const auto add = [&](std::string_view name, MetricType type, std::string_view help,
                       const auto& number) { AddByLoop(now, name, type, help, number, text); };
  add("turtle_loop_busy_seconds_total", MetricType::kCounter,
      "Time that the loop was not waiting for events.",
      [](const LoopNow& loop) { return Seconds(loop.times.busy); });
  add("turtle_loop_waiting_seconds_total", MetricType::kCounter,
      "Time that the loop was waiting for events.",
      [](const LoopNow& loop) { return Seconds(loop.times.waited); });
  add("turtle_loop_round_seconds", MetricType::kGauge,
      "Duration of the loop's current round; 0 while it waits.",
      [](const LoopNow& loop) { return Seconds(loop.times.round); });
  add("turtle_loop_rounds_total", MetricType::kCounter, "Rounds of the loop.",
      [](const LoopNow& loop) { return loop.times.rounds; });
  add("turtle_connections", MetricType::kGauge, "Connections of the loop.",
      [](const LoopNow& loop) { return std::uint64_t{loop.connections}; });
  add("turtle_connections_accepted_total", MetricType::kCounter,
      "Connections that the loop was given, including refused ones.",
      [](const LoopNow& loop) { return loop.accepted; });
  add("turtle_connections_refused_total", MetricType::kCounter,
      "Connections that the loop refused, because it had no room for more.",
      [](const LoopNow& loop) { return loop.refused; });
  text.Begin("turtle_connections_blocked_total", MetricType::kCounter,
             "Connections that were closed at once, because of the client's address.");
  text.Add({}, now.blocked);
}

void AddRequests(const FiguresNow& now, MetricsText& text) {
  const auto add = [&](std::string_view name, MetricType type, std::string_view help,
                       const auto& number) { AddByLoop(now, name, type, help, number, text); };
  add("turtle_http_requests_open", MetricType::kGauge, "Requests without a complete response.",
      [](const LoopNow& loop) { return loop.requests.open; });
  text.Begin("turtle_http_requests_total", MetricType::kCounter,
             "Requests that got a response, by its status.");
  for (std::size_t i = 0; i < now.loops.size(); ++i) {
    const std::string loop = std::to_string(i);
    for (const auto& [code, count] : CountsByCode(now.loops[i].requests)) {
      text.Add({{"loop", loop}, {"code", code}}, count);
    }
  }
  add("turtle_http_requests_unanswered_total", MetricType::kCounter,
      "Requests whose clients were gone before there was a response.",
      [](const LoopNow& loop) { return loop.requests.unanswered; });
  add("turtle_http_replies_cut_total", MetricType::kCounter,
      "Responses that were cut short; they count as answered, too.",
      [](const LoopNow& loop) { return loop.requests.cut; });
  add("turtle_http_reply_body_bytes_total", MetricType::kCounter, "Bytes of response bodies.",
      [](const LoopNow& loop) { return loop.requests.body_bytes; });
  text.Begin("turtle_http_request_duration_seconds", MetricType::kHistogram,
             "From the head of a request to the end of its handler's response.");
  for (std::size_t i = 0; i < now.loops.size(); ++i) {
    MetricHistogram histogram;
    histogram.bounds.assign(RequestFigures::kBounds.begin(), RequestFigures::kBounds.end());
    histogram.counts = now.loops[i].requests.took;
    histogram.sum = now.loops[i].requests.seconds;
    const std::string loop = std::to_string(i);
    text.AddHistogram({{"loop", loop}}, histogram);
  }
}

void AddCaches(const FiguresNow& now, MetricsText& text) {
  if (now.caches.empty()) {
    return;
  }
  const auto add = [&](std::string_view name, MetricType type, std::string_view help,
                       Counter LruStats::*number) {
    text.Begin(name, type, help);
    for (const CacheNow& cache : now.caches) {
      const std::string loop = std::to_string(cache.loop);
      text.Add({{"cache", cache.name}, {"loop", loop}}, (cache.stats.*number).Get());
    }
  };
  add("turtle_cache_hits_total", MetricType::kCounter, "Lookups that found an entry.",
      &LruStats::hits);
  add("turtle_cache_misses_total", MetricType::kCounter, "Lookups that found none.",
      &LruStats::misses);
  add("turtle_cache_evictions_total", MetricType::kCounter, "Entries that had to make room.",
      &LruStats::evictions);
  add("turtle_cache_bytes", MetricType::kGauge, "Memory of the entries.", &LruStats::bytes);
  add("turtle_cache_entries", MetricType::kGauge, "Entries.", &LruStats::entries);
}

void AddPool(const FiguresNow& now, MetricsText& text) {
  if (!now.pool) {
    return;
  }
  const auto gauge = [&](std::string_view name, std::string_view help, std::size_t number) {
    text.Begin(name, MetricType::kGauge, help);
    text.Add({}, std::uint64_t{number});
  };
  gauge("turtle_pool_threads", "Threads of the task pool.", now.pool_threads);
  gauge("turtle_pool_queued_tasks", "Tasks that wait for a thread.", now.pool->queued);
  gauge("turtle_pool_running_tasks", "Tasks that run.", now.pool->running);
  text.Begin("turtle_pool_tasks_total", MetricType::kCounter, "Tasks, by their outcome.");
  text.Add({{"outcome", "ran"}}, now.pool->ran);
  text.Add({{"outcome", "refused"}}, now.pool->refused);
  text.Add({{"outcome", "cancelled"}}, now.pool->cancelled);
  text.Add({{"outcome", "expired"}}, now.pool->expired);
  text.Add({{"outcome", "stopped"}}, now.pool->stopped);
}

void AddHandshakes(const FiguresNow& now, MetricsText& text) {
  if (!now.handshakes) {
    return;
  }
  text.Begin("turtle_tls_handshakes_total", MetricType::kCounter,
             "TLS handshakes, by their outcome.");
  text.Add({{"outcome", "full"}}, now.handshakes->full);
  text.Add({{"outcome", "resumed"}}, now.handshakes->resumed);
  text.Add({{"outcome", "failed"}}, now.handshakes->failed);
}

void AddLogs(const FiguresNow& now, MetricsText& text) {
  if (now.logs.empty()) {
    return;
  }
  text.Begin("turtle_log_dropped_lines_total", MetricType::kCounter,
             "Lines that a log has dropped.");
  for (const LogNow& log : now.logs) {
    text.Add({{"log", log.name}}, log.dropped);
  }
}

void AddProcess(const ProcessFigures& process, MetricsText& text) {
  const auto add = [&](std::string_view name, MetricType type, std::string_view help,
                       const auto& number) {
    if (number) {
      text.Begin(name, type, help);
      text.Add({}, *number);
    }
  };
  add("process_cpu_seconds_total", MetricType::kCounter, "Processor time, including the kernel's.",
      process.cpu_seconds);
  add("process_start_time_seconds", MetricType::kGauge, "Start time, since 1970.",
      process.start_time);
  add("process_resident_memory_bytes", MetricType::kGauge, "Memory that is in RAM.",
      process.resident_bytes);
  add("process_virtual_memory_bytes", MetricType::kGauge, "Address space that is in use.",
      process.virtual_bytes);
  add("process_open_fds", MetricType::kGauge, "Open descriptors.", process.open_descriptors);
  add("process_max_fds", MetricType::kGauge, "Descriptors that may be open.",
      process.max_descriptors);
}

auto ToJson(const LoopNow& loop) -> json {
  const RequestTotals& requests = loop.requests;
  return {{"busy", Seconds(loop.times.busy)},
          {"waited", Seconds(loop.times.waited)},
          {"round", Seconds(loop.times.round)},
          {"connections", loop.connections},
          {"accepted", loop.accepted},
          {"refused", loop.refused},
          {"open", requests.open},
          {"unanswered", requests.unanswered},
          {"cut", requests.cut},
          {"bytes", requests.body_bytes},
          {"codes", CountsByCode(requests)},
          {"took", requests.took}};
}

template <typename Number>
auto OrNull(const std::optional<Number>& number) -> json {
  return number ? json(*number) : json(nullptr);
}

}  // namespace

auto ReadinessName(Readiness readiness) noexcept -> std::string_view {
  return readiness == Readiness::kReady      ? "ready"
         : readiness == Readiness::kDraining ? "draining"
                                             : "starting";
}

auto MetricsOf(const FiguresNow& now, const FiguresOf& of) -> std::string {
  MetricsText text;
  text.Begin("turtle_build_info", MetricType::kGauge, "1, and which version this is.");
  text.Add({{"version", of.version}}, std::uint64_t{1});
  text.Begin("turtle_ready", MetricType::kGauge, "1: it serves new clients.");
  text.Add({}, std::uint64_t{of.readiness == Readiness::kReady ? 1U : 0U});
  AddLoops(now, text);
  AddRequests(now, text);
  AddCaches(now, text);
  AddPool(now, text);
  AddHandshakes(now, text);
  AddLogs(now, text);
  AddProcess(now.process, text);
  return text.Take();
}

auto JsonOf(const FiguresNow& now, const FiguresOf& of) -> std::string {
  json loops = json::array();
  for (const LoopNow& loop : now.loops) {
    loops.push_back(ToJson(loop));
  }
  json caches = json::array();
  for (const CacheNow& cache : now.caches) {
    caches.push_back({{"name", cache.name},
                      {"hits", cache.stats.hits.Get()},
                      {"misses", cache.stats.misses.Get()},
                      {"bytes", cache.stats.bytes.Get()},
                      {"entries", cache.stats.entries.Get()}});
  }
  json logs = json::object();
  for (const LogNow& log : now.logs) {
    logs[log.name] = log.dropped;
  }
  json bounds = json::array();
  for (const auto bound : RequestFigures::kBounds) {
    bounds.push_back(std::chrono::duration<double>(bound).count());
  }
  json pool;
  if (now.pool) {
    pool = {{"threads", now.pool_threads},  {"queued", now.pool->queued},
            {"running", now.pool->running}, {"ran", now.pool->ran},
            {"refused", now.pool->refused}, {"expired", now.pool->expired}};
  }
  json handshakes;
  if (now.handshakes) {
    handshakes = {{"full", now.handshakes->full},
                  {"resumed", now.handshakes->resumed},
                  {"failed", now.handshakes->failed}};
  }
  return json{{"version", of.version},
              {"readiness", ReadinessName(of.readiness)},
              {"stuckAfter", std::chrono::duration<double>(of.stuck_after).count()},
              {"at", Seconds(now.at.time_since_epoch())},
              {"start", OrNull(now.process.start_time)},
              {"cpu", OrNull(now.process.cpu_seconds)},
              {"memory", OrNull(now.process.resident_bytes)},
              {"descriptors", OrNull(now.process.open_descriptors)},
              {"maxDescriptors", OrNull(now.process.max_descriptors)},
              {"blocked", now.blocked},
              {"bounds", bounds},
              {"loops", loops},
              {"caches", caches},
              {"pool", pool},
              {"handshakes", handshakes},
              {"logs", logs}}
      .dump();
}

}  // namespace TURTLE_SERVER
