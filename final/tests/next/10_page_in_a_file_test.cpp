// The pages of a site can change without a compiler, and without a restart.
#include <gtest/gtest.h>

#include <string>

#include "support/child.h"
#include "support/http_client.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using test::ExampleServer;
using test::Get;
using test::HttpClient;
using test::HttpReply;

TEST(PageInAFile, IsServedAsItIsNow) {
  const test::SiteFolder site;
  const ExampleServer server("web_server", {"0", site.Path()});
  ASSERT_GT(server.Port(), 0) << server.FirstLine();
  HttpClient client(server.Port());
  for (const char* text : {"<p>first</p>", "<p>and a second time</p>"}) {
    site.Write("news.html", text);
    const HttpReply reply = client.Ask(Get("/news.html"));
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, text);
    EXPECT_EQ(reply.Field("Content-Type"), "text/html; charset=utf-8");
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
