// Wherever memory runs out, a program's response is complete, or the client sees that it is not.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "support/captured_stderr.h"
#include "support/cgi_server.h"
#include "support/failing_new.h"
#include "support/http_client.h"

namespace TURTLE_SERVER {
namespace {

using test::CgiServer;
using test::FailAllocations;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::ProgramFolder;
using test::StopFailing;

// Returns how many allocations failed during a request for a program.
auto AskWhileFailing(CgiServer& server, std::size_t first, std::size_t count,
                     const std::string& whole) -> std::size_t {
  const test::CapturedStderr errors;
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/before")).status, 200);
  server.Loop().Ask([&] { FailAllocations(first, count); });
  const HttpReply reply = client.Ask(Get("/cgi-bin/flood"));
  const std::size_t failed = server.Loop().Ask([] { return StopFailing(); });
  const bool right = reply.status == 200 && reply.complete && reply.body == whole;
  const bool told = reply.complete && reply.status >= 500;
  const bool cut = !reply.complete && (client.Ended() || client.WasReset());
  EXPECT_TRUE(right || told || cut)
      << count << " allocations from " << first << " on: " << reply.status << ", "
      << reply.body.size() << " bytes, " << (reply.complete ? "complete" : "not complete");
  return failed;
}

TEST(CgiMemoryTest, NoPartOfAReplyPassesForTheWhole) {
  const ProgramFolder programs;
  const std::string whole(std::size_t{300} * 1024, 'x');
  programs.Write("flood.txt", "Content-Type: text/plain\n\n" + whole);
  programs.Program("flood", "exec cat flood.txt\n");
  CgiServer server(programs);
  for (const std::size_t count : {1, 4}) {
    std::size_t first = 1;
    for (std::size_t failed = 1; failed != 0 && first < 400; first += count) {
      failed = AskWhileFailing(server, first, count, whole);
      ASSERT_FALSE(HasFailure());
    }
    EXPECT_GT(first, 20U) << "hardly anything was allocated";
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
