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
#include "log/log.h"
#include "task/thread_pool.h"

namespace TURTLE_SERVER {

TurtleServer::TurtleServer(ServerOptions options)
    : max_connections_(options.max_connections), options_(options) {
  callbacks_.on_accept = [this](Connection* client) { Admit(client); };
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t threads = options.threads != 0 ? options.threads : cores;
  while (loopers_.size() < threads) {
    loopers_.push_back(std::make_unique<Looper>());
    loopers_.back()->SetStopTimeout(options.stop_timeout);
  }
  refusals_ = std::vector<RefusalLog>(threads);
}

TurtleServer::TurtleServer(const NetAddress& local, ServerOptions options) : TurtleServer(options) {
  AlsoListen(local);
}

TurtleServer::~TurtleServer() = default;

auto TurtleServer::AlsoListen(const NetAddress& local) -> TurtleServer& {
  Socket listener;
  listener.Bind(local);
  listener.Listen(options_.listen.backlog);
  return AlsoListen(std::move(listener));
}

auto TurtleServer::AlsoListen(Socket listener) -> TurtleServer& {
  if (listeners_.empty()) {
    local_address_ = listener.LocalAddress();
  }
  listeners_.push_back(std::move(listener));
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
  Looper& home = *loopers_.front();
  std::vector<std::unique_ptr<Acceptor>> acceptors;
  for (Socket& listener : listeners_) {
    acceptors.push_back(std::make_unique<Acceptor>(home, std::move(listener), Loopers(), callbacks_,
                                                   options_.listen, &blocked_, &turned_away_));
    acceptors.back()->Start();
  }
  // The other loops are asked to stop only when no loop hands them clients any more.
  const auto stop_others = [this] {
    std::for_each(loopers_.begin() + 1, loopers_.end(), [](auto& looper) { looper->Stop(); });
  };
  home.AtStop([&] {
    acceptors.clear();
    stop_others();
  });
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

void TurtleServer::RunLooper(std::size_t index) {
  std::optional<CpuPin> pin;
  if (options_.cpu_affinity) {
    pin.emplace(index);
    if (pin->Error() != 0) {
      Log(LogLevel::kWarning, "loop " + std::to_string(index) + " can't keep to one CPU: " +
                                  std::generic_category().message(pin->Error()));
    }
  }
  loopers_[index]->Loop();
  refusals_[index].Tell();
}

// The count includes this client. Connections that are closing hold no slot: otherwise refused
// clients would keep out others for which there is one.
void TurtleServer::Admit(Connection* client) {
  Looper& looper = *client->GetLooper();
  const std::size_t limit = max_connections_.load(std::memory_order_relaxed);
  if (limit != 0 && looper.ConnectionCount() - looper.PartingCount() > limit) {
    Refuse(client, looper, limit);
  } else if (on_accept_) {
    on_accept_(client);
  }
}

void TurtleServer::Refuse(Connection* client, Looper& looper, std::size_t limit) {
  if (on_full_ && looper.PartingCount() < limit) {
    on_full_(client);
    looper.DeleteConnection(client->GetFd(), Closing::kLinger);
  } else {
    looper.DeleteConnection(client->GetFd(), Closing::kReset);
  }
  const auto here = std::find_if(loopers_.begin(), loopers_.end(),
                                 [&looper](const auto& each) { return each.get() == &looper; });
  refusals_[static_cast<std::size_t>(here - loopers_.begin())].Count(looper, limit);
}

auto TurtleServer::GetRefusals() const -> Refusals {
  Refusals refusals;
  refusals.blocked = turned_away_;
  std::transform(refusals_.begin(), refusals_.end(), std::back_inserter(refusals.no_room),
                 [](const RefusalLog& loop) { return loop.Total(); });
  return refusals;
}

void TurtleServer::Stop() noexcept {
  leaving_.store(true, std::memory_order_release);
  loopers_.front()->Stop();
}

auto TurtleServer::Loopers() const -> std::vector<Looper*> {
  std::vector<Looper*> loopers;
  std::transform(loopers_.begin(), loopers_.end(), std::back_inserter(loopers),
                 [](const auto& looper) { return looper.get(); });
  return loopers;
}

}  // namespace TURTLE_SERVER
