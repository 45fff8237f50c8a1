#include "response_cache/reply_waiters.h"

#include <chrono>
#include <utility>

#include "log/log.h"

namespace TURTLE_SERVER {

namespace {

// Out of memory for the task of Tell(), no call comes. So the waiting exchanges also look
// themselves now and then.
constexpr std::chrono::seconds kOwnLook{1};

}  // namespace

class ReplyWaiters::Waiter : public ExchangeState {
 public:
  Waiter(ReplyWaiters& waiters, Exchange& exchange, std::shared_ptr<const Making> making, int waits)
      : waiters_(waiters), exchange_(exchange), making_(std::move(making)), waits_(waits) {
    place_ = waiters_.all_.insert(waiters_.all_.end(), this);
  }
  Waiter(const Waiter&) = delete;
  auto operator=(const Waiter&) -> Waiter& = delete;
  ~Waiter() override { waiters_.all_.erase(place_); }

  [[nodiscard]] auto CanGoOn() const noexcept -> bool { return making_->Over(); }
  [[nodiscard]] auto GetExchange() const noexcept -> Exchange& { return exchange_; }
  [[nodiscard]] auto Waits() const noexcept -> int { return waits_; }

 private:
  ReplyWaiters& waiters_;
  Exchange& exchange_;
  const std::shared_ptr<const Making> making_;
  const int waits_;
  std::list<Waiter*>::iterator place_;
};

ReplyWaiters::ReplyWaiters(Looper& looper, Serve serve)
    : looper_(looper), serve_(std::move(serve)) {}

ReplyWaiters::~ReplyWaiters() {
  if (timer_) {
    looper_.Cancel(*timer_);
  }
}

void ReplyWaiters::Add(Exchange& exchange, std::shared_ptr<const Making> making, int waits) {
  exchange.Attach(std::make_unique<Waiter>(*this, exchange, std::move(making), waits));
  LookAgainLater();
}

void ReplyWaiters::Tell() noexcept {
  try {
    // A loop that takes no more tasks has no clients either.
    static_cast<void>(looper_.Post([this] { ServeThoseWhoCan(); }));
  } catch (...) {
    LogException("waking requests that wait for a response");
  }
}

void ReplyWaiters::ServeThoseWhoCan() {
  // Serving one may add others, at the end. It removes none but itself: an exchange that a handler
  // deletes is destroyed at the end of the round.
  for (auto next = all_.begin(); next != all_.end();) {
    const Waiter& waiter = **next++;
    if (!waiter.CanGoOn()) {
      continue;
    }
    Exchange& exchange = waiter.GetExchange();
    const int waits = waiter.Waits();
    exchange.Attach(nullptr);
    try {
      serve_(exchange, waits);
    } catch (...) {
      exchange.AbortThrown();
    }
  }
}

void ReplyWaiters::LookAgainLater() {
  if (!timer_) {
    timer_ = looper_.RunAfter(kOwnLook, [this] {
      timer_.reset();
      ServeThoseWhoCan();
      if (!all_.empty()) {
        LookAgainLater();
      }
    });
  }
}

}  // namespace TURTLE_SERVER
