// The first lines of a ready response, made once a second.
#include <gtest/gtest.h>

#include <string>

#include "web/http_exchange.h"

namespace TURTLE_SERVER {
namespace {

TEST(ReadyStartTest, IsTheStatusLineAndTheDateOfNow) {
  Looper looper;
  LoopHttp http(looper, HttpOptions());
  Http1Shared loop(http);
  std::string date;
  std::string ok;
  std::string not_modified;
  do {  // until all are of one second
    date = http.Date();
    ok = loop.ReadyStart(ReadyStatus::kOk);
    not_modified = loop.ReadyStart(ReadyStatus::kNotModified);
  } while (date != http.Date());
  EXPECT_EQ(ok, "HTTP/1.1 200 OK\r\nDate: " + date + "\r\n");
  EXPECT_EQ(not_modified, "HTTP/1.1 304 Not Modified\r\nDate: " + date + "\r\n");
}

}  // namespace
}  // namespace TURTLE_SERVER
