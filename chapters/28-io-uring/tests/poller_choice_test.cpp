#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>

#include "core/engine.h"
#include "support/captured_stderr.h"
#include "support/needs_io_uring.h"
#ifdef __linux__
#include "support/ring_faults.h"
#endif

namespace TURTLE_SERVER {
namespace {

auto Lines(const std::string& text, const std::string& what) -> int {
  int count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

TEST(PollerChoice, EachKindIsWhatItSays) {
  TURTLE_NEEDS_IO_URING();
  EXPECT_TRUE(Engine::Create(PollerKind::kIoUring)->ReceivesAhead());
  EXPECT_FALSE(Engine::Create(PollerKind::kEpoll)->ReceivesAhead());
}

TEST(PollerChoice, AutoIsWhatTheEnvironmentSays) {
  TURTLE_NEEDS_IO_URING();
  const char* const before = std::getenv("TURTLE_POLLER");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TURTLE_POLLER", "io_uring", 1);
  EXPECT_TRUE(Engine::Create()->ReceivesAhead());
  ::unsetenv("TURTLE_POLLER");
  EXPECT_FALSE(Engine::Create()->ReceivesAhead()) << "epoll, if nobody says anything";
  if (before != nullptr) {
    ::setenv("TURTLE_POLLER", kept.c_str(), 1);
  }
}

// A single test: a program logs it only once.
#ifdef __linux__
TEST(PollerChoice, WhatTheKernelRefusesIsReplacedWithOneLineForAllLoops) {
  const test::CapturedStderr captured;
  test::ring_setup.Fail(EPERM, 2);
  for (int loop = 0; loop < 2; ++loop) {
    const auto engine = Engine::Create(PollerKind::kIoUring);
    ASSERT_NE(engine, nullptr);
    EXPECT_FALSE(engine->ReceivesAhead());
  }
  test::ring_setup.Pass();
  test::ring_register.Fail(ENOMEM);
  EXPECT_FALSE(Engine::Create(PollerKind::kIoUring)->ReceivesAhead());
  test::ring_register.Pass();
  EXPECT_FALSE(Engine::Create(PollerKind::kKqueue)->ReceivesAhead());
  const std::string text = captured.Text();
  EXPECT_EQ(Lines(text, "instead"), 1) << text;
  EXPECT_NE(text.find("; the loops use epoll instead"), std::string::npos) << text;
}
#else
TEST(PollerChoice, WhatTheSystemLacksIsReplacedWithOneLineForAllLoops) {
  const test::CapturedStderr captured;
  for (const PollerKind kind : {PollerKind::kIoUring, PollerKind::kIoUring, PollerKind::kEpoll}) {
    const auto engine = Engine::Create(kind);
    ASSERT_NE(engine, nullptr);
    EXPECT_FALSE(engine->ReceivesAhead());
  }
  const std::string text = captured.Text();
  EXPECT_EQ(Lines(text, "instead"), 1) << text;
  EXPECT_NE(text.find("; the loops use kqueue instead"), std::string::npos) << text;
}
#endif

}  // namespace
}  // namespace TURTLE_SERVER
