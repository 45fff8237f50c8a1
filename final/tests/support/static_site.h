// A directory, and a server that serves it.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "files/static_files.h"
#include "http/http_date.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER::test {

/// Makes handlers that serve files.
inline auto Serving(StaticFilesOptions options) -> HandlerFactory {
  return [options = std::move(options)](Looper& looper) {
    return std::make_unique<StaticFiles>(looper, options);
  };
}

/// A directory under the root of a running server.
class StaticSite {
 public:
  StaticSite() : StaticSite("/", [](StaticFilesOptions&) {}) {}

  /// @param prefix where the files are mounted
  /// @param change changes the options
  template <typename Change>
  StaticSite(const std::string& prefix, Change change)
      : server_([&](HttpServer& server) {
          StaticFilesOptions options;
          options.root = folder_.Path();
          change(options);
          server.Mount(prefix, Serving(options));
        }) {}

  /// Returns the directory.
  [[nodiscard]] auto Folder() const -> const SiteFolder& { return folder_; }

  /// Returns the server.
  [[nodiscard]] auto Server() -> RunningServer& { return server_; }

  /// Returns its port.
  [[nodiscard]] auto Port() const -> int { return server_.Port(); }

  /// Sends one request on its own connection.
  auto Ask(std::string_view target, std::string_view fields = {}) const -> HttpReply {
    HttpClient client(Port());
    return client.Ask(Get(target, fields));
  }

  /// Returns the ETag of a file once it is strong; the weak one if it never becomes so.
  auto AwaitStrongTag(std::string_view target) const -> std::string {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    HttpClient client(Port());
    for (;;) {
      std::string tag = client.Ask(Get(target)).Field("ETag");
      if (tag.substr(0, 1) == "\"" || std::chrono::steady_clock::now() > deadline) {
        return tag;
      }
    }
  }

  /// Returns the Last-Modified of a file once it is the date of its content; "" if it never is.
  auto AwaitFinalDate(std::string_view name) const -> std::string {
    struct stat status {};
    if (::stat(folder_.Path(name).c_str(), &status) != 0) {
      return "";
    }
    std::string wanted;
    AppendHttpDate(HttpTime(status.st_mtime), wanted);
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    HttpClient client(Port());
    while (std::chrono::steady_clock::now() < deadline) {
      if (client.Ask(Get(std::string("/").append(name))).Field("Last-Modified") == wanted) {
        return wanted;
      }
    }
    return "";
  }

  /// Sets the time of a file's content, in seconds since 1970.
  void SetTime(std::string_view name, std::time_t seconds) const {
    const timespec times[2] = {{seconds, 0}, {seconds, 0}};
    ::utimensat(AT_FDCWD, folder_.Path(name).c_str(), times, 0);
  }

 private:
  SiteFolder folder_;
  RunningServer server_;
};

}  // namespace TURTLE_SERVER::test
