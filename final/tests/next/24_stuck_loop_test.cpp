// Which loop is stuck has to be known without asking it.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "core/looper.h"
#include "core/turtle_server.h"
#include "support/busy.h"
#include "support/client.h"
#include "support/handlers.h"
#include "support/server_thread.h"

namespace TURTLE_SERVER {
namespace {

// Where loops keep account of their time, they are told to, and their account is read.
template <typename Loop>
auto Measure(Loop& looper) -> decltype(looper.MeasureLoad()) {
  looper.MeasureLoad();
}
template <typename... Loop>
void Measure(const Loop&... /*loopers*/) {}

template <typename Loop>
auto RoundOf(Loop& looper) -> std::optional<decltype(looper.Load()->Read().round)> {
  return looper.Load()->Read().round;
}

// Elsewhere a loop can only be asked, and answers when it has nothing else to do.
template <typename... Loop>
auto RoundOf(Loop&... loopers) -> std::optional<std::chrono::steady_clock::duration> {
  const auto answer = std::make_shared<std::promise<std::chrono::steady_clock::duration>>();
  auto answers = answer->get_future();
  (static_cast<void>(loopers.Post([answer] { answer->set_value({}); })), ...);
  if (answers.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready) {
    return std::nullopt;
  }
  return answers.get();
}

TEST(StuckLoop, SaysForHowLong) {
  ServerOptions options;
  options.threads = 4;
  TurtleServer server(NetAddress("127.0.0.1", 0), options);
  for (Looper* looper : server.Loopers()) {
    Measure(*looper);
  }
  server.OnHandle(test::Echo);
  const test::ServerThread running(server);
  const test::Busy busy(*server.Loopers()[2]);
  // It stands still until the end of the test.
  const auto deadline = std::chrono::steady_clock::now() + test::kPatience / 4;
  auto round = RoundOf(*server.Loopers()[2]);
  while (round && round->count() == 0 && std::chrono::steady_clock::now() < deadline) {
    round = RoundOf(*server.Loopers()[2]);
  }
  ASSERT_TRUE(round) << "loop 2 answers nobody: it is the one that is stuck";
  EXPECT_GT(round->count(), 0);
}

}  // namespace
}  // namespace TURTLE_SERVER
