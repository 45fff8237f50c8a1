#include "core/server_drain.h"

#include <algorithm>
#include <chrono>

#include "base/clock.h"
#include "log/log.h"

namespace TURTLE_SERVER {

namespace {

// How often a draining server checks whether a client is left.
constexpr std::chrono::milliseconds kLook{10};

}  // namespace

// @return false: it was already decided
auto ServerDrain::Decide(Ending ending) noexcept -> bool {
  Ending not_yet = Ending::kNotYet;
  return ending_.compare_exchange_strong(not_yet, ending);
}

void ServerDrain::Stop() noexcept {
  Decide(Ending::kStop);
  loopers_.front()->Stop();
}

void ServerDrain::Begin(ListenQueue queue) noexcept {
  if (!Decide(queue == ListenQueue::kOurs ? Ending::kDrain : Ending::kHandOver)) {
    return;
  }
  draining_.store(true);
  OrStop([this] { Post(0, [this] { BeginDrain(); }); });
}

// Falls back to Stop(), which is less gentle but needs no memory.
template <typename Step>
void ServerDrain::OrStop(const Step& step) noexcept {
  try {
    step();
  } catch (...) {
    LogException("drain");
    Stop();
  }
}

// Runs a step on another loop. A loop that accepts no more tasks has ended.
template <typename Step>
void ServerDrain::Post(std::size_t index, Step step) {
  static_cast<void>(loopers_[index]->Post([this, step, lives = lives_] {
    if (*lives) {
      OrStop(step);
    }
  }));
}

void ServerDrain::BeginDrain() {
  if (GetEnding() == Ending::kDrain && options_.drain_time.count() > 0) {
    loopers_.front()->RunAfter(options_.drain_time,
                               [this] { OrStop([this] { CloseListeners(); }); });
  } else {
    CloseListeners();
  }
}

void ServerDrain::CloseListeners() {
  const TimePoint now = loopers_.front()->Now();
  end_ = now + Bounded(options_.stop_timeout);
  chance_end_ = std::min(now + Bounded(options_.last_chance), end_);
  if (GetEnding() == Ending::kHandOver) {
    acceptors_.clear();
  }
  EmptyQueues();
}

// Without descriptors, it waits for a client to leave.
void ServerDrain::EmptyQueues() {
  Looper& home = *loopers_.front();
  acceptors_.erase(std::remove_if(acceptors_.begin(), acceptors_.end(),
                                  [](const auto& acceptor) { return acceptor->AcceptWaiting(); }),
                   acceptors_.end());
  if (!acceptors_.empty() && home.Now() < chance_end_) {
    home.RunAfter(kLook, [this] { OrStop([this] { EmptyQueues(); }); });
    return;
  }
  acceptors_.clear();
  // After the clients that were handed over: the posts of one thread keep their order.
  for (std::size_t i = 1; i < loopers_.size(); ++i) {
    Post(i, [this, i] { AwaitLastClients(i); });
  }
  AwaitLastClients(0);
}

// The first loop stops the others, so it is the last to end.
void ServerDrain::AwaitLastClients(std::size_t index) {
  Looper& looper = *loopers_[index];
  // Set at each check, because the first loop, or Stop(), may stop this one before the next. A loop
  // that was busy all the time leaves its clients no less time than the others had.
  const Clock::duration left = std::max(end_ - looper.Now(), end_ - chance_end_);
  looper.SetStopTimeout(std::chrono::ceil<std::chrono::milliseconds>(left));
  const bool others = index == 0 && ended_.load() + 1 < loopers_.size();
  if ((looper.ConnectionCount() == 0 && !others) || looper.Now() >= chance_end_) {
    looper.Stop();
  } else {
    looper.RunAfter(kLook, [this, index] { OrStop([this, index] { AwaitLastClients(index); }); });
  }
}

}  // namespace TURTLE_SERVER
