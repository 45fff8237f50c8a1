// Pages from memory: never stale, never of the wrong length, never more than allowed.
#include "files/file_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#endif

#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "http/http_date.h"
#include "support/cached_site.h"
#include "support/clocked_server.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

namespace fs = std::filesystem;
using test::CachedSite;
using test::HttpClient;
using test::HttpReply;

auto Open(const std::string& path, int flags = O_RDONLY) -> UniqueFd {
  return UniqueFd(::open(path.c_str(), flags | O_CLOEXEC));
}

auto StatusOf(int fd) -> struct stat {
  struct stat status {};
  ::fstat(fd, &status);
  return status;
}

TEST(FileCacheTest, TheSecondRequestIsAHit) {
  CachedSite site;
  site.Write("page.html", "hello");
  const HttpReply first = site.Ask("/page.html");
  EXPECT_EQ(site.Stats().misses, 1U);
  EXPECT_EQ(site.Stats().entries, 1U);
  const HttpReply second = site.Ask("/page.html");
  EXPECT_EQ(site.Stats().hits, 1U);
  EXPECT_EQ(first.body, "hello");
  EXPECT_EQ(second.body, "hello");
  for (const char* field :
       {"Content-Length", "Content-Type", "Accept-Ranges", "ETag", "Last-Modified", "Connection"}) {
    EXPECT_EQ(first.Field(field), second.Field(field)) << field;
  }
  // Of now, so between the two it may change.
  const HttpTime now(std::time(nullptr));
  EXPECT_TRUE(ParseHttpDate(first.Field("Date"), now).has_value()) << first.head;
  EXPECT_TRUE(ParseHttpDate(second.Field("Date"), now).has_value()) << second.head;
  EXPECT_EQ(second.Field("Content-Type"), "text/html; charset=utf-8");
}

TEST(FileCacheTest, AHiddenIndexPageIsNotServedByItsOwnName) {
  const test::SiteFolder folder;
  folder.Write(".index", "home");
  StaticFilesOptions options;
  options.root = folder.Path();
  options.index = ".index";
  options.cache.max_bytes = 100'000;
  const test::RunningServer server([&options](HttpServer& http) {
    http.Mount(
        "/", [&options](Looper& looper) { return std::make_unique<StaticFiles>(looper, options); });
  });
  test::HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(test::Get("/.index")).status, 404);
  EXPECT_EQ(client.Ask(test::Get("/")).body, "home");
  EXPECT_EQ(client.Ask(test::Get("/")).body, "home") << "from the cache";
  EXPECT_EQ(client.Ask(test::Get("/.index")).status, 404) << "nor from there";
}

