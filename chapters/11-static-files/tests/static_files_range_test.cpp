// Parts of files (RFC 9110, section 14).
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "support/narrow_pair.h"
#include "support/static_site.h"

namespace TURTLE_SERVER {
namespace {

using test::HttpReply;
using test::StaticSite;

class StaticFilesRangeTest : public testing::Test {
 protected:
  StaticFilesRangeTest() {
    site_.Folder().Write("digits.txt", "0123456789");
    site_.Folder().Write("large.bin", large_);
    site_.Folder().Write("empty.txt", "");
  }

  auto Ask(std::string_view target, const std::string& range) const -> HttpReply {
    return site_.Ask(target, "Range: " + range + "\r\n");
  }

  const std::string large_ = test::Pattern(300'000);
  StaticSite site_;
};

TEST_F(StaticFilesRangeTest, OnePart) {
  const HttpReply reply = Ask("/digits.txt", "bytes=2-4");
  EXPECT_EQ(reply.status, 206);
  EXPECT_EQ(reply.body, "234");
  EXPECT_EQ(reply.Field("Content-Range"), "bytes 2-4/10");
  EXPECT_EQ(reply.Field("Content-Length"), "3");
  EXPECT_EQ(reply.Field("Content-Type"), "text/plain; charset=utf-8");
  EXPECT_NE(reply.Field("ETag"), "");
  EXPECT_EQ(Ask("/digits.txt", "bytes=7-").body, "789");
  EXPECT_EQ(Ask("/digits.txt", "bytes=-2").body, "89");
  EXPECT_EQ(Ask("/digits.txt", "bytes=8-99").Field("Content-Range"), "bytes 8-9/10");
}

TEST_F(StaticFilesRangeTest, APartOfALargeFile) {
  const HttpReply reply = Ask("/large.bin", "bytes=100000-249999");
  EXPECT_EQ(reply.status, 206);
  EXPECT_TRUE(reply.body == large_.substr(100'000, 150'000));
}

TEST_F(StaticFilesRangeTest, SeveralParts) {
  const HttpReply reply = Ask("/large.bin", "bytes=0-2,1000-1003,-5");
  EXPECT_EQ(reply.status, 206);
  EXPECT_EQ(reply.Field("Content-Range"), "");
  const std::string type = reply.Field("Content-Type");
  const std::string_view prefix = "multipart/byteranges; boundary=";
  ASSERT_EQ(type.substr(0, prefix.size()), prefix);
  const std::string boundary = "--" + type.substr(prefix.size());
  std::string expected;
  for (const auto& [range, at, size] : {std::tuple("0-2", 0, 3), std::tuple("1000-1003", 1000, 4),
                                        std::tuple("299995-299999", 299'995, 5)}) {
    expected += "\r\n" + boundary +
                "\r\nContent-Type: application/octet-stream\r\nContent-Range: bytes " + range +
                "/300000\r\n\r\n" +
                large_.substr(static_cast<std::size_t>(at), static_cast<std::size_t>(size));
  }
  expected += "\r\n" + boundary + "--\r\n";
  EXPECT_EQ(reply.body, expected);
}

TEST_F(StaticFilesRangeTest, WhatIsNotThereIs416) {
  const HttpReply reply = Ask("/digits.txt", "bytes=10-");
  EXPECT_EQ(reply.status, 416);
  EXPECT_EQ(reply.Field("Content-Range"), "bytes */10");
  EXPECT_EQ(Ask("/empty.txt", "bytes=0-0").status, 200);  // an empty file has no parts
}

TEST_F(StaticFilesRangeTest, WhatMakesNoSenseIsIgnored) {
  for (const char* range : {"bytes=4-2", "lines=1-2", "bytes=x-", "bytes=", "bytes 1-2"}) {
    const HttpReply reply = Ask("/digits.txt", range);
    EXPECT_EQ(reply.status, 200) << range;
    EXPECT_EQ(reply.body, "0123456789") << range;
  }
}

TEST_F(StaticFilesRangeTest, TwoFieldsAreNoRange) {
  const HttpReply reply = Ask("/digits.txt", "bytes=0-1\r\nRange: bytes=4-5");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "0123456789");
}

TEST_F(StaticFilesRangeTest, ManyPartsAreNotServed) {
  std::string greedy = "bytes=0-0";
  for (int i = 1; i < 1000; ++i) {
    greedy += "," + std::to_string(i * 200) + "-" + std::to_string(i * 200);
  }
  const HttpReply reply = Ask("/large.bin", greedy);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body.size(), large_.size());
}

TEST_F(StaticFilesRangeTest, OnlyGetKnowsParts) {
  test::HttpClient client(site_.Port());
  const HttpReply reply = client.Ask(
      "HEAD /digits.txt HTTP/1.1\r\nHost: t\r\nRange: bytes=0-1\r\n\r\n", test::Asked::kHead);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.Field("Content-Length"), "10");
}

}  // namespace
}  // namespace TURTLE_SERVER
