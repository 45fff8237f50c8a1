// A loop on its own thread, and a way to ask it questions.
#pragma once

#include <chrono>
#include <cstdlib>
#include <exception>
#include <future>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

#include "core/looper.h"
#include "support/client.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER::test {

/// Runs a Looper until this object is destroyed. Declare objects that its callbacks use before it,
/// and the clients after it: then they are gone when it waits for its connections to end.
class LoopThread {
 public:
  /// @param clock the clock for the loop's deadlines
  /// @param poller the kind of poller that it waits with
  explicit LoopThread(ClockSource clock = Clock::now, PollerKind poller = PollerKind::kAuto)
      : looper_(std::move(clock), poller), thread_([this] {
          looper_.Loop();
          ended_.set_value();
        }) {}

  LoopThread(const LoopThread&) = delete;
  auto operator=(const LoopThread&) -> LoopThread& = delete;

  ~LoopThread() {
    looper_.Stop();
    Join();
  }

  /// Returns the loop.
  [[nodiscard]] auto Get() -> Looper& { return looper_; }

  /// Returns the id of the loop's thread.
  [[nodiscard]] auto ThreadId() const -> std::thread::id { return thread_.get_id(); }

  /// Waits until the loop has ended.
  void Join() {
    if (thread_.joinable()) {
      if (ended_.get_future().wait_for(kPatience) != std::future_status::ready) {
        std::cerr << "the loop doesn't end" << std::endl;
        std::abort();  // there is no way to go on without the thread
      }
      thread_.join();
    }
  }

  /// Runs `question` on the loop's thread. @return its result. Throws if the loop is stuck.
  template <typename Question>
  auto Ask(Question question) -> decltype(question()) {
    auto task = std::make_shared<std::packaged_task<decltype(question())()>>(std::move(question));
    auto answer = task->get_future();
    if (!looper_.Post([task] { (*task)(); })) {
      throw std::runtime_error("the loop has ended");
    }
    if (answer.wait_for(kPatience) != std::future_status::ready) {
      throw std::runtime_error("the loop doesn't answer");
    }
    return answer.get();
  }

  /// Waits until `condition`, checked on the loop's thread, holds. @return false after ten seconds.
  template <typename Condition>
  [[nodiscard]] auto Await(Condition condition) -> bool {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!Ask(condition)) {
      if (std::chrono::steady_clock::now() > deadline) {
        return false;
      }
      std::this_thread::yield();
    }
    return true;
  }

  /// Runs `action` here while the loop stands still: all events that it causes are one batch.
  template <typename Action>
  void WhileItStandsStill(Action action) {
    auto stands = std::make_shared<std::promise<void>>();
    auto go_on = std::make_shared<std::promise<void>>();
    auto standing = stands->get_future();
    if (!looper_.Post([stands, go_on] {
          stands->set_value();
          go_on->get_future().wait_for(kPatience);
        })) {
      throw std::runtime_error("the loop has ended");
    }
    if (standing.wait_for(kPatience) != std::future_status::ready) {
      throw std::runtime_error("the loop doesn't answer");
    }
    try {
      action();
    } catch (...) {
      go_on->set_value();
      throw;
    }
    go_on->set_value();
  }

  /// Lets the loop run at least `count` rounds.
  void RunRounds(int count) {
    for (int i = 0; i < count; ++i) {
      Ask([] {});
    }
  }

  /// Hands the server's end of a new pair to the loop. @return the client's end.
  [[nodiscard]] auto Connect(const ConnectionCallbacks& callbacks, ConnectionId* id = nullptr)
      -> Client {
    auto pair = std::make_shared<TcpPair>(MakeTcpPair());
    const ConnectionId made = Ask([this, pair, &callbacks] {
      return looper_.AddConnection(pair->server.Release(), callbacks)->Id();
    });
    if (id != nullptr) {
      *id = made;
    }
    return std::move(pair->client);
  }

 private:
  Looper looper_;
  std::promise<void> ended_;
  std::thread thread_;
};

}  // namespace TURTLE_SERVER::test
