#include "core/turtle_server.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <utility>

#include "task/thread_pool.h"

namespace TURTLE_SERVER {

TurtleServer::TurtleServer(const NetAddress& local, ServerOptions options) : options_(options) {
  AlsoListen(local);
  local_address_ = listeners_.front().LocalAddress();
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t threads = options.threads != 0 ? options.threads : cores;
  while (loopers_.size() < threads) {
    loopers_.push_back(std::make_unique<Looper>());
    loopers_.back()->SetStopTimeout(options.stop_timeout);
  }
}

TurtleServer::~TurtleServer() = default;

auto TurtleServer::AlsoListen(const NetAddress& local) -> TurtleServer& {
  Socket listener;
  listener.Bind(local);
  listener.Listen(options_.listen.backlog);
  listeners_.push_back(std::move(listener));
  return *this;
}

auto TurtleServer::OnAccept(ConnectionCallback callback) -> TurtleServer& {
  callbacks_.on_accept = std::move(callback);
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

void TurtleServer::Begin() {
  if (!callbacks_.on_handle) {
    throw std::logic_error("TurtleServer::Begin: OnHandle was not set");
  }
  Looper& home = *loopers_.front();
  std::vector<std::unique_ptr<Acceptor>> acceptors;
  for (Socket& listener : listeners_) {
    acceptors.push_back(std::make_unique<Acceptor>(home, std::move(listener), Loopers(), callbacks_,
                                                   options_.listen));
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

  std::vector<std::exception_ptr> failures(loopers_.size());
  ThreadPool threads(loopers_.size() - 1);
  threads.Start();
  try {
    for (std::size_t i = 1; i < loopers_.size(); ++i) {
      [[maybe_unused]] const bool accepted = threads.Submit([this, i, &failure = failures[i]] {
        try {
          loopers_[i]->Loop();
        } catch (...) {
          failure = std::current_exception();
          Stop();  // otherwise the acceptor would feed a loop that has ended
          throw;   // goes to the log
        }
      });
    }
    home.Loop();
  } catch (...) {
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

void TurtleServer::Stop() noexcept { loopers_.front()->Stop(); }

auto TurtleServer::Loopers() const -> std::vector<Looper*> {
  std::vector<Looper*> loopers;
  std::transform(loopers_.begin(), loopers_.end(), std::back_inserter(loopers),
                 [](const auto& looper) { return looper.get(); });
  return loopers;
}

}  // namespace TURTLE_SERVER
