// A web server on one loop, whose clock only the test turns.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/looper.h"
#include "core/socket.h"
#include "support/manual_clock.h"
#include "web/http_session.h"
#include "web/loop_http.h"

namespace TURTLE_SERVER::test {

/// Serves HTTP from construction to destruction, which drops the remaining clients. Declare objects
/// that its handlers use before it.
class ClockedServer {
 public:
  /// Makes the session of a client.
  using Protocol = std::function<std::unique_ptr<Session>(Connection&, LoopHttp&)>;

  /// @param setup mounts the handlers, on the loop's thread
  /// @param options limits and timeouts
  /// @param protocol what clients speak, in place of HTTP/1.1
  explicit ClockedServer(const std::function<void(Looper&, LoopHttp&)>& setup,
                         HttpOptions options = {}, const Protocol& protocol = {})
      : loop_(clock_.Source()) {
    listener_.Bind(NetAddress("127.0.0.1", 0));
    listener_.Listen();
    listener_.SetNonBlocking();
    callbacks_.on_accept = [this, protocol](Connection* client) {
      if (protocol) {
        client->SetState(protocol(*client, *http_));
      } else {
        client->SetState(std::make_unique<HttpSession>(*client, *http1_));
      }
    };
    callbacks_.on_handle = [](Connection* client) { Session::Of(*client).OnProgress(); };
    callbacks_.on_timeout = [](Connection* client) { Session::Of(*client).OnTimeout(); };
    callbacks_.on_stop = [](Connection* client) { Session::Of(*client).OnStop(); };
    loop_.Ask([&] {
      Looper& looper = loop_.Get();
      looper.SetStopTimeout(std::chrono::milliseconds(0));  // on this clock it would never pass
      http_ = std::make_unique<LoopHttp>(looper, options);
      http1_ = std::make_unique<Http1Shared>(*http_);
      setup(looper, *http_);
      looper.Watch(listener_.GetFd(), Interest::kRead, [this](const PollEvent&) { Accept(); });
    });
  }

  ClockedServer(const ClockedServer&) = delete;
  auto operator=(const ClockedServer&) -> ClockedServer& = delete;

  ~ClockedServer() {
    loop_.Get().Stop();
    loop_.Join();
    http1_.reset();
    http_.reset();  // handlers use their loop, so they are destroyed first
  }

  /// Returns its port.
  [[nodiscard]] auto Port() const -> int { return listener_.LocalAddress().Port(); }

  /// Returns its loop.
  [[nodiscard]] auto Loop() -> LoopThread& { return loop_; }

  /// Turns the clock, and lets the loop do everything that is due then.
  void Advance(Clock::duration by) { clock_.Advance(by, loop_); }

  /// Turns the clock without waiting; any thread.
  void Turn(Clock::duration by) { clock_.Advance(by); }

 private:
  void Accept() {
    NetAddress from;
    for (UniqueFd fd(listener_.Accept(from)); fd; fd.Reset(listener_.Accept(from))) {
      loop_.Get().AddConnection(std::move(fd), callbacks_);
    }
  }

  ManualClock clock_;
  Socket listener_;
  ConnectionCallbacks callbacks_;
  std::unique_ptr<LoopHttp> http_;
  std::unique_ptr<Http1Shared> http1_;
  LoopThread loop_;
};

}  // namespace TURTLE_SERVER::test
