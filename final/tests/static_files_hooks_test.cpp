// Classes derived from StaticFiles: files in place of missing ones, and other content types.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/fsuid.h>
#endif

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files/open_beneath.h"
#include "files/read_file.h"
#include "files/route_files.h"
#include "files/static_files.h"
#include "http/mime.h"
#include "support/cached_site.h"
#include "support/clocked_server.h"
#include "support/http_client.h"
#include "support/nobody_here.h"
#include "support/running_server.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using test::Asked;
using test::CachedSite;
using test::Get;
using test::HttpClient;
using test::HttpReply;

constexpr std::string_view kPageType = "text/x-page; charset=utf-8";

// A call of OnMissing().
struct Missing {
  std::string name;
  int error;

  friend auto operator==(const Missing& a, const Missing& b) -> bool {
    return a.name == b.name && a.error == b.error;
  }
  friend auto operator<<(std::ostream& out, const Missing& missing) -> std::ostream& {
    return out << missing.name << ' ' << missing.error;
  }
};

// The calls of a Fallbacks, on the loop's thread.
struct Calls {
  std::vector<Missing> missing;
  std::vector<bool> tried;         // the results of TryFile()
  std::vector<std::string> typed;  // the names that TypeOf() was called with
};

// Tries other paths in place of a missing file; "$" in them is the requested path.
class Fallbacks : public StaticFiles {
 public:
  Fallbacks(Looper& looper, StaticFilesOptions options, Calls& calls)
      : StaticFiles(looper, std::move(options)), calls_(calls) {}

  void SetPaths(std::vector<std::string> paths) { paths_ = std::move(paths); }

  // Returns the content of a file of the directory, "" if there is none.
  auto Read(const std::string& name) const -> std::string {
    const UniqueFd file = OpenBeneath(Root(), name);
    struct stat status {};
    if (!file || ::fstat(file.Get(), &status) != 0) {
      return "";
    }
    return ReadFile(file.Get(), 0, static_cast<std::uint64_t>(status.st_size)).value_or("");
  }

 protected:
  auto OnMissing(Exchange& exchange, const std::string& name, int error) -> bool override {
    calls_.missing.push_back({name, error});
    for (std::string path : paths_) {
      if (const std::size_t at = path.find('$'); at != std::string::npos) {
        path.replace(at, 1, exchange.SubPath());
      }
      calls_.tried.push_back(TryFile(exchange, path));
      if (calls_.tried.back()) {
        return true;
      }
      EXPECT_FALSE(exchange.Begun()) << path;
    }
    return false;
  }

  auto TypeOf(std::string_view name) const -> std::string_view override {
    calls_.typed.emplace_back(name);
    return name.size() >= 5 && name.substr(name.size() - 5) == ".page" ? kPageType : MimeType(name);
  }

 private:
  Calls& calls_;
  std::vector<std::string> paths_;
};

// A site with fallbacks, one client, and a clock that only the test turns. The site is the
// directory "site"; files beside it are not served.
class FallbackSite {
 public:
  explicit FallbackSite(
      std::vector<std::string> paths,
      const std::function<void(StaticFilesOptions&)>& change = [](StaticFilesOptions&) {})
      : server_([&](Looper& looper, LoopHttp& http) {
          StaticFilesOptions options;
          options.root = folder_.Path("site");
          change(options);
          auto files = std::make_unique<Fallbacks>(looper, options, calls_);
          files_ = files.get();
          files_->SetPaths(std::move(paths));
          http.Mount("/", std::move(files));
        }),
        client_(server_.Port()) {}

  static void Cached(StaticFilesOptions& options) { options.cache = CachedSite::Watching(); }

  void Write(std::string_view name, std::string_view content) const {
    folder_.Write(std::string("site/").append(name), content);
  }

  auto Path(std::string_view name) const -> std::string {
    return folder_.Path(std::string("site/").append(name));
  }

  auto Ask(std::string_view target, std::string_view fields = {}) -> HttpReply {
    return client_.Ask(Get(target, fields));
  }

  auto Send(const std::string& method, const std::string& target) -> HttpReply {
    return client_.Ask(method + ' ' + target + " HTTP/1.1\r\nHost: t\r\n\r\n",
                       method == "HEAD" ? Asked::kHead : Asked::kGet);
  }

