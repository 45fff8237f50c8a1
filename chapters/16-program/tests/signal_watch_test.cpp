#include "core/signal_watch.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "core/looper.h"

namespace TURTLE_SERVER {
namespace {

// A hang ends the test with a message instead of the whole run: SIGALRM kills by default.
class SignalWatchTest : public ::testing::Test {
 protected:
  void SetUp() override { alarm(20); }
  void TearDown() override { alarm(0); }
};

auto HandlerOf(int number) -> void (*)(int) {
  struct sigaction action {};
  EXPECT_EQ(sigaction(number, nullptr, &action), 0);
  return action.sa_handler;
}

TEST_F(SignalWatchTest, ASignalRunsTheCallbackOnTheLoopsThread) {
  Looper looper;
  std::vector<int> seen;
  std::thread::id where;
  SignalWatch watch(looper, {SIGUSR1, SIGUSR2}, [&](int number) {
    seen.push_back(number);
    where = std::this_thread::get_id();
    looper.Stop();
  });
  std::thread loop([&looper] { looper.Loop(); });
  const std::thread::id loop_thread = loop.get_id();
  ASSERT_EQ(kill(getpid(), SIGUSR2), 0);
  loop.join();
  EXPECT_EQ(seen, std::vector<int>{SIGUSR2});
  EXPECT_EQ(where, loop_thread);
}

TEST_F(SignalWatchTest, SignalsThatCameTogetherAllArrive) {
  Looper looper;
  std::vector<int> seen;
  SignalWatch watch(looper, {SIGUSR1, SIGUSR2, SIGHUP}, [&](int number) {
    seen.push_back(number);
    if (seen.size() == 3) {
      looper.Stop();
    }
  });
  for (const int number : {SIGHUP, SIGUSR2, SIGUSR1, SIGUSR1}) {
    ASSERT_EQ(raise(number), 0);
  }
  looper.Loop();
  std::sort(seen.begin(), seen.end());
  std::vector<int> expected = {SIGUSR1, SIGUSR2, SIGHUP};
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(seen, expected);  // the repeated one once: it was still pending
}

TEST_F(SignalWatchTest, EveryRoundOfARepeatedSignalArrives) {
  Looper looper;
  int count = 0;
  SignalWatch watch(looper, {SIGUSR1}, [&](int /*number*/) {
    if (++count == 5) {
      looper.Stop();
    } else {
      raise(SIGUSR1);
    }
  });
  ASSERT_EQ(raise(SIGUSR1), 0);
  looper.Loop();
  EXPECT_EQ(count, 5);
}

TEST_F(SignalWatchTest, AThrowingCallbackLosesNoOtherSignal) {
  Looper looper;
  int calls = 0;
  SignalWatch watch(looper, {SIGUSR1, SIGUSR2}, [&](int /*number*/) {
    if (++calls == 2) {
      looper.Stop();
    }
    throw std::runtime_error("a mistake in the callback");
  });
  ASSERT_EQ(raise(SIGUSR1), 0);
  ASSERT_EQ(raise(SIGUSR2), 0);
  looper.Loop();
  EXPECT_EQ(calls, 2);
}

TEST_F(SignalWatchTest, TheCallbackMayDestroyTheWatch) {
  Looper looper;
  std::unique_ptr<SignalWatch> watch;
  int calls = 0;
  watch = std::make_unique<SignalWatch>(looper, std::vector<int>{SIGUSR1, SIGUSR2}, [&](int) {
    ++calls;
    watch.reset();
    looper.Stop();
  });
  ASSERT_EQ(raise(SIGUSR1), 0);
  ASSERT_EQ(raise(SIGUSR2), 0);
  looper.Loop();
  EXPECT_EQ(calls, 1);
}

TEST_F(SignalWatchTest, TheFormerHandlingComesBack) {
  ASSERT_NE(signal(SIGUSR1, SIG_IGN), SIG_ERR);
  const auto hangup_before = HandlerOf(SIGHUP);  // nohup(1) has it ignored
  Looper looper;
  {
    const SignalWatch watch(looper, {SIGUSR1, SIGUSR2}, [](int) {});
    EXPECT_NE(HandlerOf(SIGUSR1), SIG_IGN);
    EXPECT_NE(HandlerOf(SIGUSR2), SIG_DFL);
    EXPECT_THROW(SignalWatch(looper, {SIGHUP, SIGUSR2}, [](int) {}), std::logic_error);
    EXPECT_EQ(HandlerOf(SIGHUP), hangup_before) << "a failed constructor left a handler";
  }
  EXPECT_EQ(HandlerOf(SIGUSR1), SIG_IGN);
  EXPECT_EQ(HandlerOf(SIGUSR2), SIG_DFL);
  const SignalWatch again(looper, {SIGUSR2}, [](int) {});  // it is free again
  signal(SIGUSR1, SIG_DFL);
}

TEST_F(SignalWatchTest, WhatCannotBeCaughtIsAnErrorThatNamesIt) {
  Looper looper;
  try {
    const SignalWatch watch(looper, {SIGUSR1, SIGKILL}, [](int) {});
    ADD_FAILURE() << "SIGKILL can't be caught";
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find("signal 9"), std::string::npos) << error.what();
  }
  EXPECT_EQ(HandlerOf(SIGUSR1), SIG_DFL);
  EXPECT_THROW(SignalWatch(looper, {0}, [](int) {}), std::system_error);
  EXPECT_THROW(SignalWatch(looper, {-1}, [](int) {}), std::system_error);
}

// Signals hit one thread while another destroys the watch: the handler must not use what is gone.
TEST_F(SignalWatchTest, DestructionWhileSignalsArrive) {
  ASSERT_NE(signal(SIGUSR1, SIG_IGN), SIG_ERR);
  Looper looper;
  std::atomic<bool> done{false};
  std::thread target([&done] {
    while (!done.load()) {
      std::this_thread::yield();
    }
  });
  std::thread sender([&] {
    while (!done.load()) {
      pthread_kill(target.native_handle(), SIGUSR1);
    }
  });
  for (int round = 0; round < 200; ++round) {
    const SignalWatch watch(looper, {SIGUSR1}, [](int) {});
  }
  done.store(true);
  sender.join();
  target.join();
  signal(SIGUSR1, SIG_DFL);
}

}  // namespace
}  // namespace TURTLE_SERVER
