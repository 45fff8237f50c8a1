// Turns of handshakes: how many there are in each round of a loop, and in which order they are
// dealt.
#include "tls/handshake_turns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "core/connection.h"
#include "core/looper.h"
#include "support/client.h"
#include "support/loop_thread.h"
#include "support/manual_clock.h"

namespace TURTLE_SERVER {
namespace {

using Numbers = std::vector<std::size_t>;

constexpr std::size_t kPerRound = HandshakeTurns::kPerRound;

// Returns the numbers from `first` on, up to but without `end`.
auto Range(std::size_t first, std::size_t end) -> Numbers {
  Numbers numbers(end - first);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

// A clock that never shows a time twice, so that a loop's rounds differ in their time.
class TickingClock {
 public:
  [[nodiscard]] auto Source() -> ClockSource {
    return [this] { return TimePoint(std::chrono::hours(1) + Clock::duration(++ticks_)); };
  }

 private:
  std::atomic<Clock::rep> ticks_{0};
};

// A connection got its turn in a round, or was served without one.
struct Event {
  std::size_t number;  // of the connection
  TimePoint round;
  bool is_later;  // Take() has said no before
};

// A loop whose connections ask for turns when their handler is called. Everything but the
// constructor, Connect(), Await() and OnLoop() is for the loop's thread.
class Crowd {
 public:
  explicit Crowd(ClockSource clock) : loop_(std::move(clock)) {
    turns_.emplace(loop_.Get());
    callbacks_.on_handle = [this](Connection* connection) { OnHandle(connection->Id()); };
  }

  // Makes connections, numbered from 0 on.
  void Connect(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      ConnectionId id{};
      clients_.push_back(loop_.Connect(callbacks_, &id));
      OnLoop([this, id] { members_.push_back({id}); });
    }
    loop_.RunRounds(2);  // after which no handler is called for the beginning
  }

  // Runs `action` on the loop's thread.
  void OnLoop(const std::function<void()>& action) { loop_.Ask(action); }

  // Waits until there are so many events. @return false after ten seconds
  [[nodiscard]] auto Await(std::size_t events) -> bool {
    return Await([this, events] { return events_.size() >= events; });
  }

  // Waits for a condition of the loop's thread. @return likewise
  [[nodiscard]] auto Await(const std::function<bool()>& condition) -> bool {
    return loop_.Await(condition);
  }

  // Lets these handlers ask for turns, all in one round.
  void AskFor(const Numbers& numbers) {
    for (const std::size_t number : numbers) {
      members_[number].asks = true;
      Schedule(number);
    }
  }

  // Asks for a turn at once.
  void Take(std::size_t number) {
    Member& member = members_[number];
    member.has_turn = false;
    const bool is_now = turns_->Take(member.id, member.has_turn);
    EXPECT_EQ(is_now, member.has_turn) << number;
    member.waits = !is_now;
    if (is_now) {
      Note(number, false);
    }
  }

  // Adds an event.
  void Note(std::size_t number, bool is_later) {
    events_.push_back({number, Get().Now(), is_later});
  }

  // Deletes a connection.
  void Delete(std::size_t number) { Get().DeleteConnection(members_[number].id); }

  // Has a handler called.
  void Schedule(std::size_t number) { Get().Schedule(Get().Find(members_[number].id)); }

  // True if the turn of that connection has come.
  [[nodiscard]] auto HasTurn(std::size_t number) const -> bool { return members_[number].has_turn; }

  // Sets what is done after each call of a handler, with its number.
  void AfterHandler(std::function<void(std::size_t)> action) { after_ = std::move(action); }

  [[nodiscard]] auto Get() -> Looper& { return loop_.Get(); }

  // The rest is for a loop that rests: after Await(), nobody has anything to do.

  [[nodiscard]] auto Events() const -> const std::vector<Event>& { return events_; }

  // Returns the numbers of the events, by round.
  [[nodiscard]] auto ByRound() const -> std::vector<Numbers> {
    std::vector<Numbers> rounds;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (i == 0 || events_[i].round != events_[i - 1].round) {
        rounds.emplace_back();
      }
      rounds.back().push_back(events_[i].number);
    }
    return rounds;
  }

 private:
  struct Member {
    ConnectionId id{};
    bool asks = false;
    bool waits = false;
    bool has_turn = false;
  };

  void OnHandle(ConnectionId id) {
    for (std::size_t number = 0; number < members_.size(); ++number) {
      Member& member = members_[number];
      if (member.id == id) {
        if (std::exchange(member.asks, false)) {
          Take(number);
        } else if (member.waits && member.has_turn) {
          member.waits = false;
          Note(number, true);
        }
        if (const auto after = after_) {  // a copy: it may set another
          after(number);
        }
      }
    }
  }

