#include "files/missing_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "base/unique_fd.h"
#include "support/clocked_server.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

namespace fs = std::filesystem;
using test::Get;
using test::HttpClient;

#ifdef __linux__

class MissingFilesTest : public testing::Test {
 protected:
  // Answers "known", "looked" or "there".
  auto Ask(const std::string& name) -> std::string { return client_.Ask(Get("/" + name)).body; }

  // A name that is missing, and known to be so.
  void Miss(const std::string& name) {
    EXPECT_EQ(Ask(name), "looked") << name;
    EXPECT_EQ(Ask(name), "known") << name;
  }

  auto Stats() -> LruStats {
    return server_.Loop().Ask([this] { return missing_->Stats(); });
  }

  auto Path(const std::string& name) const -> std::string { return folder_.Path(name); }

  static constexpr std::size_t kMaxBytes = 20'000;

  test::SiteFolder folder_;
  test::SiteFolder elsewhere_;
  UniqueFd root_{::open(folder_.Path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  MissingFiles* missing_ = nullptr;  // the loop's
  test::ClockedServer server_{[this](Looper& looper, LoopHttp& http) {
    class Handler : public RequestHandler {
     public:
      Handler(Looper& looper, int root) : missing(looper, root, kMaxBytes), root_(root) {}
      void Handle(Exchange& exchange) override {
        const std::string name(exchange.SubPath().substr(1));
        struct stat status {};
        if (missing.IsMissing(name)) {
          exchange.Reply(TextResponse(404, "known"));
        } else if (::fstatat(root_, name.c_str(), &status, 0) == 0) {
          exchange.Reply(TextResponse(200, "there"));
        } else {
          missing.Note(name);
          exchange.Reply(TextResponse(404, "looked"));
        }
      }
      MissingFiles missing;

     private:
      const int root_;
    };
    auto handler = std::make_unique<Handler>(looper, root_.Get());
    missing_ = &handler->missing;
    http.Mount("/", std::move(handler));
  }};
  HttpClient client_{server_.Port()};
};

TEST_F(MissingFilesTest, IsLookedForOnce) {
  EXPECT_EQ(Ask("favicon.ico"), "looked");
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Ask("favicon.ico"), "known");
  }
  EXPECT_EQ(Ask("other.ico"), "looked");
  EXPECT_EQ(Stats().hits, 100U);
  EXPECT_EQ(Stats().misses, 2U);
  EXPECT_EQ(Stats().entries, 2U);
}

TEST_F(MissingFilesTest, IsThereAsSoonAsItIsThere) {
  for (int i = 0; i < 20; ++i) {
    Miss("page");
    folder_.Write("page", "x");
    EXPECT_EQ(Ask("page"), "there");
    fs::remove(Path("page"));
  }
}

TEST_F(MissingFilesTest, HoweverItComes) {
  elsewhere_.Write("moved", "");
  folder_.Write("inside", "");
  elsewhere_.Write("linked", "");
  for (const char* name : {"moved", "renamed", "link", "second", "folder", "pipe"}) {
    Miss(name);
  }
  fs::rename(elsewhere_.Path("moved"), Path("moved"));
  EXPECT_EQ(Ask("moved"), "there");
  fs::rename(Path("inside"), Path("renamed"));
  EXPECT_EQ(Ask("renamed"), "there");
  Miss("inside");
  folder_.Link("link", elsewhere_.Path("linked"));
  EXPECT_EQ(Ask("link"), "there");
  fs::create_hard_link(Path("renamed"), Path("second"));
  EXPECT_EQ(Ask("second"), "there");
  fs::create_directory(Path("folder"));
  EXPECT_EQ(Ask("folder"), "there");
  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(Ask("pipe"), "there");
}

TEST_F(MissingFilesTest, OnlyWhatHasComeIsForgotten) {
  Miss("a");
  Miss("b");
  Miss("ab");
  folder_.Write("a", "");
  EXPECT_EQ(Ask("a"), "there");
  EXPECT_EQ(Ask("b"), "known");
  EXPECT_EQ(Ask("ab"), "known");
}

