// Listening sockets that another program has opened and left to this one: systemd, or the server
// that this one takes the place of.
//
// A listener can outlive the program that serves it. Its queue is the kernel's: as long as somebody
// has the descriptor, clients are let in and wait, whether anybody accepts just then or not. So a
// server that starts with the descriptor of its predecessor finds the predecessor's queue. A new
// socket on the same port (SO_REUSEPORT) would have a new queue, and closing the old one would
// reset the clients in it.
//
// The protocol is that of sd_listen_fds(3): LISTEN_FDS descriptors from 3 on, if LISTEN_PID is this
// process, with names in LISTEN_FDNAMES, separated by colons.
//
// Interface:
//  * TakeListenEnvironment() reads the variables, and removes them: they are not for our children.
//  * InheritedListeners looks at each descriptor, and refuses what is no listener.
//  * Take() and TakePath() give away the one that listens there.
//  * RequireAllTaken() refuses what nobody asked for: its clients would wait for ever.
//
// Thread: one, before others run: the environment belongs to all.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/net_address.h"
#include "core/socket.h"

namespace TURTLE_SERVER {

/// The variables of sd_listen_fds(3), as they were set; none: nullopt.
struct ListenEnvironment {
  std::optional<std::string> pid{};    ///< LISTEN_PID: whom they are meant for
  std::optional<std::string> fds{};    ///< LISTEN_FDS: how many
  std::optional<std::string> names{};  ///< LISTEN_FDNAMES
};

/// Reads LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES, and removes them from the environment.
[[nodiscard]] auto TakeListenEnvironment() -> ListenEnvironment;

/// Listeners that another process has opened for us.
class InheritedListeners {
 public:
  /// The first descriptor: SD_LISTEN_FDS_START in sd_listen_fds(3).
  static constexpr int kFirstFd = 3;

  /// A listener, and what it was called.
  struct Listener {
    Socket socket;     ///< listens
    std::string name;  ///< of LISTEN_FDNAMES, "unknown" without
  };

  /// Nothing.
  InheritedListeners() = default;

  /// Takes over what the environment speaks of, and sets close-on-exec on it. Variables that are
  /// meant for another process, or are not there, mean nothing.
  /// @param environment of TakeListenEnvironment()
  /// @param pid of this process
  /// @param first the number of the first descriptor
  /// @throws std::runtime_error when a variable is none of sd_listen_fds(3), or a descriptor is not
  ///     open, no stream socket or does not listen; the text names it, its number and its name
  InheritedListeners(const ListenEnvironment& environment, long pid, int first = kFirstFd);

  /// Returns the one that is bound to `address`; its port may be 0, which is any.
  [[nodiscard]] auto Take(const NetAddress& address) -> std::optional<Listener>;

  /// Returns the one that is bound to `path` in the file system.
  [[nodiscard]] auto TakePath(std::string_view path) -> std::optional<Listener>;

  /// @throws std::runtime_error that names those that nobody took
  void RequireAllTaken() const;

  /// Returns how many have not been taken.
  [[nodiscard]] auto Left() const noexcept -> std::size_t { return entries_.size(); }

 private:
  struct Entry {
    int number;  // as it was inherited
    Listener listener;
    NetAddress address;  // empty: a path
    std::string path;    // of the file system, or '@' and a name without one; empty: an address
  };

  template <typename Wanted>
  auto TakeFirst(const Wanted& wanted) -> std::optional<Listener>;
  static auto Inspect(int fd, std::string name) -> Entry;

  std::vector<Entry> entries_;
};

}  // namespace TURTLE_SERVER
