// A browser that asks for a page must be shown one.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>

#include "support/child.h"
#include "support/client.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::ExampleServer;

// A directory with the page that chapter 10 has in memory; removed with this object.
class Site {
 public:
  Site() {
    char name[] = "/tmp/turtle_site_XXXXXX";
    if (::mkdtemp(name) != nullptr) {
      folder_ = name;
      std::ofstream(folder_ + "/index.html") << "<h1>Turtle</h1>";
    }
  }

  Site(const Site&) = delete;
  auto operator=(const Site&) -> Site& = delete;

  ~Site() {
    ::unlink((folder_ + "/index.html").c_str());
    ::rmdir(folder_.c_str());
  }

  auto Folder() const -> const std::string& { return folder_; }

 private:
  std::string folder_;
};

TEST(BrowserShowsNothing, APageIsAnswered) {
  const Site site;
  const ExampleServer server("web_server", {"0", site.Folder()});
  ASSERT_GT(server.Port(), 0) << server.FirstLine();
  Client browser(server.Port());
  ASSERT_TRUE(
      browser.Send("GET /index.html HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
  const std::string reply = browser.ReceiveAll(std::chrono::seconds(2));
  EXPECT_EQ(reply.substr(0, 12), "HTTP/1.1 200");
  EXPECT_NE(reply.find("Content-Length: 15\r\n"), std::string::npos) << reply;
  EXPECT_NE(reply.find("\r\n\r\n<h1>Turtle</h1>"), std::string::npos) << reply;
}

}  // namespace
}  // namespace TURTLE_SERVER