TEST_F(MissingFilesTest, InAFolder) {
  fs::create_directories(Path("a/b"));
  Miss("a/b/c");
  folder_.Write("a/b/c", "");
  EXPECT_EQ(Ask("a/b/c"), "there");
}

TEST_F(MissingFilesTest, InAFolderThatIsNotThereEither) {
  Miss("a/b/c");
  Miss("a/b/d");
  fs::create_directories(elsewhere_.Path("new/b"));
  elsewhere_.Write("new/b/c", "");
  fs::rename(elsewhere_.Path("new"), Path("a"));  // all at once
  EXPECT_EQ(Ask("a/b/c"), "there");
  Miss("a/b/d");
  folder_.Write("a/b/d", "");
  EXPECT_EQ(Ask("a/b/d"), "there");
}

TEST_F(MissingFilesTest, StepByStep) {
  Miss("a/b/c");
  fs::create_directory(Path("a"));
  Miss("a/b/c");
  fs::create_directory(Path("a/b"));
  Miss("a/b/c");
  folder_.Write("a/b/c", "");
  EXPECT_EQ(Ask("a/b/c"), "there");
}

TEST_F(MissingFilesTest, BehindALinkThatComes) {
  elsewhere_.Write("b/c", "");
  Miss("a/b/c");
  folder_.Link("a", elsewhere_.Path());
  EXPECT_EQ(Ask("a/b/c"), "there");
}

TEST_F(MissingFilesTest, BehindAFileThatBecomesAFolder) {
  folder_.Write("a", "no folder");
  Miss("a/b");
  fs::remove(Path("a"));
  folder_.Write("a/b", "");
  EXPECT_EQ(Ask("a/b"), "there");
}

TEST_F(MissingFilesTest, WhenAFolderIsExchanged) {
  fs::create_directory(Path("a"));
  Miss("a/b");
  elsewhere_.Write("a/b", "");
  fs::rename(Path("a"), Path("old"));
  fs::rename(elsewhere_.Path("a"), Path("a"));
  EXPECT_EQ(Ask("a/b"), "there");
}

// No event reports changes beyond a link.
TEST_F(MissingFilesTest, BehindALinkItIsLookedForEachTime) {
  fs::create_directory(elsewhere_.Path("target"));
  folder_.Link("a", elsewhere_.Path("target"));
  folder_.Link("dangling", elsewhere_.Path("none"));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Ask("a/b"), "looked");
    EXPECT_EQ(Ask("dangling"), "looked");
    EXPECT_EQ(Ask("dangling/b"), "looked");
  }
  elsewhere_.Write("target/b", "");
  EXPECT_EQ(Ask("a/b"), "there");
  elsewhere_.Write("none", "");
  EXPECT_EQ(Ask("dangling"), "there");
}

TEST_F(MissingFilesTest, WhatIsThereIsNotNoted) {
  folder_.Write("page", "");
  server_.Loop().Ask([this] {
    missing_->Note("page");
    EXPECT_FALSE(missing_->IsMissing("page"));
  });
}

TEST_F(MissingFilesTest, ManyNamesTakeNoMoreThanTheirShare) {
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(Ask("scan" + std::to_string(i)), "looked");
    EXPECT_LE(Stats().bytes, kMaxBytes);
  }
  EXPECT_EQ(Ask("scan999"), "known");
  EXPECT_EQ(Ask("scan0"), "looked");
  EXPECT_EQ(Ask(std::string(250, 'x')), "looked");
  EXPECT_LE(Stats().bytes, kMaxBytes);
}

TEST_F(MissingFilesTest, ALongNameWeighsMore) {
  server_.Loop().Ask([this] {
    missing_->Note("short");
    const std::size_t one = missing_->Stats().bytes;
    missing_->Note("shorn" + std::string(200, 'x'));
    EXPECT_GE(missing_->Stats().bytes, 2 * one + 200);
  });
}

#endif

}  // namespace
}  // namespace TURTLE_SERVER
