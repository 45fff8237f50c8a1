// Wherever memory runs out in a response: it is complete and right, an error page, or visibly cut.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "support/captured_stderr.h"
#include "support/failing_new.h"
#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using test::FailAllocations;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::StopFailing;

TEST(HttpReplyMemoryTest, NothingFollowsAPartOfAReply) {
  const std::string text(std::size_t{100} * 1024, 'x');
  std::size_t failures = 0;
  const test::CapturedStderr errors;
  test::RunningServer server([&](Exchange& exchange) {
    // "/7": the seventh allocation from here on fails.
    const std::string target(exchange.GetRequest().target);
    Response response = TextResponse(200, text);
    FailAllocations(std::stoul(target.substr(1)));
    try {
      exchange.Reply(response);
    } catch (...) {
      failures += StopFailing();
      throw;
    }
    StopFailing();
  });
  for (int first = 1; first <= 12; ++first) {
    HttpClient client(server.Port());
    const HttpReply reply = client.Ask(Get("/" + std::to_string(first)));
    const bool right = reply.status == 200 && reply.complete && reply.body == text;
    const bool told = reply.status == 500 && reply.complete;
    const bool cut = !reply.complete && (client.Ended() || client.WasReset());
    EXPECT_TRUE(right || told || cut)
        << "allocation " << first << ": " << reply.status << ", " << reply.body.size() << " bytes";
  }
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/1000")).body, text);
  EXPECT_GT(failures, 0U);
}

}  // namespace
}  // namespace TURTLE_SERVER
