#include "tls/tls.h"

#include <cassert>
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
  State(const TlsOptions& options, OnRefused on_refused)
      : on_refused_(std::move(on_refused)),
        keys_(std::make_shared<TicketKeys>(options.ticket_period)),
        context_(Read(options)) {}

  [[nodiscard]] auto Read(const TlsOptions& options) const -> std::shared_ptr<const TlsContext> {
    return std::make_shared<const TlsContext>(options, keys_);
  }

  // The old context is destroyed after the lock, if nobody else uses it.
  void Use(std::shared_ptr<const TlsContext>& context) noexcept {
    assert(context != nullptr);
    const MutexLock lock(mutex_);
    context_.swap(context);
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
    return std::make_unique<TlsChannel>(std::move(context), *turns, connection.Id(), counts_,
                                        ReportOf(connection));
  }

  [[nodiscard]] auto Keys() const noexcept -> TicketKeys& { return *keys_; }

  [[nodiscard]] auto Counts() const noexcept -> const TlsCounts& { return counts_; }

 private:
  [[nodiscard]] auto ReportOf(const Connection& connection) const -> TlsChannel::OnRefused {
    if (!on_refused_) {
      return {};
    }
    return [this, &connection](const char* reason) { on_refused_(connection, reason); };
  }

  const OnRefused on_refused_;
  TlsCounts counts_;
  std::shared_ptr<TicketKeys> keys_;  // shared with each context
  Mutex mutex_;
  std::shared_ptr<const TlsContext> context_ TURTLE_GUARDED_BY(mutex_);
  std::map<const Looper*, HandshakeTurns> turns_ TURTLE_GUARDED_BY(mutex_);
};

Tls::Tls(const TlsOptions& options, OnRefused on_refused)
    : state_(std::make_unique<State>(options, std::move(on_refused))) {}

Tls::~Tls() = default;

auto Tls::Channels() -> std::function<std::unique_ptr<Channel>(Connection&)> {
  return [state = state_.get()](Connection& connection) { return state->MakeChannel(connection); };
}

void Tls::Replace(const TlsOptions& options) { Use(Read(options)); }

auto Tls::Read(const TlsOptions& options) const -> std::shared_ptr<const TlsContext> {
  return state_->Read(options);
}

void Tls::Use(std::shared_ptr<const TlsContext> context) noexcept { state_->Use(context); }

auto Tls::SaveKeys() const -> std::string { return state_->Keys().Save(); }

auto Tls::LoadKeys(std::string_view saved) -> bool { return state_->Keys().Load(saved); }

auto Tls::Stats() const noexcept -> TlsStats {
  const TlsCounts& counts = state_->Counts();
  return {counts.full, counts.resumed, counts.failed};
}

}  // namespace TURTLE_SERVER
