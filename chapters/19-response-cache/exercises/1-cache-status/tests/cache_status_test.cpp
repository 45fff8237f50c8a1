#include "http/cache_status.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

namespace TURTLE_SERVER {
namespace {

using std::chrono::seconds;

auto Named(std::string name) -> CacheStatus {
  CacheStatus status;
  status.cache = std::move(name);
  return status;
}

auto Refusal(const CacheStatus& status) -> std::string {
  try {
    return "no refusal: " + CacheStatusField(status);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(CacheStatusTest, AHitWithItsTime) {
  CacheStatus status = Named("turtle");
  status.hit = true;
  EXPECT_EQ(CacheStatusField(status), "turtle; hit");
  status.ttl = seconds(30);
  EXPECT_EQ(CacheStatusField(status), "turtle; hit; ttl=30");
  status.ttl = seconds(-412);
  EXPECT_EQ(CacheStatusField(status), "turtle; hit; ttl=-412");
}

TEST(CacheStatusTest, AMissInTheOrderOfTheMembers) {
  CacheStatus status = Named("turtle");
  status.forward = "uri-miss";
  EXPECT_EQ(CacheStatusField(status), "turtle; fwd=uri-miss");
  status.detail = "first";
  status.collapsed = true;
  status.stored = true;
  status.ttl = seconds(10);
  status.forward_status = 200;
  EXPECT_EQ(CacheStatusField(status),
            "turtle; fwd=uri-miss; fwd-status=200; ttl=10; stored; collapsed; detail=first");
}

TEST(CacheStatusTest, AHitKnowsNothingOfAHandler) {
  CacheStatus status = Named("turtle");
  status.hit = true;
  status.forward = "stale";
  status.forward_status = 200;
  status.stored = true;
  status.collapsed = true;
  status.detail = "memory";
  EXPECT_EQ(CacheStatusField(status), "turtle; hit; detail=memory");
}

TEST(CacheStatusTest, NothingKnownIsTheNameAlone) {
  CacheStatus status = Named("turtle");
  EXPECT_EQ(CacheStatusField(status), "turtle");
  status.stored = true;
  status.forward_status = 500;
  EXPECT_EQ(CacheStatusField(status), "turtle; fwd-status=500; stored");
}

TEST(CacheStatusTest, WhatIsNoTokenIsAString) {
  EXPECT_EQ(CacheStatusField(Named("cache.example:8080/a")), "cache.example:8080/a");
  EXPECT_EQ(CacheStatusField(Named("*a!#$%&'*+-.^_`|~")), "*a!#$%&'*+-.^_`|~");
  EXPECT_EQ(CacheStatusField(Named("my cache")), "\"my cache\"");
  EXPECT_EQ(CacheStatusField(Named("127.0.0.1")), "\"127.0.0.1\"")
      << "a token begins with a letter";
  EXPECT_EQ(CacheStatusField(Named("")), "\"\"");
  EXPECT_EQ(CacheStatusField(Named("a\"b\\c")), "\"a\\\"b\\\\c\"");
  EXPECT_EQ(CacheStatusField(Named("a,b;c=d")), "\"a,b;c=d\"");
  CacheStatus status = Named("a");
  status.hit = true;
  status.detail = "~ and \x20";
  EXPECT_EQ(CacheStatusField(status), "a; hit; detail=\"~ and  \"");
}

TEST(CacheStatusTest, OtherBytesAreRefused) {
  for (const char* bad : {"\r\nX: y", "\x7f", "caf\xc3\xa9", "\t"}) {
    EXPECT_EQ(Refusal(Named(bad)), "cache: a byte that is not printable ASCII");
    CacheStatus status = Named("a");
    status.detail = bad;
    EXPECT_EQ(Refusal(status), "detail: a byte that is not printable ASCII");
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
