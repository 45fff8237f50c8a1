// One format for all errors under a prefix: those of routes, mounts and the parser.
#include "web/error_formats.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "http/http_error.h"
#include "support/captured_stderr.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::RunningServer;

auto Bare(const std::string& method, const std::string& target, const std::string& fields = "")
    -> std::string {
  return method + " " + target + " HTTP/1.1\r\nHost: t\r\n" + fields + "\r\n";
}

void Plain(int status, std::string_view detail, ServerResponse& response) {
  response.Text(std::to_string(status).append(" ").append(detail));
}

class ErrorFormatsTest : public testing::Test {
 protected:
  auto Ask(const std::string& request) -> HttpReply {
    return HttpClient(server_.Port()).Ask(request);
  }

  // Expects a problem in JSON that has the status of the response.
  void ExpectProblem(const std::string& request, int status, const std::string& detail = "") {
    const HttpReply reply = Ask(request);
    EXPECT_EQ(reply.status, status) << request;
    EXPECT_EQ(reply.Field("Content-Type"), "application/problem+json") << request;
    EXPECT_TRUE(reply.complete) << request;
    const nlohmann::json problem = nlohmann::json::parse(reply.body, nullptr, false);
    ASSERT_TRUE(problem.is_object()) << reply.body;
    EXPECT_EQ(problem.value("status", 0), status) << request;
    EXPECT_EQ(problem.value("detail", ""), detail) << request;
  }

  test::SiteFolder folder_;
  RunningServer server_{[this](HttpServer& http) {
    http.ErrorFormat("/api", ProblemJson);
    http.ErrorFormat("/api/plain", Plain);
    http.Get("/api/todos", [](const ServerRequest&, ServerResponse& res) { res.Text("fine"); });
    http.Post("/api/todos", [](const ServerRequest&, ServerResponse& res) { res.Text("fine"); },
              {8});
    http.Get("/api/own", [](const ServerRequest&, ServerResponse& res) { res.Page(409, "Why?"); });
    http.Get("/api/json",
             [](const ServerRequest&, ServerResponse& res) { res.Status(409).Json("mine"); });
    http.Get("/api/page",
             [](const ServerRequest&, ServerResponse& res) { res.Page(200, "no error"); });
    http.Get("/api/throw", [](const ServerRequest&, ServerResponse&) {
      throw HttpError(418, "It is \"short\" & stout.");
    });
    http.Get("/api/broken",
             [](const ServerRequest&, ServerResponse&) { throw std::runtime_error("secret"); });
    http.Get("/api/plain/throw",
             [](const ServerRequest&, ServerResponse&) { throw HttpError(400, "<b>"); });
    http.Files("/api/files", folder_.Path());
    http.Mount("/api/thrown",
               test::Answering([](Exchange&) { throw std::runtime_error("secret"); }));
  }};
};

TEST_F(ErrorFormatsTest, RoutesHaveIt) {
  ExpectProblem(Get("/api/throw"), 418, "It is \"short\" & stout.");
  ExpectProblem(Get("/api/own"), 409, "Why?");
  ExpectProblem(Bare("POST", "/api/todos", "Content-Length: 9\r\n") + "123456789", 413,
                "The body has more than 8 bytes.");
  const HttpReply wrong = Ask(Bare("DELETE", "/api/todos"));
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.Field("Allow"), "GET, HEAD, POST, OPTIONS");
  EXPECT_EQ(wrong.Field("Content-Type"), "application/problem+json");
  EXPECT_EQ(wrong.body, R"({"status":405,"title":"Method Not Allowed"})");
  test::CapturedStderr captured;
  ExpectProblem(Get("/api/broken"), 500);
}

TEST_F(ErrorFormatsTest, MountsHaveIt) {
  ExpectProblem(Get("/api/nothing"), 404);
  ExpectProblem(Get("/api/files/nothing"), 404);
  ExpectProblem(Bare("DELETE", "/api/files/hello.txt"), 405);
  test::CapturedStderr captured;
  ExpectProblem(Get("/api/thrown"), 500);
}

