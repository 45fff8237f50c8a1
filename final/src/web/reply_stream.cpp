#include "web/reply_stream.h"

#include <atomic>
#include <string>
#include <utility>

#include "core/looper.h"
#include "log/log.h"
#include "web/exchange.h"
#include "web/exchange_ticket.h"
#include "web/late_replies.h"

namespace TURTLE_SERVER {

namespace {

// A stream whose callback is running, and the stream whose callback has led to it.
struct Telling {
  const void* stream;
  const Telling* outer;
};

// Calls a callback here, because no loop will. A nested call for the same stream is ignored: it
// would never end.
void TellNow(const void* stream, const Task& callback) noexcept {
  thread_local const Telling* innermost = nullptr;
  for (const Telling* each = innermost; each != nullptr; each = each->outer) {
    if (each->stream == stream) {
      return;
    }
  }
  const Telling here{stream, innermost};
  innermost = &here;
  try {
    if (callback) {
      callback();
    }
  } catch (...) {
    LogException("stream");
  }
  innermost = here.outer;
}

}  // namespace

// The state shared by the writers and the exchange.
class ReplyStream::Body : public std::enable_shared_from_this<Body> {
 public:
  Body(ExchangeTicket ticket, LateReplies& handler)
      : ticket_(std::move(ticket)), handler_(&handler) {}

  void Begin(ServerResponse head);
  auto Write(std::string_view bytes) -> StreamState;
  [[nodiscard]] auto State() const noexcept -> StreamState;
  void OnRoom(Task callback);
  void End();
  void Abort();

 private:
  // Attached to the exchange; reports its end.
  class Link : public ExchangeState {
   public:
    Link(std::shared_ptr<Body> body, Looper& looper) : body_(std::move(body)), looper_(looper) {}
    Link(const Link&) = delete;
    auto operator=(const Link&) -> Link& = delete;
    ~Link() override { body_->Leave(looper_); }

   private:
    const std::shared_ptr<Body> body_;  // shared with the writers
    Looper& looper_;
  };

  template <typename Action>
  auto Post(Action action) -> bool;
  void BeginAt(Exchange& exchange, ServerResponse& head);
  void Wake();
  void Leave(Looper& looper) noexcept;

