// Ends a connection: sends its last bytes, and waits for the client's end.
//
// A deleted connection's last bytes are not lost. If the kernel does not take them at once, they
// are sent for as long as the client keeps reading. If the client is still sending, the connection
// is half-closed and read from for a while. Otherwise close(2) with unread input would reset it,
// and the reset destroys the response on its way (RFC 9112, section 9.6).
//
// Interface:
//  * Begin() is called once, at the end of the round in which the connection was deleted. Most
//    connections are done then.
//  * The others are parting: Serve() is called when one is ready, Expire() when its time is up.
//  * Each of these returns the loop's next step.
//  * Forget() is called when a connection is destroyed.
//
// Thread: the loop's.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/clock.h"
#include "core/connection.h"
#include "core/min_rate.h"

namespace TURTLE_SERVER {

/// The loop's next step with a connection that is being closed.
struct ClosingStep {
  Clock::duration deadline{};  ///< sets the deadline to this time from now; zero: keeps it
  bool over = false;           ///< destroys it; the rest means nothing
  bool again = false;          ///< serves it in the next round: it may have input
};

/// Closes the deleted connections of one loop.
class ConnectionCloser {
 public:
  /// How long a client may take its last bytes more slowly than kMinRate.
  static constexpr std::chrono::seconds kFlushTime{10};
  /// How long a client may take to stop sending, after the last byte to it.
  static constexpr std::chrono::seconds kLingerTime{5};

  /// Limits how slowly a client may take its last bytes.
  void SetFlushRate(MinRate rate) noexcept { flush_rate_ = rate; }

  /// Destroys the user's state, and sends what is queued.
  /// @param connection of phase kDeleted
  /// @throws std::bad_alloc, as do the others: destroy the connection then
  auto Begin(Connection& connection) -> ClosingStep;

  /// Continues to send, and reads and drops input.
  /// @param connection parting
  auto Serve(Connection& connection) -> ClosingStep;

  /// Grants a client that has taken some of its last bytes the time that they are worth.
  /// @param connection parting
  auto Expire(Connection& connection) -> ClosingStep;

  /// Forgets a connection that is being destroyed.
  void Forget(const Connection& connection) noexcept { parting_ -= connection.Parting() ? 1 : 0; }

  /// Returns the number of connections that are parting.
  [[nodiscard]] auto Parting() const noexcept -> std::size_t { return parting_; }

 private:
  static auto Linger(Connection& connection) -> ClosingStep;

  MinRate flush_rate_{kMinRate, kFlushTime};
  std::size_t parting_ = 0;
};

}  // namespace TURTLE_SERVER
