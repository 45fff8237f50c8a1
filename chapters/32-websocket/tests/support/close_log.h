// Notes what a WebSocket's handlers were told, for tests. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "websocket/websocket.h"

namespace TURTLE_SERVER::test {

/// A list of events, in order.
class CloseLog {
 public:
  /// Returns handlers that note "open", each message, and "close CODE REASON".
  [[nodiscard]] auto Handlers() -> WebSocketHandlers {
    WebSocketHandlers handlers;
    handlers.on_open = [this](WebSocket&) { Add("open"); };
    handlers.on_message = [this](WebSocket&, const Message& message) {
      Add(std::string(message.bytes));
    };
    handlers.on_room = [this](WebSocket&) { Add("room"); };
    handlers.on_close = [this](WebSocket&, CloseCode code, std::string_view reason) {
      Add("close " + std::to_string(static_cast<int>(code)) + " " + std::string(reason));
    };
    return handlers;
  }

  /// Notes one more.
  void Add(std::string text) {
    const MutexLock lock(mutex_);
    all_.push_back(std::move(text));
  }

  /// Returns all so far.
  [[nodiscard]] auto All() -> std::vector<std::string> {
    const MutexLock lock(mutex_);
    return all_;
  }

  /// Returns the last one, or "".
  [[nodiscard]] auto Last() -> std::string {
    const MutexLock lock(mutex_);
    return all_.empty() ? "" : all_.back();
  }

 private:
  Mutex mutex_;
  std::vector<std::string> all_ TURTLE_GUARDED_BY(mutex_);
};

}  // namespace TURTLE_SERVER::test
