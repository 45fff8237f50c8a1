// How a program's output becomes a response (RFC 3875, section 6).
#include <gtest/gtest.h>

#include <string>

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

// Returns the response of one program, over its own connection.
auto ReplyTo(const std::string& script, const std::string& request = Get("/cgi-bin/program"),
             Asked asked = Asked::kGet) -> HttpReply {
  const ProgramFolder programs;
  programs.Program("program", script);
  CgiServer server(programs);
  HttpClient client(server.Port());
  return client.Ask(request, asked);
}

TEST(CgiReplyTest, StatusAndFieldsAreTheProgramsOwn) {
  const HttpReply reply = ReplyTo(
      "printf 'Status: 404 Gone fishing\\r\\nContent-Type: text/x\\r\\nX-Mine: yes\\r\\n"
      "Set-Cookie: a=1\\r\\nSet-Cookie: b=2\\r\\nConnection: close\\r\\nServer: no\\r\\n\\r\\nhi'");
  EXPECT_EQ(reply.status, 404);
  EXPECT_EQ(reply.Field("Content-Type"), "text/x");
  EXPECT_EQ(reply.Field("X-Mine"), "yes");
  EXPECT_NE(reply.head.find("a=1"), std::string::npos);
  EXPECT_NE(reply.head.find("b=2"), std::string::npos);
  EXPECT_EQ(reply.Field("Connection"), "") << "the connection is the server's";
  EXPECT_EQ(reply.Field("Transfer-Encoding"), "chunked");
  EXPECT_EQ(reply.body, "hi");
}

TEST(CgiReplyTest, APromisedLengthIsPassedOnAndKept) {
  const HttpReply reply =
      ReplyTo("printf 'Content-Type: text/plain\\nContent-Length: 5\\n\\nhello and more'");
  EXPECT_EQ(reply.Field("Content-Length"), "5");
  EXPECT_EQ(reply.Field("Transfer-Encoding"), "");
  EXPECT_EQ(reply.body, "hello");
}

TEST(CgiReplyTest, ABrokenPromiseCutsTheConnection) {
  const HttpReply reply =
      ReplyTo("printf 'Content-Type: text/plain\\nContent-Length: 5\\n\\nhell'");
  EXPECT_EQ(reply.status, 200);
  EXPECT_FALSE(reply.complete);
}

TEST(CgiReplyTest, TheHeaderMayComeInPieces) {
  const HttpReply reply = ReplyTo(
      "for piece in 'Conte' 'nt-Type: te' 'xt/plain\\r' '\\n' '\\r' '\\nbo' 'dy'; do\n"
      "  printf \"$piece\"\n  true | true\n"  // other processes run in the meantime
      "done\n");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "body");
}

TEST(CgiReplyTest, HeadHasNoBody) {
  const ProgramFolder programs;
  programs.Program("chunks", "printf 'Content-Type: text/plain\\n\\nhello'\n");
  programs.Program("length", "printf 'Content-Type: text/plain\\nContent-Length: 5\\n\\nhello'\n");
  CgiServer server(programs);
  HttpClient client(server.Port());
  for (const std::string name : {"chunks", "length"}) {
    const std::string request = "HEAD /cgi-bin/" + name + " HTTP/1.1\r\nHost: t\r\n\r\n";
    EXPECT_EQ(client.Ask(request, Asked::kHead).status, 200) << name;
    EXPECT_EQ(client.Ask(Get("/next")).body, "GET /next") << "a body came after " << name;
  }
}

