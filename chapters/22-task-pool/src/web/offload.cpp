#include "web/offload.h"

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/looper.h"
#include "log/log.h"
#include "web/exchange.h"
#include "web/owned_request.h"
#include "web/responder.h"

namespace TURTLE_SERVER {

namespace {

constexpr const char* kTooMany = "Too many requests wait already.";
constexpr const char* kTooLate = "Its turn did not come in time.";
constexpr const char* kEnding = "The server does not begin anything new.";

// The state shared by the requests of one route.
struct Plan {
  OffloadOptions options;
  SyncHandler handler;

  [[nodiscard]] auto Refusal(const char* why) const -> ServerResponse {
    ServerResponse response;
    response.Page(503, why).Set("Retry-After", std::to_string(options.retry_after.count()));
    return response;
  }
};

// A request that the pool handles.
class OffloadedCall : public PoolTask {
 public:
  OffloadedCall(std::shared_ptr<const Plan> plan, const ServerRequest& request, Responder responder)
      : plan_(std::move(plan)),
        request_(request, CancelledFlag()),
        responder_(std::move(responder)) {}

 private:
  // The responder is destroyed when this returns. The task itself may live as long as its client.
  void Run() override {
    const Responder responder = std::move(responder_);
    ServerResponse response;
    std::exception_ptr thrown;
    try {
      plan_->handler(request_.Get(), response);
    } catch (...) {
      thrown = std::current_exception();
    }
    if (thrown) {
      responder.Fail(std::move(thrown));  // outside the catch block, which would also hold it
    } else {
      responder.Reply(std::move(response));
    }
  }

  void Drop(DropReason why) noexcept override {
    const Responder responder = std::move(responder_);
    if (why == DropReason::kCancelled) {
      return;  // no client is left to respond to
    }
    try {
      responder.Reply(plan_->Refusal(why == DropReason::kExpired ? kTooLate : kEnding));
    } catch (...) {
      LogException("offloaded request");
    }
  }

  const std::shared_ptr<const Plan> plan_;  // shared by the route and its requests
  const OwnedRequest request_;
  Responder responder_;
};

// Attached to the exchange; when that ends, the call is cancelled. Its timer enforces the deadline
// even while all threads of the pool are busy.
class OffloadLink : public ExchangeState {
 public:
  OffloadLink(TaskPool& pool, std::shared_ptr<OffloadedCall> call, Looper& looper)
      : pool_(pool), call_(std::move(call)), looper_(looper) {}

  OffloadLink(const OffloadLink&) = delete;
  auto operator=(const OffloadLink&) -> OffloadLink& = delete;

  ~OffloadLink() override {
    if (timer_) {
      looper_.Cancel(*timer_);
    }
    pool_.Cancel(*call_);
  }

  void SetDeadline(Clock::duration wait) {
    timer_ = looper_.RunAfter(wait, [this] {
      timer_.reset();
      pool_.Expire(*call_);
    });
  }

 private:
  TaskPool& pool_;
  const std::shared_ptr<OffloadedCall> call_;  // shared with the pool
  Looper& looper_;
  std::optional<TimerId> timer_;
};

void Leave(TaskPool& pool, const std::shared_ptr<const Plan>& plan, const ServerRequest& request,
           const Responder& responder) {
  Exchange& exchange = request.GetExchange();
  const auto call = std::make_shared<OffloadedCall>(plan, request, responder);
  auto link = std::make_unique<OffloadLink>(pool, call, exchange.GetLooper());
  const OffloadOptions& options = plan->options;
  TaskPool::TaskOptions how{options.priority};
  if (options.deadline.count() != 0) {
    const auto deadline = Bounded(options.deadline);
    link->SetDeadline(deadline);
    how.deadline = exchange.GetLooper().Now() + deadline;
  }
  const SubmitResult result = pool.Submit(call, how);
  if (result == SubmitResult::kAccepted) {
    // OnEnd() also lets the exchange probe a client that has closed its end.
    exchange.OnEnd([&pool, call](ReplyState) { pool.Cancel(*call); });
    exchange.Attach(std::move(link));  // replaces the collected body, which the call now owns
  } else {
    responder.Reply(plan->Refusal(result == SubmitResult::kFull ? kTooMany : kEnding));
  }
}

}  // namespace

auto Offload(TaskPool& pool, const OffloadOptions& options, SyncHandler handler) -> RouteAction {
  if (pool.Threads() == 0) {
    return handler;
  }
  const auto plan = std::make_shared<const Plan>(Plan{options, std::move(handler)});
  return AsyncHandler([&pool, plan](const ServerRequest& request, const Responder& responder) {
    Leave(pool, plan, request, responder);
  });
}

}  // namespace TURTLE_SERVER
