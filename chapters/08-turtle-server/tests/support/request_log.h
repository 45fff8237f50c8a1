// Records the requests that a server finds in a browser's bytes: in this chapter, whatever one
// Recv() brings is a request.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/connection.h"
#include "core/looper.h"
#include "support/client.h"

namespace TURTLE_SERVER::test {

/// Collects the targets of the clients' requests. Any thread.
class RequestLog {
 public:
  /// Call it from the server's OnHandle().
  void Handle(Connection* client) {
    const auto [read, exit] = client->Recv();
    if (exit) {
      client->GetLooper()->DeleteConnection(client->GetFd());
    } else if (read != 0) {
      const std::string request = client->ReadAsString();
      client->ClearReadBuffer();
      const std::size_t target = request.find(' ') + 1;
      Note(read, {request.substr(target, request.find_first_of(" \r\n", target) - target)});
    }
  }

  /// Waits until `count` bytes have been handled. @return false after ten seconds.
  [[nodiscard]] auto Await(std::size_t count) -> bool {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return bytes_ >= count; });
  }

  /// Returns the targets of the requests, in the order in which they arrived.
  [[nodiscard]] auto Targets() -> std::vector<std::string> {
    const std::lock_guard lock(mutex_);
    return targets_;
  }

 private:
  void Note(std::size_t read, std::vector<std::string> targets) {
    const std::lock_guard lock(mutex_);
    bytes_ += read;
    for (std::string& target : targets) {
      targets_.push_back(std::move(target));
    }
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t bytes_ = 0;             // guarded by mutex_
  std::vector<std::string> targets_;  // guarded by mutex_
};

}  // namespace TURTLE_SERVER::test
