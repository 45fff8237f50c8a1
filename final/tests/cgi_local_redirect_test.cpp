// A program that sends its client to another page of this server has responded, but may have more
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

// The response to a POST is that page, in full: the client's ranges and conditions were about the
// resource that it posted to.
TEST(CgiLocalRedirectTest, OnlyWhatIsAboutTheClientStays) {
  test::ClockedServer server([](Looper& looper, LoopHttp& http) {
    http.Mount("/", test::Answering([](Exchange& exchange) {
                 const Request& request = exchange.GetRequest();
                 if (request.target == "/old") {
                   exchange.OnBody([&exchange](std::string_view, bool last) {
                     if (last) {
                       exchange.ReplyFrom("/new");
                     }
                   });
                   return;
                 }
                 std::string names;
                 for (const HeaderField& field : request.headers) {
                   names.append(field.name).append(" ");
                 }
                 exchange.Reply(TextResponse(200, names));
               })(looper));
  });
  const std::string fields =
      "Host: t\r\nCookie: a=b\r\nRange: bytes=0-1\r\nIf-None-Match: *\r\nIf-Match: \"x\"\r\n"
      "If-Range: \"x\"\r\nIf-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
      "If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT\r\nCache-Control: only-if-cached\r\n"
      "Content-Type: a/b\r\nContent-Language: en\r\nContent-Length: 3\r\nX-Mine: 1\r\n\r\nabc";
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask("POST /old HTTP/1.1\r\n" + fields).body, "Host Cookie X-Mine ");
  EXPECT_EQ(client.Ask("GET /old HTTP/1.1\r\n" + fields).body,
            "Host Cookie Range If-None-Match If-Match If-Range If-Modified-Since "
            "If-Unmodified-Since Cache-Control X-Mine ");
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
