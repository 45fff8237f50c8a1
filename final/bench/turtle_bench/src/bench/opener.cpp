#include "bench/opener.h"

#include <atomic>
#include <string>
#include <system_error>
#include <utility>

namespace TURTLE_SERVER {

namespace {

// Connections that are opened for the first time in one round.
constexpr std::size_t kBurst = 256;
// LoadMode::kIdle: connections that may wait for their first reply. Beyond the length of a server's
// queue they would only be dropped, and tried again after a second.
constexpr std::size_t kUnsettledMost = 256;

}  // namespace

Opener::Opener(Looper& looper, RoundTask& round, const WorkerPlan& plan, SharedRun& shared,
               Measurements& measured, std::function<void(const std::string& why)> on_unreachable,
               OpenerEvents events)
    : round_(round),
      plan_(plan),
      shared_(shared),
      measured_(measured),
      on_unreachable_(std::move(on_unreachable)),
      events_(std::move(events)),
      connector_(looper, plan.server, plan.timeout,
                 [this](std::uint32_t client, UniqueFd socket, int error) {
                   OnOutcome(client, std::move(socket), error);
                 }),
      begun_(plan.connections),
      next_new_(static_cast<std::uint32_t>(plan.connections)) {}

void Opener::Start() {
  next_new_ = 0;
  round_.Request();
}

void Opener::Open(std::uint32_t client) {
  ++unsettled_;
  begun_[client] = Clock::now();
  events_.on_begin(client);
  connector_.Connect(client);
}

auto Opener::TakeSpare() -> bool {
  if (!MayOpen() || spared_ >= plan_.spare) {
    return false;
  }
  ++spared_;
  round_.Request();  // which resets the count
  return true;
}

void Opener::Queue(std::uint32_t client) {
  queue_.push_back(client);
  round_.Request();
}

void Opener::Settled() {
  --unsettled_;
  if (plan_.mode == LoadMode::kIdle) {
    round_.Request();  // there is room for the next
  }
}

// First reopens all clients whose connection has ended, so that the required number of connections
// is kept.
void Opener::Run() {
  spared_ = 0;
  for (std::size_t again = queue_.size(); again != 0 && MayOpen(); --again) {
    const std::uint32_t client = queue_.front();
    queue_.pop_front();
    Open(client);
  }
  for (std::size_t i = 0; i < kBurst && next_new_ < begun_.size() && MayOpen(); ++i) {
    Open(next_new_++);
  }
  if ((!queue_.empty() || next_new_ < begun_.size()) && MayOpen()) {
    round_.Request();
  }
}

auto Opener::MayOpen() const noexcept -> bool {
  return plan_.mode != LoadMode::kIdle || unsettled_ < kUnsettledMost;
}

void Opener::OnOutcome(std::uint32_t client, UniqueFd socket, int error) {
  if (error != 0) {
    --unsettled_;
    measured_.tally.Fail(ErrorKind::kConnect);
    int none = 0;
    shared_.connect_error.compare_exchange_strong(none, error, std::memory_order_relaxed);
    if (!shared_.reached.load(std::memory_order_relaxed)) {
      on_unreachable_("connect " + plan_.server.ToString() + ": " +
                      std::generic_category().message(error));
    }
    events_.on_failure(client);
    return;
  }
  const TimePoint now = Clock::now();
  measured_.connect.Add(now - begun_[client]);
  ++measured_.tally.connections;
  if (!shared_.reached.load(std::memory_order_relaxed)) {
    shared_.reached.store(true, std::memory_order_relaxed);
  }
  events_.on_open(client, {std::move(socket), begun_[client], now});
}

}  // namespace TURTLE_SERVER
