// A web server that runs while a test talks to it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <future>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "core/looper.h"
#include "support/client.h"
#include "web/exchange.h"
#include "web/http_server.h"

namespace TURTLE_SERVER::test {

/// The body of a handler.
using Answer = std::function<void(Exchange&)>;

/// Makes handlers with this body.
inline auto Answering(Answer answer) -> HandlerFactory {
  class Handler : public RequestHandler {
   public:
    explicit Handler(Answer answer) : answer_(std::move(answer)) {}
    void Handle(Exchange& exchange) override { answer_(exchange); }

   private:
    const Answer answer_;
  };
  return [answer = std::move(answer)](Looper&) { return std::make_unique<Handler>(answer); };
}

/// An HttpServer on any free port, from construction to destruction. Declare objects that its
/// handlers use before it, and the clients after it: then they are gone when it waits for its
/// connections to end.
class RunningServer {
 public:
  /// @param setup mounts the handlers
  /// @param options of the server
  /// @param threads the number of loops
  explicit RunningServer(const std::function<void(HttpServer&)>& setup, HttpOptions options = {},
                         std::size_t threads = 1)
      : server_(NetAddress("127.0.0.1", 0), options, WithThreads(threads)) {
    setup(server_);
    thread_ = std::thread([this] {
      server_.Begin();
      ended_.set_value();
    });
  }

  /// Serves with one handler for everything.
  explicit RunningServer(Answer answer, HttpOptions options = {})
      : RunningServer([&](HttpServer& server) { server.Mount("/", Answering(std::move(answer))); },
                      options) {}

  RunningServer(const RunningServer&) = delete;
  auto operator=(const RunningServer&) -> RunningServer& = delete;

  ~RunningServer() {
    server_.Stop();
    Join();
  }

  /// Returns its port.
  [[nodiscard]] auto Port() const -> int { return server_.LocalAddress().Port(); }

  /// Returns the server itself.
  [[nodiscard]] auto Get() -> HttpServer& { return server_; }

  /// Returns its first loop.
  [[nodiscard]] auto GetLooper() -> Looper& { return *server_.Loopers().front(); }

  /// Waits until Begin() has returned.
  void Join() {
    if (thread_.joinable()) {
      if (ended_.get_future().wait_for(kPatience) != std::future_status::ready) {
        std::cerr << "the server doesn't end" << std::endl;
        std::abort();  // there is no way to go on without the thread
      }
      thread_.join();
    }
  }

  /// Runs `question` on the first loop's thread. @return its result. Throws if it is stuck.
  template <typename Question>
  auto Ask(Question question) -> decltype(question()) {
    auto task = std::make_shared<std::packaged_task<decltype(question())()>>(std::move(question));
    auto answer = task->get_future();
    if (!GetLooper().Post([task] { (*task)(); })) {
      throw std::runtime_error("the loop has ended");
    }
    if (answer.wait_for(kPatience) != std::future_status::ready) {
      throw std::runtime_error("the loop doesn't answer");
    }
    return answer.get();
  }

  /// Waits until `condition`, checked on the first loop's thread, holds. @return false after
  /// kPatience.
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

  /// Lets the first loop do everything that is due now.
  void Settle() {
    Ask([] {});
    Ask([] {});  // the first one's round has ended when the second runs
  }

 private:
  static auto WithThreads(std::size_t threads) -> ServerOptions {
    ServerOptions options;
    options.threads = threads;
    return options;
  }

  HttpServer server_;
  std::promise<void> ended_;
  std::thread thread_;
};

/// Keeps exchanges open until the test releases them. The loop's thread, or Ask() with it.
class Waiting {
 public:
  /// Keeps `exchange` open until it gets its response.
  void Keep(Exchange& exchange) { exchange.Attach(std::make_unique<Place>(*this, exchange)); }

  /// Returns how many wait.
  [[nodiscard]] auto Count() const -> std::size_t { return count_; }

  /// Returns the exchange that was kept last, or nullptr if it has ended.
  [[nodiscard]] auto Last() const -> Exchange* { return last_; }

  /// Returns how many of all that were ever kept have ended.
  [[nodiscard]] auto Ended() const -> std::size_t { return ended_; }

 private:
  class Place : public ExchangeState {
   public:
    Place(Waiting& waiting, Exchange& exchange) : waiting_(waiting), exchange_(exchange) {
      ++waiting_.count_;
      waiting_.last_ = &exchange;
    }
    Place(const Place&) = delete;
    auto operator=(const Place&) -> Place& = delete;
    ~Place() override {
      --waiting_.count_;
      ++waiting_.ended_;
      if (waiting_.last_ == &exchange_) {
        waiting_.last_ = nullptr;
      }
    }

   private:
    Waiting& waiting_;
    Exchange& exchange_;
  };

  std::size_t count_ = 0;
  std::size_t ended_ = 0;
  Exchange* last_ = nullptr;
};

}  // namespace TURTLE_SERVER::test
