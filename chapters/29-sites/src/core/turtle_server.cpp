#include "core/turtle_server.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "core/cpu_affinity.h"
#include "core/reuse_port.h"
#include "log/log.h"
#include "task/thread_pool.h"

namespace TURTLE_SERVER {

namespace {

// Begins a client that is let in, or told why not: through its channel, if there is one.
void Greet(Connection* client, const ServerOptions& options, const ConnectionCallback& callback) {
  if (options.channel) {
    client->SetChannel(options.channel(*client));
  }
  if (callback) {
    callback(client);
  }
}

}  // namespace

TurtleServer::TurtleServer(ServerOptions options)
    : max_connections_(options.max_connections),
      counts_addresses_(options.address_limit.most != 0),
      options_(std::move(options)) {
  callbacks_.on_accept = [this](Connection* client) { Admit(client); };
  callbacks_.on_destroy = [this](Connection* client) { LeavePlace(client); };
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t threads = options_.threads != 0 ? options_.threads : cores;
  while (loopers_.size() < threads) {
    loopers_.push_back(std::make_unique<Looper>(Clock::now, options_.poller));
    loopers_.back()->SetStopTimeout(options_.stop_timeout);
  }
  admissions_ = std::vector<LoopAdmission>(threads);
  for (LoopAdmission& admission : admissions_) {
    admission.address_limit = options_.address_limit;
  }
  acceptors_.resize(threads);
}

TurtleServer::TurtleServer(const NetAddress& local, ServerOptions options)
    : TurtleServer(std::move(options)) {
  AlsoListen(local);
}

// Connections that a failed loop has left are destroyed with it, and must not look for their loop.
TurtleServer::~TurtleServer() { counts_addresses_.store(false, std::memory_order_relaxed); }

auto TurtleServer::AlsoListen(const NetAddress& local) -> TurtleServer& {
  const std::size_t count = options_.accept == Accepting::kShared ? 1 : loopers_.size();
  return AlsoListen(OpenListeners(local, count, options_.listen.backlog));
}

auto TurtleServer::AlsoListen(Socket listener) -> TurtleServer& {
  std::vector<Socket> alone;
  alone.push_back(std::move(listener));
  return AlsoListen(std::move(alone));
}

auto TurtleServer::AlsoListen(std::vector<Socket> listeners) -> TurtleServer& {
  if (listeners_.empty()) {
    local_address_ = listeners.front().LocalAddress();
  }
  listeners_.push_back(std::move(listeners));
  return *this;
}

auto TurtleServer::OnAccept(ConnectionCallback callback) -> TurtleServer& {
  on_accept_ = std::move(callback);
  return *this;
}

auto TurtleServer::OnHandle(ConnectionCallback callback) -> TurtleServer& {
  callbacks_.on_handle = std::move(callback);
  return *this;
}

auto TurtleServer::OnTimeout(ConnectionCallback callback) -> TurtleServer& {
  callbacks_.on_timeout = std::move(callback);
  return *this;
}

auto TurtleServer::OnStop(ConnectionCallback callback) -> TurtleServer& {
  callbacks_.on_stop = std::move(callback);
  return *this;
}

auto TurtleServer::OnFull(ConnectionCallback callback) -> TurtleServer& {
  on_full_ = std::move(callback);
  return *this;
}

void TurtleServer::Begin() {
  if (!callbacks_.on_handle) {
    throw std::logic_error("TurtleServer::Begin: OnHandle was not set");
  }
  if (listeners_.empty()) {
    throw std::logic_error("TurtleServer::Begin: there is no listener");
  }
  for (std::vector<Socket>& listeners : listeners_) {
    Open(listeners);
  }
  for (std::size_t i = 1; i < accepting_; ++i) {
    admissions_[i].blocked = admissions_.front().blocked;
  }
  // The other loops are asked to stop only when no loop hands them clients any more.
  const auto stop_others = [this] {
    std::for_each(loopers_.begin() + 1, loopers_.end(), [](auto& looper) { looper->Stop(); });
  };
  for (std::size_t i = 0; i < loopers_.size(); ++i) {
    loopers_[i]->AtStop([this, i] { acceptors_[i].clear(); });
  }
  loopers_.front()->AtStop(stop_others);
  // Posted here, where lack of memory can still be reported. It runs in a loop's first round, or,
  // if there is none, before the loop ends.
  for (const std::unique_ptr<Looper>& looper : loopers_) {
    static_cast<void>(looper->Post([this] { started_.fetch_add(1); }));
  }

  std::vector<std::exception_ptr> failures(loopers_.size());
  ThreadPool threads(loopers_.size() - 1);
  threads.Start();
  try {
    for (std::size_t i = 1; i < loopers_.size(); ++i) {
      [[maybe_unused]] const bool accepted = threads.Submit([this, i, &failure = failures[i]] {
        try {
          RunLooper(i);
        } catch (...) {
          failure = std::current_exception();
          Stop();  // otherwise the acceptor would feed a loop that has ended
          throw;   // goes to the log
        }
      });
    }
    RunLooper(0);
  } catch (...) {
    Stop();         // so the server is not ready any more
    stop_others();  // otherwise the pool's destructor would wait for loops that nobody ends
    throw;
  }
  threads.Stop();  // waits for the other loops
  for (const std::exception_ptr& failure : failures) {
    if (failure) {
      std::rethrow_exception(failure);
    }
  }
}

// A loop without a listener would get no client, so each loop needs one.
auto TurtleServer::EachAccepts(std::size_t listeners) const noexcept -> bool {
  return options_.accept != Accepting::kShared && listeners >= loopers_.size();
}

// Starts to accept the clients of one address.
void TurtleServer::Open(std::vector<Socket>& listeners) {
  const std::size_t loops = loopers_.size();
  const bool each = EachAccepts(listeners.size());
  accepting_ = std::max<std::size_t>(accepting_, each ? loops : 1);
  for (std::size_t i = 0; i < listeners.size(); ++i) {
    const std::size_t index = each ? i % loops : 0;
    Looper& home = *loopers_[index];
    LoopAdmission& admission = admissions_[index];
    (each ? admission.own : admission.shared).push_back(listeners[i].GetFd());
    acceptors_[index].push_back(std::make_unique<Acceptor>(
        home, std::move(listeners[i]), each ? std::vector<Looper*>{&home} : Loopers(), callbacks_,
        options_.listen, &admission.blocked, &admission.turned_away));
    acceptors_[index].back()->Start();
  }
}

// Sets which clients a loop's listeners prefer. A listener that another process has left may still
// prefer a CPU, and also belongs to that process until this one serves: so only once the loops run.
void TurtleServer::Prefer(std::size_t index, bool this_cpu) const {
  const LoopAdmission& admission = admissions_[index];
  std::for_each(admission.shared.begin(), admission.shared.end(), PreferNoCpu);
  for (const int listener : admission.own) {
    const int error = this_cpu ? PreferThisCpu(listener) : PreferNoCpu(listener);
    if (this_cpu && error != 0) {
      Log(LogLevel::kWarning, "loop " + std::to_string(index) + " is not preferred by its CPU: " +
                                  std::generic_category().message(error));
    }
  }
}

void TurtleServer::RunLooper(std::size_t index) {
  std::optional<CpuPin> pin;
  if (options_.cpu_affinity || options_.accept == Accepting::kPerCpu) {
    pin.emplace(index);
    if (pin->Error() != 0) {
      Log(LogLevel::kWarning, "loop " + std::to_string(index) + " can't keep to one CPU: " +
                                  std::generic_category().message(pin->Error()));
    }
  }
  Prefer(index, options_.accept == Accepting::kPerCpu && pin->Error() == 0);
  loopers_[index]->Loop();
  if (index != 0) {
    drain_.OtherEnded();
  }
  admissions_[index].refusals.Tell();
  admissions_[index].address_refusals.Tell();
}

// The count includes this client. Connections that are closing hold no slot: otherwise refused
// clients would keep out others for which there is one.
void TurtleServer::Admit(Connection* client) {
  Looper& looper = *client->GetLooper();
  const std::size_t limit = max_connections_.load(std::memory_order_relaxed);
  if (limit != 0 && looper.ConnectionCount() - looper.PartingCount() > limit) {
    Refuse(client, limit);
    AdmissionOf(looper).refusals.Count(looper, limit);
  } else if (counts_addresses_.load(std::memory_order_relaxed) && !TakePlace(client)) {
    const std::size_t most = AdmissionOf(looper).address_limit.most;
    Refuse(client, std::max(most, kLastWords));
    AdmissionOf(looper).address_refusals.Count(looper, most);
  } else {
    Greet(client, options_, on_accept_);
  }
}

// Takes one of the places of the client's address, until LeavePlace(). @return false: none is free
auto TurtleServer::TakePlace(const Connection* client) -> bool {
  LoopAdmission& admission = AdmissionOf(*client->GetLooper());
  const AddressLimit& limit = admission.address_limit;
  if (limit.most == 0) {
    return true;
  }
  const NetAddress address = client->GetPeerAddress();
  const std::optional<AddressKey> key = AddressKeyOf(address);
  if (!key || limit.exempt.Contains(address)) {
    return true;
  }
  std::optional<AddressPlace> place = address_counts_.Take(*key, limit.most);
  if (!place) {
    return false;
  }
  admission.places.emplace(client, *std::move(place));
  return true;
}

void TurtleServer::LeavePlace(const Connection* client) noexcept {
  if (counts_addresses_.load(std::memory_order_relaxed)) {
    AdmissionOf(*client->GetLooper()).places.erase(client);
  }
}

void TurtleServer::Refuse(Connection* client, std::size_t most_parting) {
  Looper& looper = *client->GetLooper();
  if (on_full_ && looper.PartingCount() < most_parting) {
    Greet(client, options_, on_full_);
    looper.DeleteConnection(client->GetFd(), Closing::kLinger);
  } else {
    looper.DeleteConnection(client->GetFd(), Closing::kReset);
  }
}

auto TurtleServer::AdmissionOf(const Looper& looper) noexcept -> LoopAdmission& {
  const auto here = std::find_if(loopers_.begin(), loopers_.end(),
                                 [&looper](const auto& each) { return each.get() == &looper; });
  return admissions_[static_cast<std::size_t>(here - loopers_.begin())];
}

auto TurtleServer::GetRefusals() const -> Refusals {
  Refusals refusals;
  for (const LoopAdmission& admission : admissions_) {
    refusals.blocked += admission.turned_away;
    refusals.no_room.push_back(admission.refusals.Total() + admission.address_refusals.Total());
  }
  return refusals;
}

void TurtleServer::Block(CidrSet addresses) {
  for (std::size_t i = 1; i < accepting_; ++i) {  // before Begin(), no loop does
    // A loop that accepts no more tasks lets no client in.
    static_cast<void>(loopers_[i]->Post(
        [this, i, addresses]() mutable { admissions_[i].blocked = std::move(addresses); }));
  }
  admissions_.front().blocked = std::move(addresses);
}

void TurtleServer::SetAddressLimit(AddressLimit limit) {
  if (limit.most != 0) {
    counts_addresses_.store(true, std::memory_order_relaxed);
  }
  for (std::size_t i = 1; i < loopers_.size(); ++i) {
    // A loop that accepts no more tasks lets no client in.
    static_cast<void>(loopers_[i]->Post(
        [this, i, limit]() mutable { admissions_[i].address_limit = std::move(limit); }));
  }
  admissions_.front().address_limit = std::move(limit);
}

void TurtleServer::Stop() noexcept { drain_.Stop(); }

void TurtleServer::Drain(ListenQueue queue) { drain_.Begin(queue); }

auto TurtleServer::ListenerFds() const -> std::vector<int> {
  std::vector<int> fds;
  for (const std::vector<Socket>& listeners : listeners_) {
    std::transform(listeners.begin(), listeners.end(), std::back_inserter(fds),
                   [](const Socket& listener) { return listener.GetFd(); });
  }
  return fds;
}

auto TurtleServer::Loopers() const -> std::vector<Looper*> {
  std::vector<Looper*> loopers;
  std::transform(loopers_.begin(), loopers_.end(), std::back_inserter(loopers),
                 [](const auto& looper) { return looper.get(); });
  return loopers;
}

}  // namespace TURTLE_SERVER
