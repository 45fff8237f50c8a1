// Programs that must not run, that don't end, that nobody listens to, and too many of them.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <list>
#include <memory>
#include <string>

#include "cgi/cgi_run.h"
#include "support/cgi_server.h"
#include "support/http_client.h"
#include "support/no_descriptors.h"
#include "support/nobody_here.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::seconds;
using test::CgiServer;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::LifeLine;
using test::ProgramFolder;

constexpr const char* kText = "printf 'Content-Type: text/plain\\n\\n'\n";
// Starts its own child, and reports it.
constexpr const char* kForEver = "sleep 1000 & echo >&9; exec sleep 1000\n";

// True if every child of this process has been reaped.
auto NoChildIsLeft() -> bool {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD;
}

auto AwaitNoChild(CgiServer& server) -> bool { return server.Loop().Await(NoChildIsLeft); }

TEST(CgiLimitsTest, RunsWhatIsInTheFolderAndNothingElse) {
  const ProgramFolder outside;
  outside.Program("program", std::string(kText) + "echo ran\n");
  outside.Program("cgi-bin/allowed", std::string(kText) + "echo ran\n");
  outside.Program("cgi-bin/.hidden", std::string(kText) + "echo ran\n");
  outside.Program("cgi-bin/folder/inner", std::string(kText) + "echo ran\n");
  outside.Write("cgi-bin/text", "no program\n");
  outside.Write("cgi-bin/nonsense", "\x01\x02");
  std::filesystem::permissions(outside.Path("cgi-bin/text"), std::filesystem::perms(0644));
  std::filesystem::permissions(outside.Path("cgi-bin/nonsense"), std::filesystem::perms(0755));
  outside.Link("cgi-bin/link", outside.Path("program"));
  CgiOptions options;
  options.directory = outside.Path("cgi-bin");
  test::ClockedServer server([&](Looper& looper, LoopHttp& http) {
    http.Mount("/cgi-bin", std::make_unique<Cgi>(looper, options));
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/cgi-bin/allowed")).body, "ran\n");
  EXPECT_EQ(client.Ask(Get("/cgi-bin/link")).status, 404)
      << "what it points to is not in the folder";
  for (const char* path : {"", "/", "/none", "/.hidden", "/folder", "/folder/inner", "/..",
                           "/../program", "/%2e%2e/program", "/&1", "/./.hidden", "/..&1"}) {
    EXPECT_EQ(client.Ask(Get(std::string("/cgi-bin") + path)).status, 404) << path;
  }
  EXPECT_EQ(client.Ask(Get("/cgi-bin/..%2fprogram")).status, 400);
  HttpClient other(server.Port());
  EXPECT_EQ(other.Ask(Get("/cgi-bin/text")).status, 403);
  EXPECT_EQ(other.Ask(Get("/cgi-bin/nonsense")).status, 502);
}

// Neither the directory itself, nor its parent, nor a hidden file.
TEST(CgiLimitsTest, ANameThatIsEmptyOrBeginsWithADotNamesNoProgram) {
  for (const char* path : {"", "/", "//x", "/&1", "/.hidden", "/.&1", "/..", "/../program"}) {
    EXPECT_FALSE(ParseCgiTarget(path, path)) << path;
  }
  EXPECT_FALSE(ParseCgiTarget("/.a&b", "/cgi-bin/.a%26b"));
  EXPECT_TRUE(ParseCgiTarget("/a.b", "/a.b")) << "a dot elsewhere in a name is allowed";
}

// The kernel has one number for "no such program" and "no such interpreter".
TEST(CgiLimitsTest, AProgramThatIsThereButCannotRunIsNot404) {
  const ProgramFolder programs;
  const auto write = [&](const char* name, std::string_view text) {
    programs.Write(name, std::string(text));
    std::filesystem::permissions(programs.Path(name), std::filesystem::perms(0755));
  };
  programs.Write("plain", "no program\n");
  std::filesystem::permissions(programs.Path("plain"), std::filesystem::perms(0644));
  write("dos", "#!/bin/sh\r\necho\r\n");
  write("missing", "#!/no/such\n");
  write("no-folder", "#!/bin/sh/sh\n");
  write("a-folder", "#!/\n");
  write("not-executable", "#!" + programs.Path("plain") + "\n");
  write("circle", "#!" + programs.Path("circle") + "\n");
  write("long", "#!/" + std::string(5000, 'x') + "\n");
  write("empty", "");
  write("nameless", "#!\n");
  write("elf",
        "\x7f"
        "ELF\n");
  CgiServer server(programs);
  HttpClient client(server.Port());
  for (const char* name : {"dos", "missing", "no-folder", "a-folder", "not-executable", "circle",
                           "long", "empty", "nameless", "elf"}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(client.Ask(Get(std::string("/cgi-bin/") + name)).status, 502) << name;
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_NE(log.find(std::string("cgi ") + name + ": execve: "), std::string::npos) << log;
  }
  EXPECT_EQ(client.Ask(Get("/cgi-bin/plain")).status, 403);
  EXPECT_EQ(client.Ask(Get("/cgi-bin/none")).status, 404);
}

#ifdef __linux__
// One argument has at most 128 KiB (execve(2): MAX_ARG_STRLEN).
TEST(CgiLimitsTest, ARequestThatDoesNotFitIntoArgumentsIs431) {
  const ProgramFolder programs;
  programs.Program("list", std::string(kText));
  HttpOptions http;
  http.parser.max_target_bytes = std::size_t{256} * 1024;
  http.parser.max_head_bytes = std::size_t{256} * 1024;
  CgiServer server(programs, {}, http);
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/cgi-bin/list&" + std::string(140'000, 'x'))).status, 431);
}
#endif

TEST(CgiLimitsTest, AFolderThatIsNotThereIsAnErrorAtOnce) {
  Looper looper;
  CgiOptions options;
  options.directory = "/nowhere/at/all";
  try {
    const Cgi cgi(looper, options);
    FAIL() << "it has no programs";
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find("/nowhere/at/all"), std::string::npos);
  }
}

TEST(CgiLimitsTest, AFolderThatIsMadeAnewHasItsPrograms) {
  const ProgramFolder folder;
  folder.Program("1/program", std::string(kText) + "echo old\n");
  folder.Program("1/other", std::string(kText) + "echo other\n");
  folder.Program("2/program", std::string(kText) + "echo new\n");
  folder.Program("3/program", std::string(kText) + "echo newest\n");
  folder.Link("current", "1");
  test::ClockedServer server([&](Looper& looper, LoopHttp& http) {
    CgiOptions options;
    options.directory = folder.Path("current");
    http.Mount("/cgi-bin", std::make_unique<Cgi>(looper, options));
  });
  HttpClient client(server.Port());
  const auto turn_to = [&](const char* release) {
    folder.Link("next", release);
    std::filesystem::rename(folder.Path("next"), folder.Path("current"));
  };
  EXPECT_EQ(client.Ask(Get("/cgi-bin/program")).body, "old\n");
  turn_to("2");
  server.Advance(RootFolder::kTrustTime);
  EXPECT_EQ(client.Ask(Get("/cgi-bin/program")).body, "new\n");
  EXPECT_EQ(client.Ask(Get("/cgi-bin/other")).status, 404);
  std::filesystem::remove_all(folder.Path("2"));
  turn_to("3");
  EXPECT_EQ(client.Ask(Get("/cgi-bin/program")).body, "newest\n") << "without any wait";
}

#ifdef __linux__
TEST(CgiLimitsTest, AFolderThatMayNotBeListedHasItsPrograms) {
  const ProgramFolder folder;
  folder.Program("cgi/program", std::string(kText) + "echo here\n");
  const test::Passable passable(folder, {"cgi"});
  test::ClockedServer server([&](Looper& looper, LoopHttp& http) {
    const test::NobodyHere nobody;
    CgiOptions options;
    options.directory = folder.Path("cgi");
    http.Mount("/cgi-bin", std::make_unique<Cgi>(looper, options));
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/cgi-bin/program")).body, "here\n");
}
#endif

TEST(CgiLimitsTest, ASilentProgramIsKilledWithItsChildren) {
  const ProgramFolder programs;
  programs.Program("silent", LifeLine::kHold + std::string(kForEver));
  LifeLine line(programs);
  CgiServer server(programs);
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/cgi-bin/silent")));
  ASSERT_TRUE(line.AwaitStart());
  ASSERT_TRUE(line.AwaitStart()) << "it has no child";
  server.Advance(CgiOptions().timeout - seconds(1));
  EXPECT_FALSE(client.HasInput(std::chrono::milliseconds(0)));
  server.Advance(seconds(1));
  EXPECT_EQ(client.ReadReply().status, 504);
  EXPECT_TRUE(line.AwaitEnd()) << "something lives on";
  EXPECT_TRUE(AwaitNoChild(server));
  EXPECT_EQ(client.Ask(Get("/next")).body, "GET /next");
}

TEST(CgiLimitsTest, AReplyThatDoesNotEndIsCut) {
  const ProgramFolder programs;
  programs.Program("slow", LifeLine::kHold + std::string(kText) + "echo part\n" + kForEver);
  LifeLine line(programs);
  CgiServer server(programs);
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/cgi-bin/slow")));
  ASSERT_TRUE(line.AwaitStart());
  ASSERT_TRUE(line.AwaitStart()) << "it has no child";
  // The head is on its way before the time is up.
  ASSERT_TRUE(client.HasInput(test::kPatience));
  server.Advance(CgiOptions().timeout);
  const HttpReply reply = client.ReadReply();
  EXPECT_EQ(reply.status, 200);
  EXPECT_FALSE(reply.complete) << "the client takes the part for the whole";
  EXPECT_TRUE(client.Ended());
  EXPECT_TRUE(line.AwaitEnd()) << "something lives on";
  EXPECT_TRUE(AwaitNoChild(server));
}

// It may respond first and then write down what it has promised.
TEST(CgiLimitsTest, AServerThatStopsWaitsForAProgramThatHasAnswered) {
  const ProgramFolder programs;
  programs.Program("late",
                   "printf 'Content-Type: text/plain\\nContent-Length: 2\\n\\nok'\n"
                   "while [ ! -e go ]; do sleep 0.01; done\necho kept >promise\n");
  CgiServer server(programs);
  server.Loop().Ask([&] { server.Loop().Get().SetStopTimeout(test::kPatience); });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/cgi-bin/late")).body, "ok");
  client.Reset();
  server.Loop().Get().Stop();
  programs.Write("go", "");
  server.Loop().Join();
  EXPECT_TRUE(std::filesystem::exists(programs.Path("promise")));
}

TEST(CgiLimitsTest, AChildThatKeepsTheOutputOpenIsKilledToo) {
  const ProgramFolder programs;
  programs.Program("parent", LifeLine::kHold + std::string(kText) + "sleep 1000 & echo said\n");
  LifeLine line(programs);
  CgiServer server(programs);
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/cgi-bin/parent")));
  ASSERT_TRUE(line.AwaitStart());
  ASSERT_TRUE(client.HasInput(test::kPatience));
  server.Advance(CgiOptions().timeout);
  EXPECT_FALSE(client.ReadReply().complete);
  EXPECT_TRUE(line.AwaitEnd()) << "the child of a program that has ended lives on";
  EXPECT_TRUE(AwaitNoChild(server));
}

TEST(CgiLimitsTest, AProgramThatHasSaidAllMayEndInPeace) {
  const ProgramFolder programs;
  programs.Program("long", std::string(kText) + "echo all; exec > /dev/null\n" + LifeLine::kHold +
                               "exec sleep 1000\n");
  LifeLine line(programs);
  CgiOptions options;
  options.max_programs = 1;
  CgiServer server(programs, options);
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/cgi-bin/long")));
  ASSERT_TRUE(line.AwaitStart());
  server.Loop().RunRounds(5);  // the output and its end are there
  server.Advance(Cgi::kExitGrace);
  const HttpReply reply = client.ReadReply();
  EXPECT_EQ(reply.body, "all\n");
  EXPECT_TRUE(reply.complete);
  EXPECT_EQ(client.Ask(Get("/cgi-bin/long")).status, 503) << "it still runs";
  EXPECT_FALSE(NoChildIsLeft());
  server.Advance(options.timeout);
  EXPECT_TRUE(line.AwaitEnd()) << "its time is over";
  EXPECT_TRUE(AwaitNoChild(server));
}

// Where the framing ends a response, the program need not end.
TEST(CgiLimitsTest, AWholeReplyDoesNotWaitForItsProgram) {
  struct Case {
    const char* method;
    const char* head;
    const char* body;
    int status;
  };
  const Case cases[] = {
      {"HEAD", "Content-Type: text/plain\\n\\n", "", 200},
      {"HEAD", "Content-Type: text/plain\\nContent-Length: 9\\n\\n", "", 200},
      {"GET", "Status: 204 Done\\nContent-Type: text/plain\\n\\n", "", 204},
      {"GET", "Status: 304 Same\\nContent-Type: text/plain\\n\\n", "", 304},
      {"GET", "Content-Type: text/plain\\nContent-Length: 0\\n\\n", "", 200},
      {"GET", "Content-Type: text/plain\\nContent-Length: 5\\n\\n", "hello", 200},
      {"GET", "Content-Type: text/plain\\nContent-Length: 5\\n\\n", "hello and more", 200},
  };
  for (const Case& each : cases) {
    const ProgramFolder programs;
    programs.Program("program", LifeLine::kHold + std::string("printf '") + each.head + each.body +
                                    "'\nexec sleep 1000\n");
    LifeLine line(programs);
    CgiOptions options;
    options.max_programs = 1;
    CgiServer server(programs, options);
    HttpClient client(server.Port());
    const bool is_head = std::string_view(each.method) == "HEAD";
    const HttpReply reply =
        client.Ask(std::string(each.method) + " /cgi-bin/program HTTP/1.1\r\nHost: t\r\n\r\n",
                   is_head ? test::Asked::kHead : test::Asked::kGet);
    EXPECT_EQ(reply.status, each.status) << each.head;
    EXPECT_TRUE(reply.complete) << each.head;
    EXPECT_EQ(reply.body, std::string(each.body).substr(0, 5)) << each.head;
    ASSERT_TRUE(line.AwaitStart());
    EXPECT_EQ(client.Ask(Get("/next")).body, "GET /next") << each.head;
    EXPECT_EQ(client.Ask(Get("/cgi-bin/program")).status, 503) << "it runs, and counts";
    EXPECT_FALSE(NoChildIsLeft()) << each.head;
    server.Advance(options.timeout);
    EXPECT_TRUE(line.AwaitEnd()) << "its time is over";
    EXPECT_TRUE(AwaitNoChild(server));
  }
}

// It may have more to do than print, and SIGPIPE would end it halfway.
TEST(CgiLimitsTest, WhatAProgramPrintsAfterItsReplyIsDropped) {
  const ProgramFolder programs;
  programs.Program("program",
                   std::string("exec 9>.alive\nprintf 'Content-Type: text/plain\\n\\n'\n") +
                       "head -c 300000 /dev/zero && echo printed >&9\n");
  LifeLine line(programs);
  CgiServer server(programs);
  HttpClient client(server.Port());
  EXPECT_EQ(
      client.Ask("HEAD /cgi-bin/program HTTP/1.1\r\nHost: t\r\n\r\n", test::Asked::kHead).status,
      200);
  EXPECT_TRUE(line.AwaitStart()) << "it could not print to its end";
  EXPECT_TRUE(line.AwaitEnd());
  EXPECT_TRUE(AwaitNoChild(server));
}

TEST(CgiLimitsTest, AChildThatKeepsTheOutputOfAWholeReplyIsKilledInTime) {
  const ProgramFolder programs;
  programs.Program("parent", LifeLine::kHold + std::string(kText) + "sleep 1000 &\n");
  LifeLine line(programs);
  CgiServer server(programs);
  HttpClient client(server.Port());
  EXPECT_EQ(
      client.Ask("HEAD /cgi-bin/parent HTTP/1.1\r\nHost: t\r\n\r\n", test::Asked::kHead).status,
      200);
  ASSERT_TRUE(line.AwaitStart());
  client.Reset();
  server.Advance(CgiOptions().timeout);
  EXPECT_TRUE(line.AwaitEnd()) << "the child of a program that has ended lives on";
  EXPECT_TRUE(AwaitNoChild(server));
}

TEST(CgiLimitsTest, AProgramDiesWithItsClient) {
  const ProgramFolder programs;
  programs.Program("silent", LifeLine::kHold + std::string(kForEver));
  LifeLine line(programs);
  CgiServer server(programs);
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/cgi-bin/silent")));
  ASSERT_TRUE(line.AwaitStart());
  ASSERT_TRUE(line.AwaitStart()) << "it has no child";
  client.Reset();
  EXPECT_TRUE(line.AwaitEnd()) << "it works for nobody";
  EXPECT_TRUE(AwaitNoChild(server));
}

TEST(CgiLimitsTest, AClientThatHasOnlyFinishedSendingGetsItsReply) {
  const ProgramFolder programs;
  programs.Program("wait", LifeLine::kHold + std::string(kText) +
                               "while [ ! -e go ]; do sleep 0.01; done; echo done\n");
  LifeLine line(programs);
  CgiServer server(programs);
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/cgi-bin/wait")));
  client.FinishSending();
  ASSERT_TRUE(line.AwaitStart());
  programs.Write("go", "");
  EXPECT_EQ(client.ReadReply().body, "done\n");
}

TEST(CgiLimitsTest, ProgramsDieWithTheServer) {
  const ProgramFolder programs;
  programs.Program("silent", LifeLine::kHold + std::string(kForEver));
  LifeLine line(programs);
  {
    CgiServer server(programs);
    HttpClient client(server.Port());
    ASSERT_TRUE(client.Send(Get("/cgi-bin/silent")));
    ASSERT_TRUE(line.AwaitStart());
    ASSERT_TRUE(line.AwaitStart()) << "it has no child";
  }
  EXPECT_TRUE(line.AwaitEnd());
}

TEST(CgiLimitsTest, AClientThatDoesNotReadMakesTheProgramWait) {
  constexpr std::size_t kBytes = std::size_t{32} * 1024 * 1024;  // more than two sockets hold
  const ProgramFolder programs;
  programs.Program("large", std::string(kText) + "head -c " + std::to_string(kBytes) +
                                " /dev/zero\nexec > /dev/null\n" + LifeLine::kHold);
  LifeLine line(programs);
  CgiServer server(programs);
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/cgi-bin/large")));
  std::size_t unsent = 0;
  bool paused = false;
  const auto look = [&] {
    server.Loop().Get().ForEachConnection([&](Connection* connection) {
      unsent = connection->UnsentBytes();
      paused = connection->Paused();
    });
    return paused;
  };
  ASSERT_TRUE(server.Loop().Await(look));
  for (int round = 0; round < 300; ++round) {
    server.Loop().Ask(look);
    ASSERT_LT(unsent, Connection::kHighWater + std::size_t{128} * 1024);
  }
  EXPECT_FALSE(line.HasStarted()) << "the program has got rid of all its output";
  const HttpReply reply = client.ReadReply();
  EXPECT_TRUE(reply.complete);
  EXPECT_EQ(reply.body.size(), kBytes);
  EXPECT_TRUE(line.AwaitStart());
}

TEST(CgiLimitsTest, NoMoreProgramsThanAllowed) {
  const ProgramFolder programs;
  programs.Program("wait", LifeLine::kHold + std::string(kText) +
                               "while [ ! -e go ]; do sleep 0.01; done; echo done\n");
  LifeLine line(programs);
  CgiOptions options;
  options.max_programs = 3;
  CgiServer server(programs, options);
  std::list<HttpClient> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back(server.Port());
    ASSERT_TRUE(clients.back().Send(Get("/cgi-bin/wait")));
    ASSERT_TRUE(line.AwaitStart());
  }
  HttpClient late(server.Port());
  for (int i = 0; i < 10; ++i) {
    const HttpReply reply = late.Ask(Get("/cgi-bin/wait"));
    EXPECT_EQ(reply.status, 503);
    EXPECT_EQ(reply.Field("Retry-After"), "1");
  }
  EXPECT_EQ(late.Ask(Get("/page")).status, 200);
  programs.Write("go", "");
  for (HttpClient& client : clients) {
    EXPECT_EQ(client.ReadReply().body, "done\n");
  }
  EXPECT_EQ(late.Ask(Get("/cgi-bin/wait")).body, "done\n") << "a place was not given back";
  EXPECT_TRUE(AwaitNoChild(server));
}

TEST(CgiLimitsTest, ASlowBodyTakesNobodysPlace) {
  const ProgramFolder programs;
  programs.Program("cat", std::string(kText) + "cat\n");
  CgiOptions options;
  options.max_programs = 1;
  CgiServer server(programs, options);
  HttpClient slow(server.Port());
  ASSERT_TRUE(
      slow.Send("POST /cgi-bin/cat HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\n"
                "Expect: 100-continue\r\n\r\n"));
  ASSERT_EQ(slow.ReadReply().status, 100) << "the server waits for the body from here on";
  HttpClient other(server.Port());
  EXPECT_EQ(other.Ask(Get("/cgi-bin/cat")).status, 200);
  ASSERT_TRUE(slow.Send("body"));
  EXPECT_EQ(slow.ReadReply().body, "body");
}

TEST(CgiLimitsTest, BodiesThatWaitAreBoundedTogether) {
  const ProgramFolder programs;
  programs.Program("cat", std::string(kText) + "cat\n");
  CgiOptions options;
  options.max_spooled_bytes = 1000;
  CgiServer server(programs, options);
  const std::string head =
      "POST /cgi-bin/cat HTTP/1.1\r\nHost: t\r\nContent-Length: 601\r\n"
      "Expect: 100-continue\r\n\r\n";
  HttpClient slow(server.Port());
  ASSERT_EQ(slow.Ask(head).status, 100);
  ASSERT_TRUE(slow.Send(std::string(600, 'x')));
  HttpClient other(server.Port());
  ASSERT_EQ(other.Ask(head).status, 100);
  EXPECT_EQ(other.Ask(std::string(601, 'y')).status, 503);
  ASSERT_TRUE(slow.Send("x"));
  EXPECT_EQ(slow.ReadReply().body, std::string(601, 'x'));
  HttpClient late(server.Port());
  ASSERT_EQ(late.Ask(head).status, 100);
  EXPECT_EQ(late.Ask(std::string(601, 'z')).status, 200) << "the bytes of the others still count";
}

TEST(CgiLimitsTest, ABodyThatWaitsAloneMayBeAsLongAsTheServerAccepts) {
  const ProgramFolder programs;
  programs.Program("cat", std::string(kText) + "cat\n");
  CgiOptions options;
  options.max_spooled_bytes = 1000;
  CgiServer server(programs, options);
  const std::string body(5000, 'x');
  HttpClient client(server.Port());
  const test::HttpReply reply =
      client.Ask("POST /cgi-bin/cat HTTP/1.1\r\nHost: t\r\nContent-Length: 5000\r\n\r\n" + body);
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.body, body);
}

TEST(CgiLimitsTest, WithoutDescriptorsItIs503AndPasses) {
  const ProgramFolder programs;
  programs.Program("cat", std::string(kText) + "cat\n");
  CgiServer server(programs);
  HttpClient client(server.Port());
  ASSERT_EQ(client.Ask(Get("/")).status, 200);
  {
    const test::NoDescriptors none;
    EXPECT_EQ(client.Ask(Get("/cgi-bin/cat")).status, 503);
    EXPECT_EQ(
        client.Ask("POST /cgi-bin/cat HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\n\r\nbody").status,
        503);
  }
  EXPECT_EQ(client.Ask(Get("/cgi-bin/cat")).status, 200);
}

}  // namespace
}  // namespace TURTLE_SERVER
