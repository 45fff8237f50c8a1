#include "web/event_history.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "http/event_stream.h"

namespace TURTLE_SERVER {
namespace {

using std::string_view_literals::operator""sv;

auto Text(std::uint64_t id, std::string_view data) -> std::string {
  const std::string number = std::to_string(id);
  ServerEvent event{data};
  event.id = number;
  std::string text;
  AppendEvent(event, text);
  return text;
}

auto Reset() -> std::string {
  ServerEvent event{"", "reset"};
  std::string text;
  AppendEvent(event, text);
  return text;
}

using Texts = std::vector<std::string>;

// A listener that keeps its events.
auto Into(Texts& texts) -> EventListener {
  return [&texts](const std::string& text) {
    texts.push_back(text);
    return true;
  };
}

TEST(EventHistoryTest, WhoListensHears) {
  EventHistory history(10);
  EXPECT_EQ(history.Publish("too early"), 1U);
  Texts one;
  Texts two;
  history.Listen(std::nullopt, Into(one));
  EXPECT_EQ(history.Publish("a"), 2U);
  history.Listen("", Into(two));
  EXPECT_EQ(history.Publish("b\nc"), 3U);
  EXPECT_EQ(one, (Texts{Text(2, "a"), Text(3, "b\nc")}));
  EXPECT_EQ(two, (Texts{Text(3, "b\nc")}));
  EXPECT_EQ(history.Listeners(), 2U);
}

TEST(EventHistoryTest, WhoComesBackHasMissedNothing) {
  EventHistory history(10);
  for (const char* const data : {"a", "b", "c", "d"}) {
    history.Publish(data);
  }
  Texts texts;
  history.Listen("2", Into(texts));
  EXPECT_EQ(texts, (Texts{Text(3, "c"), Text(4, "d")}));
  history.Publish("e");
  EXPECT_EQ(texts, (Texts{Text(3, "c"), Text(4, "d"), Text(5, "e")}));
  Texts none;
  history.Listen("5", Into(none));
  EXPECT_EQ(none, Texts{});
}

TEST(EventHistoryTest, WhatIsNotKeptIsSaid) {
  EventHistory history(3);
  for (int i = 1; i <= 10; ++i) {
    history.Publish(std::to_string(i));
  }
  const auto heard = [&history](std::string_view last_id) {
    Texts texts;
    auto heard = std::make_shared<Texts>();
    history.Listen(last_id, [heard](const std::string& text) {
      heard->push_back(text);
      return true;
    });
    return *heard;
  };
  EXPECT_EQ(heard("7"), (Texts{Text(8, "8"), Text(9, "9"), Text(10, "10")}));
  EXPECT_EQ(heard("6"), Texts{Reset()}) << "7 is gone";
  EXPECT_EQ(heard("1"), Texts{Reset()});
  EXPECT_EQ(heard("10"), Texts{});
  for (const std::string_view bad :
       {"11"sv, "0"sv, "-1"sv, "08"sv, "8 "sv, " 8"sv, "+8"sv, "8x"sv, "x"sv, "8\0"sv,
        "18446744073709551615"sv, "18446744073709551616"sv, "18446744073709551624"sv,
        "99999999999999999999999999"sv}) {
    EXPECT_EQ(heard(bad), Texts{Reset()}) << bad;
  }
  Texts texts;
  history.Listen("1", Into(texts));
  history.Publish("new");
  EXPECT_EQ(texts, (Texts{Reset(), Text(11, "new")}));
}

TEST(EventHistoryTest, NoEventHasBeenThere) {
  EventHistory history(3);
  Texts texts;
  history.Listen("1", Into(texts));
  EXPECT_EQ(texts, Texts{Reset()});
}

TEST(EventHistoryTest, WhoWantsNoMoreGetsNoMore) {
  EventHistory history(10);
  int calls = 0;
  history.Publish("a");
  history.Publish("b");
  history.Publish("c");
  history.Listen("1", [&calls](const std::string&) { return ++calls < 1; });
  EXPECT_EQ(calls, 1) << "not even of what is kept";
  EXPECT_EQ(history.Listeners(), 0U);
  history.Listen(std::nullopt, [&calls](const std::string&) -> bool {
    ++calls;
    throw std::runtime_error("has gone");
  });
  EXPECT_EQ(history.Listeners(), 1U);
  Texts other;
  history.Listen(std::nullopt, Into(other));
  history.Publish("d");
  history.Publish("e");
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(history.Listeners(), 1U);
  EXPECT_EQ(other, (Texts{Text(4, "d"), Text(5, "e")}));
}

TEST(EventHistoryTest, WhoWantsNoMoreIsLetGo) {
  EventHistory history(10);
  auto held = std::make_shared<int>(0);
  history.Listen(std::nullopt, [held](const std::string&) { return false; });
  EXPECT_EQ(held.use_count(), 2);
  history.Publish("a");
  EXPECT_EQ(held.use_count(), 1);
}

TEST(EventHistoryTest, AListenerMayPublishAndListen) {
  EventHistory history(10);
  Texts first;
  Texts last;
  Texts inner;
  history.Listen(std::nullopt, Into(first));
  history.Listen(std::nullopt, [&](const std::string& text) {
    if (text == Text(1, "hello")) {
      EXPECT_EQ(history.Publish("hello back"), 2U);
      history.Listen("1", Into(inner));
    }
    return true;
  });
  history.Listen(std::nullopt, Into(last));
  history.Publish("hello");
  const Texts both = {Text(1, "hello"), Text(2, "hello back")};
  EXPECT_EQ(first, both);
  EXPECT_EQ(last, both) << "in order for all";
  EXPECT_EQ(inner, Texts{Text(2, "hello back")});
}

TEST(EventHistoryTest, OneThatTakesLongHoldsUpNobodyElse) {
  constexpr auto kPatience = std::chrono::seconds(10);
  EventHistory history(10);
  std::promise<void> entered;
  std::promise<void> go;
  Texts slow;
  Texts quick;
  history.Listen(std::nullopt, [&](const std::string& text) {
    if (slow.empty()) {
      entered.set_value();
      EXPECT_EQ(go.get_future().wait_for(kPatience), std::future_status::ready);
    }
    slow.push_back(text);
    return true;
  });
  history.Listen(std::nullopt, Into(quick));
  auto publisher = std::async(std::launch::async, [&history] { history.Publish("a"); });
  ASSERT_EQ(entered.get_future().wait_for(kPatience), std::future_status::ready);
  auto other = std::async(std::launch::async, [&history, &quick] {
    history.Publish("b");
    return quick;
  });
  const bool returned = other.wait_for(kPatience / 2) == std::future_status::ready;
  go.set_value();
  publisher.get();
  EXPECT_TRUE(returned);
  EXPECT_EQ(other.get(), (Texts{Text(1, "a"), Text(2, "b")}));
  EXPECT_EQ(slow, (Texts{Text(1, "a"), Text(2, "b")}));
}

// Acts like a page: it listens, loses its connection now and then, and comes back with the id of
// the last event that it has got.
class Follower {
 public:
  Follower(EventHistory& history, std::uint64_t until) : history_(history), until_(until) {}