TEST(CgiReplyTest, Http10IsSpokenWithoutChunks) {
  const HttpReply reply =
      ReplyTo("printf 'Content-Type: text/plain\\n\\nhello'\n",
              "GET /cgi-bin/program HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(reply.Field("Transfer-Encoding"), "");
  EXPECT_EQ(reply.Field("Content-Length"), "");
  EXPECT_EQ(reply.body, "hello");
  EXPECT_TRUE(reply.complete) << "only its end ends it";
}

TEST(CgiReplyTest, AnAbsoluteLocationSendsTheClientAway) {
  const HttpReply reply = ReplyTo("printf 'Location: http://other.example/x\\n\\n'");
  EXPECT_EQ(reply.status, 302);
  EXPECT_EQ(reply.Field("Location"), "http://other.example/x");
  EXPECT_TRUE(reply.complete);
}

TEST(CgiReplyTest, AStatusKeepsAPathForTheClient) {
  const HttpReply reply = ReplyTo("printf 'Status: 303 See Other\\nLocation: /done\\n\\n'");
  EXPECT_EQ(reply.status, 303);
  EXPECT_EQ(reply.Field("Location"), "/done");
}

TEST(CgiReplyTest, APathIsAnsweredByThisServer) {
  const ProgramFolder programs;
  programs.Program("away", "cat > /dev/null; printf 'Location: /page?x=1\\n\\n'\n");
  programs.Program("twice", "printf 'Location: /cgi-bin/away\\n\\n'\n");
  CgiServer server(programs);
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/cgi-bin/away")).body, "GET /page?x=1");
  EXPECT_EQ(client.Ask(Get("/cgi-bin/twice")).body, "GET /page?x=1");
  EXPECT_EQ(
      client.Ask("POST /cgi-bin/away HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\n\r\nbody").body,
      "GET /page?x=1")
      << "the body was for the program";
  EXPECT_EQ(client.Ask(Get("/next")).body, "GET /next");
}

TEST(CgiReplyTest, ACircleOfRedirectsEnds) {
  const ProgramFolder programs;
  programs.Program("a", "printf 'Location: /cgi-bin/b\\n\\n'\n");
  programs.Program("b", "printf 'Location: /cgi-bin/a\\n\\n'\n");
  CgiServer server(programs);
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/cgi-bin/a")).status, 502);
  EXPECT_EQ(client.Ask(Get("/next")).body, "GET /next");
}

TEST(CgiReplyTest, ABadHeaderIs502) {
  for (const std::string output :
       {"", "no colon\\n\\n", "Content-Type: a\\rX: b\\n\\n", "X-Only: 1\\n\\n",
        "HTTP/1.1 200 OK\\nContent-Type: a\\n\\n", "Content-Type: a\\n", "Status: 99\\n\\n",
        "Status: 100 Continue\\n\\n", "Location: nowhere\\n\\n",
        "Content-Type: a\\nContent-Length: x\\n\\n", "\\n\\nbody"}) {
    EXPECT_EQ(ReplyTo("printf '" + output + "'").status, 502) << output;
  }
}

TEST(CgiReplyTest, AnEndlessHeaderIs502) {
  EXPECT_EQ(ReplyTo("printf 'X: '; exec tr '\\0' x < /dev/zero").status, 502);
}

TEST(CgiReplyTest, ACrashIsNotASuccess) {
  EXPECT_EQ(ReplyTo("kill -SEGV $$").status, 502);
  const HttpReply late = ReplyTo("printf 'Content-Type: text/plain\\n\\nhalf'; kill -SEGV $$");
  EXPECT_EQ(late.status, 200);
  EXPECT_FALSE(late.complete) << "the client takes the half for the whole";
}

TEST(CgiReplyTest, ACrashIsSeenByHttp10Too) {
  const ProgramFolder programs;
  programs.Program("half", "printf 'Content-Type: text/plain\\n\\nhalf'; kill -SEGV $$");
  CgiServer server(programs);
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send("GET /cgi-bin/half HTTP/1.0\r\n\r\n"));
  client.ReadRest();
  EXPECT_TRUE(client.WasReset()) << "a proper end would be the end of the body";
}

TEST(CgiReplyTest, AnExitCodeIsTheProgramsOwnBusiness) {
  const HttpReply reply = ReplyTo("printf 'Content-Type: text/plain\\n\\nhi'; exit 3");
  EXPECT_EQ(reply.body, "hi");
  EXPECT_TRUE(reply.complete);
}

TEST(CgiReplyTest, TheShortFormNeedsNoHeader) {
  const std::string request = Get("/cgi-bin/program&1");
  for (const std::string output : {"3", "3\\n", "sum: 3\\n", "a b\\nc: d\\n\\nx", ""}) {
    const HttpReply reply = ReplyTo("printf '" + output + "'", request);
    EXPECT_EQ(reply.status, 200) << output;
    EXPECT_EQ(reply.Field("Content-Type"), "text/plain; charset=utf-8");
    EXPECT_TRUE(reply.complete);
    EXPECT_EQ(ReplyTo("printf 'X: y\\n\\n" + output + "'").status, 502) << "the long form does";
  }
  EXPECT_EQ(ReplyTo("printf 'sum: 3\\n'", request).body, "sum: 3\n");
  EXPECT_EQ(ReplyTo("printf 'a b\\nc: d\\n\\nx'", request).body, "a b\nc: d\n\nx");
}

TEST(CgiReplyTest, TheShortFormMayHaveAHeader) {
  const HttpReply reply =
      ReplyTo("printf 'Status: 400 No\\nContent-Type: text/x\\n\\nno'", Get("/cgi-bin/program&1"));
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.Field("Content-Type"), "text/x");
  EXPECT_EQ(reply.body, "no");
}

}  // namespace
}  // namespace TURTLE_SERVER
