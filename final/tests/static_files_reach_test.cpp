// Nothing outside the directory is reachable, and nothing in it hangs the loop.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/fsuid.h>
#endif

#include <filesystem>
#include <string>
#include <string_view>

#include "support/clocked_server.h"
#include "support/nobody_here.h"
#include "support/static_site.h"

namespace TURTLE_SERVER {
namespace {

using test::HttpClient;
using test::HttpReply;

class StaticFilesReachTest : public testing::Test {
 protected:
  StaticFilesReachTest()
      : server_([this](HttpServer& server) {
          folder_.Write("secret.txt", "secret");
          folder_.Write("root/index.html", "home");
          folder_.Write("root/sub/page.txt", "page");
          StaticFilesOptions options;
          options.root = Root();
          server.Mount("/", test::Serving(options));
        }) {}

  auto Root() const -> std::string { return folder_.Path("root"); }

  auto Ask(std::string_view target) const -> HttpReply {
    HttpClient client(server_.Port());
    return client.Ask(test::Get(target));
  }

  test::SiteFolder folder_;
  test::RunningServer server_;
};

TEST_F(StaticFilesReachTest, NoSpellingLeadsOut) {
  for (const char* target : {"/../secret.txt",
                             "/sub/../../secret.txt",
                             "/%2e%2e/secret.txt",
                             "/sub/%2E./%2e%2e/secret.txt",
                             "/..%2fsecret.txt",
                             "/%2e%2e%2fsecret.txt",
                             "/..\\secret.txt",
                             "/..%5csecret.txt",
                             "/%252e%252e/secret.txt",
                             "/..%c0%afsecret.txt",
                             "/sub/..;/../secret.txt",
                             "/index.html%00.txt",
                             "/sub%00/page.txt",
                             "/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
                             "//../secret.txt",
                             "/./../secret.txt",
                             "http://t/../secret.txt",
                             "/%",
                             "/%2",
                             "/%zz"}) {
    const HttpReply reply = Ask(target);
    EXPECT_TRUE(reply.status == 400 || reply.status == 404) << target << ": " << reply.status;
    EXPECT_EQ(reply.body.find("secret"), std::string::npos) << target;
  }
}

TEST_F(StaticFilesReachTest, DotsThatStayWithinAreFine) {
  EXPECT_EQ(Ask("/sub/../index.html").body, "home");
  EXPECT_EQ(Ask("/sub/./page.txt").body, "page");
  EXPECT_EQ(Ask("/%73ub/page%2Etxt").body, "page");
  folder_.Write("root/page..txt", "dots");
  EXPECT_EQ(Ask("/page..txt").body, "dots");
}

TEST_F(StaticFilesReachTest, NamesWithADotAreNotThere) {
  for (const char* name :
       {".env", ".git/config", "..hidden", "sub/.htpasswd", ".well-known.txt",
        "sub/.well-known/page.txt", ".well-known/.env", "...", ".d/index.html"}) {
    folder_.Write(std::string("root/") + name, "secret");
    const HttpReply reply = Ask(std::string("/") + name);
    EXPECT_EQ(reply.status, 404) << name;
    EXPECT_EQ(reply.body.find("secret"), std::string::npos) << name;
  }
  for (const char* target : {"/%2eenv", "/%2Egit/config", "/sub/../.env", "/.git", "/.git/", "/.d/",
                             "//.env", "/.well-known/../.env", "/./.env", "/sub%2f.htpasswd",
                             "/.nowhere", "/.env?x", "/.well-known/%2eenv"}) {
    const int status = Ask(target).status;
    EXPECT_TRUE(status == 404 ||
                (status == 400 && std::string_view(target).find("%2f") != std::string_view::npos))
        << target << ": " << status;
  }
}

TEST_F(StaticFilesReachTest, WellKnownNamesAreThere) {
  folder_.Write("root/.well-known/acme-challenge/token", "token");
  folder_.Write("root/.well-known/index.html", "index");
  EXPECT_EQ(Ask("/.well-known/acme-challenge/token").body, "token");
  EXPECT_EQ(Ask("/%2ewell-known/acme-challenge/token").body, "token");
  EXPECT_EQ(Ask("/.well-known/").body, "index");
  EXPECT_EQ(Ask("/.well-known").Field("Location"), "/.well-known/");
  EXPECT_EQ(Ask("/.well-known/security.txt").status, 404);
}

TEST(StaticFilesDots, ByChoiceTheyAreServed) {
  test::StaticSite site("/", [](StaticFilesOptions& options) { options.dot_files = true; });
  site.Folder().Write(".env", "env");
  site.Folder().Write("sub/.git/config", "config");
  EXPECT_EQ(site.Ask("/.env").body, "env");
  EXPECT_EQ(site.Ask("/sub/.git/config").body, "config");
}

TEST(StaticFilesDots, AnIndexPageMayHaveOne) {
  test::StaticSite site("/", [](StaticFilesOptions& options) { options.index = ".index"; });
  site.Folder().Write(".index", "index");
  EXPECT_EQ(site.Ask("/").body, "index");
  EXPECT_EQ(site.Ask("/.index").status, 404);
}

TEST_F(StaticFilesReachTest, LinksThatLeaveAreNotThere) {
  folder_.Link("root/out.txt", "../secret.txt");
  folder_.Link("root/absolute.txt", folder_.Path("secret.txt"));
  folder_.Link("root/up", "..");
  folder_.Link("root/circle", "circle");
  for (const char* target :
       {"/out.txt", "/absolute.txt", "/up/secret.txt", "/up/root/index.html", "/up", "/circle"}) {
    const HttpReply reply = Ask(target);
    EXPECT_EQ(reply.status, 404) << target;
    EXPECT_EQ(reply.body.find("secret"), std::string::npos) << target;
  }
}

TEST_F(StaticFilesReachTest, LinksWithinAreFollowed) {
  folder_.Link("root/link.txt", "sub/page.txt");
  folder_.Link("root/folder", "sub");
  folder_.Link("root/whole.txt", Root() + "/sub/page.txt");
  folder_.Link("root/whole", Root() + "/sub");
  for (const char* target : {"/link.txt", "/folder/page.txt", "/whole.txt", "/whole/page.txt"}) {
    EXPECT_EQ(Ask(target).body, "page") << target;
  }
  EXPECT_EQ(Ask("/folder").Field("Location"), "/folder/");
  EXPECT_EQ(Ask("/whole").Field("Location"), "/whole/");
}

TEST_F(StaticFilesReachTest, WhatIsNoFileIsNotThere) {
  ASSERT_EQ(::mkfifo((Root() + "/pipe").c_str(), 0644), 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = Root() + "/socket";
  name.copy(address.sun_path, sizeof address.sun_path - 1);
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(::bind(socket.Get(), static_cast<const sockaddr*>(static_cast<void*>(&address)),
                   sizeof address),
            0);
  EXPECT_EQ(Ask("/pipe").status, 404);  // and no wait for somebody who writes into it
  EXPECT_EQ(Ask("/socket").status, 404);
  EXPECT_EQ(Ask("/" + std::string(300, 'x')).status, 404);
  EXPECT_EQ(Ask("/index.html").status, 200);
}

#ifdef __linux__
TEST_F(StaticFilesReachTest, WhatMayNotBeReadIsForbidden) {
  folder_.Write("root/locked.txt", "locked");
  std::filesystem::permissions(folder_.Path("root/locked.txt"), std::filesystem::perms(0));
  std::filesystem::permissions(Root(), std::filesystem::perms(0755));
  if (::geteuid() == 0) {
    server_.Ask([] { ::setfsuid(65534); });  // root may read everything
  }
  EXPECT_EQ(Ask("/locked.txt").status, 403);
  EXPECT_EQ(Ask("/index.html").status, 200);
}

TEST_F(StaticFilesReachTest, AFolderThatMayNotBeListedIsServed) {
  folder_.Write("root/sub/index.html", "index");
  const test::Passable passable(folder_, {"root", "root/sub"});
  if (::geteuid() == 0) {
    server_.Ask([] { ::setfsuid(65534); });
  }
  EXPECT_EQ(Ask("/index.html").body, "home");
  EXPECT_EQ(Ask("/sub/page.txt").body, "page");
  EXPECT_EQ(Ask("/sub/").body, "index");
  EXPECT_EQ(Ask("/sub").Field("Location"), "/sub/");
}
#endif

// The name of a site leads to its release.
TEST(StaticFilesRoot, ALinkThatIsTurnedLeadsToTheNewRelease) {
  const test::SiteFolder folder;
  folder.Write("1/page", "old");
  folder.Write("2/page", "new");
  folder.Link("current", "1");
  StaticFilesOptions options;
  options.root = folder.Path("current");
  test::ClockedServer server(
      [&](Looper& looper, LoopHttp& http) { http.Mount("/", test::Serving(options)(looper)); });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(test::Get("/page")).body, "old");
  folder.Link("next", "2");
  std::filesystem::rename(folder.Path("next"), folder.Path("current"));
  server.Advance(RootFolder::kTrustTime);
  EXPECT_EQ(client.Ask(test::Get("/page")).body, "new");
}

TEST_F(StaticFilesReachTest, AFolderThatIsMadeAnewIsServedAtOnce) {
  EXPECT_EQ(Ask("/index.html").body, "home");
  std::filesystem::remove_all(Root());
  EXPECT_EQ(Ask("/index.html").status, 404);
  folder_.Write("root/index.html", "new");
  EXPECT_EQ(Ask("/index.html").body, "new");
  EXPECT_EQ(Ask("/sub/page.txt").status, 404);
}

}  // namespace
}  // namespace TURTLE_SERVER