  // Returns the calls since the last time.
  auto TakeCalls() -> Calls {
    return server_.Loop().Ask([this] { return std::exchange(calls_, Calls()); });
  }

  auto Stats() -> LruStats {
    return server_.Loop().Ask([this] { return files_->CacheStats(); });
  }

  // Changes the paths to try.
  void Try(std::vector<std::string> paths) {
    server_.Loop().Ask([this, &paths] { files_->SetPaths(std::move(paths)); });
  }

  auto Read(const std::string& name) -> std::string {
    return server_.Loop().Ask([this, &name] { return files_->Read(name); });
  }

  auto Folder() const -> const test::SiteFolder& { return folder_; }
  auto Server() -> test::ClockedServer& { return server_; }

 private:
  class FolderWithSite : public test::SiteFolder {
   public:
    FolderWithSite() { std::filesystem::create_directory(Path("site")); }
  };

  FolderWithSite folder_;
  Calls calls_;
  Fallbacks* files_ = nullptr;
  test::ClockedServer server_;
  HttpClient client_;
};

// --- another file in place of a missing one ------------------------------------------------------

// The parameter: whether there is a cache.
class FallbackTest : public testing::TestWithParam<bool> {
 protected:
  FallbackTest()
      : site_({"$.html", "/index.html"}, [](StaticFilesOptions& options) {
          if (GetParam()) {
            FallbackSite::Cached(options);
          }
        }) {
    site_.Write("index.html", "0123456789");
    const timespec times[2] = {{1'600'000'000, 0}, {1'600'000'000, 0}};
    ::utimensat(AT_FDCWD, site_.Path("index.html").c_str(), times, 0);
  }

  FallbackSite site_;
};

TEST_P(FallbackTest, IsServedLikeTheFileItself) {
  const HttpReply direct = site_.Ask("/index.html");
  for (int i = 0; i < 2; ++i) {
    const HttpReply reply = site_.Ask("/app/settings");
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, "0123456789");
    EXPECT_EQ(reply.Field("Content-Type"), "text/html; charset=utf-8");
    EXPECT_EQ(reply.Field("Content-Length"), "10");
    EXPECT_EQ(reply.Field("Accept-Ranges"), "bytes");
    EXPECT_EQ(reply.Field("Last-Modified"), "Sun, 13 Sep 2020 12:26:40 GMT");
    EXPECT_EQ(reply.Field("ETag"), direct.Field("ETag"));
    EXPECT_NE(reply.Field("ETag"), "");
  }
}

TEST_P(FallbackTest, ConditionsApplyToIt) {
  const std::string tag = site_.Ask("/app").Field("ETag");
  const HttpReply reply = site_.Ask("/app", "If-None-Match: " + tag + "\r\n");
  EXPECT_EQ(reply.status, 304);
  EXPECT_EQ(reply.Field("ETag"), tag);
  EXPECT_EQ(reply.body, "");
  EXPECT_EQ(site_.Ask("/app", "If-None-Match: \"other\"\r\n").status, 200);
  EXPECT_EQ(site_.Ask("/app", "If-Match: \"other\"\r\n").status, 412);
}

TEST_P(FallbackTest, RangesApplyToIt) {
  const HttpReply reply = site_.Ask("/app", "Range: bytes=2-4\r\n");
  EXPECT_EQ(reply.status, 206);
  EXPECT_EQ(reply.body, "234");
  EXPECT_EQ(reply.Field("Content-Range"), "bytes 2-4/10");
  EXPECT_EQ(site_.Ask("/app", "Range: bytes=10-\r\n").status, 416);
}

