// `turtle serve` as its users see it: the program itself, its output and its exit codes.
#include "app/serve_command.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "support/cgi_server.h"
#include "support/http_client.h"
#include "support/turtle.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::LifeLine;
using test::ProgramFolder;
using test::Turtle;

auto IsOneLine(const std::string& text) -> bool {
  return !text.empty() && text.find('\n') == text.size() - 1;
}

TEST(ServeCommandTest, ServesAFolderUntilASignal) {
  for (const int number : {SIGTERM, SIGINT}) {
    const test::SiteFolder site;
    site.Write("index.html", "hello");
    Turtle turtle({site.Path(), "--port", "0", "--threads", "2"});
    ASSERT_GT(turtle.Port(), 0) << turtle.FirstLine();
    EXPECT_EQ(turtle.FirstLine(), "Serving " + site.Path() + " at http://127.0.0.1:" +
                                      std::to_string(turtle.Port()) + "/");
    {
      HttpClient client(turtle.Port());
      EXPECT_EQ(client.Ask(Get("/")).body, "hello");
      EXPECT_EQ(client.Ask(Get("/cgi-bin/add&1&2")).status, 404) << "there are no programs";
      turtle.Signal(number);
      EXPECT_TRUE(client.IsClosedByServer());
    }
    EXPECT_EQ(turtle.Wait(), 0);
    EXPECT_EQ(turtle.ReadErrors(), "");
  }
}

TEST(ServeCommandTest, KeepsSilentClientsBackIfItIsToldTo) {
  for (const int seconds : {0, 60}) {
    const test::SiteFolder site;
    site.Write("index.html", "hello");
    Turtle turtle({site.Path(), "--port", "0", "--threads", "1", "--deferred-accept",
                   std::to_string(seconds)});
    EXPECT_EQ(HttpClient(turtle.Port()).Ask(Get("/")).body, "hello");  // it accepts by now
    HttpClient silent(turtle.Port());
    EXPECT_EQ(HttpClient(turtle.Port()).Ask(Get("/")).body, "hello");  // later, yet accepted
    turtle.Signal(SIGTERM);
    EXPECT_EQ(turtle.Wait(), 0);
#ifdef __linux__
    const bool kept_back = seconds != 0;
#else
    const bool kept_back = false;
#endif
    // An accepted client has seen the end. One that was held back learns it when it sends
    // something.
    EXPECT_EQ(silent.HasInput(std::chrono::milliseconds(0)), !kept_back) << seconds;
    if (kept_back) {
      EXPECT_TRUE(silent.Send(Get("/")));
    }
    EXPECT_EQ(silent.IsClosedByServer(), !kept_back) << seconds;
    EXPECT_EQ(silent.WasReset(), kept_back) << seconds;
  }
}

TEST(ServeCommandTest, RunsPrograms) {
  const ProgramFolder folder;
  folder.Program("cgi-bin/show",
                 "printf 'Content-Type: text/plain\\n\\n'\necho $PATH_TRANSLATED\n");
  folder.Write("site/page", "page");
  Turtle turtle({folder.Path("site"), "--port", "0", "--cgi-dir", folder.Path("cgi-bin")});
  HttpClient client(turtle.Port());
  EXPECT_EQ(client.Ask(Get("/cgi-bin/show/page")).body, folder.Path("site/page") + "\n");
  EXPECT_EQ(client.Ask(Get("/page")).body, "page");
}

TEST(ServeCommandTest, FinishesWhatIsUnderWay) {
  const ProgramFolder programs;
  programs.Program(
      "wait", LifeLine::kHold + std::string("printf 'Content-Type: text/plain\\n\\nbegun '\n"
                                            "while [ ! -e go ]; do sleep 0.01; done; echo done\n"));
  LifeLine line(programs);
  Turtle turtle({programs.Path(), "--port", "0", "--threads", "2", "--cgi-dir", programs.Path(),
                 "--stop-timeout", "60"});
  HttpClient idle(turtle.Port());
  ASSERT_EQ(idle.Ask(Get("/wait")).status, 200);
  HttpClient client(turtle.Port());
  ASSERT_TRUE(client.Send(Get("/cgi-bin/wait")));
  ASSERT_TRUE(line.AwaitStart());
  turtle.Signal(SIGTERM);
  EXPECT_TRUE(idle.IsClosedByServer()) << "who asks for nothing is let go";
  EXPECT_THROW(HttpClient late(turtle.Port()), std::system_error) << "it still takes clients";
  programs.Write("go", "");
  const HttpReply reply = client.ReadReply();
  EXPECT_EQ(reply.body, "begun done\n");
  EXPECT_TRUE(reply.complete);
  EXPECT_TRUE(client.IsClosedByServer());
  EXPECT_EQ(turtle.Wait(), 0);
}

TEST(ServeCommandTest, ASecondSignalEndsItAtOnce) {
  const ProgramFolder programs;
  // No server is left to kill it: it ends with its directory.
  programs.Program("wait",
                   LifeLine::kHold + std::string("while [ -e wait ]; do sleep 0.1; done\n"));
  LifeLine line(programs);
  Turtle turtle({programs.Path(), "--port", "0", "--threads", "1", "--cgi-dir", programs.Path(),
                 "--stop-timeout", "60"});
  HttpClient idle(turtle.Port());
  ASSERT_EQ(idle.Ask(Get("/wait")).status, 200);
  HttpClient client(turtle.Port());
  ASSERT_TRUE(client.Send(Get("/cgi-bin/wait")));
  ASSERT_TRUE(line.AwaitStart());
  turtle.Signal(SIGTERM);
  ASSERT_TRUE(idle.IsClosedByServer());  // the first has arrived
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 128 + SIGTERM);
}

TEST(ServeCommandTest, APortInUseIsOneLine) {
  Socket taken;
  taken.Bind(NetAddress("127.0.0.1", 0));
  taken.Listen();
  const std::string port = std::to_string(taken.LocalAddress().Port());
  Turtle turtle({".", "--port", port});
  EXPECT_EQ(turtle.Wait(), 1);
  EXPECT_EQ(turtle.FirstLine(), "");
  const std::string errors = turtle.ReadErrors();
  EXPECT_TRUE(IsOneLine(errors)) << errors;
  EXPECT_NE(errors.find("127.0.0.1:" + port + ": Address already in use"), std::string::npos)
      << errors;
}

TEST(ServeCommandTest, WhatCanNotBeServedIsOneLine) {
  const test::SiteFolder folder;
  ServeOptions options;
  options.directory = folder.Path();
  options.port = 0;
  const auto fail = [](const ServeOptions& wrong, int code = 1) {
    std::ostringstream out;
    std::ostringstream errors;
    EXPECT_EQ(Serve(wrong, out, errors), code);
    EXPECT_TRUE(IsOneLine(errors.str())) << errors.str();
    return errors.str();
  };
  ServeOptions gone = options;  // it has disappeared since the command line was read
  gone.directory = folder.Path("gone");
  EXPECT_NE(fail(gone).find(gone.directory), std::string::npos);
  gone = options;
  gone.cgi_dir = folder.Path("no-programs");
  EXPECT_NE(fail(gone).find(gone.cgi_dir), std::string::npos);
  ServeOptions strange = options;
  strange.address = "not an address";
  EXPECT_NE(fail(strange).find("not an address"), std::string::npos);
  strange.address = "1.2.3";
  EXPECT_NE(fail(strange, 2).find("1.2.3"), std::string::npos) << "a retry would not help";
}

}  // namespace
}  // namespace TURTLE_SERVER
