// Descriptors that are not clients.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "core/looper.h"
#include "support/captured_stderr.h"
#include "support/loop_thread.h"

namespace TURTLE_SERVER {
namespace {

using test::LoopThread;

// A pipe with which a test rings a watch.
class Bell {
 public:
  Bell() {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) {
      throw std::system_error(errno, std::generic_category(), "pipe");
    }
    read_end_.Reset(ends[0]);
    write_end_.Reset(ends[1]);
  }

  auto Fd() const -> int { return read_end_.Get(); }
  void Ring() const { EXPECT_EQ(::write(write_end_.Get(), "x", 1), 1); }
  void Silence() const {
    char byte = 0;
    EXPECT_EQ(::read(read_end_.Get(), &byte, 1), 1);
  }

 private:
  UniqueFd read_end_;
  UniqueFd write_end_;
};

TEST(LooperWatch, CallsBackOnTheLoopsThreadWhenTheDescriptorIsReady) {
  const Bell bell;
  std::promise<std::thread::id> rung;
  LoopThread loop;
  loop.Ask([&] {
    loop.Get().Watch(bell.Fd(), Interest::kRead, [&](const PollEvent& event) {
      EXPECT_TRUE(event.readable);
      bell.Silence();
      rung.set_value(std::this_thread::get_id());
    });
  });
  bell.Ring();
  auto thread = rung.get_future();
  ASSERT_EQ(thread.wait_for(test::kPatience), std::future_status::ready);
  EXPECT_EQ(thread.get(), loop.ThreadId());
}

TEST(LooperWatch, IsLevelTriggeredUnlessItIsToldOtherwise) {
  const Bell level;
  const Bell edge;
  int level_calls = 0;
  int edge_calls = 0;
  LoopThread loop;
  loop.Ask([&] {
    loop.Get().Watch(level.Fd(), Interest::kRead, [&](const PollEvent&) { ++level_calls; });
    loop.Get().Watch(edge.Fd(), Interest::kRead | Interest::kEdge,
                     [&](const PollEvent&) { ++edge_calls; });
  });
  edge.Ring();
  level.Ring();
  EXPECT_TRUE(loop.Await([&] { return level_calls >= 5; })) << "nobody has read it";
  loop.Ask([&] { EXPECT_EQ(edge_calls, 1); });
}

TEST(LooperWatch, RestsAndGoesOn) {
  const Bell bell;
  int calls = 0;
  WatchId id{};
  LoopThread loop;
  loop.Ask([&] {
    id = loop.Get().Watch(bell.Fd(), Interest::kRead, [&](const PollEvent&) { ++calls; });
    loop.Get().ChangeWatch(id, Interest::kNone);
  });
  bell.Ring();
  loop.RunRounds(5);
  loop.Ask([&] {
    EXPECT_EQ(calls, 0);
    loop.Get().ChangeWatch(id, Interest::kRead);
  });
  EXPECT_TRUE(loop.Await([&] { return calls > 0; }));
}

TEST(LooperWatch, CanBeEndedFromWithinItsCallback) {
  const Bell bell;
  const auto witness = std::make_shared<int>(0);
  WatchId id{};
  LoopThread loop;
  bell.Ring();
  loop.Ask([&] {
    id = loop.Get().Watch(bell.Fd(), Interest::kRead, [&loop, &id, witness](const PollEvent&) {
      loop.Get().Unwatch(id);
      loop.Get().Unwatch(id);
      ++*witness;  // the callback's captures outlive the call
    });
  });
  loop.RunRounds(5);
  loop.Ask([&] {
    EXPECT_EQ(*witness, 1);
    EXPECT_EQ(witness.use_count(), 1) << "and no longer than that";
  });
}

TEST(LooperWatch, AnOldNameDoesNotMeanTheNextWatchOfTheNumber) {
  const Bell bell;
  int calls = 0;
  LoopThread loop;
  loop.Ask([&] {
    const WatchId old = loop.Get().Watch(bell.Fd(), Interest::kRead, [](const PollEvent&) {});
    loop.Get().Unwatch(old);
    loop.Get().Watch(bell.Fd(), Interest::kRead, [&](const PollEvent&) { ++calls; });
    loop.Get().Unwatch(old);
    loop.Get().ChangeWatch(old, Interest::kNone);
  });
  bell.Ring();
  EXPECT_TRUE(loop.Await([&] { return calls > 0; }));
}

// Both bells ring in one round. Whichever callback comes first ends the other watch, and gives the
// other's number to a descriptor on which nothing has happened.
TEST(LooperWatch, AnEventThatOutlivesItsWatchMissesTheNextOwnerOfTheNumber) {
  std::array<Bell, 2> bells;
  Bell silent;
  std::array<WatchId, 2> ids{};
  int calls = 0;
  int stale_calls = 0;
  LoopThread loop;
  const auto on_ring = [&](std::size_t mine, std::size_t other) {
    ++calls;
    bells[mine].Silence();
    loop.Get().Unwatch(ids[other]);
    ASSERT_EQ(::dup2(silent.Fd(), ids[other].fd), ids[other].fd);  // closes the other
    loop.Get().Watch(ids[other].fd, Interest::kRead, [&](const PollEvent&) { ++stale_calls; });
  };
  loop.Ask([&] {
    for (const std::size_t i : {0, 1}) {
      ids[i] = loop.Get().Watch(bells[i].Fd(), Interest::kRead,
                                [&on_ring, i](const PollEvent&) { on_ring(i, 1 - i); });
    }
  });
  loop.WhileItStandsStill([&] {
    bells[0].Ring();
    bells[1].Ring();
  });
  loop.RunRounds(3);
  loop.Ask([&] {
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(stale_calls, 0);
  });
}

TEST(LooperWatch, MayBeginOtherWatches) {
  const Bell first;
  std::vector<Bell> more(100);
  std::size_t calls = 0;
  LoopThread loop;
  first.Ring();
  for (const Bell& bell : more) {
    bell.Ring();
  }
  loop.Ask([&] {
    loop.Get().Watch(first.Fd(), Interest::kRead, [&](const PollEvent&) {
      first.Silence();
      for (const Bell& bell : more) {
        loop.Get().Watch(bell.Fd(), Interest::kRead, [&](const PollEvent&) {
          bell.Silence();
          ++calls;
        });
      }
    });
  });
  EXPECT_TRUE(loop.Await([&] { return calls == more.size(); }));
}

TEST(LooperWatch, ACallbackThatThrowsIsLoggedAndTheLoopLives) {
  const test::CapturedStderr captured;
  const Bell bell;
  bool thrown = false;
  LoopThread loop;
  loop.Ask([&] {
    loop.Get().Watch(bell.Fd(), Interest::kRead, [&](const PollEvent&) {
      bell.Silence();
      thrown = true;
      throw std::runtime_error("out of order");
    });
  });
  bell.Ring();
  EXPECT_TRUE(loop.Await([&] { return thrown; }));
  EXPECT_NE(captured.Text().find("out of order"), std::string::npos) << captured.Text();
}

TEST(LooperWatch, RefusesWhatTheKernelCannotWatchAndWhatIsWatchedAlready) {
  const Bell bell;
  Looper looper;
  const auto ignore = [](const PollEvent&) {};
  EXPECT_THROW(looper.Watch(1000000, Interest::kRead, ignore), std::system_error);
  looper.Watch(bell.Fd(), Interest::kRead, ignore);
  EXPECT_THROW(looper.Watch(bell.Fd(), Interest::kRead, ignore), std::logic_error);
}

}  // namespace
}  // namespace TURTLE_SERVER
