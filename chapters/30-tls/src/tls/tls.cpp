#include "tls/tls.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>

#include <cassert>
#include <initializer_list>
#include <map>
#include <new>
#include <utility>

#include "base/mutex.h"
#include "core/connection.h"
#include "core/looper.h"
#include "tls/handshake_turns.h"
#include "tls/openssl.h"
#include "tls/ticket_keys.h"
#include "tls/tls_channel.h"
#include "tls/tls_context.h"

namespace TURTLE_SERVER {

namespace {

template <auto Fetch, auto Free>
void Load(std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    auto* const found = Fetch(nullptr, name, nullptr);
    RequireOpenSsl(found != nullptr ? 1 : 0, name);
    Free(found);
  }
}

// Looks up the algorithms of handshakes. Otherwise the first client does, and OpenSSL 3 looks only
// once: if memory runs out at that moment, it never finds the algorithm again, and refuses all
// clients until the process ends. Here, the process doesn't start.
// Throws std::bad_alloc, or std::runtime_error if an algorithm is missing.
void LoadAlgorithms() {
  if (OSSL_LIB_CTX_get0_global_default() == nullptr) {  // EVP_MD_fetch() would crash
    throw std::bad_alloc();
  }
  Load<EVP_MD_fetch, EVP_MD_free>({"SHA1", "SHA2-256", "SHA2-384", "SHA2-512"});
  Load<EVP_CIPHER_fetch, EVP_CIPHER_free>({"AES-128-GCM", "AES-256-GCM", "AES-256-CBC"});
  Load<EVP_MAC_fetch, EVP_MAC_free>({"HMAC"});
  Load<EVP_KDF_fetch, EVP_KDF_free>({"TLS13-KDF", "TLS1-PRF"});
  Load<EVP_KEYMGMT_fetch, EVP_KEYMGMT_free>({"X25519", "EC", "RSA"});
  Load<EVP_KEYEXCH_fetch, EVP_KEYEXCH_free>({"X25519", "ECDH"});
  Load<EVP_SIGNATURE_fetch, EVP_SIGNATURE_free>({"ECDSA", "RSA"});
}

}  // namespace

// A new connection takes the mutex once; its bytes never do.
class Tls::State {
 public:
  State(const TlsOptions& options, OnRefused on_refused)
      : on_refused_(std::move(on_refused)),
        keys_(std::make_shared<TicketKeys>(options.ticket_period)) {
    LoadAlgorithms();
    context_ = Read(options);
  }

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

  [[nodiscard]] auto Names() const -> std::set<std::string> {
    const MutexLock lock(mutex_);
    return context_->Names();
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
  mutable Mutex mutex_;
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

auto Tls::Names() const -> std::set<std::string> { return state_->Names(); }

auto Tls::SaveKeys() const -> std::string { return state_->Keys().Save(); }

auto Tls::LoadKeys(std::string_view saved) -> bool { return state_->Keys().Load(saved); }

auto Tls::Stats() const noexcept -> TlsStats {
  const TlsCounts& counts = state_->Counts();
  return {counts.full, counts.resumed, counts.failed};
}

}  // namespace TURTLE_SERVER
