#include "web/resumable_uploads.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <thread>

#include "support/http_client.h"
#include "support/running_server.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using test::Asked;
using test::HttpClient;
using test::HttpReply;

auto Patch(const std::string& target, const std::string& fields) -> std::string {
  return "PATCH " + target + " HTTP/1.1\r\nHost: t\r\n" + fields + "\r\n";
}

auto PatchAt(const std::string& target, const std::string& offset, std::size_t length)
    -> std::string {
  return Patch(target, "Upload-Offset: " + offset +
                           "\r\nContent-Length: " + std::to_string(length) + "\r\n");
}

class ResumableUploadsTest : public testing::Test {
 protected:
  auto Content(const std::string& name) const -> std::string {
    std::ifstream file(folder_.Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  auto Exists(const std::string& name) const -> bool {
    return std::filesystem::exists(std::filesystem::symlink_status(folder_.Path(name)));
  }

  // Waits until the server has written so much.
  auto Await(const std::string& name, const std::string& content) const -> bool {
    const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
    while (Content(name) != content && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    return Content(name) == content;
  }

  auto Head(const std::string& target) -> HttpReply {
    return HttpClient(server_.Port())
        .Ask("HEAD " + target + " HTTP/1.1\r\nHost: t\r\n\r\n", Asked::kHead);
  }

  test::SiteFolder folder_;
  test::RunningServer server_{[this](HttpServer& server) {
    server.Mount("/files",
                 [this](Looper&) { return std::make_unique<ResumableUploads>(folder_.Path()); });
  }};
  HttpClient client_{server_.Port()};
};

TEST_F(ResumableUploadsTest, AFileGrowsRequestByRequest) {
  HttpReply reply = client_.Ask(PatchAt("/files/a", "0", 5) + "hello");
  EXPECT_EQ(reply.status, 204);
  EXPECT_EQ(reply.Field("Upload-Offset"), "5");
  reply = client_.Ask(Patch("/files/a", "Upload-Offset: 5\r\nTransfer-Encoding: chunked\r\n") +
                      "3\r\n, w\r\n4\r\norld\r\n0\r\n\r\n");
  EXPECT_EQ(reply.status, 204);
  EXPECT_EQ(reply.Field("Upload-Offset"), "12");
  EXPECT_EQ(client_.Ask(PatchAt("/files/a", "12", 0)).Field("Upload-Offset"), "12");
  EXPECT_EQ(Content("a"), "hello, world");
  reply = Head("/files/a");
  EXPECT_EQ(reply.status, 204);
  EXPECT_EQ(reply.Field("Upload-Offset"), "12");
}

TEST_F(ResumableUploadsTest, WhatIsNotThereCanBeBegun) {
  EXPECT_EQ(Head("/files/a").status, 404);
  EXPECT_EQ(client_.Ask(PatchAt("/files/a", "0", 0)).Field("Upload-Offset"), "0");
  EXPECT_EQ(Head("/files/a").Field("Upload-Offset"), "0");
}

TEST_F(ResumableUploadsTest, WhatCameBeforeTheEndCounts) {
  ASSERT_TRUE(client_.Send(PatchAt("/files/a", "0", 10) + "01234"));
  client_.FinishSending();
  EXPECT_TRUE(client_.IsClosedByServer());
  EXPECT_EQ(Head("/files/a").Field("Upload-Offset"), "5");
  EXPECT_EQ(HttpClient(server_.Port()).Ask(PatchAt("/files/a", "5", 5) + "56789").status, 204);
  EXPECT_EQ(Content("a"), "0123456789");
}

TEST_F(ResumableUploadsTest, WhatCameBeforeAMalformedChunkCounts) {
  const std::string fields = "Upload-Offset: 0\r\nTransfer-Encoding: chunked\r\n";
  ASSERT_TRUE(client_.Send(Patch("/files/a", fields) + "5\r\n01234\r\n"));
  ASSERT_TRUE(Await("a", "01234"));
  EXPECT_EQ(client_.Ask("zz\r\n").status, 400);
  EXPECT_EQ(Head("/files/a").Field("Upload-Offset"), "5");
}

TEST_F(ResumableUploadsTest, AnotherOffsetIsAConflictBeforeAByteIsSent) {
  folder_.Write("a", "01234");
  for (const char* offset : {"0", "4", "6", "18446744073709551615"}) {
    const HttpReply reply = HttpClient(server_.Port())
                                .Ask(Patch("/files/a", "Upload-Offset: " + std::string(offset) +
                                                           "\r\nContent-Length: 5\r\n"
                                                           "Expect: 100-continue\r\n"));
    EXPECT_EQ(reply.status, 409) << offset;
    EXPECT_EQ(reply.Field("Upload-Offset"), "5") << offset;
  }
  EXPECT_EQ(client_.Ask(PatchAt("/files/b", "5", 1) + "x").Field("Upload-Offset"), "0");
  EXPECT_EQ(Content("a"), "01234");
  EXPECT_FALSE(Exists("b"));
}

TEST_F(ResumableUploadsTest, TheOffsetIsOneNumber) {
  for (const char* fields :
       {"", "Upload-Offset: \r\n", "Upload-Offset: x\r\n", "Upload-Offset: -0\r\n",
        "Upload-Offset: +0\r\n", "Upload-Offset: 0x0\r\n", "Upload-Offset: 0 0\r\n",
        "Upload-Offset: 18446744073709551616\r\n", "Upload-Offset: 0\r\nupload-offset: 0\r\n"}) {
    EXPECT_EQ(client_.Ask(Patch("/files/a", fields)).status, 400) << fields;
  }
  EXPECT_FALSE(Exists("a"));
}

// A connection over which nothing comes any more may look alive for long.
TEST_F(ResumableUploadsTest, WhoComesLaterTakesOver) {
  ASSERT_TRUE(client_.Send(PatchAt("/files/a", "0", 10) + "01234"));
  ASSERT_TRUE(Await("a", "01234"));
  HttpClient later(server_.Port());
  const HttpReply reply = later.Ask(PatchAt("/files/a", "5", 5) + "56789");
  EXPECT_EQ(reply.status, 204);
  EXPECT_EQ(reply.Field("Upload-Offset"), "10");
  EXPECT_EQ(client_.Ask("abcde").status, 409);
  server_.Settle();
  EXPECT_EQ(Content("a"), "0123456789");
}

TEST_F(ResumableUploadsTest, WhoIsToldAnOffsetCanRelyOnIt) {
  ASSERT_TRUE(client_.Send(PatchAt("/files/a", "0", 10) + "01234"));
  ASSERT_TRUE(Await("a", "01234"));
  EXPECT_EQ(Head("/files/a").Field("Upload-Offset"), "5");
  EXPECT_EQ(client_.Ask("abcde").status, 409);
  server_.Settle();
  EXPECT_EQ(Content("a"), "01234");
  // And the one that was ended takes nothing of a third with it.
  HttpClient third(server_.Port());
  ASSERT_TRUE(third.Send(PatchAt("/files/a", "5", 5) + "56"));
  ASSERT_TRUE(Await("a", "0123456"));
  client_.Reset();
  server_.Settle();
  EXPECT_EQ(third.Ask("789").status, 204);
  EXPECT_EQ(Content("a"), "0123456789");
}

TEST_F(ResumableUploadsTest, EndedBeforeTheFirstByteOfTheNextOneAlso) {
  ASSERT_TRUE(client_.Send(PatchAt("/files/a", "0", 10) + "01234"));
  ASSERT_TRUE(Await("a", "01234"));
  HttpClient wrong(server_.Port());
  EXPECT_EQ(wrong.Ask(PatchAt("/files/a", "9", 0)).Field("Upload-Offset"), "5");
  EXPECT_EQ(client_.ReadReply().status, 409);
}

TEST_F(ResumableUploadsTest, AnotherFileIsNobodysBusiness) {
  ASSERT_TRUE(client_.Send(PatchAt("/files/a", "0", 10) + "01234"));
  ASSERT_TRUE(Await("a", "01234"));
  EXPECT_EQ(HttpClient(server_.Port()).Ask(PatchAt("/files/b", "0", 1) + "x").status, 204);
  EXPECT_EQ(Head("/files/b").Field("Upload-Offset"), "1");
  EXPECT_EQ(client_.Ask("56789").status, 204);
  EXPECT_EQ(Content("a"), "0123456789");
}

TEST_F(ResumableUploadsTest, ANameHasLettersAndDigits) {
  for (const char* target : {"/files", "/files/", "/files/.a", "/files/a.b", "/files/a/b",
                             "/files/a%20", "/files/%c3%a4"}) {
    EXPECT_EQ(HttpClient(server_.Port()).Ask(PatchAt(target, "0", 0)).status, 404) << target;
    EXPECT_EQ(Head(target).status, 404) << target;
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.Path()));
}

TEST_F(ResumableUploadsTest, WhatIsNoFileIsNotThere) {
  const test::SiteFolder elsewhere;
  elsewhere.Write("target", "");
  folder_.Link("link", elsewhere.Path("target"));
  folder_.Link("dangling", elsewhere.Path("new"));
  std::filesystem::create_directory(folder_.Path("folder"));
  ASSERT_EQ(::mkfifo(folder_.Path("pipe").c_str(), 0600), 0);
  for (const char* name : {"link", "dangling", "folder", "pipe"}) {
    EXPECT_EQ(client_.Ask(PatchAt(std::string("/files/") + name, "0", 1) + "x").status, 404)
        << name;
    EXPECT_EQ(Head(std::string("/files/") + name).status, 404) << name;
  }
  EXPECT_EQ(std::filesystem::file_size(elsewhere.Path("target")), 0U);
  EXPECT_FALSE(std::filesystem::exists(elsewhere.Path("new")));
}

TEST_F(ResumableUploadsTest, OtherMethodsAreRefused) {
  folder_.Write("a", "01234");
  const HttpReply reply = client_.Ask(test::Get("/files/a"));
  EXPECT_EQ(reply.status, 405);
  EXPECT_EQ(reply.Field("Allow"), "HEAD, PATCH");
}

TEST(ResumableUploads, AFolderThatIsNotThereIsNamed) {
  try {
    const ResumableUploads uploads("/nowhere/at/all");
    ADD_FAILURE() << "it was opened";
  } catch (const std::system_error& error) {
    EXPECT_STREQ(error.what(), "/nowhere/at/all: No such file or directory");
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