  const ExchangeTicket ticket_;
  LateReplies* const handler_;             // lives as long as its loop has connections
  std::atomic<std::size_t> under_way_{0};  // bytes, to the loop
  std::atomic<bool> full_{false};          // the connection is paused
  std::atomic<bool> gone_{false};
  Task on_room_;  // loop's thread only
};

// Runs `action` with the exchange on its loop's thread, if it is open. @return false if it is
// gone.
template <typename Action>
auto ReplyStream::Body::Post(Action action) -> bool {
  const bool posted = ticket_.Post(
      [body = shared_from_this(), action = std::move(action)](Exchange* exchange) mutable {
        if (exchange == nullptr || body->gone_) {
          body->gone_ = true;
          return;
        }
        try {
          action(*body, *exchange);
        } catch (...) {  // a piece is missing: the rest must not be taken for the whole
          body->gone_ = true;
          exchange->AbortThrown();
        }
      },
      [body = shared_from_this()] { body->gone_ = true; });
  if (!posted) {
    gone_ = true;
  }
  return posted;
}

void ReplyStream::Body::Begin(ServerResponse head) {
  Post([head = std::move(head)](Body& body, Exchange& exchange) mutable {
    if (exchange.Begun()) {
      body.gone_ = true;  // another response was given
    } else {
      body.BeginAt(exchange, head);
    }
  });
}

void ReplyStream::Body::BeginAt(Exchange& exchange, ServerResponse& head) {
  exchange.Attach(std::make_unique<Link>(shared_from_this(), exchange.GetLooper()));
  exchange.OnRoom([body = shared_from_this()] { body->Wake(); });
  handler_->BeginLate(exchange, head);
  if (!exchange.Replied() && exchange.HasWholeBody()) {
    exchange.End();  // no body: the client must not wait for its end
  }
}

auto ReplyStream::Body::Write(std::string_view bytes) -> StreamState {
  if (!gone_ && !bytes.empty()) {
    const std::size_t size = bytes.size();
    under_way_ += size;
    try {
      Post([text = std::string(bytes)](Body& body, Exchange& exchange) {
        body.under_way_ -= text.size();
        exchange.Write(text);
        body.full_ = !exchange.CanWrite();
      });
    } catch (...) {
      under_way_ -= size;
      throw;
    }
  }
  return State();
}

auto ReplyStream::Body::State() const noexcept -> StreamState {
  return gone_                               ? StreamState::kGone
         : full_ || under_way_ >= kHighWater ? StreamState::kFull
                                             : StreamState::kOpen;
}

void ReplyStream::Body::OnRoom(Task callback) {
  const bool posted = ticket_.Post(
      [body = shared_from_this(), callback](Exchange* exchange) mutable {
        if (exchange == nullptr || body->gone_) {
          body->gone_ = true;
          TellNow(body.get(), callback);  // its exceptions don't concern this connection
        } else {
          body->on_room_ = std::move(callback);
          exchange->GetLooper().Schedule(
              &exchange->GetConnection());  // called by the session: exceptions cut
        }
      },
      callback);
  if (!posted) {
    gone_ = true;
    TellNow(this, callback);
  }
}

// Called when there is room in the connection.
void ReplyStream::Body::Wake() {
  full_ = false;
  if (const Task callback = std::exchange(on_room_, nullptr)) {
    callback();
  }
}

void ReplyStream::Body::End() {
  Post([](Body& body, Exchange& exchange) {
    static_cast<void>(body);
    exchange.End();
  });
}

void ReplyStream::Body::Abort() {
  Post([](Body& body, Exchange& exchange) {
    static_cast<void>(body);
    exchange.Abort(500, {});
  });
}

// The exchange has ended: informs the callback that waits for room, but not from within it.
void ReplyStream::Body::Leave(Looper& looper) noexcept {
  gone_ = true;
  if (const Task callback = std::exchange(on_room_, nullptr)) {
    bool posted = false;
    try {
      posted = looper.Post(callback);
    } catch (...) {
      LogException("stream");
    }
    if (!posted) {  // the loop has ended, so this can't be within the callback
      TellNow(this, callback);
    }
  }
}

// The part shared by the copies: the last one ends or aborts the response.
class ReplyStream::Owner {
 public:
  explicit Owner(std::shared_ptr<Body> body) noexcept : body_(std::move(body)) {}
  Owner(const Owner&) = delete;
  auto operator=(const Owner&) -> Owner& = delete;

  ~Owner() {
    if (!ended_) {
      try {
        body_->Abort();
      } catch (...) {
        LogException("stream");
      }
    }
  }

  void End() {
    if (!ended_.exchange(true)) {
      try {
        body_->End();
      } catch (...) {
        ended_ = false;  // out of memory: the last copy aborts the response
        throw;
      }
    }
  }

  [[nodiscard]] auto GetBody() const noexcept -> Body& { return *body_; }
  [[nodiscard]] auto Ended() const noexcept -> bool { return ended_; }

 private:
  const std::shared_ptr<Body> body_;  // shared with the exchange
  std::atomic<bool> ended_{false};
};

ReplyStream::ReplyStream(const ExchangeTicket& ticket, LateReplies& handler, ServerResponse head)
    : owner_(std::make_shared<Owner>(std::make_shared<Body>(ticket, handler))) {
  owner_->GetBody().Begin(std::move(head));
}

auto ReplyStream::Write(std::string_view bytes) const -> StreamState {
  return State() == StreamState::kGone ? StreamState::kGone : owner_->GetBody().Write(bytes);
}

auto ReplyStream::State() const noexcept -> StreamState {
  const bool gone = owner_ == nullptr || owner_->Ended();
  return gone ? StreamState::kGone : owner_->GetBody().State();
}

void ReplyStream::OnRoom(Task callback) const {
  if (owner_ != nullptr) {
    owner_->GetBody().OnRoom(std::move(callback));
  } else {
    TellNow(nullptr, callback);
  }
}

void ReplyStream::End() const {
  if (owner_ != nullptr) {
    owner_->End();
  }
}

}  // namespace TURTLE_SERVER
