// The short form's output without a header is one text, even if it begins like a header.
#include <gtest/gtest.h>

#include <string>

#include "support/cgi_server.h"
#include "support/http_client.h"

namespace TURTLE_SERVER {
namespace {

using test::CgiServer;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::ProgramFolder;

void ExpectText(const std::string& script, const std::string& text) {
  const ProgramFolder programs;
  programs.Program("sum", script);
  CgiServer server(programs);
  HttpClient client(server.Port());
  const HttpReply reply = client.Ask(Get("/cgi-bin/sum&1&2"));
  EXPECT_EQ(reply.status, 200) << script;
  EXPECT_EQ(reply.body, text) << script;
  EXPECT_EQ(reply.Field("Content-Type"), "text/plain; charset=utf-8") << script;
  for (const char* field : {"Result", "Status", "Location", "X"}) {
    EXPECT_EQ(reply.Field(field), "") << script;
  }
  EXPECT_TRUE(reply.complete) << script;
}

TEST(CgiPlainTextTest, ALineLikeAFieldIsText) {
  ExpectText("printf 'Result: 3\\nsum is 3\\n'", "Result: 3\nsum is 3\n");
}

TEST(CgiPlainTextTest, SoAreFieldsWithAMeaning) {
  ExpectText("printf 'Status: 404 as usual\\nsum is 3\\n'", "Status: 404 as usual\nsum is 3\n");
  ExpectText("printf 'Location: /here\\nContent-Length: 1\\nsum is 3\\n'",
             "Location: /here\nContent-Length: 1\nsum is 3\n");
}

TEST(CgiPlainTextTest, ItMayComeInPieces) {
  ExpectText(
      "for piece in 'Resu' 'lt: 3\\n' 'X: y\\nsum' ' is 3\\n' 'X: z\\n\\n'; do\n"
      "  printf \"$piece\"\n  true | true\n"  // other processes run in the meantime
      "done\n",
      "Result: 3\nX: y\nsum is 3\nX: z\n\n");
}

TEST(CgiPlainTextTest, AFieldAloneIsText) { ExpectText("printf 'Result: 3\\n'", "Result: 3\n"); }

}  // namespace
}  // namespace TURTLE_SERVER
