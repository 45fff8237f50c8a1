#include "http/request.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "http/http_parser.h"
#include "support/parse_head.h"

namespace TURTLE_SERVER {
namespace {

class RequestTest : public testing::Test {
 protected:
  // Parses what is in buffer_.
  void Parse() { ASSERT_EQ(HttpParser(limits_).Parse(buffer_, request_).state, ParseState::kDone); }

  ParserLimits limits_;
  std::string buffer_ =
      "\r\nGET http://b/%61/?x=y HTTP/1.1\r\nHost: a\r\nCookie: c=d\r\nEmpty:\r\n\r\nbody";
  Request request_;
};

TEST_F(RequestTest, ADetachedRequestSurvivesItsBuffer) {
  Parse();
  const std::string before = test::Summary(request_);
  request_.Detach();
  buffer_.assign(buffer_.size(), '#');
  EXPECT_EQ(test::Summary(request_), before);
  EXPECT_EQ(request_.host, "b");
  EXPECT_EQ(request_.uri.Path(), "/a/");
  EXPECT_EQ(request_.headers.Find(KnownField::kCookie), "c=d");
}

TEST_F(RequestTest, WithoutDetachTheViewsLookIntoTheBuffer) {
  Parse();
  buffer_.assign(buffer_.size(), '#');
  EXPECT_EQ(request_.method_text, "###");
}

TEST_F(RequestTest, ADetachedRequestCanBeMoved) {
  Parse();
  const std::string before = test::Summary(request_);
  request_.Detach();
  Request moved = std::move(request_);
  request_ = Request();
  buffer_.assign(buffer_.size(), '#');
  EXPECT_EQ(test::Summary(moved), before);
}

TEST_F(RequestTest, DetachTwiceIsOnce) {
  Parse();
  request_.Detach();
  const char* head = request_.head.data();
  request_.Detach();
  EXPECT_EQ(request_.head.data(), head);
  Request().Detach();
}

TEST_F(RequestTest, ItCanBeUsedAgainAfterDetach) {
  Parse();
  request_.Detach();
  buffer_ = "GET /second HTTP/1.0\r\n\r\n";
  Parse();
  EXPECT_EQ(request_.uri.Path(), "/second");
  EXPECT_EQ(request_.method_text.data(), buffer_.data());
  request_.Detach();
  EXPECT_NE(request_.method_text.data(), buffer_.data());
}

}  // namespace
}  // namespace TURTLE_SERVER
