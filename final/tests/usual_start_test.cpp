// The first lines of most replies, made once a second.
#include <gtest/gtest.h>

#include <string>

#include "web/loop_http.h"

namespace TURTLE_SERVER {
namespace {

TEST(UsualStartTest, IsTheStatusLineAndTheDateOfNow) {
  Looper looper;
  LoopHttp loop(looper, HttpOptions());
  std::string before;
  std::string start;
  do {  // until both are of one second
    before = loop.Date();
    start = loop.UsualStart();
  } while (before != loop.Date());
  EXPECT_EQ(start, "HTTP/1.1 200 OK\r\nDate: " + before + "\r\n");
}

}  // namespace
}  // namespace TURTLE_SERVER
