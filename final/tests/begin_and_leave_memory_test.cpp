// Wherever memory runs out while a server begins, hands over or drains: it serves, at most one
// attempt to hand over is abandoned, and a drain ends.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <functional>
#include <string>

#include "app/hand_over.h"
#include "core/socket.h"
#include "core/turtle_server.h"
#include "core/wakeup.h"
#include "support/captured_stderr.h"
#include "support/client.h"
#include "support/failing_new.h"
#include "support/handlers.h"
#include "support/log_folder.h"

namespace TURTLE_SERVER {
namespace {

using test::FailAllocations;
using test::StopFailing;

constexpr std::size_t kAll = 1'000'000;

class HandOverMemoryTest : public testing::Test {
 protected:
  HandOverMemoryTest() {
    listener_.Bind(NetAddress("127.0.0.1", 0));
    listener_.Listen();
  }

  // Returns the options to run a script with /bin/sh instead of a successor.
  auto Script(const std::string& text) -> HandOverOptions {
    folder_.Write("program", "#!/bin/sh\n" + text + "\n");
    ::chmod(folder_.Path("program").c_str(), 0755);
    HandOverOptions options;
    options.command = {folder_.Path("program")};
    options.listeners = {listener_.GetFd()};
    options.names = {"web"};
    options.time_limit = test::kPatience;
    return options;
  }

  static auto HasNoChildren() -> bool {
    siginfo_t child{};
    const int options = WEXITED | WNOHANG | WNOWAIT;  // left for its owner to reap
    return ::waitid(P_ALL, 0, &child, options) < 0 && errno == ECHILD;
  }

  // Begins while memory runs out from allocation `first` on, and again once there is some, until
  // nothing is left of either. @return how many allocations failed
  auto BeginTwice(const HandOverOptions& options, std::size_t first, std::size_t count)
      -> std::size_t {
    const test::CapturedStderr errors;
    Looper looper;
    std::size_t failed = 0;
    bool again = false;
    HandOver hand_over(looper, options, [](pid_t) { FAIL(); });
    const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
    // While memory fails, the timer itself may fail: so a watch checks.
    Wakeup wakeup;
    wakeup.Signal();
    const WatchId watch = looper.Watch(wakeup.Fd(), Interest::kRead, [&](const PollEvent&) {
      const bool late = std::chrono::steady_clock::now() > deadline;
      if (!late && (hand_over.UnderWay() || !HasNoChildren())) {
        return;
      }
      failed += StopFailing();
      if (again || late) {
        looper.Stop();
      } else {
        again = true;
        hand_over.Begin();
      }
    });
    FailAllocations(first, count);
    hand_over.Begin();
    looper.Loop();
    looper.Unwatch(watch);
    EXPECT_TRUE(again) << "nobody looked whether it is dead: " << errors.Text();
    EXPECT_TRUE(HasNoChildren()) << errors.Text();
    return failed;
  }

  test::LogFolder folder_;
  Socket listener_;
};

TEST_F(HandOverMemoryTest, OneThatEndsIsReapedAndAnotherMayTry) {
  const HandOverOptions options = Script("exit 3");
  for (const std::size_t count : {std::size_t{1}, kAll}) {
    std::size_t first = 1;
    while (BeginTwice(options, first, count) != 0) {
      ASSERT_FALSE(HasFailure()) << "from allocation " << first << " on, " << count << " fail";
      ++first;
    }
    EXPECT_GT(first, 20U) << "hardly anything was allocated";
  }
}

// A loop's thread has no caller to which it could report a failure.
TEST(TurtleServerMemoryTest, EveryLoopBeginsWithoutMemoryForItsThread) {
  const test::CapturedStderr errors;
  ServerOptions options;
  options.threads = 3;
  TurtleServer server(NetAddress("127.0.0.1", 0), options);
  server.OnHandle(test::Echo);
  Looper& first = *server.Loopers().front();
  bool was_ready = false;
  const std::function<void()> look = [&] {
    was_ready = server.IsReady();
    if (was_ready) {
      server.Stop();
    } else {
      first.RunAfter(std::chrono::milliseconds(1), look);
    }
  };
  first.RunAfter(std::chrono::milliseconds(0), look);
  first.RunAfter(test::kPatience, [&] { server.Stop(); });
  test::failing_from_birth.fail = kAll;
  server.Begin();
  test::failing_from_birth.fail = 0;
  EXPECT_TRUE(was_ready) << "a loop did not begin: " << errors.Text();
  EXPECT_EQ(errors.Text(), "");
}

// Drains a server of two loops, with a client on each, while memory runs out on the first loop's
// thread from allocation `first` on. @return how many allocations failed
auto DrainOnce(std::size_t first, std::size_t count) -> std::size_t {
  ServerOptions options;
  options.threads = 2;
  options.stop_timeout = options.last_chance = std::chrono::milliseconds(20);
  TurtleServer server(NetAddress("127.0.0.1", 0), options);
  std::size_t failed = 0;
  bool in_time = true;
  server.OnHandle(test::Echo);
  Looper& looper = *server.Loopers().front();
  const test::Client one(server.LocalAddress().Port());
  const test::Client two(server.LocalAddress().Port());
  looper.RunAfter(std::chrono::milliseconds(0), [&] {
    FailAllocations(first, count);
    server.Drain();
  });
  looper.RunAfter(test::kPatience, [&] {
    in_time = false;
    server.Stop();
  });
  looper.AtStop([&] { failed = StopFailing(); });
  server.Begin();
  EXPECT_TRUE(in_time);
  EXPECT_TRUE(server.IsLeaving());
  return failed;
}

TEST(TurtleServerMemoryTest, ADrainWithoutMemoryEnds) {
  const test::CapturedStderr errors;
  for (const std::size_t count : {std::size_t{1}, kAll}) {
    std::size_t first = 1;
    while (DrainOnce(first, count) != 0) {
      ASSERT_FALSE(HasFailure()) << "from allocation " << first << " on, " << count << " fail";
      ++first;
    }
    EXPECT_GT(first, 3U) << "hardly anything was allocated";
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
