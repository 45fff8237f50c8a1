// Identifies an exchange on other threads, which may not hold a pointer to it.
//
// It is a ticket for the connection (core/connection_ticket.h) plus the number of one exchange. The
// loop compares the number, so a connection that has moved on to its next request never gets the
// response to the last.
//
// Thread: any; made on the loop's thread.
#pragma once

#include <cstdint>
#include <utility>

#include "core/connection_ticket.h"
#include "web/exchange.h"
#include "web/session.h"

namespace TURTLE_SERVER {

/// Identifies one exchange of one loop on other threads.
class ExchangeTicket {
 public:
  /// Makes a ticket for `exchange`. On its loop's thread.
  explicit ExchangeTicket(const Exchange& exchange)
      : connection_(exchange.GetConnection()), number_(exchange.Id().number) {}

  /// Runs `action` on the loop's thread with the exchange, or with nullptr if its response is
  /// complete. Throws std::bad_alloc only.
  /// @param action a copyable function of (Exchange*), called once if the connection is still there
  /// @param gone called once instead, on the loop's thread, if it is gone; may be empty
  /// @return false if the loop has ended; neither is called
  template <typename Action>
  [[nodiscard]] auto Post(Action action, const Task& gone = {}) const -> bool {
    return connection_.Post(
        [number = number_, action = std::move(action)](Connection* client) mutable {
          action(Session::Of(*client).FindOpen(number));
        },
        gone);
  }

 private:
  ConnectionTicket connection_;
  std::uint32_t number_;
};

}  // namespace TURTLE_SERVER
