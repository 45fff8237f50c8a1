#include "web/responder.h"

#include <atomic>
#include <stdexcept>
#include <utility>

#include "log/log.h"
#include "web/exchange.h"
#include "web/exchange_ticket.h"
#include "web/late_replies.h"

namespace TURTLE_SERVER {

// The one answer that there is to give.
class Responder::Shot {
 public:
  Shot(const Exchange& exchange, LateReplies& handler) : ticket_(exchange), handler_(&handler) {}

  Shot(const Shot&) = delete;
  auto operator=(const Shot&) -> Shot& = delete;

  ~Shot() {
    if (!fired_.load(std::memory_order_relaxed)) {  // nobody else is left to fire it
      Drop();
    }
  }

  auto Fire(ServerResponse response) -> bool {
    if (fired_.exchange(true, std::memory_order_relaxed)) {
      return false;
    }
    try {
      return Send(std::move(response));
    } catch (...) {
      fired_.store(false, std::memory_order_relaxed);  // out of memory: the answer is still owed
      throw;
    }
  }

  void OnGone(std::function<void()> callback) const {
    if (fired_.load(std::memory_order_relaxed)) {
      return;
    }
    const auto shared = std::make_shared<std::function<void()>>(std::move(callback));
    static_cast<void>(ticket_.Post(  // a loop that has ended has no clients
        [shared](Exchange* exchange) {
          if (exchange != nullptr) {
            exchange->OnGone(std::move(*shared));
          }
        },
        [shared] { (*shared)(); }));
  }

  auto Stream(ServerResponse head) -> ReplyStream {
    if (fired_.exchange(true, std::memory_order_relaxed)) {
      return {};
    }
    return {ticket_, *handler_, std::move(head)};  // which gives it up if it throws
  }

 private:
  // Has `send` called with the exchange, if it still waits for an answer.
  template <typename Action>
  auto Post(Action send) -> bool {
    return ticket_.Post([send = std::move(send)](Exchange* exchange) mutable {
      if (exchange != nullptr && !exchange->Begun()) {
        send(*exchange);
      }
    });
  }

  auto Send(ServerResponse response) -> bool {
    return Post([handler = handler_, response = std::move(response)](Exchange& exchange) mutable {
      handler->ReplyLate(exchange, response);
    });
  }

  void Drop() noexcept {
    try {
      Post([handler = handler_](Exchange& exchange) {
        Log(LogLevel::kError,
            exchange.GetRequest().Title("the request was dropped without an answer").data());
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

Responder::Responder(const Exchange& exchange, LateReplies& handler)
    : shot_(std::make_shared<Shot>(exchange, handler)) {}

auto Responder::Reply(ServerResponse response) const -> bool {
  return shot_->Fire(std::move(response));
}

void Responder::OnGone(std::function<void()> callback) const { shot_->OnGone(std::move(callback)); }

auto Responder::Stream(ServerResponse head) const -> ReplyStream {
  return shot_->Stream(std::move(head));
}

}  // namespace TURTLE_SERVER
