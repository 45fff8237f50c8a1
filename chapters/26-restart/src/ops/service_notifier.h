// Tells systemd, or another parent, what this program is doing: sd_notify(3).
//
// A service manager that only sees a process can't know when it serves: "started" is not "ready".
// So it leaves the name of a socket in NOTIFY_SOCKET, to which the program sends datagrams of lines
// such as READY=1. A program that was started otherwise has no such variable, and tells nobody.
//
// Interface:
//  * Ready(), Reloading(), Stopping() and MainPid() say the four things that a server has to say.
//
// A name that begins with '@' is none of the file system: unix(7), "abstract".
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

/// The way to a service manager.
class ServiceNotifier {
 public:
  /// @param socket the value of NOTIFY_SOCKET: a path, or '@' and a name; empty: nobody is told
  /// @throws std::invalid_argument when it is neither, std::system_error when there is no socket
  ///     to send from
  explicit ServiceNotifier(std::string socket = {});

  /// Is there somebody to be told?
  [[nodiscard]] auto IsHeard() const noexcept -> bool { return !name_.empty(); }

  /// Clients are served, or, after Reloading(), the settings count.
  void Ready() const noexcept { Tell("READY=1"); }

  /// The settings are being read again.
  /// @param now of CLOCK_MONOTONIC: the manager tells by it which reload this belongs to
  void Reloading(std::chrono::microseconds now = MonotonicTime()) const noexcept;

  /// The end has begun.
  void Stopping() const noexcept { Tell("STOPPING=1"); }

  /// Another process is the service from now on, and it is ready.
  void MainPid(pid_t pid) const noexcept;

  /// CLOCK_MONOTONIC, clock_gettime(2).
  [[nodiscard]] static auto MonotonicTime() noexcept -> std::chrono::microseconds;

 private:
  void Tell(std::string_view lines) const noexcept;

  std::string name_;  // as in NOTIFY_SOCKET
  UniqueFd fd_;
};

}  // namespace TURTLE_SERVER
