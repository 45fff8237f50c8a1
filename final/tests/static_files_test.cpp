// Files over the wire: their types, their validators, and the responses for directories.
#include "files/static_files.h"

#include <gtest/gtest.h>

#include <string>
#include <system_error>

#include "support/static_site.h"

namespace TURTLE_SERVER {
namespace {

using test::Asked;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::StaticSite;

constexpr std::time_t kTime = 1'600'000'000;  // Sun, 13 Sep 2020 12:26:40 GMT
constexpr const char* kTimeText = "Sun, 13 Sep 2020 12:26:40 GMT";
constexpr const char* kEarlierText = "Sun, 13 Sep 2020 12:26:39 GMT";

TEST(StaticFiles, AFileWithAllThatIsKnownOfIt) {
  StaticSite site;
  site.Folder().Write("page.html", "<h1>Turtle</h1>");
  site.SetTime("page.html", kTime);
  const HttpReply reply = site.Ask("/page.html");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "<h1>Turtle</h1>");
  EXPECT_EQ(reply.Field("Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(reply.Field("Content-Length"), "15");
  EXPECT_EQ(reply.Field("Last-Modified"), kTimeText);
  EXPECT_EQ(reply.Field("Accept-Ranges"), "bytes");
  EXPECT_NE(reply.Field("ETag"), "");
}

TEST(StaticFiles, EveryTypeByItsName) {
  StaticSite site;
  for (const auto& [name, type] :
       {std::pair("a.css", "text/css; charset=utf-8"), std::pair("a.png", "image/png"),
        std::pair("a.svg", "image/svg+xml"), std::pair("no_suffix", "application/octet-stream")}) {
    site.Folder().Write(name, "x");
    EXPECT_EQ(site.Ask("/" + std::string(name)).Field("Content-Type"), type) << name;
  }
}

TEST(StaticFiles, HeadSaysTheSameAndSendsNothing) {
  StaticSite site;
  site.Folder().Write("small.txt", "0123456789");
  site.Folder().Write("large.txt", std::string(100'000, 'x'));
  site.Folder().Write("empty.txt", "");
  HttpClient client(site.Port());
  for (const auto& [name, size] : {std::pair("/small.txt", "10"), std::pair("/large.txt", "100000"),
                                   std::pair("/empty.txt", "0")}) {
    const HttpReply head =
        client.Ask("HEAD " + std::string(name) + " HTTP/1.1\r\nHost: t\r\n\r\n", Asked::kHead);
    const HttpReply get = client.Ask(Get(name));
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.Field("Content-Length"), size);
    EXPECT_EQ(std::to_string(get.body.size()), size);
    EXPECT_EQ(head.Field("Content-Type"), get.Field("Content-Type"));
  }
}

TEST(StaticFiles, TheTagIsWeakWhileTheFileMayStillChangeUnseen) {
  StaticSite site;
  site.Folder().Write("a.txt", "x");
  EXPECT_EQ(site.AwaitStrongTag("/a.txt").substr(0, 1), "\"");
  site.SetTime("a.txt", std::time(nullptr) + 1000);
  EXPECT_EQ(site.Ask("/a.txt").Field("ETag").substr(0, 3), "W/\"");
}

TEST(StaticFiles, AChangedFileHasAnotherTag) {
  StaticSite site;
  site.Folder().Write("a.txt", "old");
  const std::string old_tag = site.AwaitStrongTag("/a.txt");
  site.Folder().Write("a.txt", "new");
  const HttpReply reply = site.Ask("/a.txt", "If-None-Match: " + old_tag + "\r\n");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "new");
}

TEST(StaticFiles, AllFiveConditions) {
  StaticSite site;
  site.Folder().Write("a.txt", "0123456789");
  site.SetTime("a.txt", kTime);
  const std::string tag = site.AwaitStrongTag("/a.txt");
  const auto status = [&](const std::string& fields) { return site.Ask("/a.txt", fields).status; };
  const auto field = [](const char* name, const std::string& value) {
    return std::string(name) + ": " + value + "\r\n";
  };
  EXPECT_EQ(status(field("If-None-Match", tag)), 304);
  EXPECT_EQ(status(field("If-None-Match", "\"other\", W/" + tag)), 304);
  EXPECT_EQ(status(field("If-None-Match", "*")), 304);
  EXPECT_EQ(status(field("If-None-Match", "\"other\"")), 200);
  EXPECT_EQ(status(field("If-Modified-Since", kTimeText)), 304);
  EXPECT_EQ(status(field("If-Modified-Since", kEarlierText)), 200);
  EXPECT_EQ(status(field("If-Match", tag)), 200);
  EXPECT_EQ(status(field("If-Match", "\"other\"")), 412);
  EXPECT_EQ(status(field("If-Unmodified-Since", kTimeText)), 200);
  EXPECT_EQ(status(field("If-Unmodified-Since", kEarlierText)), 412);
  const std::string range = "Range: bytes=0-3\r\n";
  EXPECT_EQ(status(range + field("If-Range", tag)), 206);
  EXPECT_EQ(status(range + field("If-Range", "\"other\"")), 200);
  // The precedence: a tag outweighs a time.
  EXPECT_EQ(status(field("If-None-Match", "\"other\"") + field("If-Modified-Since", kTimeText)),
            200);
  EXPECT_EQ(status(field("If-Match", tag) + field("If-Unmodified-Since", kEarlierText)), 200);
  EXPECT_EQ(status(field("If-Match", "\"other\"") + field("If-None-Match", tag)), 412);
}

// A client that has the first version must neither get a part of the second nor be told that its
// own is current.
TEST(StaticFiles, TwoVersionsOfOneSecondHaveTwoDates) {
  StaticSite site;
  site.Folder().Write("a.txt", "0123456789");
  site.SetTime("a.txt", std::time(nullptr) + 1);  // not over when the response is made
  const std::string date = site.Ask("/a.txt").Field("Last-Modified");
  site.Folder().Write("a.txt", "abcdefghij");
  const std::string final_date = site.AwaitFinalDate("a.txt");
  ASSERT_NE(final_date, "");
  EXPECT_NE(date, final_date);
  const auto ask = [&](const std::string& field, const std::string& value) {
    return site.Ask("/a.txt", "Range: bytes=0-3\r\n" + field + ": " + value + "\r\n");
  };
  EXPECT_EQ(ask("If-Range", date).status, 200);
  EXPECT_EQ(ask("If-Range", final_date).body, "abcd");
  EXPECT_EQ(ask("If-Modified-Since", date).status, 206);
  EXPECT_EQ(ask("If-Modified-Since", final_date).status, 304);
  EXPECT_EQ(ask("If-Unmodified-Since", date).status, 412);
  EXPECT_EQ(ask("If-Unmodified-Since", final_date).status, 206);
}

TEST(StaticFiles, ACopyThatKeepsItsTimesHasTheSameTag) {
  StaticSite one;
  StaticSite other;
  for (const StaticSite* site : {&one, &other}) {
    site->Folder().Write("a.txt", "0123456789");
    site->SetTime("a.txt", kTime);
  }
  const std::string tag = one.AwaitStrongTag("/a.txt");
  EXPECT_EQ(other.AwaitStrongTag("/a.txt"), tag);
  EXPECT_EQ(other.Ask("/a.txt", "Range: bytes=0-3\r\nIf-Range: " + tag + "\r\n").status, 206);
}

TEST(StaticFiles, NotModifiedHasTheTagAndNothingThatDescribesABody) {
  StaticSite site;
  site.Folder().Write("a.txt", "0123456789");
  const std::string tag = site.AwaitStrongTag("/a.txt");
  HttpClient client(site.Port());
  const HttpReply reply = client.Ask(Get("/a.txt", "If-None-Match: " + tag + "\r\n"));
  EXPECT_EQ(reply.status, 304);
  EXPECT_EQ(reply.Field("ETag"), tag);
  EXPECT_EQ(reply.Field("Date").size(), 29U);
  for (const char* field : {"Content-Type", "Content-Length", "Last-Modified"}) {
    EXPECT_EQ(reply.Field(field), "") << field;
  }
  EXPECT_EQ(client.Ask(Get("/a.txt")).body, "0123456789");  // there was no byte in between
}

TEST(StaticFiles, AConditionDoesNotMakeAPageOfNothing) {
  StaticSite site;
  EXPECT_EQ(site.Ask("/none", "If-None-Match: *\r\n").status, 404);
  EXPECT_EQ(site.Ask("/none", "If-Match: \"x\"\r\n").status, 404);
}

TEST(StaticFiles, AFolderIsItsIndexPage) {
  StaticSite site;
  site.Folder().Write("index.html", "home");
  site.Folder().Write("sub/index.html", "sub");
  site.Folder().Write("bare/file", "x");
  EXPECT_EQ(site.Ask("/").body, "home");
  EXPECT_EQ(site.Ask("/sub/").body, "sub");
  EXPECT_EQ(site.Ask("/sub/.").body, "sub");
  EXPECT_EQ(site.Ask("/bare/").status, 404);  // nobody sees a list of the files
  EXPECT_EQ(site.Ask("/index.html/").status, 404);
}

TEST(StaticFiles, WithoutAnIndexPageAFolderIsNothing) {
  StaticSite site("/", [](StaticFilesOptions& options) { options.index = ""; });
  site.Folder().Write("sub/index.html", "x");
  EXPECT_EQ(site.Ask("/").status, 404);
  EXPECT_EQ(site.Ask("/sub/").status, 404);
  EXPECT_EQ(site.Ask("/sub/index.html").status, 200);
}

TEST(StaticFiles, AFolderWithoutItsSlashIsRedirected) {
  StaticSite site;
  site.Folder().Write("sub/index.html", "x");
  site.Folder().Write("with space&\xc3\xa9/index.html", "x");
  const HttpReply reply = site.Ask("/sub");
  EXPECT_EQ(reply.status, 301);
  EXPECT_EQ(reply.Field("Location"), "/sub/");
  EXPECT_EQ(site.Ask("/sub?a=1&b=%20").Field("Location"), "/sub/?a=1&b=%20");
  EXPECT_EQ(site.Ask("/sub?").Field("Location"), "/sub/?");
  EXPECT_EQ(site.Ask("/with%20space%26%c3%a9").Field("Location"), "/with%20space&%C3%A9/");
}

TEST(StaticFiles, ARedirectStaysOnThisServer) {
  StaticSite site;
  site.Folder().Write("evil.example/index.html", "x");
  for (const char* target : {"//evil.example", "/.//evil.example", "///evil.example",
                             "http://other.example//evil.example"}) {
    EXPECT_EQ(site.Ask(target).Field("Location"), "/evil.example/") << target;
  }
}

TEST(StaticFiles, AMountPointIsAFolderToo) {
  StaticSite site("/files", [](StaticFilesOptions&) {});
  site.Folder().Write("index.html", "x");
  site.Folder().Write("sub/index.html", "y");
  EXPECT_EQ(site.Ask("/files").Field("Location"), "/files/");
  EXPECT_EQ(site.Ask("/files/").body, "x");
  EXPECT_EQ(site.Ask("/files/sub").Field("Location"), "/files/sub/");
  EXPECT_EQ(site.Ask("/").status, 404);
}

TEST(StaticFiles, OtherMethodsAreNotAllowed) {
  StaticSite site;
  site.Folder().Write("a.txt", "x");
  HttpClient client(site.Port());
  for (const char* method : {"POST", "PUT", "DELETE", "TRACE", "PATCH"}) {
    const HttpReply reply = client.Ask(std::string(method) + " /a.txt HTTP/1.1\r\nHost: t\r\n\r\n");
    EXPECT_EQ(reply.status, 405) << method;
    EXPECT_EQ(reply.Field("Allow"), "GET, HEAD, OPTIONS") << method;
  }
  const HttpReply options = client.Ask("OPTIONS /a.txt HTTP/1.1\r\nHost: t\r\n\r\n");
  EXPECT_EQ(options.status, 204);
  EXPECT_EQ(options.Field("Allow"), "GET, HEAD, OPTIONS");
}

TEST(StaticFiles, AFolderThatIsNotThereIsSaidSo) {
  try {
    (void)test::Serving({"/nowhere/at/all"})(*std::make_unique<Looper>());
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find("/nowhere/at/all"), std::string::npos);
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
