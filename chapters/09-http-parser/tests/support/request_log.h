// Records the requests that a server finds in a browser's bytes: the parser says where a request
// ends.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/connection.h"
#include "core/looper.h"
#include "http/http_parser.h"
#include "support/client.h"

namespace TURTLE_SERVER::test {

/// Collects the targets of the clients' requests. Any thread.
class RequestLog {
 public:
  /// Call it from the server's OnHandle().
  void Handle(Connection* client) {
    const auto [read, exit] = client->Recv();
    if (client->State() == nullptr) {
      client->SetState(std::make_unique<Session>());
    }
    auto& session = static_cast<Session&>(*client->State());
    std::vector<std::string> targets;
    ParseResult result = session.parser.Parse(client->Read(), session.request);
    for (; result.state == ParseState::kDone;
         result = session.parser.Parse(client->Read(), session.request)) {
      targets.emplace_back(session.request.target);
      client->Consume(result.head_bytes);
    }
    Note(read, std::move(targets));
    if (exit || result.state == ParseState::kBad) {
      client->GetLooper()->DeleteConnection(client->GetFd());
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
  struct Session : ConnectionState {
    ParserLimits limits;
    HttpParser parser{limits};
    Request request;
  };

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
