// The first lines of a ready reply, made once a second.
#include <gtest/gtest.h>

#include <string>

#include "web/loop_http.h"

namespace TURTLE_SERVER {
namespace {

TEST(ReadyStartTest, IsTheStatusLineAndTheDateOfNow) {
  Looper looper;
  LoopHttp loop(looper, HttpOptions());
  std::string date;
  std::string ok;
  std::string not_modified;
  do {  // until all are of one second
    date = loop.Date();
    ok = loop.ReadyStart(ReadyStatus::kOk);
    not_modified = loop.ReadyStart(ReadyStatus::kNotModified);
  } while (date != loop.Date());
  EXPECT_EQ(ok, "HTTP/1.1 200 OK\r\nDate: " + date + "\r\n");
  EXPECT_EQ(not_modified, "HTTP/1.1 304 Not Modified\r\nDate: " + date + "\r\n");
}

}  // namespace
}  // namespace TURTLE_SERVER
