#include "ops/server_figures.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace TURTLE_SERVER {

namespace {

auto IndexOf(const Looper& looper, const std::vector<Looper*>& loopers) -> std::size_t {
  const auto found = std::find(loopers.begin(), loopers.end(), &looper);
  return static_cast<std::size_t>(found - loopers.begin());
}

}  // namespace

ServerFigures::ServerFigures(HttpServer& server, ClockSource clock)
    : server_(server), clock_(std::move(clock)), loopers_(server.Loopers()) {
  for (Looper* looper : loopers_) {
    looper->MeasureLoad();
    requests_.push_back(std::make_unique<RequestFigures>());
  }
  server.Observe([this](Looper& looper) {
    return CountRequests(*requests_[IndexOf(looper, loopers_)], clock_);
  });
}

void ServerFigures::AddCache(std::string name, const Looper& looper,
                             std::shared_ptr<const LruStats> stats) {
  if (stats) {
    const MutexLock lock(mutex_);
    caches_.push_back({std::move(name), IndexOf(looper, loopers_), std::move(stats)});
  }
}

void ServerFigures::AddLog(std::string name, std::function<std::uint64_t()> dropped) {
  AddLogs([name = std::move(name), dropped = std::move(dropped)] {
    return std::vector<LogNow>{{name, dropped()}};
  });
}

void ServerFigures::AddLogs(std::function<std::vector<LogNow>()> read) {
  const MutexLock lock(mutex_);
  logs_.push_back(std::move(read));
}

auto ServerFigures::Read() const -> FiguresNow {
  FiguresNow now;
  const Refusals refusals = server_.GetRefusals();
  now.blocked = refusals.blocked;
  for (std::size_t i = 0; i < loopers_.size(); ++i) {
    LoopNow loop;
    loop.times = loopers_[i]->Load()->Read();
    loop.connections = loopers_[i]->ConnectionCount();
    loop.accepted = loopers_[i]->AddedCount();
    loop.refused = refusals.no_room[i];
    loop.requests = requests_[i]->Read();
    now.loops.push_back(std::move(loop));
  }
  if (pool_ != nullptr) {
    now.pool = pool_->Figures();
    now.pool_threads = pool_->Threads();
  }
  if (handshakes_) {
    now.handshakes = handshakes_();
  }
  std::vector<LogSource> logs;
  {
    const MutexLock lock(mutex_);
    for (const Cache& cache : caches_) {
      now.caches.push_back({cache.name, cache.loop, *cache.stats});
    }
    logs = logs_;
  }
  for (const LogSource& read : logs) {
    for (LogNow& log : read()) {
      now.logs.push_back(std::move(log));
    }
  }
  now.process = ReadProcessFigures();
  now.at = clock_();
  return now;
}

auto ServerFigures::ReadTimes() const -> std::vector<LoopTimes> {
  std::vector<LoopTimes> times;
  std::transform(loopers_.begin(), loopers_.end(), std::back_inserter(times),
                 [](const Looper* looper) { return looper->Load()->Read(); });
  return times;
}

}  // namespace TURTLE_SERVER
