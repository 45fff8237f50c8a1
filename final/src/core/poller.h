// Waits for many descriptors at once.
//
// Interface:
//  * Add() says which descriptor to watch and for what; Change() and Remove() alter that.
//  * Wait() sleeps until at least one descriptor is ready and returns its events.
//  * A `token` of the caller's choice comes back with each event. The poller never interprets it.
//  * Create() makes the poller of this system: epoll on Linux, kqueue on the BSDs and macOS.
//
// Thread: one thread at a time; a thread that sleeps in Wait() counts as one.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// The events to wait for: a set of bits, joined with |.
enum class Interest : std::uint8_t {
  kNone = 0,   ///< nothing; errors may be reported even so
  kRead = 1,   ///< reading would not block
  kWrite = 2,  ///< writing would not block
  kEdge = 4,   ///< report changes, not states: once when bytes arrive, not while they are unread
};

/// Returns the bits of both sets.
constexpr auto operator|(Interest a, Interest b) -> Interest {
  return static_cast<Interest>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}

/// True when `set` has all bits of `bits`.
constexpr auto Has(Interest set, Interest bits) -> bool {
  return (static_cast<std::uint8_t>(set) & static_cast<std::uint8_t>(bits)) ==
         static_cast<std::uint8_t>(bits);
}

/// An event of a descriptor. The flags are hints: only the read or write itself is certain.
struct PollEvent {
  std::uint64_t token = 0;   ///< as given to Add() or Change()
  bool readable = false;     ///< reading won't block: bytes, the end of them, or an error
  bool writable = false;     ///< writing won't block: room, or an error
  bool peer_closed = false;  ///< the peer will send no more; bytes may still be waiting
  bool error = false;        ///< reading or writing will return the error
};

/// The kernel's list of the descriptors that this thread waits for.
class Poller {
 public:
  /// Makes the poller of this system. Throws std::system_error if the kernel has none left.
  [[nodiscard]] static auto Create() -> std::unique_ptr<Poller>;

  virtual ~Poller() = default;
  Poller(const Poller&) = delete;
  auto operator=(const Poller&) -> Poller& = delete;

  /// Starts to watch a descriptor. A descriptor that is already ready is reported too, even with
  /// kEdge. Closing the descriptor ends this, unless a copy of it is open (dup, a child process).
  ///
  /// @param fd the descriptor, borrowed.
  /// @param interest the events to wait for.
  /// @param token comes back in the events.
  /// @throws std::system_error, "epoll add 7: File exists".
  virtual void Add(int fd, Interest interest, std::uint64_t token) = 0;

  /// Watches for other events from now on. With kEdge, a ready descriptor is reported once more.
  ///
  /// @param fd a descriptor that has been added.
  /// @param interest replaces the former interest.
  /// @param token replaces the former token.
  /// @throws std::system_error, "epoll change 7: No such file or directory".
  virtual void Change(int fd, Interest interest, std::uint64_t token) = 0;

  /// Stops watching `fd`; does nothing if it isn't watched. Events of the last Wait() may still
  /// name it.
  virtual void Remove(int fd) = 0;

  /// Sleeps until there is an event or the time is over.
  ///
  /// @param timeout the longest wait; nullopt: forever; zero or less: no wait. Finer durations must
  ///     be rounded up (std::chrono::ceil): rounded down, the last fraction of a millisecond before
  ///     a deadline is spent spinning.
  /// @return the events; empty when the time is over or a signal came in. The vector is
  ///     overwritten by the next call. A descriptor may come up twice, once to read and once to
  ///     write.
  virtual auto Wait(std::optional<std::chrono::milliseconds> timeout)
      -> const std::vector<PollEvent>& = 0;

 protected:
  Poller() = default;
};

}  // namespace TURTLE_SERVER
