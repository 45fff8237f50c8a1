#include "tls/tls.h"

#include <map>
#include <utility>

#include "base/mutex.h"
#include "core/connection.h"
#include "core/looper.h"
#include "tls/handshake_turns.h"
#include "tls/ticket_keys.h"
#include "tls/tls_channel.h"
#include "tls/tls_context.h"

namespace TURTLE_SERVER {

// A new connection takes the mutex once; its bytes never do.
class Tls::State {
 public:
  explicit State(const TlsOptions& options)
      : keys_(std::make_shared<TicketKeys>(options.ticket_period)),
        context_(std::make_shared<TlsContext>(options, keys_)) {}

  void Replace(const TlsOptions& options) {
    auto made = std::make_shared<const TlsContext>(options, keys_);
    const MutexLock lock(mutex_);
    context_.swap(made);
  }

  // On the thread of the connection's loop.
  auto MakeChannel(const Connection& connection) -> std::unique_ptr<Channel> {
    Looper& looper = *connection.GetLooper();
    std::shared_ptr<const TlsContext> context;
    HandshakeTurns* turns = nullptr;
    {
      const MutexLock lock(mutex_);
      context = context_;
      turns = &turns_.try_emplace(&looper, looper).first->second;
    }
    return std::make_unique<TlsChannel>(std::move(context), *turns, connection.Id(), counts_);
  }

  [[nodiscard]] auto Counts() const noexcept -> const TlsCounts& { return counts_; }

 private:
  TlsCounts counts_;
  std::shared_ptr<TicketKeys> keys_;  // shared with each context
  Mutex mutex_;
  std::shared_ptr<const TlsContext> context_ TURTLE_GUARDED_BY(mutex_);
  std::map<const Looper*, HandshakeTurns> turns_ TURTLE_GUARDED_BY(mutex_);
};

Tls::Tls(const TlsOptions& options) : state_(std::make_unique<State>(options)) {}

Tls::~Tls() = default;

auto Tls::Channels() -> std::function<std::unique_ptr<Channel>(Connection&)> {
  return [state = state_.get()](Connection& connection) { return state->MakeChannel(connection); };
}

void Tls::Replace(const TlsOptions& options) { state_->Replace(options); }

auto Tls::Stats() const noexcept -> TlsStats {
  const TlsCounts& counts = state_->Counts();
  return {counts.full, counts.resumed, counts.failed};
}

}  // namespace TURTLE_SERVER
