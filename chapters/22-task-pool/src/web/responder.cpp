#include "web/responder.h"

#include <atomic>
#include <stdexcept>
#include <utility>

#include "log/log.h"
#include "web/exchange.h"
#include "web/exchange_ticket.h"
#include "web/late_replies.h"

namespace TURTLE_SERVER {

// The single response that can be given.
class Responder::Shot {
 public:
  Shot(const Exchange& exchange, LateReplies& handler) : ticket_(exchange), handler_(&handler) {}

  Shot(const Shot&) = delete;
  auto operator=(const Shot&) -> Shot& = delete;

  ~Shot() {
    if (!fired_.load(std::memory_order_relaxed)) {  // no other copy is left to fire it
      Drop();
    }
  }

  // Calls `answer` with the handler and the exchange, unless a response was given before.
  template <typename Answer>
  auto Fire(Answer answer) -> bool {
    if (fired_.exchange(true, std::memory_order_relaxed)) {
      return false;
    }
    try {
      return Post([handler = handler_, answer = std::move(answer)](Exchange& exchange) mutable {
        answer(*handler, exchange);
      });
    } catch (...) {
      fired_.store(false, std::memory_order_relaxed);  // out of memory: the response is still owed
      throw;
    }
  }

  static void OnGone(const std::shared_ptr<Shot>& shot, const Task& callback);

  auto Stream(ServerResponse head) -> ReplyStream {
    if (fired_.exchange(true, std::memory_order_relaxed)) {
      return {};
    }
    return {ticket_, *handler_, std::move(head)};  // aborts the response if it throws
  }

 private:
  // Calls `send` with the exchange, if it still waits for a response.
  template <typename Action>
  auto Post(Action send) -> bool {
    return ticket_.Post([send = std::move(send)](Exchange* exchange) mutable {
      if (exchange != nullptr && !exchange->Begun()) {
        send(*exchange);
      }
    });
  }

  // Calls `callback` if this one has given no response.
  void CallIfOwed(const Task& callback) const noexcept {
    if (!fired_.load(std::memory_order_relaxed)) {
      Call(callback);
    }
  }

  static void Call(const Task& callback) noexcept {
    try {
      callback();
    } catch (...) {
      LogException("OnGone()");
    }
  }

  void Drop() noexcept {
    try {
      Post([handler = handler_](Exchange& exchange) {
        Log(LogLevel::kError,
            exchange.GetRequest().Title("the request was dropped without a response").data());
        ServerResponse response;
        handler->ReplyLate(exchange, response.Page(500));
      });
    } catch (...) {
      LogException("dropped Responder");
    }
  }

  const ExchangeTicket ticket_;
  LateReplies* const handler_;  // lives as long as its loop has connections
  std::atomic<bool> fired_{false};
};

// The exchange must not keep the last copy of a Responder, or its loss would go unnoticed.
void Responder::Shot::OnGone(const std::shared_ptr<Shot>& shot, const Task& callback) {
  const Task gone = [shot, callback] { shot->CallIfOwed(callback); };
  const auto watch = [shot, callback](Exchange* exchange) {
    if (exchange == nullptr) {
      shot->CallIfOwed(callback);
      return;
    }
    exchange->OnEnd([weak = std::weak_ptr<Shot>(shot), callback](ReplyState reply) {
      if (reply != ReplyState::kComplete) {
        Call(callback);
      } else if (const std::shared_ptr<Shot> owed = weak.lock()) {
        owed->CallIfOwed(callback);  // the response came from elsewhere
      }
    });
  };
  if (!shot->ticket_.Post(watch, gone)) {
    gone();
  }
}

Responder::Responder(const Exchange& exchange, LateReplies& handler)
    : shot_(std::make_shared<Shot>(exchange, handler)) {}

auto Responder::Reply(ServerResponse response) const -> bool {
  return shot_->Fire(
      [response = std::move(response)](LateReplies& handler, Exchange& exchange) mutable {
        handler.ReplyLate(exchange, response);
      });
}

auto Responder::Fail(std::exception_ptr thrown) const -> bool {
  if (thrown == nullptr) {
    thrown = std::make_exception_ptr(std::logic_error("Responder::Fail() without an exception"));
  }
  return shot_->Fire([thrown = std::move(thrown)](LateReplies& handler, Exchange& exchange) {
    handler.FailLate(exchange, thrown);
  });
}

void Responder::OnGone(const Task& callback) const { Shot::OnGone(shot_, callback); }

auto Responder::Stream(ServerResponse head) const -> ReplyStream {
  return shot_->Stream(std::move(head));
}

}  // namespace TURTLE_SERVER