TEST(FileCacheTest, AHitObeysConditionsAndMethods) {
  CachedSite site;
  site.Write("page.html", "hello");
  const std::string tag = site.Ask("/page.html").Field("ETag");
  const HttpReply not_modified = site.Ask("/page.html", "If-None-Match: " + tag + "\r\n");
  EXPECT_EQ(not_modified.status, 304);
  EXPECT_EQ(not_modified.Field("ETag"), tag);
  EXPECT_NE(not_modified.Field("Date"), "");
  for (const char* field : {"Content-Length", "Content-Type", "Accept-Ranges", "Last-Modified"}) {
    EXPECT_EQ(not_modified.Field(field), "") << field << " describes a body";
  }
  EXPECT_EQ(not_modified.body, "");
  EXPECT_EQ(site.Ask("/page.html", "If-Match: \"other\"\r\n").status, 412);
  EXPECT_EQ(site.Ask("/page.html", "Range: bytes=1-2\r\n").body, "el");
  HttpClient client(site.Server().Port());
  const HttpReply head =
      client.Ask("HEAD /page.html HTTP/1.1\r\nHost: t\r\n\r\n", test::Asked::kHead);
  EXPECT_EQ(head.Field("Content-Length"), "5");
  EXPECT_EQ(client.Ask(test::Get("/page.html")).body, "hello") << "HEAD had a body";
  const HttpReply old = client.Ask("GET /page.html HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(old.Field("Connection"), "keep-alive");
  EXPECT_EQ(client.Ask(test::Get("/page.html", "Connection: close\r\n")).Field("Connection"),
            "close");
  EXPECT_TRUE(client.IsClosedByServer());
}

// --- never stale ------------------------------------------------------------------------------

class NeverStale : public testing::TestWithParam<FileCheck> {
 protected:
  NeverStale()
      : site_(GetParam() == FileCheck::kWatch ? CachedSite::Watching() : CachedSite::Looking()) {
    site_.Write("a/b/page", "old");
    EXPECT_TRUE(site_.AwaitHit("/a/b/page"));
  }

  auto Page() -> std::string { return site_.Ask("/a/b/page").body; }

  CachedSite site_;
};

TEST_P(NeverStale, AfterAnEdit) {
  for (const std::string content : {"new", "newer", "", "x"}) {
    site_.Write("a/b/page", content);
    EXPECT_EQ(Page(), content);
  }
}

TEST_P(NeverStale, AfterAnEditOfTheSameLengthInPlace) {
  const UniqueFd page = Open(site_.Path("a/b/page"), O_WRONLY);
  for (const char letter : {'1', '2', '3', '4'}) {
    ASSERT_EQ(::pwrite(page.Get(), &letter, 1, 0), 1);
    EXPECT_EQ(Page(), std::string(1, letter) + "ld");
  }
}

TEST_P(NeverStale, AfterARename) {
  site_.Write("a/b/next", "new");
  fs::rename(site_.Path("a/b/next"), site_.Path("a/b/page"));
  EXPECT_EQ(Page(), "new");
}

TEST_P(NeverStale, AfterAFolderIsExchanged) {
  site_.Write("x/b/page", "new");
  fs::rename(site_.Path("a"), site_.Path("was"));
  EXPECT_EQ(site_.Ask("/a/b/page").status, 404);
  fs::rename(site_.Path("x"), site_.Path("a"));
  EXPECT_EQ(Page(), "new");
}

// A watch follows its directory, whatever its name becomes. It reports nothing about a directory
// above.
TEST_P(NeverStale, InAFolderThatIsNewUnderAnOldName) {
  fs::rename(site_.Path("a"), site_.Path("was"));
  site_.Write("a/b/page", "new");
  EXPECT_EQ(Page(), "new");
  EXPECT_TRUE(site_.AwaitHit("/a/b/page"));
  site_.Write("a/b/page", "newer");
  EXPECT_EQ(Page(), "newer");
  EXPECT_EQ(site_.Ask("/was/b/page").body, "old");
  site_.Write("was/b/page", "moved");
  EXPECT_EQ(site_.Ask("/was/b/page").body, "moved");
}

TEST_P(NeverStale, AfterItIsGone) {
  fs::remove(site_.Path("a/b/page"));
  EXPECT_EQ(site_.Ask("/a/b/page").status, 404);
  site_.Write("a/b/page", "again");
  EXPECT_EQ(Page(), "again");
  fs::remove_all(site_.Path("a"));
  EXPECT_EQ(site_.Ask("/a/b/page").status, 404);
}

TEST_P(NeverStale, AfterAChangeOfItsMode) {
  EXPECT_EQ(Page(), "old");
  fs::permissions(site_.Path("a/b/page"), fs::perms(0000));
#ifdef __linux__
  if (::geteuid() == 0) {  // root is refused nothing
    site_.Server().Loop().Ask([] { ::setfsuid(65534); });
  }
#else
  if (::geteuid() == 0) {
    GTEST_SKIP() << "the administrator is refused nothing";
  }
#endif
  EXPECT_EQ(site_.Ask("/a/b/page").status, 403);
}

TEST_P(NeverStale, BehindALink) {
  site_.Write("one/page", "one");
  site_.Write("two/page", "two");
  fs::create_directory_symlink("one", site_.Path("link"));
  EXPECT_TRUE(site_.AwaitHit("/link/page")) << "it may be kept if it is looked at";
  site_.Write("one/page", "ONE");
  EXPECT_EQ(site_.Ask("/link/page").body, "ONE");
  EXPECT_TRUE(site_.AwaitHit("/link/page"));
  fs::create_directory_symlink("two", site_.Path("other"));
  fs::rename(site_.Path("other"), site_.Path("link"));
  EXPECT_EQ(site_.Ask("/link/page").body, "two");
}

TEST_P(NeverStale, BehindALinkToAFile) {
  fs::create_symlink("a/b/page", site_.Path("alias"));
  EXPECT_TRUE(site_.AwaitHit("/alias"));
  site_.Write("a/b/page", "new");
  EXPECT_EQ(site_.Ask("/alias").body, "new") << "nobody watches the folder of the link's target";
}

TEST_P(NeverStale, WhenALinkBeginsToLeadOutside) {
  site_.Folder().Write("outside/page", "secret");
  fs::create_directory_symlink("a/b", site_.Path("link"));
  EXPECT_TRUE(site_.AwaitHit("/link/page"));
  fs::create_directory_symlink("../outside", site_.Path("other"));
  fs::rename(site_.Path("other"), site_.Path("link"));
  EXPECT_EQ(site_.Ask("/link/page").status, 404);
}

TEST_P(NeverStale, WhenItIsEditedByAnotherName) {
  fs::create_hard_link(site_.Path("a/b/page"), site_.Folder().Path("outside"));
  site_.Write("a/b/page", "one");
  EXPECT_TRUE(site_.AwaitHit("/a/b/page"));
  site_.Folder().Write("outside", "two");
  EXPECT_EQ(Page(), "two");
}

INSTANTIATE_TEST_SUITE_P(Checks, NeverStale, testing::Values(FileCheck::kWatch, FileCheck::kAlways),
                         [](const auto& check) {
                           return check.param == FileCheck::kWatch ? "Watch" : "Always";
                         });

TEST(FileCacheTest, WhatNobodyTellsOfIsSeenAfterASecond) {
  CachedSite site;
  site.Write("page", "old");
  ASSERT_TRUE(site.AwaitHit("/page"));
  // The second name appears after the page was kept, and its directory is not watched.
  fs::create_hard_link(site.Path("page"), site.Folder().Path("outside"));
  site.Folder().Write("outside", "new");
  site.Server().Advance(FileCache::kTrustTime);
  EXPECT_EQ(site.Ask("/page").body, "new");
}

TEST(FileCacheTest, AWriteToMappedMemoryIsSeenAfterASecond) {
  CachedSite site;
  site.Write("page", "old");
  ASSERT_TRUE(site.AwaitHit("/page"));
  const UniqueFd page = Open(site.Path("page"), O_RDWR);
  const fs::file_time_type before = fs::last_write_time(site.Path("page"));
  void* memory = ::mmap(nullptr, 3, PROT_READ | PROT_WRITE, MAP_SHARED, page.Get(), 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::memcpy(memory, "new", 3);
  ASSERT_EQ(::msync(memory, 3, MS_SYNC), 0);
  ::munmap(memory, 3);
  if (fs::last_write_time(site.Path("page")) == before) {
    GTEST_SKIP() << "this file system does not note when mapped memory is written";
  }
  site.Server().Advance(FileCache::kTrustTime);
  EXPECT_EQ(site.Ask("/page").body, "new");
}

TEST(FileCacheTest, AnUnchangedPageStaysKept) {
  CachedSite site;
  site.Write("page", "same");
  ASSERT_TRUE(site.AwaitHit("/page"));
  while (site.Ask("/page").Field("ETag").rfind("W/", 0) == 0) {
    site.Server().Advance(FileCache::kTrustTime);  // until it is old enough for a strong one
  }
  const std::uint64_t misses = site.Stats().misses;
  for (int second = 0; second < 5; ++second) {
    site.Server().Advance(FileCache::kTrustTime);
    EXPECT_EQ(site.Ask("/page").body, "same");
  }
  EXPECT_EQ(site.Stats().misses, misses);
}

TEST(FileCacheTest, AWeakTagBecomesStrong) {
  CachedSite site;
  site.Write("page", "young");
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const timespec soon{now.tv_sec + 1, 500'000'000};
  const timespec times[] = {soon, soon};
  ASSERT_EQ(::utimensat(AT_FDCWD, site.Path("page").c_str(), times, 0), 0);

  std::string tag = site.Ask("/page").Field("ETag");
  ::clock_gettime(CLOCK_REALTIME, &now);
  if (now.tv_sec < soon.tv_sec) {
    EXPECT_EQ(tag.rfind("W/", 0), 0U) << "it could change again without a trace: " << tag;
  }
  const std::string opaque = tag.substr(tag.find('"'));
  const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
  while (tag.rfind("W/", 0) == 0 && std::chrono::steady_clock::now() < deadline) {
    site.Server().Advance(FileCache::kTrustTime);
    tag = site.Ask("/page").Field("ETag");
  }
  EXPECT_EQ(tag, opaque);
}

// --- another root -------------------------------------------------------------------------------

// Serves "current", a link, from a cache.
class DeployedSite {
 public:
  explicit DeployedSite(FileCacheOptions cache)
      : server_([&](Looper& looper, LoopHttp& http) {
          StaticFilesOptions options;
          options.root = folder_.Path("current");
          options.cache = cache;
          auto files = std::make_unique<StaticFiles>(looper, options);
          files_ = files.get();
          http.Mount("/", std::move(files));
        }),
        client_(server_.Port()) {}

  void TurnTo(const char* release) const {
    folder_.Link("next", release);
    fs::rename(folder_.Path("next"), folder_.Path("current"));
  }

  auto Ask(std::string_view path) -> std::string { return client_.Ask(test::Get(path)).body; }

  auto Entries() -> std::size_t {
    return server_.Loop().Ask([this] { return files_->CacheStats().entries; });
  }

  auto Server() -> test::ClockedServer& { return server_; }
  auto Folder() const -> const test::SiteFolder& { return folder_; }

 private:
  class Releases : public test::SiteFolder {
   public:
    Releases() {
      Write("1/page", "old");
      Write("1/gone", "gone");
      Write("2/page", "new");
      Link("current", "1");
    }
  };

  Releases folder_;
  StaticFiles* files_ = nullptr;
  test::ClockedServer server_;
  test::HttpClient client_;
};

TEST(FileCacheTest, ALinkThatIsTurnedEmptiesTheCache) {
  DeployedSite site(CachedSite::Watching());
  EXPECT_EQ(site.Ask("/page"), "old");
  EXPECT_EQ(site.Ask("/gone"), "gone");
  EXPECT_EQ(site.Entries(), 2U);
  site.TurnTo("2");
  site.Server().Advance(FileCache::kTrustTime);
  EXPECT_EQ(site.Ask("/page"), "new");
  EXPECT_EQ(site.Entries(), 1U);
  site.Folder().Write("2/page", "newer");  // the new directory is watched
  EXPECT_EQ(site.Ask("/page"), "newer");
}

TEST(FileCacheTest, ByChoiceALinkIsLookedAtEachTime) {
  DeployedSite site(CachedSite::Looking());
  EXPECT_EQ(site.Ask("/page"), "old");
  site.TurnTo("2");
  EXPECT_EQ(site.Ask("/page"), "new");
}

TEST(FileCacheTest, ByChoiceALinkThatIsTurnedEmptiesTheCacheToo) {
  DeployedSite site(CachedSite::Looking());
  const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
  while (site.Entries() == 0 && std::chrono::steady_clock::now() < deadline) {
    EXPECT_EQ(site.Ask("/gone"), "gone");  // it is kept once its last change is a while ago
  }
  EXPECT_EQ(site.Entries(), 1U);
  site.TurnTo("2");
  EXPECT_NE(site.Ask("/none"), "gone");
  EXPECT_EQ(site.Entries(), 0U);
}

TEST(FileCacheTest, ARootThatIsMadeAnewIsServedAtOnce) {
  CachedSite site;
  site.Write("page", "old");
  EXPECT_EQ(site.Ask("/page").body, "old");
  fs::remove_all(site.Folder().Path("site"));
  EXPECT_EQ(site.Ask("/page").status, 404);
  site.Write("page", "new");
  EXPECT_EQ(site.Ask("/page").body, "new");
  site.Write("page", "newer");
  EXPECT_EQ(site.Ask("/page").body, "newer");
}

#ifdef __linux__
// A mount raises no event, and the watch of the directory beneath it reports nothing any more.
TEST(FileCacheTest, WhatIsMountedOverAFolderIsWatched) {
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    GTEST_SKIP() << "this process may not mount anything";
  }
  CachedSite site;
  site.Write("sub/page", "beneath");
  EXPECT_EQ(site.Ask("/sub/page").body, "beneath");
  ASSERT_EQ(::mount("none", site.Path("sub").c_str(), "tmpfs", 0, nullptr), 0);
  site.Write("sub/page", "mounted");
  site.Server().Advance(FileCache::kTrustTime);
  EXPECT_EQ(site.Ask("/sub/page").body, "mounted");
  for (const char* content : {"1", "2", "3"}) {
    site.Write("sub/page", content);
    EXPECT_EQ(site.Ask("/sub/page").body, content);
  }
  ASSERT_EQ(::umount2(site.Path("sub").c_str(), MNT_DETACH), 0);
  site.Server().Advance(FileCache::kTrustTime);
  EXPECT_EQ(site.Ask("/sub/page").body, "beneath");
  site.Write("sub/page", "again");
  EXPECT_EQ(site.Ask("/sub/page").body, "again");
}
#endif

// --- the date of a second that is not over
// --------------------------------------------------------

TEST(FileCacheTest, TwoVersionsOfOneSecondHaveTwoDates) {
  CachedSite site;
  site.Write("page", "first");
  const timespec soon[] = {{std::time(nullptr) + 1, 0}, {std::time(nullptr) + 1, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, site.Path("page").c_str(), soon, 0), 0);
  const std::string date = site.Ask("/page").Field("Last-Modified");
  EXPECT_EQ(site.Ask("/page").Field("Last-Modified"), date);
  site.Write("page", "other");
  const std::string condition = "If-Modified-Since: " + date + "\r\n";
  EXPECT_EQ(site.Ask("/page", condition).body, "other");
  const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
  std::string final_date = date;
  while (site.Ask("/page", "If-Modified-Since: " + final_date + "\r\n").status != 304 &&
         std::chrono::steady_clock::now() < deadline) {
    site.Server().Advance(FileCache::kTrustTime);
    final_date = site.Ask("/page").Field("Last-Modified");
  }
  EXPECT_NE(final_date, date);
  EXPECT_EQ(site.Ask("/page", condition).body, "other");
}

// --- never more than allowed --------------------------------------------------------------------

TEST(FileCacheTest, KeepsNoMoreThanItsLimit) {
  FileCacheOptions options;
  options.max_bytes = std::size_t{64} * 1024;
  CachedSite site(options);
  for (int i = 0; i < 20; ++i) {
    const std::string name = "page" + std::to_string(i);
    site.Write(name, std::string(10'000, 'x'));
    EXPECT_EQ(site.Ask("/" + name).body.size(), 10'000U);
    EXPECT_LE(site.Stats().bytes, options.max_bytes);
  }
  const LruStats stats = site.Stats();
  EXPECT_GE(stats.entries, 4U);
  EXPECT_EQ(stats.entries + stats.evictions, 20U);
  site.Ask("/page0");
  EXPECT_EQ(site.Stats().hits, stats.hits) << "it was the first to go";
  site.Ask("/page19");
  EXPECT_EQ(site.Stats().hits, stats.hits + 1);
}

// A large file is kept open. Nothing else may differ for it.
TEST(FileCacheTest, KeepsALargeFileOpen) {
  CachedSite site;
  const std::string before(300'000, 'x');
  const std::string after(200'000, 'y');
  site.Write("large", before);
  EXPECT_EQ(site.Ask("/large").body, before);
  EXPECT_EQ(site.Ask("/large").body, before);
  EXPECT_EQ(site.Stats().hits, 1U);
  EXPECT_LT(site.Stats().bytes, 2 * FileCache::kOpenFileBytes) << "its bytes are not in memory";
  site.Write("large", after);
  EXPECT_EQ(site.Ask("/large").body, after);
  EXPECT_EQ(site.Stats().hits, 1U);
}

TEST(FileCacheTest, ALargeFileIsAnsweredLikeASmallOne) {
  CachedSite site;
  site.Write("large", std::string(300'000, 'x'));
  const HttpReply first = site.Ask("/large");
  const HttpReply hit = site.Ask("/large");
  EXPECT_EQ(hit.head, first.head);
  const std::string condition = "If-None-Match: " + hit.Field("ETag") + "\r\n";
  const HttpReply not_modified = site.Ask("/large", condition);
  EXPECT_EQ(not_modified.status, 304);
  EXPECT_EQ(not_modified.body, "");
  EXPECT_EQ(site.Ask("/large").body.size(), 300'000U) << "on the same connection";
  HttpClient client(site.Server().Port());
  const HttpReply head = client.Ask("HEAD /large HTTP/1.1\r\nHost: t\r\n\r\n", test::Asked::kHead);
  EXPECT_EQ(head.head, first.head);
  EXPECT_EQ(client.Ask(test::Get("/large")).body.size(), 300'000U) << "HEAD had a body";
  EXPECT_EQ(site.Stats().hits, 5U);
}

TEST(FileCacheTest, ALargeFileThatIsDeletedIsClosed) {
  CachedSite site;
  site.Write("large", std::string(300'000, 'x'));
  site.Ask("/large");
  EXPECT_EQ(site.Stats().entries, 1U);
  fs::remove(site.Path("large"));
  EXPECT_EQ(site.Ask("/large").status, 404);
  EXPECT_EQ(site.Stats().entries, 0U);
}

// --- never of a wrong length
// ----------------------------------------------------------------------

class Loading : public testing::Test {
 protected:
  Loading() {
    folder_.Write("page", "content");
    page_ = Open(folder_.Path("page"), O_RDWR);
    status_ = StatusOf(page_.Get());
    root_ = Open(folder_.Path());
    FileCacheOptions options;
    options.max_bytes = 100'000;
    cache_ = std::make_unique<FileCache>(looper_, root_.Get(), options);
  }

  auto Load() -> PinTo<CachedFile> { return cache_->Load("page", page_, status_, "text/plain"); }

  test::SiteFolder folder_;
  UniqueFd page_;
  struct stat status_ {};
  UniqueFd root_;
  Looper looper_;
  std::unique_ptr<FileCache> cache_;
};

TEST_F(Loading, KeepsAFileThatStandsStill) {
  const PinTo<CachedFile> file = Load();
  ASSERT_TRUE(file);
  EXPECT_EQ(file->Text().substr(file->Text().size() - file->BodyBytes()), "content");
  EXPECT_EQ(file->Text().rfind("Content-Length: 7\r\n", 0), 0U);
  EXPECT_EQ(cache_->Find("page").Get(), file.Get());
}

TEST_F(Loading, KeepsNoneThatGrowsMeanwhile) {
  ASSERT_EQ(::pwrite(page_.Get(), "and more", 8, 7), 8);
  EXPECT_FALSE(Load());
  EXPECT_EQ(cache_->Stats().entries, 0U);
}

TEST_F(Loading, KeepsNoneThatShrinksMeanwhile) {
  ASSERT_EQ(::ftruncate(page_.Get(), 3), 0);
  EXPECT_FALSE(Load());
}

TEST_F(Loading, KeepsNoneThatIsReplacedMeanwhile) {
  folder_.Write("next", "CONTENT");
  fs::rename(folder_.Path("next"), folder_.Path("page"));
  EXPECT_FALSE(Load()) << "the path means another file by now";
}

TEST_F(Loading, CountsAllThatAnEntryCosts) {
  ASSERT_TRUE(Load());
  EXPECT_GT(cache_->Stats().bytes, sizeof(CachedFile) + 7);
}

}  // namespace
}  // namespace TURTLE_SERVER
