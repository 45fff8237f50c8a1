// A web server with programs, and a way to see whether they are alive.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/unique_fd.h"
#include "cgi/cgi.h"
#include "support/client.h"
#include "support/clocked_server.h"
#include "support/running_server.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER::test {

/// A directory of shell scripts.
class ProgramFolder : public SiteFolder {
 public:
  /// Writes an executable script; `lines` follow the first one. Call it before the server starts: a
  /// program that is open for writing can't be executed, and a fork keeps it open briefly.
  void Program(std::string_view name, std::string_view lines) const {
    Write(name, std::string("#!/bin/sh\n").append(lines));
    std::filesystem::permissions(Path(name), std::filesystem::perms(0755));
  }
};

/// Shows whether programs are alive: each holds the other end of a pipe, as do all its children.
class LifeLine {
 public:
  /// A line of a script that opens the pipe.
  static constexpr const char* kHold = "exec 9>.alive; echo >&9\n";

  /// @param folder the directory of the programs
  explicit LifeLine(const SiteFolder& folder) {
    const std::string name = folder.Path(".alive");
    if (::mkfifo(name.c_str(), 0600) != 0) {
      throw std::system_error(errno, std::generic_category(), "mkfifo " + name);
    }
    pipe_.Reset(::open(name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  }

  /// Waits until one more program has opened the pipe; false after kPatience.
  [[nodiscard]] auto AwaitStart() -> bool {
    char line = 0;
    pollfd waiting{pipe_.Get(), POLLIN, 0};
    return ::poll(&waiting, 1, static_cast<int>(kPatience.count())) > 0 &&
           ::read(pipe_.Get(), &line, 1) == 1;
  }

  /// Waits until no process holds the pipe; false after kPatience. After AwaitStart().
  [[nodiscard]] auto AwaitEnd() -> bool {
    pollfd waiting{pipe_.Get(), 0, 0};
    return ::poll(&waiting, 1, static_cast<int>(kPatience.count())) > 0;
  }

  /// True if one more program has opened the pipe by now.
  [[nodiscard]] auto HasStarted() -> bool {
    pollfd waiting{pipe_.Get(), POLLIN, 0};
    return ::poll(&waiting, 1, 0) > 0 && (waiting.revents & POLLIN) != 0;
  }

 private:
  UniqueFd pipe_;
};

/// A ClockedServer with the programs of a directory under /cgi-bin. For any other target, the
/// response is the method and the target of the request.
class CgiServer : public ClockedServer {
 public:
  explicit CgiServer(const SiteFolder& programs, CgiOptions options = {}, HttpOptions http = {})
      : ClockedServer(
            [&](Looper& looper, LoopHttp& server) {
              options.directory = programs.Path();
              server.Mount("/cgi-bin", std::make_unique<Cgi>(looper, options));
              server.Mount(
                  "/", Answering([](Exchange& exchange) {
                    const Request& request = exchange.GetRequest();
                    std::string text(request.method_text);
                    exchange.Reply(TextResponse(200, text.append(" ").append(request.target)));
                  })(looper));
            },
            http) {}
};

}  // namespace TURTLE_SERVER::test
