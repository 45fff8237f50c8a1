// The files of a site: what it serves in place of a missing one, listings and types.
#include "sites/site_files.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sites/sites.h"
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
using test::SiteFolder;

using Names = std::vector<std::string>;

auto FallingBack(Names names, const std::string& path = "") -> SiteRule {
  SiteRule rule;
  rule.path = path;
  rule.fallback = std::move(names);
  return rule;
}

auto Showing(bool listing, const std::string& path = "") -> SiteRule {
  SiteRule rule;
  rule.path = path;
  rule.listing = listing;
  return rule;
}

// One site and its server.
class FilesOfASite {
 public:
  FilesOfASite(const SiteFolder& folder, std::vector<SiteRule> rules, SiteOptions site = {},
               const std::string& prefix = "/")
      : sites_({Complete(folder, std::move(rules), std::move(site))}),
        server_([&](HttpServer& http) {
          StaticFilesOptions options;
          options.cache.max_bytes = std::size_t{1} << 20;
          http.Mount(prefix, sites_.Files(options));
        }) {}

  [[nodiscard]] auto Send(std::string_view request) const -> HttpReply {
    return HttpClient(server_.Port()).Ask(request);
  }

  [[nodiscard]] auto Ask(std::string_view target, std::string_view fields = "") const -> HttpReply {
    return Send(Get(target, fields));
  }

  [[nodiscard]] auto Head(const std::string& target) const -> HttpReply {
    return HttpClient(server_.Port())
        .Ask("HEAD " + target + " HTTP/1.1\r\nHost: t\r\n\r\n", Asked::kHead);
  }

 private:
  static auto Complete(const SiteFolder& folder, std::vector<SiteRule> rules, SiteOptions site)
      -> SiteOptions {
    site.is_default = true;
    site.root = folder.Path();
    site.rules = std::move(rules);
    return site;
  }

  Sites sites_;
  RunningServer server_;
};

// Returns the names in a listing of JSON, in their order.
auto NamesIn(const HttpReply& reply) -> Names {
  Names names;
  const nlohmann::json listing = nlohmann::json::parse(reply.body, nullptr, false);
  if (listing.is_object()) {
    for (const nlohmann::json& entry : listing["entries"]) {
      names.push_back(entry["name"]);
    }
  }
  return names;
}

constexpr const char* kJson = "Accept: application/json\r\n";

class SiteFilesTest : public testing::Test {
 protected:
  SiteFilesTest() {
    folder_.Write("index.html", "index");
    folder_.Write("about.html", "about");
    folder_.Write("docs/b.txt", "b");
    folder_.Write("docs/a.txt", "a");
    folder_.Write("docs/.hidden", "hidden");
    folder_.Write("docs/inner/index.html", "inner");
    folder_.Write("pages/team.html", "team");
  }

  SiteFolder folder_;
};

// --- in place of a missing file ------------------------------------------------------------------

TEST_F(SiteFilesTest, WithoutAFallbackAMissingFileIsMissing) {
  const FilesOfASite site(folder_, {});
  EXPECT_EQ(site.Ask("/about").status, 404);
  EXPECT_EQ(site.Ask("/about.html").body, "about");
}

TEST_F(SiteFilesTest, TheFirstFileThatExistsIsServed) {
  const FilesOfASite site(folder_, {FallingBack({"$path.html", "/index.html"})});
  EXPECT_EQ(site.Ask("/about").body, "about");
  EXPECT_EQ(site.Ask("/about/").body, "about") << "the slash is left out";
  EXPECT_EQ(site.Ask("/none").body, "index");
  EXPECT_EQ(site.Ask("/docs/a.txt").body, "a") << "a file that exists wins";
  EXPECT_EQ(site.Ask("/docs/").body, "index");
}

TEST_F(SiteFilesTest, ThePathMayStandAnywhereInAName) {
  const FilesOfASite site(folder_, {FallingBack({"/pages$path.html"})});
  EXPECT_EQ(site.Ask("/team").body, "team");
  EXPECT_EQ(site.Ask("/none").status, 404);
}

TEST_F(SiteFilesTest, NoFallbackThatExistsIsA404) {
  const FilesOfASite site(folder_, {FallingBack({"$path.html", "/none.html"})});
  EXPECT_EQ(site.Ask("/none").status, 404);
}

