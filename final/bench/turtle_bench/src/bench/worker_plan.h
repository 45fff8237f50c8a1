// A worker's input, the state that it shares with the others of a run, and its events.
//
// Interface:
//  * MakePlan() returns one worker's share of the load in the options.
//
// Thread: any; these are values. SharedRun may be shared.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "bench/load_mode.h"
#include "bench/options.h"
#include "bench/reply_reference.h"
#include "core/net_address.h"

namespace TURTLE_SERVER {

class TlsClientContext;

/// The task of a worker.
struct WorkerPlan {
  NetAddress server;                      ///< the server's address
  const TlsClientContext* tls = nullptr;  ///< outlives the worker; nullptr: no TLS
  LoadMode mode = LoadMode::kKeepAlive;   ///< the use of connections
  std::size_t connections = 1;            ///< of this worker
  std::string requests;                  ///< the text sent at once: one request or, pipelined, more
  std::string handshake{};               ///< for WebSockets: sent first; empty: HTTP
  std::uint32_t depth = 1;               ///< how many requests that text contains
  bool to_head = false;                  ///< the method is HEAD
  bool any_body = false;                 ///< the bodies may differ
  double rate = 0;                       ///< requests per second of this worker; 0: no limit
  Clock::duration first_due{0};          ///< with `rate`: when the first is due, after Begin()
  std::size_t spare = 0;                 ///< descriptors beyond one for each connection
  std::size_t read_size = 0;             ///< of one recv(2); 0: as the library does it
  std::chrono::milliseconds timeout{0};  ///< for a connection, for TLS, and for a response
};

/// Returns the plan of one worker.
/// @param options of the whole run
/// @param server address to connect to
/// @param tls for https
/// @param number from 0 to `options.threads` - 1
/// @param spare descriptors of this worker beyond one for each connection
[[nodiscard]] auto MakePlan(const BenchOptions& options, const NetAddress& server,
                            const TlsClientContext* tls, std::size_t number, std::size_t spare)
    -> WorkerPlan;

/// The first of several texts. Any thread.
class FirstText {
 public:
  /// Keeps `text` if there is none yet. Throws std::bad_alloc.
  void Note(const std::string& text) {
    const MutexLock lock(mutex_);
    if (text_.empty()) {
      text_ = text;
    }
  }

  /// Returns the first text; empty: there is none.
  [[nodiscard]] auto Get() const -> std::string {
    const MutexLock lock(mutex_);
    return text_;
  }

 private:
  mutable Mutex mutex_;
  std::string text_ TURTLE_GUARDED_BY(mutex_);
};

/// The state that the workers of a run share.
struct SharedRun {
  ReplyReference reference;           ///< the first response
  std::atomic<bool> reached{false};   ///< a connection was established
  std::atomic<int> connect_error{0};  ///< errno of the first failed connection
  std::atomic<bool> secured{false};   ///< TLS was established
  FirstText handshake_error;          ///< the reason why it first was not
};

/// The events of a worker, on its own thread.
struct WorkerEvents {
  /// Called while no connection, or no TLS, was established, and when the server's certificate is
  /// not accepted. Gets the reason: "connect 127.0.0.1:80: ...".
  std::function<void(const std::string& why)> on_unreachable;
  /// LoadMode::kIdle: every connection is held. Called once, though some may be lost later.
  std::function<void()> on_ready;
};

}  // namespace TURTLE_SERVER
