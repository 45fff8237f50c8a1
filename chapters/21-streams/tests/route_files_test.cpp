// Files that the handlers of routes send.
#include "files/route_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "files/open_beneath.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using test::Asked;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::RunningServer;

// A route sends the files of a directory, under another path and with one more field.
class RouteFilesTest : public testing::Test {
 protected:
  RouteFilesTest() {
    folder_.Write("a.txt", "abcdefghij");
    folder_.Write("large.html", std::string(100'000, 'x'));
    folder_.Write("sub/b", "deep");
    folder_.Write(".hidden", "secret");
    outside_.Write("b.txt", "outside");
    std::filesystem::create_symlink(outside_.Path() + "/b.txt", folder_.Path() + "/link.txt");
    std::filesystem::create_symlink("a.txt", folder_.Path() + "/inner.txt");
    files_.emplace(folder_.Path());
    server_.emplace([this](HttpServer& http) {
      const auto send = [this](const ServerRequest& req, ServerResponse& res) {
        res.Set("X-Route", "1");
        files_->Send(req, res, std::string(req.Parameter("path")));
      };
      http.Get("/files/{path...}", send).Post("/files/{path...}", send);
      http.Get("/dots", [this](const ServerRequest& req, ServerResponse& res) {
        files_->Send(req, res, std::string(req.Query("path").value_or("")));
      });
      http.Get("/whole", [this](const ServerRequest&, ServerResponse& res) {
        res.Text("this is replaced").Body(Slice("a.txt", 2, 5), "text/x-part");
      });
      http.Get("/text", [this](const ServerRequest&, ServerResponse& res) {
        res.Body(Slice("a.txt", 2, 5)).Text("a text again");
      });
      http.Get("/later", [this](const ServerRequest&, const Responder& responder) {
        ServerResponse response;
        response.Body(Slice("large.html", 0, 100'000), "text/html");
        responder.Reply(std::move(response));
      });
      http.Get("/stream", [this](const ServerRequest&, const Responder& responder) {
        ServerResponse head;
        head.Body(Slice("a.txt", 0, 3));
        const ReplyStream stream = responder.Stream(std::move(head));
        stream.Write("!");
        stream.End();
      });
    });
  }

  auto Slice(const std::string& name, std::uint64_t offset, std::uint64_t length) -> FileSlice {
    const UniqueFd folder = OpenFolder(folder_.Path());
    return OwnFileSlice(OpenBeneath(folder.Get(), name), offset, length);
  }

  auto Ask(const std::string& target, const std::string& fields = "") -> HttpReply {
    return HttpClient(server_->Port()).Ask(Get(target, fields));
  }

  auto Port() const -> int { return server_->Port(); }

 private:
  test::SiteFolder folder_;
  test::SiteFolder outside_;
  std::optional<RouteFiles> files_;
  std::optional<RunningServer> server_;
};

TEST_F(RouteFilesTest, AFileIsSentWithItsTypeAndTheHandlersFields) {
  const HttpReply reply = Ask("/files/a.txt");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "abcdefghij");
  EXPECT_EQ(reply.Field("Content-Type"), "text/plain; charset=utf-8");
  EXPECT_EQ(reply.Field("Content-Length"), "10");
  EXPECT_EQ(reply.Field("Accept-Ranges"), "bytes");
  EXPECT_EQ(reply.Field("X-Route"), "1");
  EXPECT_EQ(Ask("/files/sub/b").body, "deep");
  EXPECT_EQ(Ask("/files/inner.txt").body, "abcdefghij");
  const HttpReply large = Ask("/files/large.html");
  EXPECT_EQ(large.body, std::string(100'000, 'x'));
  EXPECT_EQ(large.Field("Content-Type"), "text/html; charset=utf-8");
}

TEST_F(RouteFilesTest, HeadSaysHowLongItIs) {
  HttpClient client(Port());
  const HttpReply head =
      client.Ask("HEAD /files/large.html HTTP/1.1\r\nHost: t\r\n\r\n", Asked::kHead);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.Field("Content-Length"), "100000");
  EXPECT_EQ(client.Ask(Get("/files/a.txt")).body, "abcdefghij");
}

TEST_F(RouteFilesTest, ConditionsAndRangesCount) {
  std::string tag;
  do {  // until the file is old enough for a strong one
    tag = Ask("/files/large.html").Field("ETag");
  } while (tag.substr(0, 2) == "W/");
  const HttpReply same = Ask("/files/large.html", "If-None-Match: " + tag + "\r\n");
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(same.Field("ETag"), tag);
  EXPECT_EQ(same.Field("X-Route"), "1");
  EXPECT_EQ(Ask("/files/a.txt", "If-Match: \"other\"\r\n").status, 412);
  const HttpReply part = Ask("/files/a.txt", "Range: bytes=2-4\r\n");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "cde");
  EXPECT_EQ(part.Field("Content-Range"), "bytes 2-4/10");
  EXPECT_EQ(part.Field("X-Route"), "1");
  const HttpReply large = Ask("/files/large.html", "Range: bytes=0-49999\r\n");
  EXPECT_EQ(large.body, std::string(50'000, 'x'));
  const HttpReply parts = Ask("/files/large.html", "Range: bytes=0-0,9999-9999\r\n");
  EXPECT_EQ(parts.status, 206);
  EXPECT_EQ(parts.Field("Content-Type").substr(0, 20), "multipart/byteranges");
  const HttpReply beyond = Ask("/files/a.txt", "Range: bytes=10-\r\n");
  EXPECT_EQ(beyond.status, 416);
  EXPECT_EQ(beyond.Field("Content-Range"), "bytes */10");
  EXPECT_EQ(beyond.Field("X-Route"), "");
}

TEST_F(RouteFilesTest, NothingOutsideOrHiddenIsSent) {
  for (const std::string path : {"none", "sub", "sub/", "", "a.txt/", "link.txt", ".hidden"}) {
    EXPECT_EQ(Ask("/files/" + path).status, 404) << path;
  }
  for (const std::string path : {"../a.txt", "sub/../../a.txt", "/etc/passwd", "a.txt%00", ".."}) {
    EXPECT_EQ(Ask("/dots?path=" + path).status, 404) << path;
  }
  EXPECT_EQ(Ask("/dots?path=a.txt").status, 200);
}

TEST_F(RouteFilesTest, APostMayBeAnsweredByAFileToo) {
  HttpClient client(Port());
  const std::string request =
      "POST /files/a.txt HTTP/1.1\r\nHost: t\r\nRange: bytes=0-1\r\nContent-Length: 1\r\n\r\nx";
  EXPECT_EQ(client.Ask(request).body, "abcdefghij");
}

TEST_F(RouteFilesTest, ABodyMayBeAPartOfAFile) {
  const HttpReply part = Ask("/whole");
  EXPECT_EQ(part.body, "cdefg");
  EXPECT_EQ(part.Field("Content-Type"), "text/x-part");
  EXPECT_EQ(Ask("/text").body, "a text again");
  EXPECT_EQ(Ask("/later").body, std::string(100'000, 'x'));
  EXPECT_EQ(Ask("/stream").body, "abc!");
}

TEST(RouteFilesFolderTest, AFolderThatIsNotThereIsNamed) {
  try {
    const RouteFiles files("/nowhere/at/all");
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find("/nowhere/at/all"), std::string::npos);
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