TEST_F(SiteFilesTest, ADeepLinkIsTheIndexWithItsOwnTag) {
  const FilesOfASite site(folder_, {FallingBack({"/index.html"})});
  const HttpReply index = site.Ask("/");
  const HttpReply link = site.Ask("/users/7/edit?tab=1");
  EXPECT_EQ(link.status, 200);
  EXPECT_EQ(link.body, "index");
  EXPECT_EQ(link.Field("Content-Type"), "text/html; charset=utf-8");
  ASSERT_NE(link.Field("ETag"), "");
  EXPECT_EQ(link.Field("ETag"), site.Ask("/index.html").Field("ETag"));
  EXPECT_EQ(link.Field("ETag"), index.Field("ETag"));
  const std::string same = "If-None-Match: " + index.Field("ETag") + "\r\n";
  EXPECT_EQ(site.Ask("/users/8", same).status, 304);
  EXPECT_EQ(site.Head("/users/8").Field("Content-Length"), "5");
}

TEST_F(SiteFilesTest, AFallbackDoesNotEvadeTheRulesOfItsFile) {
  SiteRule closed;
  closed.path = "/about.html";
  closed.deny = {"127.0.0.0/8"};
  const FilesOfASite site(folder_, {FallingBack({"$path.html"}), closed});
  EXPECT_EQ(site.Ask("/about.html").status, 403);
  EXPECT_EQ(site.Ask("/about").status, 404);
  EXPECT_EQ(site.Ask("/index").status, 200);
}

TEST_F(SiteFilesTest, AFallbackIsForThePathsOfItsRule) {
  const FilesOfASite site(folder_, {FallingBack({"/index.html"}), FallingBack({}, "/docs"),
                                    FallingBack({"/about.html"}, "/docs/inner")});
  EXPECT_EQ(site.Ask("/none").body, "index");
  EXPECT_EQ(site.Ask("/docs/none").status, 404);
  EXPECT_EQ(site.Ask("/docs/inner/none").body, "about");
}

TEST_F(SiteFilesTest, OnlyReadsFallBack) {
  const FilesOfASite site(folder_, {FallingBack({"/index.html"})});
  EXPECT_EQ(site.Head("/none").status, 200);
  EXPECT_EQ(site.Send("POST /none HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\n\r\n").status, 405);
  EXPECT_EQ(site.Send("OPTIONS /none HTTP/1.1\r\nHost: t\r\n\r\n").status, 204);
}

TEST_F(SiteFilesTest, UnderAPrefixThePathIsThatOfTheFile) {
  const FilesOfASite site(folder_, {FallingBack({"$path.html"}, "/site")}, {}, "/site");
  EXPECT_EQ(site.Ask("/site/about").body, "about");
}

// --- hidden names --------------------------------------------------------------------------------

TEST_F(SiteFilesTest, AHiddenNameIsMissingAndDoesNotFallBack) {
  const FilesOfASite site(folder_, {FallingBack({"/docs/.hidden", "/index.html"})});
  EXPECT_EQ(site.Ask("/docs/.hidden").status, 404);
  EXPECT_EQ(site.Ask("/none").body, "index") << "a hidden fallback is passed over";
}

TEST_F(SiteFilesTest, ASiteMayServeHiddenNames) {
  SiteOptions options;
  options.dot_files = true;
  const FilesOfASite site(folder_, {Showing(true)}, options);
  EXPECT_EQ(site.Ask("/docs/.hidden").body, "hidden");
  EXPECT_EQ(NamesIn(site.Ask("/docs/", kJson)), (Names{"inner", ".hidden", "a.txt", "b.txt"}));
}

// --- listings ------------------------------------------------------------------------------------

TEST_F(SiteFilesTest, ADirectoryIsNotShownUnlessARuleSaysSo) {
  EXPECT_EQ(FilesOfASite(folder_, {}).Ask("/docs/").status, 404);
  const FilesOfASite site(folder_,
                          {Showing(true), Showing(false, "/docs"), Showing(true, "/docs/open")});
  folder_.Write("docs/open/x", "x");
  EXPECT_EQ(site.Ask("/docs/").status, 404);
  EXPECT_EQ(site.Ask("/pages/").status, 200);
  EXPECT_EQ(site.Ask("/docs/open/").status, 200);
}

