// A program that names a file, and doesn't have to send it.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <utility>
#include <vector>

#include "support/cgi_server.h"
#include "support/http_client.h"

namespace TURTLE_SERVER {
namespace {

using test::Asked;
using test::CgiServer;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::ProgramFolder;

class CgiSendFileTest : public testing::Test {
 protected:
  CgiSendFileTest() {
    site_.Write("page.txt", "what was asked for");
    site_.Write("inner/deep file.txt", "deep");
    outside_.Write("secret", "not yours");
    site_.Link("link", outside_.Path("secret"));
    EXPECT_EQ(::mkfifo(site_.Path("pipe").c_str(), 0600), 0);
    const std::string secret = outside_.Path("secret");
    const std::vector<std::pair<const char*, std::string>> files{
        {"page", "/page.txt"},  {"deep", "/inner/deep file.txt"},
        {"none", "/none.txt"},  {"folder", "/inner"},
        {"up", "/.." + secret}, {"inside", "/inner/../.." + secret},
        {"absolute", secret},   {"link", "/link"},
        {"pipe", "/pipe"},      {"empty", ""},
        {"plain", "page.txt"},  {"slashes", "/" + secret},
    };
    for (const auto& [name, file] : files) {
      programs_.Program(name, Printing("Content-Type: text/x", file, "a body that nobody wants"));
    }
    programs_.Program("status", Printing("Status: 403 No\\nX-Other: yes", "/page.txt", ""));
    programs_.Program("length",
                      Printing("Content-Type: text/x\\nContent-Length: 3", "/page.txt", "123"));
    programs_.Program("lower", "printf 'Content-Type: text/x\\nx-sendfile: /page.txt\\n\\n'\n");
    programs_.Program(
        "twice",
        "printf 'Content-Type: text/x\\nX-Sendfile: /page.txt\\nX-Sendfile: /page.txt\\n\\n'\n");
    programs_.Program("much", Printing("Content-Type: text/x", "/page.txt", "") +
                                  "exec head -c 10000000 /dev/zero\n");
    programs_.Program("crash",
                      Printing("Content-Type: text/x", "/page.txt", "") + "kill -SEGV $$\n");
  }

  static auto Printing(const std::string& fields, const std::string& file, const std::string& body)
      -> std::string {
    return "printf '" + fields + "\\nX-Sendfile: " + file + "\\n\\n" + body + "'\n";
  }

  auto Options() const -> CgiOptions {
    CgiOptions options;
    options.document_root = site_.Path();
    return options;
  }

  const test::SiteFolder site_;
  const test::SiteFolder outside_;
  const ProgramFolder programs_;
};

TEST_F(CgiSendFileTest, TheFileIsTheBody) {
  CgiServer server(programs_, Options());
  HttpClient client(server.Port());
  for (int i = 0; i < 2; ++i) {
    const HttpReply reply = client.Ask(Get("/cgi-bin/page"));
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, "what was asked for");
    EXPECT_EQ(reply.Field("Content-Length"), "18");
    EXPECT_EQ(reply.Field("Content-Type"), "text/x");
    EXPECT_EQ(reply.Field("X-Sendfile"), "") << "the client need not know where it lies";
  }
  EXPECT_EQ(client.Ask(Get("/cgi-bin/deep")).body, "deep");
  EXPECT_EQ(client.Ask(Get("/cgi-bin/lower")).body, "what was asked for");
}

TEST_F(CgiSendFileTest, StatusAndFieldsAreTheProgramsAndTheLengthIsTheFiles) {
  CgiServer server(programs_, Options());
  HttpClient client(server.Port());
  HttpReply reply = client.Ask(Get("/cgi-bin/status"));
  EXPECT_EQ(reply.status, 403);
  EXPECT_EQ(reply.Field("X-Other"), "yes");
  EXPECT_EQ(reply.body, "what was asked for");
  reply = client.Ask(Get("/cgi-bin/length"));
  EXPECT_EQ(reply.Field("Content-Length"), "18");
  EXPECT_EQ(reply.body, "what was asked for");
}

TEST_F(CgiSendFileTest, HeadHasNoBody) {
  CgiServer server(programs_, Options());
  HttpClient client(server.Port());
  const HttpReply reply =
      client.Ask("HEAD /cgi-bin/page HTTP/1.1\r\nHost: t\r\n\r\n", Asked::kHead);
  EXPECT_EQ(reply.Field("Content-Length"), "18");
  EXPECT_EQ(client.Ask(Get("/cgi-bin/page")).body, "what was asked for");
}

TEST_F(CgiSendFileTest, NothingOutsideTheFolderAndNothingButFiles) {
  CgiServer server(programs_, Options());
  for (const char* name :
       {"none", "folder", "up", "inside", "absolute", "slashes", "link", "pipe"}) {
    HttpClient client(server.Port());
    const HttpReply reply = client.Ask(Get(std::string("/cgi-bin/") + name));
    EXPECT_EQ(reply.status, 404) << name;
    EXPECT_EQ(reply.Field("X-Sendfile"), "") << name;
    EXPECT_EQ(reply.body.find("nobody wants"), std::string::npos) << name;
  }
}

TEST_F(CgiSendFileTest, WhatIsNoPathIsAFaultOfTheProgram) {
  CgiServer server(programs_, Options());
  for (const char* name : {"empty", "plain", "twice"}) {
    HttpClient client(server.Port());
    EXPECT_EQ(client.Ask(Get(std::string("/cgi-bin/") + name)).status, 502) << name;
  }
}

TEST_F(CgiSendFileTest, WhatTheProgramDoesAfterwardsDoesNotMatter) {
  CgiServer server(programs_, Options());
  HttpClient client(server.Port());
  for (const char* name : {"much", "crash"}) {
    const HttpReply reply = client.Ask(Get(std::string("/cgi-bin/") + name));
    EXPECT_EQ(reply.status, 200) << name;
    EXPECT_EQ(reply.body, "what was asked for") << name;
    EXPECT_TRUE(reply.complete) << name;
  }
}

TEST_F(CgiSendFileTest, ALargeFile) {
  std::string content(3'000'000, '\0');
  for (std::size_t i = 0; i < content.size(); ++i) {
    content[i] = static_cast<char>(i * 2654435761U >> 24);
  }
  site_.Write("page.txt", content);
  CgiServer server(programs_, Options());
  EXPECT_TRUE(HttpClient(server.Port()).Ask(Get("/cgi-bin/page")).body == content);
}

TEST_F(CgiSendFileTest, WithoutADocumentRootItIsAFieldLikeAnyOther) {
  CgiServer server(programs_);
  const HttpReply reply = HttpClient(server.Port()).Ask(Get("/cgi-bin/page"));
  EXPECT_EQ(reply.Field("X-Sendfile"), "/page.txt");
  EXPECT_EQ(reply.body, "a body that nobody wants");
}

}  // namespace
}  // namespace TURTLE_SERVER