  std::vector<Event> events_;
  std::deque<Member> members_;  // which stay in place: the turns refer to them
  std::function<void(std::size_t)> after_;
  std::optional<HandshakeTurns> turns_;
  ConnectionCallbacks callbacks_;
  test::LoopThread loop_;
  std::vector<test::Client> clients_;
};

class HandshakeTurnsTest : public testing::Test {
 protected:
  // Waits for the events, and then for two rounds in which there could be more.
  [[nodiscard]] auto Await(std::size_t events) -> bool {
    const bool came = crowd_.Await(events);
    crowd_.OnLoop([] {});
    crowd_.OnLoop([] {});
    return came;
  }

  TickingClock clock_;
  Crowd crowd_{clock_.Source()};
};

TEST_F(HandshakeTurnsTest, TheFirstOfARoundHaveTheirTurnsAtOnce) {
  crowd_.Connect(kPerRound);
  crowd_.OnLoop([this] { crowd_.AskFor(Range(0, kPerRound)); });
  ASSERT_TRUE(Await(kPerRound));
  EXPECT_EQ(crowd_.ByRound(), (std::vector<Numbers>{Range(0, kPerRound)}));
  for (const Event& each : crowd_.Events()) {
    EXPECT_FALSE(each.is_later) << each.number;
  }
}

TEST_F(HandshakeTurnsTest, EveryRoundHasTurnsOfItsOwn) {
  crowd_.Connect(kPerRound);
  for (std::size_t round = 1; round <= 3; ++round) {
    crowd_.OnLoop([this] { crowd_.AskFor(Range(0, kPerRound)); });
    ASSERT_TRUE(Await(round * kPerRound));
  }
  EXPECT_EQ(crowd_.ByRound(), std::vector<Numbers>(3, Range(0, kPerRound)));
  for (const Event& each : crowd_.Events()) {
    EXPECT_FALSE(each.is_later) << each.number;
  }
}

TEST_F(HandshakeTurnsTest, TheOthersGetTheirTurnsInLaterRoundsInTheOrderInWhichTheyAsked) {
  constexpr std::size_t kAll = 3 * kPerRound + 3;
  crowd_.Connect(kAll);
  Numbers order = Range(0, kAll);
  std::reverse(order.begin(), order.end());
  crowd_.OnLoop([&] { crowd_.AskFor(order); });
  ASSERT_TRUE(Await(kAll));
  std::vector<Numbers> expected;
  for (std::size_t i = 0; i < kAll; ++i) {
    if (i % kPerRound == 0) {
      expected.emplace_back();
    }
    expected.back().push_back(order[i]);
  }
  EXPECT_EQ(crowd_.ByRound(), expected);
  for (std::size_t i = 0; i < kAll; ++i) {
    EXPECT_EQ(crowd_.Events()[i].is_later, i >= kPerRound) << i;
  }
}

TEST_F(HandshakeTurnsTest, OneThatWaitsHasNoTurnYet) {
  crowd_.Connect(kPerRound + 1);
  bool had_turn = true;
  crowd_.OnLoop([&] {
    crowd_.AfterHandler([&](std::size_t number) {
      if (number == kPerRound && crowd_.Events().size() == kPerRound) {
        had_turn = crowd_.HasTurn(number);
      }
    });
    crowd_.AskFor(Range(0, kPerRound + 1));
  });
  ASSERT_TRUE(Await(kPerRound + 1));
  EXPECT_FALSE(had_turn);
  EXPECT_TRUE(crowd_.HasTurn(kPerRound));
}

TEST_F(HandshakeTurnsTest, AConnectionThatIsGoneCostsNoTurn) {
  crowd_.Connect(2 * kPerRound + 2);
  crowd_.OnLoop([this] {
    crowd_.AfterHandler([this](std::size_t number) {
      if (number == 2 * kPerRound + 1) {  // the last one that asks
        crowd_.AfterHandler({});
        crowd_.Delete(kPerRound);
        crowd_.Delete(kPerRound + 3);
      }
    });
    crowd_.AskFor(Range(0, 2 * kPerRound + 2));
  });
  ASSERT_TRUE(Await(2 * kPerRound));
  Numbers others = Range(kPerRound + 1, 2 * kPerRound + 2);
  others.erase(others.begin() + 2);
  EXPECT_EQ(crowd_.ByRound(), (std::vector<Numbers>{Range(0, kPerRound), others}));
  EXPECT_FALSE(crowd_.HasTurn(kPerRound));
}

TEST_F(HandshakeTurnsTest, AfterThoseWhoWaitedAndAreGoneAnotherHasItsTurnAtOnce) {
  crowd_.Connect(kPerRound + 2);
  crowd_.OnLoop([this] {
    crowd_.AfterHandler([this](std::size_t number) {
      if (number == kPerRound) {
        crowd_.AfterHandler({});
        crowd_.Delete(number);
      }
    });
    crowd_.AskFor(Range(0, kPerRound + 1));
  });
  ASSERT_TRUE(Await(kPerRound));
  crowd_.OnLoop([this] { crowd_.AskFor({kPerRound + 1}); });
  ASSERT_TRUE(Await(kPerRound + 1));
  EXPECT_EQ(crowd_.Events().back().number, kPerRound + 1);
  EXPECT_FALSE(crowd_.Events().back().is_later);
}

// A task of the next round runs before the loop's timers, so before those who wait get their turns.
TEST_F(HandshakeTurnsTest, NobodyOvertakesThoseWhoWait) {
  constexpr std::size_t kNew = kPerRound + 2;
  crowd_.Connect(kNew + 1);
  bool is_early = false;
  crowd_.OnLoop([&] {
    crowd_.AfterHandler([&](std::size_t number) {
      if (number == kPerRound + 1) {  // the last one that asks
        crowd_.AfterHandler({});
        EXPECT_TRUE(crowd_.Get().Post([&] {
          is_early = !crowd_.HasTurn(kPerRound);
          crowd_.Take(kNew);
        }));
      }
    });
    crowd_.AskFor(Range(0, kNew));
  });
  ASSERT_TRUE(Await(kNew + 1));
  ASSERT_TRUE(is_early) << "the task ran too late to overtake anybody";
  EXPECT_EQ(crowd_.ByRound(),
            (std::vector<Numbers>{Range(0, kPerRound), Range(kPerRound, kNew + 1)}));
  EXPECT_TRUE(crowd_.Events().back().is_later);
}

TEST_F(HandshakeTurnsTest, ThoseWhoHaveWaitedUseUpTheTurnsOfTheirRound) {
  constexpr std::size_t kFirst = kPerRound + 3;  // three of them wait
  constexpr std::size_t kAll = kFirst + kPerRound - 3 + 1;
  crowd_.Connect(kAll);
  crowd_.OnLoop([this] {
    crowd_.AfterHandler([this](std::size_t number) {
      if (number == kFirst - 1 && crowd_.HasTurn(number)) {
        crowd_.AfterHandler({});
        for (const std::size_t each : Range(kFirst, kAll)) {
          crowd_.Take(each);
        }
      }
    });
    crowd_.AskFor(Range(0, kFirst));
  });
  ASSERT_TRUE(Await(kAll));
  EXPECT_EQ(crowd_.ByRound(),
            (std::vector<Numbers>{
                Range(0, kPerRound), Range(kPerRound, 2 * kPerRound), {2 * kPerRound}}));
  EXPECT_FALSE(crowd_.Events()[kAll - 2].is_later);
  EXPECT_TRUE(crowd_.Events()[kAll - 1].is_later);
}

TEST_F(HandshakeTurnsTest, OtherConnectionsAreServedBetweenTheRounds) {
  constexpr std::size_t kAskers = 3 * kPerRound;
  constexpr std::size_t kOther = kAskers;  // asks for nothing, and always has something to do
  crowd_.Connect(kAskers + 1);
  std::size_t turns = 0;
  crowd_.OnLoop([&] {
    crowd_.AfterHandler([&](std::size_t number) {
      turns += number != kOther && crowd_.HasTurn(number) ? 1 : 0;
      if (number == kOther && turns < kAskers) {
        crowd_.Note(kOther, false);
        crowd_.Schedule(kOther);
      }
    });
    crowd_.AskFor(Range(0, kAskers));
    crowd_.Schedule(kOther);
  });
  ASSERT_TRUE(crowd_.Await([&] { return turns == kAskers; }));
  crowd_.OnLoop([&] { crowd_.AfterHandler({}); });  // handlers are called at the end, too
  Numbers turns_at;                                 // where in the order of events
  for (std::size_t i = 0; i < crowd_.Events().size(); ++i) {
    if (crowd_.Events()[i].number != kOther) {
      turns_at.push_back(i);
    }
  }
  ASSERT_EQ(turns_at.size(), kAskers);
  for (std::size_t i = kPerRound; i < kAskers; i += kPerRound) {
    EXPECT_NE(turns_at[i], turns_at[i - 1] + 1) << "no other was served before turn " << i;
  }
}

TEST(HandshakeTurnsClockTest, AClockThatStandsStillHoldsNobodyUp) {
  constexpr std::size_t kAll = 2 * kPerRound + 1;
  test::ManualClock clock;
  Crowd crowd(clock.Source());
  crowd.Connect(kAll);
  for (std::size_t round = 1; round <= 2; ++round) {
    crowd.OnLoop([&] { crowd.AskFor(Range(0, kAll)); });
    ASSERT_TRUE(crowd.Await(round * kAll));
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
