// Nothing outside the folder is reachable, and nothing in it hangs the loop.
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
  folder_.Write("root/..hidden", "dots");
  EXPECT_EQ(Ask("/..hidden").body, "dots");
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

#ifdef __linux__
TEST_F(StaticFilesReachTest, LinksWithinAreFollowed) {
  folder_.Link("root/link.txt", "sub/page.txt");
  folder_.Link("root/folder", "sub");
  EXPECT_EQ(Ask("/link.txt").body, "page");
  EXPECT_EQ(Ask("/folder/page.txt").body, "page");
  EXPECT_EQ(Ask("/folder").Field("Location"), "/folder/");
}
#endif

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
    server_.Ask([] { ::setfsuid(65534); });  // the administrator may read everything
  }
  EXPECT_EQ(Ask("/locked.txt").status, 403);
  EXPECT_EQ(Ask("/index.html").status, 200);
}
#endif

}  // namespace
}  // namespace TURTLE_SERVER
