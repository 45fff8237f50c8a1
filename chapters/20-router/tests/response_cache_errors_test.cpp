// A cached handler that throws: the clients that waited get the same error as the first.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "http/http_error.h"
#include "support/cached_server.h"
#include "support/captured_stderr.h"

namespace TURTLE_SERVER {
namespace {

using test::CachedServer;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::Waiting;

TEST(ResponseCacheErrorsTest, AnHttpErrorIsTheSameForThoseWhoWaited) {
  const test::CapturedStderr errors;
  Waiting waiting;
  bool was_asked = false;
  CachedServer server([&](Exchange& exchange) {
    if (std::exchange(was_asked, true)) {
      throw HttpError(404, "There is no such turtle.");
    }
    waiting.Keep(exchange);
  });
  HttpClient first(server.Port());
  ASSERT_TRUE(first.Send(Get("/")));
  ASSERT_TRUE(server.Server().Loop().Await([&] { return waiting.Count() == 1; }));
  HttpClient second(server.Port());
  ASSERT_TRUE(second.Send(Get("/")));
  ASSERT_TRUE(server.AwaitWaiting(1));
  server.Server().Loop().Ask([&] { waiting.Last()->Abort(404, "There is no such turtle."); });
  for (HttpClient* client : {&first, &second}) {
    const HttpReply reply = client->ReadReply();
    EXPECT_EQ(reply.status, 404);
    EXPECT_NE(reply.body.find("no such turtle"), std::string::npos) << reply.body;
  }
  EXPECT_EQ(errors.Text(), "") << "an HttpError is no fault of the server";
}

}  // namespace
}  // namespace TURTLE_SERVER
