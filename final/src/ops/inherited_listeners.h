// Takes over listening sockets that another program has opened for this one: systemd, or the server
// that this one replaces.
//
// A listener can outlive the program that serves it, because its queue is in the kernel. As long as
// any process has the descriptor, clients are let in and wait until they are accepted. So a server
// that starts with the descriptor of its predecessor finds the predecessor's queue. A new socket on
// the same port (SO_REUSEPORT) would have a new queue, and closing the old one would reset the
// clients in it.
//
// The protocol is that of sd_listen_fds(3): LISTEN_FDS descriptors from 3 on, if LISTEN_PID is this
// process, with names in LISTEN_FDNAMES, separated by colons.
//
// Interface:
//  * TakeListenEnvironment() reads the variables, and removes them: our children must not get them.
//  * InheritedListeners checks each descriptor, and refuses any that is not a listener.
//  * Take() and TakePath() return the listener at an address.
//  * RequireAllTaken() refuses listeners that were not taken: their clients would wait forever.
//
// Thread: one, before others run, because the environment is global.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/net_address.h"
#include "core/socket.h"

namespace TURTLE_SERVER {

/// The variables of sd_listen_fds(3), as they were set; nullopt: not set.
struct ListenEnvironment {
  std::optional<std::string> pid{};    ///< LISTEN_PID: the process that they are meant for
  std::optional<std::string> fds{};    ///< LISTEN_FDS: the number of descriptors
  std::optional<std::string> names{};  ///< LISTEN_FDNAMES
};

/// Reads LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES, and removes them from the environment.
[[nodiscard]] auto TakeListenEnvironment() -> ListenEnvironment;

/// Listeners that another process has opened for us.
class InheritedListeners {
 public:
  /// The first descriptor: SD_LISTEN_FDS_START in sd_listen_fds(3).
  static constexpr int kFirstFd = 3;

  /// A listener and its name.
  struct Listener {
    Socket socket;     ///< the listener
    std::string name;  ///< from LISTEN_FDNAMES; "unknown" without
  };

  /// Holds no listeners.
  InheritedListeners() = default;

  /// Takes over the descriptors that the environment lists, and sets close-on-exec on them.
  /// Variables that are meant for another process, or are not set, are ignored.
  /// @param environment of TakeListenEnvironment()
  /// @param pid of this process
  /// @param first the number of the first descriptor
  /// @throws std::runtime_error if a variable is not one of sd_listen_fds(3), or a descriptor is
  ///     not open, not a stream socket or not listening; the text has its number and its name
  InheritedListeners(const ListenEnvironment& environment, long pid, int first = kFirstFd);

  /// Returns the listener bound to `address`; port 0 matches any port.
  [[nodiscard]] auto Take(const NetAddress& address) -> std::optional<Listener>;

  /// Returns the listener bound to `path` in the file system.
  [[nodiscard]] auto TakePath(std::string_view path) -> std::optional<Listener>;

  /// @throws std::runtime_error that lists the listeners that were not taken
  void RequireAllTaken() const;

  /// Returns how many listeners have not been taken.
  [[nodiscard]] auto Left() const noexcept -> std::size_t { return entries_.size(); }

 private:
  struct Entry {
    int number;  // as it was inherited
    Listener listener;
    NetAddress address;  // empty for a path
    std::string path;    // in the file system, or '@' and an abstract name; empty for an address
  };

  template <typename Wanted>
  auto TakeFirst(const Wanted& wanted) -> std::optional<Listener>;
  static auto Inspect(int fd, std::string name) -> Entry;

  std::vector<Entry> entries_;
};

}  // namespace TURTLE_SERVER
