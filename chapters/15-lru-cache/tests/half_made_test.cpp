// An object that is kept for later must not be left half-made when memory runs out.
#include <gtest/gtest.h>

#include <cstddef>
#include <new>
#include <string>

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

}  // namespace
}  // namespace TURTLE_SERVER
