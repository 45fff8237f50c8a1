// A compressed twin beside a file is sent to clients that accept it.
#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>
#include <string>

#include "http/accept_encoding.h"
#include "support/static_site.h"

namespace TURTLE_SERVER {
namespace {

using test::HttpReply;
using test::StaticSite;

constexpr std::time_t kTime = 1'600'000'000;
constexpr const char* kGzip = "Accept-Encoding: br, gzip\r\n";

TEST(AcceptsGzipTest, KnowsListsAndCase) {
  for (const char* value : {"gzip", "GZip", "br, gzip", "br,gzip , deflate", ",,gzip", "\tgzip "}) {
    EXPECT_TRUE(AcceptsGzip(value)) << value;
  }
  for (const char* value : {"", "br", "identity", "gzip2", "xgzip", "br;gzip", "deflate, br"}) {
    EXPECT_FALSE(AcceptsGzip(value)) << value;
  }
}

TEST(AcceptsGzipTest, KnowsWeights) {
  for (const char* value : {"gzip;q=1", "gzip;q=1.000", "gzip; q=0.5", "gzip ;Q=0.001",
                            "br;q=0, gzip;q=0.1", "gzip;q=0.12"}) {
    EXPECT_TRUE(AcceptsGzip(value)) << value;
  }
  for (const char* value :
       {"gzip;q=0", "gzip;q=0.", "gzip;q=0.000", "gzip;q=2", "gzip;q=1.5", "gzip;q=-1",
        "gzip;q=", "gzip;q", "gzip;q=0.1234", "gzip;q=0.5x", "gzip;level=9", "gzip;"}) {
    EXPECT_FALSE(AcceptsGzip(value)) << value;
  }
}

TEST(AcceptsGzipTest, AStarIsAllThatIsNotNamed) {
  EXPECT_TRUE(AcceptsGzip("*"));
  EXPECT_TRUE(AcceptsGzip("br, *;q=0.1"));
  EXPECT_TRUE(AcceptsGzip("*;q=0, gzip"));
  EXPECT_TRUE(AcceptsGzip("gzip, *;q=0"));
  EXPECT_FALSE(AcceptsGzip("*;q=0"));
  EXPECT_FALSE(AcceptsGzip("gzip;q=0, *"));
  EXPECT_FALSE(AcceptsGzip("*, gzip;q=0"));
}

class GzipTwinsTest : public testing::Test {
 protected:
  GzipTwinsTest() {
    Write("app.js", "plain text", kTime);
    Write("app.js.gz", "compressed", kTime);
    Write("alone.js", "alone", kTime);
  }

  void Write(const char* name, const char* content, std::time_t time) const {
    site_.Folder().Write(name, content);
    site_.SetTime(name, time);
  }

  StaticSite site_;
};

TEST_F(GzipTwinsTest, AClientThatAcceptsItGetsTheTwin) {
  const HttpReply reply = site_.Ask("/app.js", kGzip);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "compressed");
  EXPECT_EQ(reply.Field("Content-Encoding"), "gzip");
  EXPECT_EQ(reply.Field("Content-Type"), "text/javascript; charset=utf-8");
  EXPECT_EQ(reply.Field("Vary"), "Accept-Encoding");
  EXPECT_EQ(site_.Ask("/app.js", "Accept-Encoding: br\r\nAccept-Encoding: gzip\r\n").body,
            "compressed")
      << "two fields are one list";
}

TEST_F(GzipTwinsTest, AnyOtherGetsTheOriginalAndLearnsOfTheChoice) {
  for (const char* fields : {"", "Accept-Encoding: br\r\n", "Accept-Encoding: gzip;q=0\r\n"}) {
    const HttpReply reply = site_.Ask("/app.js", fields);
    EXPECT_EQ(reply.body, "plain text") << fields;
    EXPECT_EQ(reply.Field("Content-Encoding"), "") << fields;
    EXPECT_EQ(reply.Field("Vary"), "Accept-Encoding") << fields;
  }
}

TEST_F(GzipTwinsTest, AFileWithoutATwinIsAsBefore) {
  const HttpReply reply = site_.Ask("/alone.js", kGzip);
  EXPECT_EQ(reply.body, "alone");
  EXPECT_EQ(reply.Field("Vary"), "");
  const HttpReply direct = site_.Ask("/app.js.gz", kGzip);
  EXPECT_EQ(direct.body, "compressed");
  EXPECT_EQ(direct.Field("Content-Encoding"), "");
  EXPECT_EQ(direct.Field("Vary"), "");
  EXPECT_EQ(site_.Ask("/none.js", kGzip).Field("Vary"), "");
}

TEST_F(GzipTwinsTest, ConditionsAndRangesAreOfTheFileThatIsSent) {
  Write("app.js.gz", "COMPRESSED, and longer", kTime);
  const std::string plain = site_.AwaitStrongTag("/app.js");
  const std::string twin = site_.Ask("/app.js", kGzip).Field("ETag");
  EXPECT_NE(plain, twin);
  const auto ask = [&](const std::string& fields) { return site_.Ask("/app.js", kGzip + fields); };
  EXPECT_EQ(ask("If-None-Match: " + plain + "\r\n").status, 200);
  const HttpReply kept = ask("If-None-Match: " + twin + "\r\n");
  EXPECT_EQ(kept.status, 304);
  EXPECT_EQ(kept.Field("Vary"), "Accept-Encoding");
  EXPECT_EQ(site_.Ask("/app.js", "If-None-Match: " + plain + "\r\n").Field("Vary"),
            "Accept-Encoding");
  const HttpReply part = ask("Range: bytes=0-3\r\n");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "COMP");
  EXPECT_EQ(part.Field("Content-Range"), "bytes 0-3/22");
  EXPECT_EQ(part.Field("Content-Encoding"), "gzip");
}

TEST_F(GzipTwinsTest, ATwinThatIsOlderIsIgnored) {
  Write("app.js", "changed", kTime + 1);
  const HttpReply reply = site_.Ask("/app.js", kGzip);
  EXPECT_EQ(reply.body, "changed");
  EXPECT_EQ(reply.Field("Vary"), "");
}

TEST_F(GzipTwinsTest, SoIsOneThatIsNoFileWithinTheDirectory) {
  site_.Folder().Write("dir.js", "a directory beside it");
  std::filesystem::create_directory(site_.Folder().Path("dir.js.gz"));
  EXPECT_EQ(site_.Ask("/dir.js", kGzip).body, "a directory beside it");
  Write("out.js", "a link beside it", kTime);
  site_.Folder().Link("out.js.gz", "/etc/passwd");
  EXPECT_EQ(site_.Ask("/out.js", kGzip).body, "a link beside it");
}

TEST_F(GzipTwinsTest, AnIndexPageMayHaveATwin) {
  Write("index.html", "home", kTime);
  Write("index.html.gz", "small home", kTime + 5);
  EXPECT_EQ(site_.Ask("/", kGzip).body, "small home");
  EXPECT_EQ(site_.Ask("/", kGzip).Field("Content-Type"), "text/html; charset=utf-8");
}

}  // namespace
}  // namespace TURTLE_SERVER
