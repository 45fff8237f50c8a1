// One connection's life on one thread: the client, the clock and the server's loop take turns, so
// that the same script always runs the same way.
//
// A script is the bytes that the client sends, except for these:
//
//    0x01  a round of the loop: the bytes after it are sent later
//    0x02  the client reads 1,000 bytes      0x05  it sends its FIN
//    0x03  a second passes                   0x06  it closes, with whatever it has not read
//    0x04  31 seconds pass                   0x07  it reads all there is
//
// At the script's end, the client reads everything that comes and sends its FIN. Then time passes.
#pragma once

#include <sys/socket.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/unique_fd.h"
#include "core/looper.h"
#include "targets/check.h"
#include "targets/fuzz_handler.h"
#include "web/http_session.h"
#include "web/loop_http.h"

namespace TURTLE_SERVER::fuzz {

/// Plays scripts.
class SessionPlay {
 public:
  explicit SessionPlay(std::string_view script)
      : script_(script), loop_([this] { return now_; }), http_(loop_, Options()) {
    http_.Mount("/", std::make_unique<FuzzHandler>());
    callbacks_.on_accept = [this](Connection* client) {
      client->SetState(std::make_unique<HttpSession>(*client, http1_));
    };
    callbacks_.on_handle = [](Connection* client) { Session::Of(*client).OnProgress(); };
    callbacks_.on_timeout = [](Connection* client) { Session::Of(*client).OnTimeout(); };
    callbacks_.on_stop = [](Connection* client) { Session::Of(*client).OnStop(); };
  }

  SessionPlay(const SessionPlay&) = delete;
  auto operator=(const SessionPlay&) -> SessionPlay& = delete;

  /// Plays it, once. Aborts if the connection does not end. @return all that the client received
  auto Run() -> std::string {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      Fail("no pair of sockets");
    }
    client_ = UniqueFd(ends[0]);
    const int small = 4096;  // the kernel's buffer is soon full
    for (const int fd : ends) {
      setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    }
    Post([this, fd = ends[1]] {
      loop_.AddConnection(UniqueFd(fd), callbacks_);
      Step();
    });
    loop_.Loop();
    return received_;
  }

 private:
  // After this many rounds without an event, it waits for the clock. A response needs a round or
  // two to continue. If those were seconds, the client would be dropped for reading too slowly,
  // since nothing is ever acknowledged on a socket that isn't TCP.
  static constexpr int kQuietRounds = 8;
  // After more of them, each a second long, something is stuck.
  static constexpr int kPatience = 1000;

  static auto Options() -> HttpOptions {
    HttpOptions options;  // small limits, so that they are reached
    options.parser.max_target_bytes = 100;
    options.parser.max_head_bytes = 500;
    options.parser.max_fields = 8;
    options.body.max_body_bytes = 200;
    options.body.max_trailer_bytes = 50;
    options.max_dropped_bytes = 100;
    return options;
  }

  void Post(Task task) { static_cast<void>(loop_.Post(std::move(task))); }

  // The client's turn before each round.
  void Step() {
    const std::size_t received = received_.size();
    const std::size_t unsent = unsent_.size();
    if (!script_.empty()) {
      Play();
    } else {
      is_ended_ = true;
      Receive(std::string::npos);
    }
    Send();
    if (loop_.ConnectionCount() == 0 && script_.empty()) {
      Receive(std::string::npos);
      loop_.Stop();
      return;
    }
    const bool is_quiet = received_.size() == received && unsent_.size() == unsent;
    quiet_ = script_.empty() && is_quiet ? quiet_ + 1 : 0;
    if (quiet_ > kQuietRounds) {
      now_ += std::chrono::seconds(1);
    }
    if (quiet_ > kPatience) {
      Fail("the connection does not end");
    }
    Post([this] { Step(); });
  }

  // Runs to the end of a round.
  void Play() {
    const std::size_t end = std::min(script_.find_first_of("\1\2\3\4\5\6\7"), script_.size());
    if (!is_ended_) {
      unsent_ += script_.substr(0, end);
    }
    const char direction = end < script_.size() ? script_[end] : '\1';
    script_.remove_prefix(std::min(end + 1, script_.size()));
    switch (direction) {
      case '\2':
        return Receive(1000);
      case '\3':
        now_ += std::chrono::seconds(1);
        return;
      case '\4':
        now_ += std::chrono::seconds(31);
        return;
      case '\5':
        is_ended_ = true;
        return;
      case '\6':
        client_.Reset();
        is_ended_ = true;
        return;
      case '\7':
        return Receive(std::string::npos);
      default:
        return;
    }
  }

  void Send() {
    while (client_ && !unsent_.empty()) {
      const auto sent = send(client_.Get(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
      if (sent < 0) {
        if (errno != EAGAIN) {
          unsent_.clear();  // the server has closed
        }
        return;
      }
      unsent_.erase(0, static_cast<std::size_t>(sent));
    }
    if (client_ && is_ended_ && !is_shut_) {
      is_shut_ = true;
      shutdown(client_.Get(), SHUT_WR);
    }
  }

  void Receive(std::size_t most) {
    std::array<char, 1000> bytes{};
    while (client_ && most > 0) {
      const auto count = recv(client_.Get(), bytes.data(), std::min(most, bytes.size()), 0);
      if (count <= 0) {
        return;
      }
      received_.append(bytes.data(), static_cast<std::size_t>(count));
      most -= static_cast<std::size_t>(count);
    }
  }

  std::string_view script_;
  std::string unsent_;
  std::string received_;
  bool is_ended_ = false;  // nothing more will be sent
  bool is_shut_ = false;   // and the FIN is on its way
  int quiet_ = 0;
  TimePoint now_{std::chrono::hours(1)};
  UniqueFd client_;
  ConnectionCallbacks callbacks_;
  Looper loop_;
  LoopHttp http_;
  Http1Shared http1_{http_};
};

}  // namespace TURTLE_SERVER::fuzz
