// One TLS session on one thread: a client, the bytes on their way to the server, and its channel.
//
// A script is a row of actions, each a letter with its parameters. A parameter is one byte: n is
// its value. Spaces and other bytes mean nothing.
//
// The client's wishes, before any other action:
//
//    2  3     TLS 1.2 alone, 1.3 alone          R  to resume a session
//    h  u  v  another host: none, unknown, the  m  short records
//             second certificate's              r  a key of a kind that the server refuses first
//    a  b     ALPN: http/1.1, another protocol  o  an OCSP response
//
// Actions of the client:
//
//    c        goes on with the handshake        K n  asks for new keys n times, TLS 1.3
//    w n      writes 64 * n + 1 bytes           N    asks for another handshake, TLS 1.2
//    e        ends its direction
//    q t i n  seals a record by hand: of type t, the n bytes after it, 16 * i + 1 times
//
// Accidents of its bytes on their way:
//
//    D        all arrive                        f n m  the byte at n/256 of them is changed by m
//    d n      the next n arrive                 x n    the next n are lost
//    l n      the next 64 * n arrive            y      the next record comes twice
//    t n      the next n are the last           g n    the n bytes after it come before them
//    i t n    a record of type t with the n bytes after it comes before them
//
// Actions of the server:
//
//    s n      seals 64 * n + 1 bytes            .  a round of its loop
//    S        seals 16 KiB                      T  other clients take the turns of this round
//    E        ends its direction                Z  deletes the connection
//
// If nothing was spoilt, the rest of a good session follows: the handshake, a question, the
// response and both ends.
#pragma once

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/unique_fd.h"
#include "core/looper.h"
#include "targets/check.h"
#include "targets/tls_ends.h"
#include "targets/tls_shared.h"
#include "tls/handshake_turns.h"

namespace TURTLE_SERVER::fuzz {

/// Plays scripts.
class TlsPlay {
 public:
  explicit TlsPlay(std::string_view script) : script_(script), loop_([this] { return now_; }) {
    callbacks_.on_handle = [this](Connection*) {
      if (ends_) {
        ends_->TakeTurn();
      }
    };
  }

  TlsPlay(const TlsPlay&) = delete;
  auto operator=(const TlsPlay&) -> TlsPlay& = delete;

  /// Plays it, once. Aborts if something is wrong.
  void Run() {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      Fail("no pair of sockets");
    }
    const UniqueFd other(ends[1]);  // nothing is sent: the connection has a name, and its turns
    Post([this, fd = ends[0]] {
      id_ = loop_.AddConnection(UniqueFd(fd), callbacks_)->Id();
      Step();
    });
    loop_.Loop();
  }

 private:
  static constexpr std::size_t kUnit = 64;
  static constexpr int kPatience = 10;  // rounds

  void Post(Task task) { static_cast<void>(loop_.Post(std::move(task))); }

  // Plays to the end of a round.
  void Step() {
    now_ += std::chrono::milliseconds(1);
    bool is_over = false;
    while (!script_.empty() && !is_over) {
      const char action = script_.front();
      script_.remove_prefix(1);
      is_over = action == '.';
      Act(action);
    }
    if (script_.empty() && !is_over && Settle()) {
      Delete();
      loop_.Stop();
      return;
    }
    Post([this] { Step(); });
  }

  // The first action that is no wish ends the wishes.
  void Act(char action) {
    if (!ends_ && !Wish(action)) {
      ends_ = std::make_unique<TlsEnds>(turns_, id_, wish_);
    }
    if (ends_) {
      Move(action);
      ActAsClient(action);
      ActAsServer(action);
    }
  }

  // Goes on after the script, a round at a time. @return true if all is done
  auto Settle() -> bool {
    ++rounds_;
    if (is_deleted_) {
      return rounds_ > kPatience;  // others get its turn
    }
    if (!ends_) {
      ends_ = std::make_unique<TlsEnds>(turns_, id_, wish_);
    }
    if (rounds_ > kPatience) {
      Fail(ends_->Waits() ? "its turn never comes" : "a good session does not end");
    }
    return !ends_->Waits() && ends_->Settle();
  }

  void Delete() {
    loop_.DeleteConnection(id_, Closing::kReset);
    ends_.reset();
  }

  // Takes a parameter.
  auto Number() -> std::size_t {
    const std::string_view byte = Bytes(1);
    return byte.empty() ? 0 : static_cast<unsigned char>(byte.front());
  }

