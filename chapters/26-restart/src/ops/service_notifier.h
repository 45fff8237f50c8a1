// Reports to systemd, or another parent, what this program is doing: sd_notify(3).
//
// A service manager that only sees a process can't know when it serves: "started" is not "ready".
// So it sets NOTIFY_SOCKET to the name of a socket, and the program sends it datagrams with lines
// such as READY=1. Without that variable, the program reports nothing.
//
// Interface:
//  * Ready(), Reloading(), Stopping() and MainPid() report the four states of a server.
//
// A name that begins with '@' is not in the file system: unix(7), "abstract".
//
// Thread: any; each call is one system call, which does not wait.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>

#include "base/namespace.h"
#include "base/unique_fd.h"

namespace TURTLE_SERVER {

/// Sends messages to a service manager.
class ServiceNotifier {
 public:
  /// @param socket the value of NOTIFY_SOCKET: a path, or '@' and a name; empty: no reports
  /// @throws std::invalid_argument if it is neither, std::system_error if there is no socket to
  ///     send from
  explicit ServiceNotifier(std::string socket = {});

  /// Returns true if there is a service manager to report to.
  [[nodiscard]] auto IsHeard() const noexcept -> bool { return !name_.empty(); }

  /// Reports that clients are served, or, after Reloading(), that the settings are in effect.
  void Ready() const noexcept { Tell("READY=1"); }

  /// Reports that the settings are being read again.
  /// @param now of CLOCK_MONOTONIC: the manager uses it to identify the reload
  void Reloading(std::chrono::microseconds now = MonotonicTime()) const noexcept;

  /// Reports that the server is about to end.
  void Stopping() const noexcept { Tell("STOPPING=1"); }

  /// Reports that another process is the service from now on, and that it is ready.
  void MainPid(pid_t pid) const noexcept;

  /// Returns CLOCK_MONOTONIC, clock_gettime(2).
  [[nodiscard]] static auto MonotonicTime() noexcept -> std::chrono::microseconds;

 private:
  void Tell(std::string_view lines) const noexcept;

  std::string name_;  // as in NOTIFY_SOCKET
  UniqueFd fd_;
};

}  // namespace TURTLE_SERVER
