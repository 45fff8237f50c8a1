#include "core/acceptor.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "core/tcp.h"
#include "log/log.h"

namespace TURTLE_SERVER {

namespace {

// The log gets at most one line in this period.
constexpr std::chrono::seconds kLogPause{1};

// True for an error that concerns one client, which has left. See accept(2), "Error handling". The
// next call meets any other error again: no descriptors, no memory, a listener that was shut down.
auto IsOfOneClient(int error) noexcept -> bool {
  switch (error) {
    case ECONNABORTED:
    case ECONNRESET:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENETDOWN:
    case ENETUNREACH:
    case ENOPROTOOPT:
    case EPERM:  // a firewall rule
    case EPROTO:
    case ETIMEDOUT:
#ifdef ENONET
    case ENONET:
#endif
      return true;
    default:
      return false;
  }
}

auto NameOf(const Socket& listener) -> std::string {
  try {
    return listener.LocalAddress().ToString();
  } catch (const std::system_error&) {
    return "(no address)";
  }
}

// A client that can't be added, for want of memory, is closed; the others are not affected.
void AddAll(Looper& looper, std::vector<UniqueFd>& clients, const ConnectionCallbacks& callbacks) {
  for (UniqueFd& client : clients) {
    try {
      looper.AddConnection(std::move(client), callbacks);
    } catch (...) {
      LogException("adding a client");
    }
  }
}

// A response often leaves in two pieces, as they become known. Without this, the kernel would hold
// the second until the client acknowledges the first, which a client delays by 40 ms, tcp(7).
// Accepted sockets inherit it; a listener that is not TCP has no such delay.
void SendAtOnce(const Socket& listener) noexcept {
  const int on = 1;
  setsockopt(listener.GetFd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

Acceptor::Acceptor(Looper& home, Socket listener, const std::vector<Looper*>& targets,
                   const ConnectionCallbacks& callbacks, ListenOptions options,
                   const CidrSet* blocked)
    : home_(home),
      listener_(std::move(listener)),
      name_(NameOf(listener_)),
      callbacks_(callbacks),
      options_(options),
      blocked_(blocked) {
  if (targets.empty()) {
    throw std::logic_error("an Acceptor needs at least one loop to hand clients to");
  }
  for (Looper* looper : targets) {
    targets_.push_back(std::make_shared<Target>(looper));
  }
  SendAtOnce(listener_);
  const std::chrono::seconds longest = options_.defer_accept;
  if (longest.count() != 0 && !DeferAccept(listener_.GetFd(), longest)) {
    Log(LogLevel::kWarning, "silent clients can't be held back for " +
                                std::to_string(longest.count()) +
                                " s here: they are accepted at once");
  }
  listener_.SetNonBlocking();  // a client may leave between the event and the accept
}

Acceptor::~Acceptor() { Stop(); }

void Acceptor::Start() {
  watch_ = home_.Watch(listener_.GetFd(), Interest::kRead,
                       [this](const PollEvent& event) { OnEvent(event); });
}

void Acceptor::Stop() {
  if (retry_) {
    home_.Cancel(*retry_);
    retry_.reset();
  }
  if (watch_) {
    home_.Unwatch(*watch_);
    watch_.reset();
    listener_ = Socket();
  }
}

// A listener that has been shut down stays readable. On some systems accept(2) then fails with
// EAGAIN, so only the hang-up event keeps the loop from spinning.
void Acceptor::OnEvent(const PollEvent& event) {
  if (retry_) {
    return;
  }
  OnClients();
  if (event.peer_closed || event.error) {
    Rest(EINVAL);
  }
}

// Without memory, clients already accepted keep their places until the next attempt. If there is no
// memory even for that attempt, they are refused rather than left to wait for nothing.
void Acceptor::OnClients() {
  try {
    try {
      AcceptBatch();
    } catch (const std::bad_alloc&) {
      Rest(ENOMEM);
    }
  } catch (const std::bad_alloc&) {
    for (const auto& target : targets_) {
      target->batch.clear();
    }
    throw;
  }
}

void Acceptor::AcceptBatch() {
  for (const auto& target : targets_) {
    target->load = target->looper->ConnectionCount() + target->batch.size() +
                   target->waiting.load(std::memory_order_relaxed);
  }
  for (std::size_t i = 0; i < options_.batch; ++i) {
    NetAddress client_address;
    UniqueFd client(listener_.Accept(client_address));
    if (client && IsBlocked(client_address)) {
      continue;  // which closes it
    }
    if (client) {
      failures_ = 0;
      Target& target = Fewest();
      ++target.load;
      target.batch.push_back(std::move(client));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      break;
    } else if (!IsOfOneClient(errno) || ++failures_ >= options_.batch) {
      Rest(errno);
      break;
    }
  }
  for (const auto& target : targets_) {
    HandOver(target);
  }
}

auto Acceptor::IsBlocked(const NetAddress& client) const noexcept -> bool {
  return blocked_ != nullptr && !blocked_->Empty() && blocked_->Contains(client);
}

auto Acceptor::Fewest() -> Target& {
  const auto fewest =
      std::min_element(targets_.begin(), targets_.end(),
                       [](const auto& a, const auto& b) { return a->load < b->load; });
  return **fewest;
}

void Acceptor::HandOver(const std::shared_ptr<Target>& target) {
  if (target->batch.empty()) {
    return;
  }
  if (target->looper == &home_) {
    std::vector<UniqueFd> clients = std::exchange(target->batch, {});
    AddAll(home_, clients, callbacks_);
    return;
  }
  const std::size_t count = target->batch.size();
  // Shared, because a Task can be copied and a descriptor can't. A loop that has ended refuses the
  // task, which then closes them.
  const auto batch = std::make_shared<std::vector<UniqueFd>>(std::move(target->batch));
  try {
    [[maybe_unused]] const bool accepted =
        target->looper->Post([target, batch, &callbacks = callbacks_] {
          target->waiting.fetch_sub(batch->size(), std::memory_order_relaxed);
          AddAll(*target->looper, *batch, callbacks);
        });
  } catch (const std::bad_alloc&) {
    target->batch = std::move(*batch);  // they go with the next batch
    throw;
  }
  // Only now: clients that can't be posted don't count. If the loop was quicker, the sum is right.
  target->waiting.fetch_add(count, std::memory_order_relaxed);
}

void Acceptor::Rest(int error) {
  if (retry_ || !watch_) {
    return;
  }
  failures_ = 0;
  retry_ = home_.RunAfter(options_.retry, [this] {
    retry_.reset();
    home_.ChangeWatch(*watch_, Interest::kRead);
    OnClients();  // earlier clients may be left that could not be handed over
  });
  home_.ChangeWatch(*watch_, Interest::kNone);  // only once there is a timer that ends it
  if (!logged_ || home_.Now() - *logged_ >= kLogPause) {
    Log(LogLevel::kWarning, "accept at " + name_ + ": " + std::generic_category().message(error) +
                                "; again in " + std::to_string(options_.retry.count()) + " ms");
    logged_ = home_.Now();
  }
}

}  // namespace TURTLE_SERVER