TEST_P(FallbackTest, HeadHasItsFieldsAndNoBody) {
  const HttpReply head = site_.Send("HEAD", "/app");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.Field("Content-Length"), "10");
  EXPECT_EQ(head.Field("Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(site_.Ask("/app").body, "0123456789");  // there was no byte in between
}

TEST_P(FallbackTest, TheFirstOneThatExistsIsServed) {
  site_.Write("about.html", "about");
  EXPECT_EQ(site_.Ask("/about").body, "about");
  EXPECT_EQ(site_.Ask("/about/more").body, "0123456789");
  EXPECT_EQ(site_.TakeCalls().tried, (std::vector<bool>{true, false, true}));
}

TEST_P(FallbackTest, WithoutAnyTheClientGetsA404) {
  std::filesystem::remove(site_.Path("index.html"));
  EXPECT_EQ(site_.Ask("/app").status, 404);
  EXPECT_EQ(site_.TakeCalls().tried, (std::vector<bool>{false, false}));
}

TEST_P(FallbackTest, ALargeOneIsServedWhole) {
  const std::string content(100'000, 'x');
  site_.Write("index.html", content);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(site_.Ask("/app").body == content);
  }
}

TEST_P(FallbackTest, AChangedOneIsServedAtOnce) {
  EXPECT_EQ(site_.Ask("/app").body, "0123456789");
  EXPECT_EQ(site_.Ask("/app").body, "0123456789");
  site_.Write("index.html", "new");
  EXPECT_EQ(site_.Ask("/app").body, "new");
  std::filesystem::remove(site_.Path("index.html"));
  EXPECT_EQ(site_.Ask("/app").status, 404);
}

TEST_P(FallbackTest, AFileThatAppearsIsServedInsteadOfIt) {
  EXPECT_EQ(site_.Ask("/late.txt").body, "0123456789");
  site_.Write("late.txt", "late");
  EXPECT_EQ(site_.Ask("/late.txt").body, "late");
}

INSTANTIATE_TEST_SUITE_P(Files, FallbackTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "Cached" : "Uncached"; });

TEST(StaticFilesHooks, TheSecondFallbackComesFromTheCache) {
  FallbackSite site({"/index.html"}, FallbackSite::Cached);
  site.Write("index.html", "index");
  EXPECT_EQ(site.Ask("/one").body, "index");
  EXPECT_EQ(site.Stats().hits, 0U);
  EXPECT_EQ(site.Ask("/two").body, "index");  // cached by the name of the file, not by the path
  EXPECT_EQ(site.Ask("/index.html").body, "index");
  EXPECT_EQ(site.Stats().hits, 2U);
  EXPECT_EQ(site.Stats().entries, 1U);
  EXPECT_EQ(site.TakeCalls().typed, (std::vector<std::string>{"index.html"}))
      << "the file was opened more than once";
}

TEST(StaticFilesHooks, ASlashMeansTheIndexPage) {
  FallbackSite site({"/sub/"}, FallbackSite::Cached);
  site.Write("sub/index.html", "sub");
  EXPECT_EQ(site.Ask("/none").body, "sub");
  EXPECT_EQ(site.Ask("/none").body, "sub");
  EXPECT_EQ(site.Stats().hits, 1U);
  site.Try({"/"});
  EXPECT_EQ(site.Ask("/none").status, 404);
}

TEST(StaticFilesHooks, ADirectoryIsNoFallback) {
  FallbackSite site({"/sub"});
  site.Write("sub/index.html", "sub");
  EXPECT_EQ(site.Ask("/none").status, 404);
}

TEST(StaticFilesHooks, APipeIsNoFallback) {
  FallbackSite site({"/pipe"});
  ASSERT_EQ(::mkfifo(site.Path("pipe").c_str(), 0644), 0);
  EXPECT_EQ(site.Ask("/none").status, 404);
}

// --- paths that are refused ----------------------------------------------------------------------

// With dot_files, so no path is refused for being hidden. Most of them would lead to a file.
TEST(StaticFilesHooks, APathThatNoRequestCanHaveIsRefused) {
  FallbackSite site({}, [](StaticFilesOptions& options) { options.dot_files = true; });
  site.Folder().Write("secret.txt", "secret");
  site.Write("index.html", "index");
  site.Write("sub/page.txt", "page");
  site.Write("a.txt", "a");
  for (const std::string& path : {std::string(),
                                  std::string("a.txt"),
                                  std::string("xa.txt"),
                                  std::string("xsub/page.txt"),
                                  std::string("//a.txt"),
                                  std::string("/sub//page.txt"),
                                  std::string("//"),
                                  std::string("/./a.txt"),
                                  std::string("/sub/./page.txt"),
                                  std::string("/sub/../a.txt"),
                                  std::string("/sub/.."),
                                  std::string("/sub/../"),
                                  std::string("/."),
                                  std::string("/./"),
                                  std::string("/.."),
                                  std::string("/../secret.txt"),
                                  std::string("/../site/a.txt"),
                                  std::string("/.well-known/../a.txt"),
                                  std::string("/a.txt\0", 7),
                                  std::string("/a.txt\0.html", 12)}) {
    site.Try({path});
    EXPECT_EQ(site.Ask("/none").status, 404) << path;
  }
  EXPECT_EQ(site.TakeCalls().typed, std::vector<std::string>());
}