TEST_F(ErrorFormatsTest, TheParserHasIt) {
  ExpectProblem("GET /api/todos HTTP/1.1\r\n\r\n", 400, "HTTP/1.1 without Host");
  ExpectProblem("GET /api/todos HTTP/3.0\r\n\r\n", 505, "HTTP version not supported");
  ExpectProblem(Get("/api/todos", "X-Large: " + std::string(100'000, 'x') + "\r\n"), 431,
                "head too large");
  ExpectProblem(Bare("BREW", "/api/todos"), 501, "This server does not know the method.");
  ExpectProblem(Bare("POST", "/api/todos", "Expect: tea\r\nContent-Length: 1\r\n"), 417);
  ExpectProblem(Bare("POST", "/api/todos", "Transfer-Encoding: chunked\r\n") + "x\r\n", 400,
                "a chunk does not begin with its size");
  ExpectProblem("GET http://t/api/x HTTP/1.1\r\nHost: t\r\nHost: t\r\n\r\n", 400,
                "more than one Host");
}

// A client of an API used to learn in HTML that its path is malformed.
TEST_F(ErrorFormatsTest, AMalformedPathHasThatOfItsPrefix) {
  ExpectProblem(Get("/api/%zz"), 400, "invalid percent-encoding in the path");
  ExpectProblem(Get("/api/todos/%?x=1"), 400, "invalid percent-encoding in the path");
  EXPECT_EQ(Ask(Get("/api/plain/%zz")).body, "400 invalid percent-encoding in the path");
  for (const std::string target : {"/apis/%zz", "/%zz", "/?/api/%zz", "api/%zz", "%zz"}) {
    EXPECT_EQ(Ask(Get(target)).Field("Content-Type").substr(0, 9), "text/html") << target;
  }
}

TEST_F(ErrorFormatsTest, WhatIsNoErrorPageStays) {
  EXPECT_EQ(Ask(Get("/api/todos")).body, "fine");
  EXPECT_EQ(Ask(Get("/api/json")).body, "\"mine\"");
  EXPECT_EQ(Ask(Get("/api/page")).Field("Content-Type"), "text/html; charset=utf-8");
  folder_.Write("hello.txt", "hello, world\n");
  EXPECT_EQ(Ask(Get("/api/files/hello.txt")).body, "hello, world\n");
}

TEST_F(ErrorFormatsTest, TheLongestPrefixWins) {
  EXPECT_EQ(Ask(Get("/api/plain/throw")).body, "400 <b>");
  EXPECT_EQ(Ask(Get("/api/plain/nothing")).body, "404 ");
  ExpectProblem(Get("/api/plainer"), 404);
}

TEST_F(ErrorFormatsTest, OtherPathsHaveThePage) {
  for (const char* request :
       {"GET /apis HTTP/1.1\r\nHost: t\r\n\r\n", "GET /nothing HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\r\n\r\n"}) {
    EXPECT_EQ(Ask(request).Field("Content-Type"), "text/html; charset=utf-8") << request;
  }
}

TEST_F(ErrorFormatsTest, HeadHasItsLengthAndNoBody) {
  HttpClient client(server_.Port());
  const HttpReply head = client.Ask(Bare("HEAD", "/api/nothing"), test::Asked::kHead);
  EXPECT_EQ(head.Field("Content-Type"), "application/problem+json");
  EXPECT_EQ(head.Field("Content-Length"),
            std::to_string(client.Ask(Get("/api/nothing")).body.size()));
}

TEST(ErrorFormats, OfTheRootAreForEverything) {
  RunningServer server([](HttpServer& http) { http.ErrorFormat("/", Plain); });
  server.Get().SetMaxConnections(1);
  {
    HttpClient client(server.Port());
    EXPECT_EQ(client.Ask(Get("/nothing")).body, "404 ");
    EXPECT_EQ(HttpClient(server.Port()).Ask(Get("/")).body, "503 There are too many clients.");
  }
  server.Get().SetMaxConnections(100);
  EXPECT_EQ(HttpClient(server.Port()).Ask("\x16\x03\x01\r\n\r\n").body.substr(0, 4), "400 ");
}

TEST(ErrorFormats, MiddlewareSeesTheBodyAndMayReplaceIt) {
  RunningServer server([](HttpServer& http) {
    http.ErrorFormat("/", Plain);
    Middleware middleware;
    middleware.error = [](const ServerRequest& req, ServerResponse& res, const std::exception&) {
      if (req.Path() == "/replaced") {
        res.Text("not " + std::string(res.Body()));
      }
    };
    middleware.after = [](const ServerRequest& req, ServerResponse& res) {
      res.Set("X-Body", res.Body());
      if (req.Path() == "/after") {
        throw HttpError(410, "after");
      }
    };
    http.Use(middleware);
    const auto refuse = [](const ServerRequest&, ServerResponse&) { throw HttpError(403, "no"); };
    http.Get("/seen", refuse).Get("/replaced", refuse).Get("/after", refuse);
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/seen")).Field("X-Body"), "403 no");
  EXPECT_EQ(client.Ask(Get("/replaced")).body, "not 403 no");
  EXPECT_EQ(client.Ask(Get("/after")).body, "410 after");
}

// The response is then the page in HTML, with the text of the error itself.
TEST(ErrorFormats, AFormatterThatThrowsLeavesThePage) {
  RunningServer server([](HttpServer& http) {
    http.ErrorFormat("/", [](int, std::string_view, ServerResponse& res) {
      res.Set("X-Half", "done");
      throw std::runtime_error("no memory for errors");
    });
  });
  test::CapturedStderr captured;
  HttpClient client(server.Port());
  const HttpReply reply = client.Ask(Get("/nothing"));
  EXPECT_EQ(reply.status, 404);
  EXPECT_EQ(reply.Field("Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(reply.Field("X-Half"), "");
  EXPECT_NE(captured.Text().find("error format threw: no memory for errors"), std::string::npos);
}

// A file may be the body, even for bytes that are no request; a page that stays is not formatted
// again.
TEST(ErrorFormats, AFormatterIsCalledOnceAndMaySendAFile) {
  const test::SiteFolder folder;
  folder.Write("oops.html", "<p>oops");
  RunningServer server([&](HttpServer& http) {
    http.ErrorFormat("/", [&](int, std::string_view, ServerResponse& res) {
      UniqueFd file(::open(folder.Path("oops.html").c_str(), O_RDONLY | O_CLOEXEC));
      res.Body(OwnFileSlice(std::move(file), 0, 7), "text/html");
    });
    http.ErrorFormat("/page", [](int, std::string_view, ServerResponse& res) {
      res.Add("X-Format", "once");  // the page stays
    });
    http.Use({nullptr, [](const ServerRequest&, ServerResponse&) {}, nullptr});
    http.Get("/page/throw",
             [](const ServerRequest&, ServerResponse&) { throw HttpError(400, "detail"); });
    http.Get("/throw", [](const ServerRequest&, ServerResponse&) { throw HttpError(400); });
  });
  for (const char* request : {"GET /throw HTTP/1.1\r\nHost: t\r\n\r\n", "\x16\x03\r\n\r\n",
                              "GET /nothing HTTP/1.1\r\nHost: t\r\n\r\n"}) {
    const HttpReply reply = HttpClient(server.Port()).Ask(request);
    EXPECT_EQ(reply.body, "<p>oops") << request;
    EXPECT_TRUE(reply.complete) << request;
  }
  for (const std::string path : {"/page/throw", "/page/nothing"}) {
    const HttpReply reply = HttpClient(server.Port()).Ask(Get(path));
    EXPECT_EQ(reply.head.find("X-Format"), reply.head.rfind("X-Format")) << reply.head;
    EXPECT_EQ(reply.Field("X-Format"), "once");
    EXPECT_NE(reply.body.find("<h1>"), std::string::npos);
  }
}

TEST(ErrorFormats, RefusesWhatIsNoPrefixAndNoFunction) {
  HttpServer server(NetAddress("127.0.0.1", 0));
  for (const char* prefix : {"", "api", "/api/"}) {
    EXPECT_THROW(server.ErrorFormat(prefix, Plain), std::invalid_argument) << prefix;
  }
  try {
    server.ErrorFormat("/api", nullptr);
    FAIL() << "it was taken";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "error format \"/api\": the function is empty");
  }
}

TEST(ProblemJson, LeavesOutWhatIsNotKnown) {
  ServerResponse response(599);
  ProblemJson(599, "", response);
  EXPECT_EQ(response.Body(), R"({"status":599})");
}

}  // namespace
}  // namespace TURTLE_SERVER
