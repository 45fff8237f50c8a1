// An object that is kept for later must not be left half-made when memory runs out.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <new>
#include <string>
#include <vector>

#include "core/signal_watch.h"
#include "support/captured_stderr.h"
#include "support/failing_new.h"
#include "web/http_exchange.h"

namespace TURTLE_SERVER {
namespace {

using test::FailAllocations;
using test::StopFailing;

TEST(HalfMadeTest, TheStartOfAReplyIsWholeOrMadeAnew) {
  Looper looper;
  std::size_t failures = 0;
  for (std::size_t first = 1; first <= 8; ++first) {
    LoopHttp http(looper, HttpOptions());
    Http1Shared loop(http);
    FailAllocations(first);
    try {
      static_cast<void>(loop.ReadyStart(ReadyStatus::kOk));
    } catch (const std::bad_alloc&) {
      ++failures;
    }
    StopFailing();
    for (const ReadyStatus status : {ReadyStatus::kOk, ReadyStatus::kNotModified}) {
      const std::string start(loop.ReadyStart(status));
      EXPECT_EQ(start.substr(start.size() - 6), " GMT\r\n") << first;
    }
  }
  EXPECT_GT(failures, 0U);
}

TEST(HalfMadeTest, ASignalIsDeliveredWithoutMemory) {
  const test::CapturedStderr errors;
  Looper looper;
  int seen = 0;
  const std::array<char, 64> much{};  // more than a std::function holds without memory of its own
  SignalWatch watch(looper, {SIGUSR1}, [&, much](int number) {
    seen = number + much[0];
    StopFailing();
    looper.Stop();
  });
  looper.RunAfter(std::chrono::seconds(20), [&] { looper.Stop(); });
  ASSERT_EQ(raise(SIGUSR1), 0);
  FailAllocations(1, 1'000'000);
  looper.Loop();
  StopFailing();
  EXPECT_EQ(seen, SIGUSR1);
}

}  // namespace
}  // namespace TURTLE_SERVER
