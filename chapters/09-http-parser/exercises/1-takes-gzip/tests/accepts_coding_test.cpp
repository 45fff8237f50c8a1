#include "http/accepts_coding.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace TURTLE_SERVER {
namespace {

// A request with so many Accept-Encoding lines. Does its client take gzip?
auto TakesGzip(std::initializer_list<std::string_view> lines) -> bool {
  Headers fields;
  fields.Add("Host", "a");
  for (const std::string_view line : lines) {
    fields.Add("Accept-Encoding", line);
  }
  fields.Add("Accept", "gzip");  // another field's affair
  return AcceptsCoding(fields, "gzip");
}

TEST(AcceptsCoding, WhoNamesItTakesIt) {
  EXPECT_TRUE(TakesGzip({"gzip"}));
  EXPECT_TRUE(TakesGzip({"gzip, deflate, br, zstd"}));
  EXPECT_TRUE(TakesGzip({"deflate,\tGZip"}));
  EXPECT_TRUE(TakesGzip({"br", "gzip"})) << "two lines are one list";
  EXPECT_TRUE(TakesGzip({"x-gzip"})) << "an old name for the same";
  EXPECT_TRUE(TakesGzip({", gzip,,"})) << "an empty element stands for nothing";
}

TEST(AcceptsCoding, WhoDoesNotSayDoesNot) {
  EXPECT_FALSE(TakesGzip({}));
  EXPECT_FALSE(TakesGzip({""}));
  EXPECT_FALSE(TakesGzip({"br, identity"}));
  EXPECT_FALSE(TakesGzip({"gzipped"}));
  EXPECT_FALSE(TakesGzip({"not-gzip"}));
}

TEST(AcceptsCoding, AWeightOfZeroIsANo) {
  for (const std::string no : {"0", "0.", "0.0", "0.00", "0.000"}) {
    EXPECT_FALSE(TakesGzip({"gzip;q=" + no})) << no;
    EXPECT_FALSE(TakesGzip({"gzip ; Q=" + no + ", br"})) << no;
  }
  for (const std::string yes : {"1", "1.", "1.000", "0.001", "0.5", "0.25"}) {
    EXPECT_TRUE(TakesGzip({"br;q=0, gzip;q=" + yes})) << yes;
    EXPECT_TRUE(TakesGzip({"gzip \t;\t q=" + yes})) << yes;
  }
}

TEST(AcceptsCoding, AStarIsForWhatIsNotNamed) {
  EXPECT_TRUE(TakesGzip({"*"}));
  EXPECT_TRUE(TakesGzip({"br, *;q=0.1"}));
  EXPECT_FALSE(TakesGzip({"*;q=0"}));
  EXPECT_FALSE(TakesGzip({"*, gzip;q=0"}));
  EXPECT_FALSE(TakesGzip({"gzip;q=0", "*"}));
  EXPECT_TRUE(TakesGzip({"*;q=0, gzip"}));
}

TEST(AcceptsCoding, AnyWrongElementMakesItNone) {
  for (const std::string wrong :
       {"gzip;q=2", "gzip;q=1.001", "gzip;q=0.0000", "gzip;q=-1", "gzip;q=", "gzip;q=.5",
        "gzip;q=1;q=1", "gzip;level=9", "gzip;", "gzip; q = 1", "gz ip", ";q=1", "gzip;q=1x",
        "gzip;q=00", "\"gzip\"", "gzip q=1"}) {
    EXPECT_FALSE(TakesGzip({wrong})) << wrong;
    EXPECT_FALSE(TakesGzip({"gzip", wrong})) << wrong;
    EXPECT_FALSE(TakesGzip({wrong + ", gzip"})) << wrong;
  }
}

TEST(AcceptsCoding, OtherCodingsToo) {
  Headers fields;
  fields.Add("accept-encoding", "br;q=0.8, x-gzip, zstd;q=0");
  EXPECT_TRUE(AcceptsCoding(fields, "br"));
  EXPECT_FALSE(AcceptsCoding(fields, "zstd"));
  EXPECT_FALSE(AcceptsCoding(fields, "compress"));
}

}  // namespace
}  // namespace TURTLE_SERVER
