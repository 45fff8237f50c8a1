// Which coding a client gets, by what it says.
#include "compress/accept_encoding.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace TURTLE_SERVER {
namespace {

auto Fields(const std::vector<std::string>& values) -> Headers {
  Headers fields;
  for (const std::string& value : values) {
    fields.Add("Accept-Encoding", value);
  }
  return fields;
}

auto Choice(const std::vector<std::string>& values, const CodingOrder& offered = CodingOrder::All())
    -> std::string {
  return std::string(NameOf(AcceptEncoding(Fields(values)).Choose(offered)));
}

TEST(AcceptEncodingTest, WithoutTheFieldNothingIsEncoded) {
  EXPECT_EQ(Choice({}), "identity");
  EXPECT_EQ(Choice({""}), "identity") << "only identity";
}

TEST(AcceptEncodingTest, OfEqualWeightsTheFirstThatIsOfferedWins) {
  for (const char* list :
       {"gzip, deflate, br, zstd", "zstd,br,gzip", "gzip;q=0.5, br;q=0.5, zstd;q=0.5"}) {
    EXPECT_EQ(Choice({list}), "br") << list;
  }
  CodingOrder order;
  order.Add(Coding::kGzip);
  order.Add(Coding::kBrotli);
  EXPECT_EQ(Choice({"br, gzip"}, order), "gzip");
  EXPECT_EQ(Choice({"zstd, gzip"}, order), "gzip") << "zstd is not offered";
  EXPECT_EQ(Choice({"zstd"}, order), "identity");
  EXPECT_EQ(Choice({"gzip"}, CodingOrder()), "identity");
}

TEST(AcceptEncodingTest, TheGreatestWeightWins) {
  EXPECT_EQ(Choice({"br;q=0.1, gzip;q=0.2"}), "gzip");
  EXPECT_EQ(Choice({"br;q=0.998,gzip;q=0.999"}), "gzip");
  EXPECT_EQ(Choice({"br; q=0.1 , gzip ;q=0.2"}), "gzip") << "with spaces";
  EXPECT_EQ(Choice({"br;Q=0.1, gzip;Q=0.2"}), "gzip");
  EXPECT_EQ(Choice({"br;q=0.1", "gzip;q=0.2"}), "gzip") << "in two lines";
  EXPECT_EQ(Choice({"br;q=0.1, gzip"}), "gzip") << "no weight is 1";
}

TEST(AcceptEncodingTest, IdentityWinsIfItIsLikedBetter) {
  EXPECT_EQ(Choice({"identity, gzip;q=0.5"}), "identity");
  EXPECT_EQ(Choice({"identity;q=0.5, gzip;q=0.5"}), "gzip") << "as much: fewer bytes";
  EXPECT_EQ(Choice({"identity;q=0.4, gzip;q=0.5"}), "gzip");
}

TEST(AcceptEncodingTest, AStarIsEveryCodingThatIsNotNamed) {
  EXPECT_EQ(Choice({"*"}), "br");
  EXPECT_EQ(Choice({"*;q=0.5, gzip"}), "gzip");
  EXPECT_EQ(Choice({"br;q=0, *"}), "zstd");
  EXPECT_EQ(Choice({"gzip, *;q=0"}), "gzip");
  EXPECT_EQ(Choice({"*;q=0"}), "identity") << "there is nothing else to send";
}

TEST(AcceptEncodingTest, AZeroMeansNo) {
  for (const char* zero : {"0", "0.", "0.0", "0.00", "0.000"}) {
    EXPECT_EQ(Choice({std::string("gzip;q=") + zero}), "identity") << zero;
  }
  EXPECT_FALSE(AcceptEncoding(Fields({"gzip;q=0, identity;q=0"})).Accepts(Coding::kIdentity));
  EXPECT_FALSE(AcceptEncoding(Fields({"gzip, *;q=0"})).Accepts(Coding::kIdentity));
  EXPECT_TRUE(AcceptEncoding(Fields({"gzip, identity, *;q=0"})).Accepts(Coding::kIdentity));
  EXPECT_TRUE(AcceptEncoding(Fields({"gzip;q=0"})).Accepts(Coding::kIdentity));
  EXPECT_TRUE(AcceptEncoding(Fields({})).Accepts(Coding::kIdentity));
  EXPECT_FALSE(AcceptEncoding(Fields({})).Accepts(Coding::kGzip));
}

TEST(AcceptEncodingTest, NamesAreThoseOfAnyCase) {
  EXPECT_EQ(Choice({"GZIP"}), "gzip");
  EXPECT_EQ(Choice({"x-gzip"}), "gzip");
  EXPECT_EQ(Choice({"gzipped, compress, deflate, br2"}), "identity");
}

TEST(AcceptEncodingTest, WhatIsMalformedCountsAsMissing) {
  for (const char* bad : {"gzip;q=", "gzip;q=2", "gzip;q=1.001", "gzip;q=-1", "gzip;q=0.1234",
                          "gzip;q=.5", "gzip;q=1.5", "gzip;q=0,5", "gzip;q=a", "gzip;x=1",
                          "gzip q=1", ";q=1", ",", "gzip;q=1e0"}) {
    EXPECT_EQ(Choice({bad}), "identity") << bad;
    EXPECT_EQ(Choice({std::string(bad) + ", zstd"}), "zstd") << bad;
  }
  EXPECT_EQ(Choice({"gzip;"}), "gzip") << "no parameter is there to be malformed";
}

}  // namespace
}  // namespace TURTLE_SERVER