TEST(StaticFilesHooks, DotsThatAreNoSegmentAreFine) {
  FallbackSite site({}, [](StaticFilesOptions& options) { options.dot_files = true; });
  for (const char* name : {"...", "..a", ".a", "a..", "sub/.../a.", "sub./..a/b"}) {
    site.Write(name, name);
    site.Try({std::string("/") + name});
    EXPECT_EQ(site.Ask("/none").body, name);
  }
}

TEST(StaticFilesHooks, AHiddenFileIsNoFallback) {
  FallbackSite site({"$.html"}, FallbackSite::Cached);
  site.Write(".html", "hidden");
  site.Write("sub/.html", "hidden");
  site.Write(".git/config", "hidden");
  EXPECT_EQ(site.Ask("/").status, 404);
  EXPECT_EQ(site.Ask("/sub/").status, 404);
  site.Try({"/.git/config"});
  EXPECT_EQ(site.Ask("/none").status, 404);
  EXPECT_EQ(site.TakeCalls().tried, (std::vector<bool>{false, false, false}));
}

TEST(StaticFilesHooks, WellKnownFilesMayBeFallbacks) {
  FallbackSite site({"/.well-known/default"});
  site.Write(".well-known/default", "default");
  EXPECT_EQ(site.Ask("/.well-known/other").body, "default");
}

TEST(StaticFilesHooks, ALinkThatLeavesIsNoFallback) {
  FallbackSite site({"/out.txt"}, FallbackSite::Cached);
  site.Folder().Write("secret.txt", "secret");
  site.Folder().Link("site/out.txt", "../secret.txt");
  for (int i = 0; i < 2; ++i) {
    const HttpReply reply = site.Ask("/none");
    EXPECT_EQ(reply.status, 404);
    EXPECT_EQ(reply.body.find("secret"), std::string::npos);
  }
}

// --- when a file is missing ----------------------------------------------------------------------

TEST(StaticFilesHooks, AMissingNameIsReported) {
  FallbackSite site({});
  site.Write("a.txt", "a");
  site.Write("bare/file", "x");
  EXPECT_EQ(site.Ask("/none").status, 404);
  EXPECT_EQ(site.Ask("/no/such%20name?x").status, 404);
  EXPECT_EQ(site.Ask("/a.txt/b").status, 404);
  EXPECT_EQ(site.Ask("/bare/").status, 404);
  EXPECT_EQ(site.Ask("/").status, 404);
  EXPECT_EQ(site.TakeCalls().missing, (std::vector<Missing>{{"none", ENOENT},
                                                            {"no/such name", ENOENT},
                                                            {"a.txt/b", ENOTDIR},
                                                            {"bare/index.html", ENOENT},
                                                            {"index.html", ENOENT}}));
}

TEST(StaticFilesHooks, WhatIsNoFileIsMissing) {
  FallbackSite site({"/index.html"});
  site.Write("index.html", "index");
  site.Write("folder/index.html/file", "x");
  ASSERT_EQ(::mkfifo(site.Path("pipe").c_str(), 0644), 0);
  EXPECT_EQ(site.Ask("/pipe").body, "index");
  EXPECT_EQ(site.Ask("/folder/").body, "index");
  EXPECT_EQ(site.TakeCalls().missing,
            (std::vector<Missing>{{"pipe", 0}, {"folder/index.html", 0}}));
}

TEST(StaticFilesHooks, ALinkThatLeavesIsMissing) {
  FallbackSite site({"/index.html"});
  site.Write("index.html", "index");
  site.Folder().Write("secret.txt", "secret");
  site.Folder().Link("site/out.txt", "../secret.txt");
  EXPECT_EQ(site.Ask("/out.txt").body, "index");
}

TEST(StaticFilesHooks, WithoutIndexPagesEveryDirectoryIsReported) {
  FallbackSite site({}, [](StaticFilesOptions& options) { options.index = ""; });
  site.Write("sub/index.html", "x");
  EXPECT_EQ(site.Ask("/").status, 404);
  EXPECT_EQ(site.Ask("/sub/").status, 404);
  EXPECT_EQ(site.TakeCalls().missing, (std::vector<Missing>{{"", 0}, {"sub/", 0}}));
  site.Try({"/sub/"});
  EXPECT_EQ(site.Ask("/none").status, 404) << "a directory was served";
}

