// How long a browser may keep a file.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "support/static_site.h"

namespace TURTLE_SERVER {
namespace {

using test::Asked;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::StaticSite;

using MaxAge = std::optional<std::chrono::seconds>;

// Sets the option. This overload is for the solution, the next one for the chapter as it is given.
template <typename Options>
auto SetMaxAge(Options& options, const MaxAge& max_age, int)
    -> decltype(void(options.max_age), true) {
  options.max_age = max_age;
  return true;
}

template <typename Options>
auto SetMaxAge(Options&, const MaxAge&, std::int64_t) -> bool {
  return false;
}

class MaxAgeTest : public testing::Test {
 protected:
  static auto Site(const MaxAge& max_age) -> std::unique_ptr<StaticSite> {
    auto site = std::make_unique<StaticSite>("/", [&](StaticFilesOptions& options) {
      EXPECT_TRUE(SetMaxAge(options, max_age, 0)) << "StaticFilesOptions has no max_age";
    });
    site->Folder().Write("a.txt", "0123456789");
    site->Folder().Write("sub/index.html", "x");
    return site;
  }
};

TEST_F(MaxAgeTest, IsSaidWithTheWholeFileAndWithAPart) {
  const auto site = Site(std::chrono::hours(1));
  EXPECT_EQ(site->Ask("/a.txt").Field("Cache-Control"), "max-age=3600");
  const HttpReply part = site->Ask("/a.txt", "Range: bytes=0-3\r\n");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.Field("Cache-Control"), "max-age=3600");
  const HttpReply parts = site->Ask("/a.txt", "Range: bytes=0-0,9-9\r\n");
  EXPECT_EQ(parts.Field("Cache-Control"), "max-age=3600");
  HttpClient client(site->Port());
  const HttpReply head = client.Ask("HEAD /a.txt HTTP/1.1\r\nHost: t\r\n\r\n", Asked::kHead);
  EXPECT_EQ(head.Field("Cache-Control"), "max-age=3600");
}

TEST_F(MaxAgeTest, IsRenewedByNotModified) {
  const auto site = Site(std::chrono::seconds(5));
  const HttpReply reply = site->Ask("/a.txt", "If-None-Match: *\r\n");
  EXPECT_EQ(reply.status, 304);
  EXPECT_EQ(reply.Field("Cache-Control"), "max-age=5");
}

TEST_F(MaxAgeTest, IsNotSaidWithAnythingElse) {
  const auto site = Site(std::chrono::hours(1));
  const auto field = [&](const char* path, const char* fields, int status) {
    const HttpReply reply = site->Ask(path, fields);
    EXPECT_EQ(reply.status, status) << path << ' ' << fields;
    return reply.Field("Cache-Control");
  };
  EXPECT_EQ(field("/none", "", 404), "");
  EXPECT_EQ(field("/sub", "", 301), "");
  EXPECT_EQ(field("/a.txt", "If-Match: \"other\"\r\n", 412), "");
  EXPECT_EQ(field("/a.txt", "Range: bytes=99-\r\n", 416), "");
}

TEST_F(MaxAgeTest, ZeroIsAValueAndNoneIsNoField) {
  EXPECT_EQ(Site(std::chrono::seconds(0))->Ask("/a.txt").Field("Cache-Control"), "max-age=0");
  EXPECT_EQ(Site(std::nullopt)->Ask("/a.txt").Field("Cache-Control"), "");
}

}  // namespace
}  // namespace TURTLE_SERVER