TEST_F(SiteFilesTest, ADirectoryIsShownAsAPage) {
  const FilesOfASite site(folder_, {Showing(true)});
  const HttpReply reply = site.Ask("/docs/");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.Field("Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(reply.Field("Vary"), "Accept");
  EXPECT_NE(reply.body.find("Index of /docs/"), std::string::npos) << reply.body;
  EXPECT_NE(reply.body.find("href=\"a.txt\""), std::string::npos) << reply.body;
  EXPECT_EQ(reply.body.find(".hidden"), std::string::npos) << reply.body;
  EXPECT_EQ(site.Head("/docs/").Field("Content-Length"), std::to_string(reply.body.size()));
}

TEST_F(SiteFilesTest, ADirectoryIsShownAsJsonToAClientThatNamesItAlone) {
  const FilesOfASite site(folder_, {Showing(true)});
  const HttpReply reply = site.Ask("/docs/", kJson);
  EXPECT_EQ(reply.Field("Content-Type"), "application/json");
  EXPECT_EQ(reply.Field("Vary"), "Accept");
  EXPECT_EQ(NamesIn(reply), (Names{"inner", "a.txt", "b.txt"}));
  const auto type = [&](const char* fields) {
    return site.Ask("/docs/", fields).Field("Content-Type");
  };
  EXPECT_EQ(type("Accept: */*\r\n"), "text/html; charset=utf-8");
  EXPECT_EQ(type("Accept: text/html, application/json\r\n"), "text/html; charset=utf-8");
  EXPECT_EQ(type("Accept: application/json;q=0.9, */*;q=0.1\r\n"), "application/json");
  EXPECT_EQ(type("Accept: text/plain\r\nAccept: Application/JSON\r\n"), "application/json");
  EXPECT_EQ(type("Accept: application/jsonx\r\n"), "text/html; charset=utf-8");
}

TEST_F(SiteFilesTest, AnIndexPageComesBeforeAListingAndThatBeforeAFallback) {
  SiteRule rule = Showing(true);
  rule.fallback = {"/index.html"};
  const FilesOfASite site(folder_, {rule});
  EXPECT_EQ(site.Ask("/docs/inner/").body, "inner");
  EXPECT_EQ(NamesIn(site.Ask("/docs/", kJson)).size(), 3U);
  EXPECT_EQ(site.Ask("/none/", kJson).body, "index") << "no such directory";
  EXPECT_EQ(site.Ask("/about.html/", kJson).body, "index") << "no directory";
}

TEST_F(SiteFilesTest, WithoutItsSlashADirectoryRedirects) {
  const FilesOfASite site(folder_, {Showing(true)});
  const HttpReply reply = site.Ask("/docs");
  EXPECT_EQ(reply.status, 301);
  EXPECT_EQ(reply.Field("Location"), "/docs/");
}

TEST_F(SiteFilesTest, WithoutAnIndexTheRootIsListedUnderItsRequestedPath) {
  SiteOptions options;
  options.index = "";
  const FilesOfASite site(folder_, {Showing(true)}, options, "/site");
  const HttpReply reply = site.Ask("/site/", kJson);
  EXPECT_EQ(NamesIn(reply), (Names{"docs", "pages", "about.html", "index.html"}));
  EXPECT_NE(reply.body.find("\"/site/\""), std::string::npos) << reply.body;
}

TEST_F(SiteFilesTest, ALinkOutOfTheSiteIsNotListed) {
  const SiteFolder outside;
  outside.Write("secret.txt", "secret");
  folder_.Link("docs/out", outside.Path());
  const FilesOfASite site(folder_, {Showing(true)});
  EXPECT_EQ(site.Ask("/docs/out/").status, 404);
}

// --- types ---------------------------------------------------------------------------------------

TEST_F(SiteFilesTest, TheTypesOfTheSiteComeBeforeTheOthers) {
  for (const char* name : {"a.turtle", "a.TXT", "a.html", "a", ".turtle", "x.txt/turtle"}) {
    folder_.Write(name, "x");
  }
  SiteOptions options;
  options.dot_files = true;
  options.types = {{"turtle", "text/turtle"}, {"txt", "text/x-own"}, {"txt", "text/x-second"}};
  const FilesOfASite site(folder_, {FallingBack({"/a.turtle"})}, options);
  const auto type = [&](const char* target) { return site.Ask(target).Field("Content-Type"); };
  for (int i = 0; i < 2; ++i) {  // the second from the cache
    EXPECT_EQ(type("/a.turtle"), "text/turtle");
    EXPECT_EQ(type("/a.TXT"), "text/x-own");
    EXPECT_EQ(type("/a.html"), "text/html; charset=utf-8");
    EXPECT_EQ(type("/a"), "application/octet-stream");
    EXPECT_EQ(type("/.turtle"), "application/octet-stream") << "a name, not an extension";
    EXPECT_EQ(type("/x.txt/turtle"), "application/octet-stream");
    EXPECT_EQ(type("/none.html"), "text/turtle") << "that of the file that is served";
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
