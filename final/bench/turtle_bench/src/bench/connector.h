// Opens connections to one server without waiting for any of them: the client's counterpart of the
// Acceptor.
//
// connect(2) on a non-blocking socket only begins. The socket becomes writable when the handshake
// is over, whether it worked or not; SO_ERROR says which (connect(2), EINPROGRESS). Over loopback
// the handshake is over before the call returns, though the call does not say so: a second look
// then saves the watch.
//
// Interface:
//  * Connect() begins; the callback gets the connected socket, or the reason why there is none.
//
// Thread: the loop's, or before it runs.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>

#include "base/unique_fd.h"
#include "core/looper.h"
#include "core/net_address.h"

namespace TURTLE_SERVER {

/// Opens non-blocking TCP connections, with TCP_NODELAY, on one loop.
class Connector {
 public:
  /// Gets the tag of Connect(), and a connected socket and 0, or no socket and an errno value,
  /// ETIMEDOUT if it took too long. It may call Connect().
  using Callback = std::function<void(std::uint32_t tag, UniqueFd socket, int error)>;

  /// @param looper outlives this object
  /// @param server address to connect to
  /// @param timeout how long a handshake may take
  /// @param callback gets every outcome
  Connector(Looper& looper, const NetAddress& server, std::chrono::milliseconds timeout,
            Callback callback);

  Connector(const Connector&) = delete;
  auto operator=(const Connector&) -> Connector& = delete;

  /// Cancels unfinished attempts; the callback is not called.
  ~Connector();

  /// Begins a connection. The callback is called once, perhaps before this returns. Throws
  /// std::bad_alloc.
  /// @param tag comes back with the outcome
  void Connect(std::uint32_t tag);

  /// Returns how many attempts are unfinished.
  [[nodiscard]] auto Pending() const noexcept -> std::size_t { return attempts_.size(); }

 private:
  struct Attempt {
    UniqueFd socket;
    std::uint32_t tag;
    WatchId watch;
    TimerId timer;
  };

  auto Open(UniqueFd& socket) -> int;
  void Await(UniqueFd socket, std::uint32_t tag);
  void Finish(int fd, int error);

  Looper& looper_;
  const NetAddress server_;
  const bool is_loopback_;
  const bool spreads_;
  const std::chrono::milliseconds timeout_;
  const Callback callback_;
  std::uint32_t opened_ = 0;
  std::unordered_map<int, Attempt> attempts_;  // by descriptor
};

}  // namespace TURTLE_SERVER
