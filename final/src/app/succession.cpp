#include "app/succession.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <utility>

#include "log/log.h"

namespace TURTLE_SERVER {

namespace {

// Returns the environment and descriptors of a successor.
auto SuccessorOf(const std::vector<std::string>& command, const HttpServer& server,
                 const Listening& listening, const OperationsServer* beside,
                 std::function<std::string()> secret) -> HandOverOptions {
  HandOverOptions successor;
  successor.command = command;
  successor.listeners = server.ListenerFds();
  successor.names = listening.Names();
  successor.secret = std::move(secret);
  // Tools that rotate logs or edit the settings send them to both of us.
  successor.early_signals = {SIGHUP, SIGUSR1, SIGUSR2};
  if (beside != nullptr) {
    beside->AddTo(successor);
  }
  return successor;
}

}  // namespace

Succession::Succession(const ReadyPipe& predecessor, HttpServer& server, Listening& listening,
                       OperationsServer* beside, const ServiceNotifier& notifier,
                       const std::vector<std::string>& command, std::function<std::string()> secret)
    : predecessor_(predecessor),
      server_(server),
      listening_(listening),
      beside_(beside),
      notifier_(notifier),
      hand_over_(*server.Loopers().front(),
                 SuccessorOf(command, server, listening, beside, std::move(secret)),
                 [this](pid_t pid) { Leave(pid); }) {}

void Succession::Tell(const Task& announce) noexcept {
  try {
    if (server_.IsLeaving()) {
      return;  // the process that waits for us continues to serve
    }
    if (!IsReady()) {
      server_.Loopers().front()->RunAfter(std::chrono::milliseconds(1),
                                          [this, &announce] { Tell(announce); });
      return;
    }
  } catch (...) {
    failure_ = std::current_exception();
    server_.Stop();
    return;
  }
  // Not before: if we failed, they would belong to the server that continues.
  listening_.TakeFiles();
  if (beside_ != nullptr) {
    beside_->TakeFiles();
  }
  announce();
  predecessor_.IsAwaited() ? predecessor_.Tell() : notifier_.Ready();
}

void Succession::RethrowFailure() const {
  if (failure_) {
    std::rethrow_exception(failure_);
  }
}

void Succession::Begin() {
  if (hand_over_.UnderWay()) {
    Log(LogLevel::kWarning, "SIGUSR2: a hand-over is under way");
  } else if (server_.IsLeaving()) {
    Log(LogLevel::kWarning, "SIGUSR2: this process is about to end");
  } else {
    reload_due_ = false;
    hand_over_.Begin();
  }
}

auto Succession::IsReady() -> bool {
  if (!server_.IsReady()) {
    return false;
  }
  if (beside_ != nullptr) {
    beside_->Begin();  // until now a predecessor answered the probes
  }
  return beside_ == nullptr || beside_->IsReady();
}

// A successor serves: nothing may keep this process from leaving.
void Succession::Leave(pid_t successor) noexcept {
  std::array<char, 100> text{};
  std::snprintf(text.data(), text.size(),
                "hand-over: process %lld serves; this one finishes what it has begun",
                static_cast<long long>(successor));
  Log(LogLevel::kInfo, text.data());
  if (reload_due_) {
    ::kill(successor, SIGHUP);
  }
  listening_.LeaveFiles();
  notifier_.MainPid(successor);
  server_.Drain(ListenQueue::kHandedOver);
  if (beside_ != nullptr) {
    beside_->Leave();
  }
}

}  // namespace TURTLE_SERVER