  auto Bytes(std::size_t count) -> std::string_view {
    const std::string_view bytes = script_.substr(0, count);
    script_.remove_prefix(bytes.size());
    return bytes;
  }

  // @return false: it is no wish
  auto Wish(char action) -> bool {
    switch (action) {
      case '2':
        wish_.version = TLS1_2_VERSION;
        return true;
      case '3':
        wish_.version = TLS1_3_VERSION;
        return true;
      case 'h':
        wish_.host = "";
        return true;
      case 'u':
        wish_.host = "c.test";
        return true;
      case 'v':
        wish_.host = "b.test";
        return true;
      case 'a':
        wish_.protocols = "\x08http/1.1";
        return true;
      case 'b':
        wish_.protocols = kOtherProtocol;
        return true;
      case 'R':
        wish_.resumes = !wish_.is_short;
        return true;
      case 'm':
        wish_.is_short = !wish_.resumes;
        return true;
      case 'r':
        wish_.retries = true;
        return true;
      case 'o':
        wish_.asks_status = true;
        return true;
      default:
        return action == ' ' || action == '\n';
    }
  }

  // Moves or spoils the bytes on their way.
  void Move(char action) {
    switch (action) {
      case 'D':
        return ends_->Deliver(std::string::npos);
      case 'd':
        return ends_->Deliver(Number());
      case 'l':
        return ends_->Deliver(Number() * kUnit);
      case 'f': {
        const std::size_t place = Number();
        return ends_->Change(place, static_cast<unsigned char>(Number()));
      }
      case 'x':
        return ends_->Replace(0, Number(), {});
      case 't':
        return ends_->Cut(Number());
      case 'y':
        return ends_->Repeat();
      case 'g':
        return ends_->Replace(0, 0, std::string(Bytes(Number())));
      case 'i': {
        const char type = static_cast<char>(Number());
        const std::string bytes(Bytes(Number()));
        return ends_->Replace(0, 0,
                              std::string{type, 3, 3, 0, static_cast<char>(bytes.size())} + bytes);
      }
      default:
        return;
    }
  }

  void ActAsClient(char action) {
    switch (action) {
      case 'c':
        return ends_->GoOn();
      case 'w':
        return ends_->Write(Number() * kUnit + 1);
      case 'e':
        return ends_->AsClient([](TlsClient& client) { client.End(); });
      case 'K':
        return ends_->AsClient([times = Number()](TlsClient& client) { client.AskForKeys(times); });
      case 'N':
        return ends_->AsClient([](TlsClient& client) { client.AskForHandshake(); });
      case 'q':
        return SealByHand();
      default:
        return;
    }
  }

  void ActAsServer(char action) {
    switch (action) {
      case 's':
        return ends_->Seal(Number() * kUnit + 1);
      case 'S':
        return ends_->Seal(Connection::kSealStep);
      case 'E':
        return ends_->SealEnd();
      case 'T':
        return GiveTurnsToOthers();
      case 'Z':
        script_ = {};
        is_deleted_ = true;
        return Delete();
      default:
        return;
    }
  }

  void SealByHand() {
    const int type = static_cast<int>(Number());
    const std::size_t times = Number() * 16 + 1;
    const std::string_view bytes = Bytes(Number());
    std::string plain;
    for (std::size_t i = 0; i < times && plain.size() + bytes.size() < TlsChannel::kLongRecord;
         ++i) {
      plain += bytes;
    }
    ends_->SealByHand(type, plain);
  }

  void GiveTurnsToOthers() {
    for (std::size_t i = 0; i < HandshakeTurns::kPerRound; ++i) {
      others_.push_back(false);
      if (!turns_.Take({0, 0}, others_.back())) {
        return;
      }
    }
  }

  std::string_view script_;
  TlsWish wish_;
  int rounds_ = 0;  // after the script
  TimePoint now_{std::chrono::hours(1)};
  ConnectionCallbacks callbacks_;
  ConnectionId id_{};
  std::deque<bool> others_;  // whose turn it is, too
  Looper loop_;
  HandshakeTurns turns_{loop_};
  // From the first action to the end of the connection. Its memory is freed then, so that the
  // sanitizer sees a later use.
  std::unique_ptr<TlsEnds> ends_;
  bool is_deleted_ = false;  // by the script
};

}  // namespace TURTLE_SERVER::fuzz
