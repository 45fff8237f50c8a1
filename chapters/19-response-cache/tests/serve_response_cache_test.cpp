// `turtle serve --response-cache on`: programs whose responses are kept.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "support/cgi_server.h"
#include "support/http_client.h"
#include "support/turtle.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::Turtle;

class ServeResponseCacheTest : public testing::Test {
 protected:
  // Makes a program that prints how often it has run.
  ServeResponseCacheTest() {
    const std::string count = "echo >> .runs\nruns=$(wc -l < .runs)\n";
    folder_.Program("cgi-bin/count", count + "printf 'Content-Type: text/plain\\n\\n%d' $runs\n");
    folder_.Program("cgi-bin/never",
                    count +
                        "printf 'Content-Type: text/plain\\nCache-Control: no-store\\n\\n%d' "
                        "$runs\n");
    folder_.Program("cgi-bin/dies",
                    count + "printf 'Content-Type: text/plain\\n\\nhalf'\nkill -9 $$\n");
    folder_.Program("cgi-bin/onward", count + "printf 'Location: /page.html\\n\\n'\n");
    folder_.Write("page.html", "a page");
  }
  ~ServeResponseCacheTest() override { ::unsetenv("USE_RESP_CACHE"); }

  [[nodiscard]] auto Arguments(std::vector<std::string> more = {}) const
      -> std::vector<std::string> {
    std::vector<std::string> all{
        folder_.Path(), "--port", "0", "--threads", "2", "--cgi-dir", folder_.Path("cgi-bin")};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  static auto Ask(const Turtle& turtle, const std::string& target) -> std::string {
    return HttpClient(turtle.Port()).Ask(Get(target)).body;
  }

  test::ProgramFolder folder_;
};

TEST_F(ServeResponseCacheTest, EachRequestIsARunWithoutIt) {
  const Turtle turtle(Arguments());
  EXPECT_EQ(Ask(turtle, "/cgi-bin/count"), "1");
  EXPECT_EQ(Ask(turtle, "/cgi-bin/count"), "2");
}

TEST_F(ServeResponseCacheTest, WithItARunIsForManyOnAllThreads) {
  const Turtle turtle(Arguments({"--response-cache", "on", "--response-cache-time", "3600"}));
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(Ask(turtle, "/cgi-bin/count"), "1");
  }
  EXPECT_EQ(Ask(turtle, "/cgi-bin/count?other"), "2");
  EXPECT_EQ(Ask(turtle, "/cgi-bin/never"), "3");
  EXPECT_EQ(Ask(turtle, "/cgi-bin/never"), "4");
  HttpClient client(turtle.Port());
  EXPECT_EQ(
      client.Ask("POST /cgi-bin/count HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\nab").body,
      "5");
  EXPECT_EQ(client.Ask(Get("/cgi-bin/count")).body, "6");
}

TEST_F(ServeResponseCacheTest, AReplyThatIsCutOffIsNotKept) {
  const Turtle turtle(Arguments({"--response-cache", "on"}));
  EXPECT_FALSE(HttpClient(turtle.Port()).Ask(Get("/cgi-bin/dies")).complete);
  EXPECT_FALSE(HttpClient(turtle.Port()).Ask(Get("/cgi-bin/dies")).complete);
  EXPECT_EQ(Ask(turtle, "/cgi-bin/count"), "3");
}

TEST_F(ServeResponseCacheTest, AChangeCountsHoweverItsPathIsWritten) {
  const Turtle turtle(Arguments({"--response-cache", "on", "--response-cache-time", "3600"}));
  EXPECT_EQ(Ask(turtle, "/cgi-bin/count"), "1");
  HttpClient client(turtle.Port());
  EXPECT_EQ(client.Ask("POST //cgi-bin/%63ount HTTP/1.1\r\nHost: t\r\n\r\n").body, "2");
  EXPECT_EQ(Ask(turtle, "/cgi-bin/count"), "3");
}

TEST_F(ServeResponseCacheTest, AProgramThatComesLaterIsRunAtOnce) {
  const Turtle turtle(Arguments({"--response-cache", "on", "--response-cache-time", "3600"}));
  HttpClient client(turtle.Port());
  EXPECT_EQ(client.Ask(Get("/cgi-bin/later")).status, 404);
  EXPECT_EQ(client.Ask(Get("/cgi-bin/plain")).status, 404);
  folder_.Write("cgi-bin/plain", "no program");
  std::filesystem::permissions(folder_.Path("cgi-bin/plain"), std::filesystem::perms(0644));
  EXPECT_EQ(client.Ask(Get("/cgi-bin/plain")).status, 403);
  folder_.Program("cgi-bin/.new", "printf 'Content-Type: text/plain\\n\\nhere'\n");
  std::filesystem::rename(folder_.Path("cgi-bin/.new"), folder_.Path("cgi-bin/later"));
  EXPECT_EQ(client.Ask(Get("/cgi-bin/later")).body, "here");
}

TEST_F(ServeResponseCacheTest, AFileByAnotherPathIsNeverStale) {
  const Turtle turtle(Arguments({"--response-cache", "on"}));
  EXPECT_EQ(Ask(turtle, "/cgi-bin/onward"), "a page");
  folder_.Write("page.html", "another page");
  EXPECT_EQ(Ask(turtle, "/cgi-bin/onward"), "another page");
}

TEST_F(ServeResponseCacheTest, TheEnvironmentIsEnough) {
  ::setenv("USE_RESP_CACHE", "1", 1);
  const Turtle turtle(Arguments());
  EXPECT_EQ(Ask(turtle, "/cgi-bin/count"), "1");
  EXPECT_EQ(Ask(turtle, "/cgi-bin/count"), "1");
}

TEST_F(ServeResponseCacheTest, NoTimeKeepsOnlyWhatSaysSo) {
  folder_.Program("cgi-bin/says",
                  "echo >> .runs\nprintf 'Content-Type: text/plain\\nCache-Control: "
                  "max-age=60\\n\\n%d' $(wc -l < .runs)\n");
  const Turtle turtle(Arguments({"--response-cache", "on", "--response-cache-time", "0"}));
  EXPECT_EQ(Ask(turtle, "/cgi-bin/says"), "1");
  EXPECT_EQ(Ask(turtle, "/cgi-bin/says"), "1");
  EXPECT_EQ(Ask(turtle, "/cgi-bin/count"), "2");
  EXPECT_EQ(Ask(turtle, "/cgi-bin/count"), "3");
}

}  // namespace
}  // namespace TURTLE_SERVER
