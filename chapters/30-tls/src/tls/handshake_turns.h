// The handshakes of one loop, a few in each round.
//
// A handshake costs a hundred times as much as a small request: the server signs with its private
// key. If a thousand clients connect at once, a loop that served them all in one round would leave
// its other clients waiting for a second. So only some go on in each round, and the others queue.
//
// Interface:
//  * Take() asks for a turn, now or later.
//
// Thread: the loop's.
#pragma once

#include <cstddef>
#include <deque>

#include "base/clock.h"
#include "core/connection.h"
#include "core/looper.h"

namespace TURTLE_SERVER {

/// Deals out turns in the order in which they were asked for.
class HandshakeTurns {
 public:
  /// The turns of one round: with an RSA key of 2048 bits, some 5 ms.
  static constexpr std::size_t kPerRound = 8;

  /// @param looper of the connections; none of them outlives the turns
  explicit HandshakeTurns(Looper& looper) : looper_(looper) {}
  HandshakeTurns(const HandshakeTurns&) = delete;
  auto operator=(const HandshakeTurns&) -> HandshakeTurns& = delete;

  /// Asks for a turn.
  /// @param id the connection. If its turn is later, its handler is called then
  /// @param has_turn set to true when the turn has come; lives as long as the connection
  /// @return `has_turn`: true if the turn is now
  auto Take(ConnectionId id, bool& has_turn) -> bool;

 private:
  // A connection that waits.
  struct Waiting {
    ConnectionId id;
    bool* has_turn;
  };

  void BeginRound() noexcept;
  void AwaitRound();
  void OnRound();

  Looper& looper_;
  TimePoint round_;       // when the present round began
  std::size_t used_ = 0;  // turns of this round
  std::deque<Waiting> waiting_;
  bool awaits_round_ = false;  // a timer will call OnRound()
};

}  // namespace TURTLE_SERVER