TEST(StaticFilesHooks, AFileThatExistsIsNeverMissing) {
  FallbackSite site({"/index.html"}, FallbackSite::Cached);
  site.Write("index.html", "index");
  site.Write("a.txt", "a");
  site.Write("sub/index.html", "sub");
  site.Write("empty", "");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(site.Ask("/").body, "index");
    EXPECT_EQ(site.Ask("/a.txt").body, "a");
    EXPECT_EQ(site.Ask("/a.txt", "Range: bytes=0-0\r\n").status, 206);
    EXPECT_EQ(site.Ask("/sub/").body, "sub");
    EXPECT_EQ(site.Ask("/empty").status, 200);
    EXPECT_EQ(site.Send("HEAD", "/a.txt").status, 200);
  }
  EXPECT_EQ(site.TakeCalls().missing, std::vector<Missing>());
}

TEST(StaticFilesHooks, ARedirectToADirectoryStays) {
  FallbackSite site({"/index.html"});
  site.Write("index.html", "index");
  site.Write("sub/file", "x");
  EXPECT_EQ(site.Ask("/sub").Field("Location"), "/sub/");
  EXPECT_EQ(site.TakeCalls().missing, std::vector<Missing>());
}

TEST(StaticFilesHooks, AHiddenNameIsNotReported) {
  FallbackSite site({"/index.html"}, FallbackSite::Cached);
  site.Write("index.html", "index");
  site.Write(".env", "secret");
  for (const char* target : {"/.env", "/.none", "/.git/config", "/sub/.d/"}) {
    EXPECT_EQ(site.Ask(target).status, 404) << target;
  }
  EXPECT_EQ(site.TakeCalls().missing, std::vector<Missing>());
}

TEST(StaticFilesHooks, OtherMethodsConcernNoFile) {
  FallbackSite site({"/index.html"});
  site.Write("index.html", "index");
  EXPECT_EQ(site.Send("POST", "/none").status, 405);
  EXPECT_EQ(site.Send("DELETE", "/none").status, 405);
  EXPECT_EQ(site.Send("OPTIONS", "/none").status, 204);
  EXPECT_EQ(site.TakeCalls().missing, std::vector<Missing>());
}

#ifdef __linux__
// Makes the server's file accesses those of somebody else: root may read everything.
void DropRights(FallbackSite& site) {
  std::filesystem::permissions(site.Path(""), std::filesystem::perms(0755));
  if (::geteuid() == 0) {
    site.Server().Loop().Ask([] { ::setfsuid(65534); });
  }
}

TEST(StaticFilesHooks, AForbiddenFileIsNotMissing) {
  FallbackSite site({"/index.html"});
  site.Write("index.html", "index");
  site.Write("locked.txt", "locked");
  std::filesystem::permissions(site.Path("locked.txt"), std::filesystem::perms(0));
  DropRights(site);
  EXPECT_EQ(site.Ask("/locked.txt").status, 403);
  EXPECT_EQ(site.TakeCalls().missing, std::vector<Missing>());
}

TEST(StaticFilesHooks, AForbiddenFallbackIsForbidden) {
  FallbackSite site({"/locked.txt", "/index.html"});
  site.Write("index.html", "index");
  site.Write("locked.txt", "locked");
  std::filesystem::permissions(site.Path("locked.txt"), std::filesystem::perms(0));
  DropRights(site);
  EXPECT_EQ(site.Ask("/none").status, 403);
  EXPECT_EQ(site.TakeCalls().tried, std::vector<bool>{true});
}

TEST(StaticFilesHooks, ADirectoryThatMayNotBeListedIsNoFile) {
  FallbackSite site({"/sub", "/index.html"},
                    [](StaticFilesOptions& options) { options.index = ""; });
  site.Write("index.html", "index");
  site.Write("sub/file", "x");
  const test::Passable passable(site.Folder(), {"site", "site/sub"});
  if (::geteuid() == 0) {
    site.Server().Loop().Ask([] { ::setfsuid(65534); });
  }
  EXPECT_EQ(site.Ask("/sub").Field("Location"), "/sub/");
  EXPECT_EQ(site.TakeCalls().missing, std::vector<Missing>());
  EXPECT_EQ(site.Ask("/sub/").body, "index");
  const Calls calls = site.TakeCalls();
  EXPECT_EQ(calls.missing, (std::vector<Missing>{{"sub/", EACCES}}));
  EXPECT_EQ(calls.tried, (std::vector<bool>{false, true}));
}
#endif