  void Run() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (last_ < until_ && faults_ == 0 && std::chrono::steady_clock::now() < end) {
      if (!listens_.exchange(true)) {
        const std::string id = std::to_string(last_);
        history_.Listen(id, [this](const std::string& text) { return Take(text); });
      } else {
        std::this_thread::yield();
      }
    }
  }

  [[nodiscard]] auto Last() const -> std::uint64_t { return last_; }
  [[nodiscard]] auto Faults() const -> int { return faults_; }

 private:
  auto Take(const std::string& text) -> bool {
    const std::uint64_t expected = last_ + 1;
    faults_ += inside_.exchange(true) || text != Text(expected, "x") ? 1 : 0;
    inside_ = false;
    last_ = expected;
    const bool stays = expected % 7 != 0 && expected != until_;
    listens_ = stays;
    return stays;
  }

  EventHistory& history_;
  const std::uint64_t until_;
  std::atomic<std::uint64_t> last_{1};
  std::atomic<bool> listens_{false};
  std::atomic<bool> inside_{false};
  std::atomic<int> faults_{0};
};

TEST(EventHistoryTest, NothingIsMissedByAnybody) {
  constexpr std::uint64_t kEvents = 3000;
  EventHistory history(kEvents);
  history.Publish("x");
  std::vector<std::unique_ptr<Follower>> followers;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    followers.push_back(std::make_unique<Follower>(history, kEvents));
    threads.emplace_back([&follower = *followers.back()] { follower.Run(); });
  }
  std::atomic<std::uint64_t> published{1};
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&history, &published] {
      while (published.fetch_add(1) < kEvents) {
        history.Publish("x");
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const auto& follower : followers) {
    EXPECT_EQ(follower->Faults(), 0);
    EXPECT_EQ(follower->Last(), kEvents);
  }
  EXPECT_EQ(history.Listeners(), 0U);
}

TEST(EventHistoryTest, NoneIsTooFew) {
  try {
    const EventHistory history(0);
    FAIL() << "for whom?";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "0 events: at least 1");
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
