// A program that sends its client to another page of this server has said all, but may have more
// to do.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "support/cgi_server.h"
#include "support/http_client.h"

namespace TURTLE_SERVER {
namespace {

using test::CgiServer;
using test::Get;
using test::HttpClient;
using test::LifeLine;
using test::ProgramFolder;

TEST(CgiLocalRedirectTest, TheProgramMayWorkOn) {
  const ProgramFolder programs;
  programs.Program("save", LifeLine::kHold + std::string("printf 'Location: /saved\\n\\n'\n"
                                                         "while [ ! -e go ]; do sleep 0.01; done\n"
                                                         "echo all > result\n"));
  LifeLine line(programs);
  CgiServer server(programs);
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/cgi-bin/save")).body, "GET /saved") << "the reply does not wait";
  ASSERT_TRUE(line.AwaitStart());
  EXPECT_EQ(client.Ask(Get("/next")).body, "GET /next");
  programs.Write("go", "");
  ASSERT_TRUE(line.AwaitEnd());
  EXPECT_TRUE(std::filesystem::exists(programs.Path("result"))) << "it was killed before";
}

// Nothing else would wake the session before the client's next byte.
TEST(CgiLocalRedirectTest, AHandlerMayRedirectAtOnce) {
  test::ClockedServer server([](Looper& looper, LoopHttp& http) {
    http.Mount("/", test::Answering([](Exchange& exchange) {
                 const std::string target(exchange.GetRequest().target);
                 if (target == "/old") {
                   exchange.ReplyFrom("/new");
                 } else {
                   exchange.Reply(TextResponse(200, target));
                 }
               })(looper));
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/old")).body, "/new");
  EXPECT_EQ(client.Ask(Get("/next")).body, "/next");
}

TEST(CgiLocalRedirectTest, WhatIsNoPathIsNotWaitedFor) {
  test::ClockedServer server([](Looper& looper, LoopHttp& http) {
    http.Mount("/", test::Answering([](Exchange& exchange) {
                 exchange.ReplyFrom(std::string(exchange.GetRequest().uri.Query()));
               })(looper));
  });
  for (const char* path : {"/?", "/?x", "/?%20"}) {
    EXPECT_EQ(HttpClient(server.Port()).Ask(Get(path)).status, 502) << path;
  }
}

TEST(CgiLocalRedirectTest, ButNotForEver) {
  const ProgramFolder programs;
  programs.Program(
      "stay", LifeLine::kHold + std::string("printf 'Location: /page\\n\\n'\nexec sleep 1000\n"));
  LifeLine line(programs);
  CgiOptions options;
  options.max_programs = 1;
  CgiServer server(programs, options);
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/cgi-bin/stay")).body, "GET /page");
  ASSERT_TRUE(line.AwaitStart());
  EXPECT_EQ(client.Ask(Get("/cgi-bin/stay")).status, 503)
      << "it has a place for as long as it runs";
  server.Advance(options.timeout);
  EXPECT_TRUE(line.AwaitEnd());
}

}  // namespace
}  // namespace TURTLE_SERVER