// --- content types -------------------------------------------------------------------------------

TEST(StaticFilesHooks, AContentTypeReachesEveryResponse) {
  for (const bool cached : {false, true}) {
    FallbackSite site({}, [&](StaticFilesOptions& options) {
      if (cached) {
        FallbackSite::Cached(options);
      }
    });
    site.Write("sub/a.page", "0123456789");
    site.Write("large.page", std::string(100'000, 'x'));
    site.Write("a.html", "x");
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(site.Ask("/sub/a.page").Field("Content-Type"), kPageType);
      EXPECT_EQ(site.Ask("/large.page").Field("Content-Type"), kPageType);
      EXPECT_EQ(site.Send("HEAD", "/sub/a.page").Field("Content-Type"), kPageType);
      EXPECT_EQ(site.Ask("/a.html").Field("Content-Type"), "text/html; charset=utf-8");
    }
    EXPECT_EQ(site.Stats().hits, cached ? 5U : 0U);
    const HttpReply part = site.Ask("/sub/a.page", "Range: bytes=1-2\r\n");
    EXPECT_EQ(part.status, 206);
    EXPECT_EQ(part.Field("Content-Type"), kPageType);
    const HttpReply parts = site.Ask("/large.page", "Range: bytes=0-0,50000-50000\r\n");
    EXPECT_NE(parts.body.find(std::string("Content-Type: ").append(kPageType)), std::string::npos);
  }
}

TEST(StaticFilesHooks, AContentTypeReachesAFallback) {
  FallbackSite site({"/default.page"}, FallbackSite::Cached);
  site.Write("default.page", "default");
  EXPECT_EQ(site.Ask("/none.html").Field("Content-Type"), kPageType);
  EXPECT_EQ(site.Ask("/none.html").Field("Content-Type"), kPageType);
}

TEST(StaticFilesHooks, AContentTypeIsThatOfTheFileNotOfThePath) {
  FallbackSite site({});
  site.Write("sub/index.html", "x");
  EXPECT_EQ(site.Ask("/sub/").status, 200);
  EXPECT_EQ(site.TakeCalls().typed, (std::vector<std::string>{"sub/index.html"}));
}

TEST(StaticFilesHooks, FilesOfRoutesKeepTheirContentType) {
  const test::SiteFolder folder;
  folder.Write("a.page", "a");
  const RouteFiles files(folder.Path());
  Calls calls;
  test::RunningServer server([&](HttpServer& http) {
    http.Mount("/site", [&](Looper& looper) {
      StaticFilesOptions options;
      options.root = folder.Path();
      return std::make_unique<Fallbacks>(looper, options, calls);
    });
    http.Get("/route", [&files](const ServerRequest& request, ServerResponse& response) {
      files.Send(request, response, "a.page");
    });
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/site/a.page")).Field("Content-Type"), kPageType);
  EXPECT_EQ(client.Ask(Get("/route")).Field("Content-Type"), "application/octet-stream");
}

// --- the directory -------------------------------------------------------------------------------

TEST(StaticFilesHooks, TheDirectoryCanBeRead) {
  FallbackSite site({});
  site.Write("sub/a.txt", "a");
  site.Folder().Write("secret.txt", "secret");
  EXPECT_EQ(site.Read("sub/a.txt"), "a");
  EXPECT_EQ(site.Read("../secret.txt"), "");
}

TEST(StaticFilesHooks, TheDirectoryIsTheOneThatHasTheNameNow) {
  FallbackSite site({"/index.html"}, FallbackSite::Cached);
  site.Write("index.html", "old");
  EXPECT_EQ(site.Ask("/none").body, "old");
  site.Folder().Write("next/index.html", "new");
  std::filesystem::rename(site.Folder().Path("site"), site.Folder().Path("before"));
  std::filesystem::rename(site.Folder().Path("next"), site.Folder().Path("site"));
  EXPECT_EQ(site.Ask("/none").body, "new");
  EXPECT_EQ(site.Read("index.html"), "new");
}

}  // namespace
}  // namespace TURTLE_SERVER
