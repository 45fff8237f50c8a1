#include "tls/handshake_turns.h"

namespace TURTLE_SERVER {

auto HandshakeTurns::Take(ConnectionId id, bool& has_turn) -> bool {
  if (looper_.Now() != round_) {
    BeginRound();
  }
  has_turn = waiting_.empty() && used_ < kPerRound;  // nobody overtakes those who wait
  if (has_turn) {
    ++used_;
  } else {
    waiting_.push_back({id, &has_turn});
    AwaitRound();
  }
  return has_turn;
}

void HandshakeTurns::BeginRound() noexcept {
  round_ = looper_.Now();
  used_ = 0;
}

void HandshakeTurns::AwaitRound() {
  if (!awaits_round_) {
    looper_.RunAfter(Clock::duration::zero(), [this] { OnRound(); });
    awaits_round_ = true;
  }
}

// A timer that is due runs in the next round, so the other connections are served in between.
void HandshakeTurns::OnRound() {
  awaits_round_ = false;
  BeginRound();
  while (used_ < kPerRound && !waiting_.empty()) {
    const Waiting next = waiting_.front();
    waiting_.pop_front();
    if (Connection* const connection = looper_.Find(next.id)) {  // nullptr: it has given up
      *next.has_turn = true;
      ++used_;
      looper_.Schedule(connection);
    }
  }
  if (!waiting_.empty()) {
    AwaitRound();
  }
}

}  // namespace TURTLE_SERVER
