#include "http/status.h"

#include <gtest/gtest.h>

namespace TURTLE_SERVER {
namespace {

TEST(StatusTest, RegisteredCodesHaveTheirPhraseAndOthersNone) {
  EXPECT_EQ(ReasonPhrase(100), "Continue");
  EXPECT_EQ(ReasonPhrase(200), "OK");
  EXPECT_EQ(ReasonPhrase(206), "Partial Content");
  EXPECT_EQ(ReasonPhrase(304), "Not Modified");
  EXPECT_EQ(ReasonPhrase(404), "Not Found");
  EXPECT_EQ(ReasonPhrase(413), "Content Too Large");
  EXPECT_EQ(ReasonPhrase(431), "Request Header Fields Too Large");
  EXPECT_EQ(ReasonPhrase(505), "HTTP Version Not Supported");
  EXPECT_EQ(ReasonPhrase(511), "Network Authentication Required");
  for (int status : {-1, 0, 99, 102, 299, 418, 512, 1000}) {
    EXPECT_EQ(ReasonPhrase(status), "") << status;
  }
}

// The server sends these by itself; each needs a phrase.
TEST(StatusTest, EveryCodeThatTheServerSendsHasAPhrase) {
  for (int status : {100, 200, 204, 206, 301, 304, 400, 403, 404, 405, 408, 412,
                     413, 414, 416, 417, 431, 500, 501, 502, 503, 504, 505}) {
    EXPECT_NE(ReasonPhrase(status), "") << status;
  }
}

TEST(StatusTest, SomeNeverHaveABody) {
  for (int status = 100; status < 600; ++status) {
    EXPECT_EQ(StatusAllowsBody(status), status >= 200 && status != 204 && status != 304) << status;
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
