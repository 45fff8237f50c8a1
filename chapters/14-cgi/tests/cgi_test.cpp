// The meta-variables that describe a request to a program (RFC 3875, section 4).
#include "cgi/cgi.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "support/cgi_server.h"
#include "support/http_client.h"

namespace TURTLE_SERVER {
namespace {

using test::CgiServer;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::LifeLine;
using test::ProgramFolder;

constexpr const char* kText = "printf 'Content-Type: text/plain\\n\\n'\n";

auto LinesOf(const std::string& text) -> std::set<std::string> {
  std::istringstream stream(text);
  std::set<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    lines.insert(line);
  }
  return lines;
}

auto Post(std::string_view target, std::string_view body, std::string_view fields = {})
    -> std::string {
  std::string request = "POST ";
  request.append(target).append(" HTTP/1.1\r\nHost: t\r\nContent-Length: ");
  request.append(std::to_string(body.size())).append("\r\n").append(fields).append("\r\n");
  return request.append(body);
}

TEST(CgiTest, TellsTheWholeRequest) {
  const ProgramFolder programs;
  programs.Program("show", std::string(kText) + "env\n");
  CgiOptions options;
  options.document_root = "/srv/site";
  CgiServer server(programs, options);
  HttpClient client(server.Port());
  const HttpReply reply = client.Ask(
      "POST /cgi-bin/show/some%20path/x?a=b&c=%41+d HTTP/1.1\r\nHost: www.example:8080\r\n"
      "Content-Type: text/x\r\nContent-Length: 5\r\nUser-Agent: me\r\nX-One: 1\r\nX-One: 2\r\n"
      "Proxy: http://evil.example\r\nAuthorization: Basic c2VjcmV0\r\n\r\n12345");
  ASSERT_EQ(reply.status, 200);
  const std::set<std::string> shown = LinesOf(reply.body);
  for (const std::string& line :
       {std::string("GATEWAY_INTERFACE=CGI/1.1"), std::string("SERVER_PROTOCOL=HTTP/1.1"),
        std::string("SERVER_NAME=www.example"), "SERVER_PORT=" + std::to_string(server.Port()),
        std::string("SERVER_SOFTWARE=turtle"), std::string("REQUEST_METHOD=POST"),
        std::string("SCRIPT_NAME=/cgi-bin/show"), std::string("PATH_INFO=/some path/x"),
        std::string("PATH_TRANSLATED=/srv/site/some path/x"),
        std::string("QUERY_STRING=a=b&c=%41+d"), std::string("CONTENT_TYPE=text/x"),
        std::string("CONTENT_LENGTH=5"), std::string("REMOTE_ADDR=127.0.0.1"),
        std::string("HTTP_HOST=www.example:8080"), std::string("HTTP_USER_AGENT=me"),
        std::string("HTTP_X_ONE=1, 2")}) {
    EXPECT_EQ(shown.count(line), 1U) << line << " is not in\n" << reply.body;
  }
  EXPECT_EQ(reply.body.find("evil"), std::string::npos) << "HTTP_PROXY is a program's own setting";
  EXPECT_EQ(reply.body.find("c2VjcmV0"), std::string::npos);
}

TEST(CgiTest, LeavesOutWhatTheRequestDoesNotHave) {
  ASSERT_EQ(::setenv("TURTLE_SECRET", "hidden", 1), 0);
  const ProgramFolder programs;
  programs.Program("show", std::string(kText) +
                               "echo \"${PATH_INFO-unset} ${PATH_TRANSLATED-unset} "
                               "${CONTENT_LENGTH-unset} [${QUERY_STRING-unset}] "
                               "${TURTLE_SECRET-unset}\"\ncat\n");
  CgiServer server(programs);
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/cgi-bin/show")).body, "unset unset unset [] unset\n");
  EXPECT_EQ(client.Ask(Get("/cgi-bin/show/")).body, "/ unset unset [] unset\n");
}

TEST(CgiTest, BringsABodyWithItsLength) {
  const ProgramFolder programs;
  programs.Program("cat", std::string(kText) + "echo \"$CONTENT_LENGTH\"\ncat\n");
  CgiServer server(programs);
  HttpClient client(server.Port());
  const std::string large(300'000, 'x');  // more than any pipe or socket buffer of ours
  EXPECT_EQ(client.Ask(Post("/cgi-bin/cat", large)).body, "300000\n" + large);
  EXPECT_EQ(client.Ask(Post("/cgi-bin/cat", "next")).body, "4\nnext");
}

TEST(CgiTest, SaysThatABodyIsEmptyIfTheRequestSaysSo) {
  const ProgramFolder programs;
  programs.Program("cat", std::string(kText) + "echo \"${CONTENT_LENGTH-unset}\"\ncat\n");
  CgiServer server(programs);
  HttpClient client(server.Port());
  for (const std::string method : {"PUT", "POST", "GET", "DELETE"}) {
    const std::string head = method + " /cgi-bin/cat HTTP/1.1\r\nHost: t\r\n";
    EXPECT_EQ(client.Ask(head + "Content-Length: 0\r\n\r\n").body, "0\n") << method;
    EXPECT_EQ(client.Ask(head + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n").body, "0\n");
    EXPECT_EQ(client.Ask(head + "\r\n").body, "unset\n") << method;
  }
}

TEST(CgiTest, AnEncodedAmpersandDividesNothing) {
  const ProgramFolder programs;
  const std::string show = std::string(kText) + "printf '%s|' \"${PATH_INFO-}\" \"$@\"\n";
  programs.Program("args", show);
  programs.Program("a&b", show);
  CgiServer server(programs);
  HttpClient client(server.Port());
  const auto shown = [&](const std::string& path) {
    return client.Ask(Get("/cgi-bin/" + path)).body;
  };
  EXPECT_EQ(shown("args&a%26b"), "|a&b|");
  EXPECT_EQ(shown("args&a%26b&%26&c%2526"), "|a&b|&|c%26|");
  EXPECT_EQ(shown("args&%26%26/x"), "|&&/x|");
  EXPECT_EQ(shown("x%26y/.././/args&a%26%62"), "|a&b|");
  EXPECT_EQ(shown("%61rgs&a&b"), "|a|b|");
  EXPECT_EQ(shown("args/p%26q&r"), "/p&q&r|");
  EXPECT_EQ(shown("a%26b&1"), "|1|");
  EXPECT_EQ(shown("a%26b"), "|");
  EXPECT_EQ(client.Ask(Get("/cgi-bin/args%26a")).status, 404);
}

TEST(CgiTest, StartsNoProgramBeforeTheBodyIsThere) {
  const ProgramFolder programs;
  programs.Program("cat", LifeLine::kHold + std::string(kText) + "cat\n");
  LifeLine line(programs);
  CgiServer server(programs);
  HttpClient client(server.Port());
  const std::string request = Post("/cgi-bin/cat", "all of it");
  ASSERT_TRUE(client.Send(request.substr(0, request.size() - 1)));
  ASSERT_TRUE(server.Loop().Await([&] { return server.Loop().Get().ConnectionCount() == 1; }));
  server.Loop().RunRounds(3);
  EXPECT_FALSE(line.HasStarted());
  ASSERT_TRUE(client.Send("t"));
  EXPECT_EQ(client.ReadReply().body, "all of it");
}

TEST(CgiTest, GivesAChunkedBodyATrueLength) {
  const ProgramFolder programs;
  programs.Program(
      "cat", std::string(kText) + "echo \"$CONTENT_LENGTH ${HTTP_TRANSFER_ENCODING-none}\"\ncat\n");
  CgiServer server(programs);
  HttpClient client(server.Port());
  ASSERT_TRUE(
      client.Send("POST /cgi-bin/cat HTTP/1.1\r\nHost: t\r\n"
                  "Transfer-Encoding: chunked\r\n\r\n5;ext=1\r\nhello\r\n"));
  ASSERT_TRUE(client.Send("1\r\n,\r\n6\r\n world\r\n0\r\nTrailer: x\r\n\r\n"));
  EXPECT_EQ(client.ReadReply().body, "12 none\nhello, world");
  EXPECT_EQ(client.Ask(Get("/next")).body, "GET /next") << "the body was not read to its end";
}

TEST(CgiTest, AnswersATooLargeBodyBeforeItIsSent) {
  const ProgramFolder programs;
  programs.Program("cat", std::string(kText) + "cat\n");
  HttpOptions http;
  http.body.max_body_bytes = 1000;
  CgiServer server(programs, {}, http);
  HttpClient client(server.Port());
  const std::string request = Post("/cgi-bin/cat", std::string(1001, 'x'));
  EXPECT_EQ(client.Ask(request.substr(0, request.size() - 1001)).status, 413);
}

TEST(CgiTest, TheShortFormHasArguments) {
  const ProgramFolder programs;
  programs.Program("list", "for each in \"$@\"; do echo \"<$each>\"; done\n");
  CgiServer server(programs);
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/cgi-bin/list&1&2")).body, "<1>\n<2>\n");
  EXPECT_EQ(client.Ask(Get("/cgi-bin/list&a%20b&&/x/y?q")).body, "<a b>\n<>\n</x/y>\n");
  EXPECT_EQ(client.Ask(Get("/cgi-bin/list&")).body, "<>\n");
}

TEST(CgiTest, NoShellEverSeesTheRequest) {
  const ProgramFolder programs;
  programs.Program("list", "for each in \"$@\"; do echo \"<$each>\"; done\n");
  CgiServer server(programs);
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/cgi-bin/list&;touch${IFS}made&$(touch%20made)&`touch%20made`&*")).body,
            "<;touch${IFS}made>\n<$(touch made)>\n<`touch made`>\n<*>\n");
  EXPECT_FALSE(std::filesystem::exists(programs.Path("made")));
  EXPECT_EQ(client.Ask(Get("/cgi-bin/list;touch%20made")).status, 404);
}

TEST(CgiTest, RunsInItsOwnFolder) {
  const ProgramFolder programs;
  programs.Program("where", std::string(kText) + "pwd -P\n");
  CgiServer server(programs);
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/cgi-bin/where")).body,
            std::filesystem::canonical(programs.Path()).string() + "\n");
}

#ifdef __linux__
TEST(CgiTest, ProgramsGetNoDescriptorOfTheServer) {
  const ProgramFolder programs;
  programs.Program("list", std::string(kText) +
                               "for fd in /proc/$$/fd/*; do\n"
                               "  [ ${fd##*/} -le 2 ] || readlink $fd\n"
                               "done\n");
  CgiServer server(programs);
  HttpClient other(server.Port());
  ASSERT_EQ(other.Ask(Get("/")).status, 200);
  HttpClient client(server.Port());
  for (const std::string& open : LinesOf(client.Ask(Get("/cgi-bin/list")).body)) {
    EXPECT_EQ(std::filesystem::path(open).filename(), "list");  // the shell reads its script
  }
}
#endif

}  // namespace
}  // namespace TURTLE_SERVER
