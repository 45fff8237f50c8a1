// Limits of a single route.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using test::HttpClient;
using test::HttpReply;
using test::RunningServer;

auto Post(const std::string& path, std::size_t bytes) -> std::string {
  return "POST " + path + " HTTP/1.1\r\nHost: t\r\nContent-Length: " + std::to_string(bytes) +
         "\r\n\r\n" + std::string(bytes, 'x');
}

auto ChunkedPost(const std::string& path, std::size_t chunks) -> std::string {
  std::string request =
      "POST " + path + " HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (std::size_t i = 0; i < chunks; ++i) {
    request += "a\r\n0123456789\r\n";
  }
  return request + "0\r\n\r\n";
}

void CountBytes(const ServerRequest& req, ServerResponse& res) {
  res.Text(std::to_string(req.Body().size()));
}

void CountPieces(const ServerRequest&, const RequestBody& body, const Responder& responder) {
  body.OnPiece([responder, bytes = std::size_t{0}](std::string_view piece, bool last) mutable {
    bytes += piece.size();
    if (last) {
      responder.Reply(ServerResponse().Text(std::to_string(bytes)));
    }
  });
}

// Each route has its own limit, and the one without it has the server's, which is 100 here.
class BodyLimitTest : public testing::TestWithParam<const char*> {
 protected:
  BodyLimitTest()
      : server_(
            [](HttpServer& http) {
              http.Post("/whole/less", CountBytes, {50})
                  .Post("/whole/same", CountBytes)
                  .Post("/whole/more", CountBytes, {200});
              http.Post("/pieces/less", CountPieces, {50})
                  .Post("/pieces/same", CountPieces)
                  .Post("/pieces/more", CountPieces, {200});
            },
            Options()) {}

  auto Ask(const std::string& request) -> HttpReply {
    return HttpClient(server_.Port()).Ask(request);
  }

  static auto Path(const std::string& name) -> std::string { return GetParam() + name; }

 private:
  static auto Options() -> HttpOptions {
    HttpOptions options;
    options.body.max_body_bytes = 100;
    return options;
  }

  RunningServer server_;
};

TEST_P(BodyLimitTest, ADeclaredLengthIsHeldAgainstTheRoutesLimit) {
  const std::pair<const char*, std::size_t> limits[] = {
      {"/less", 50}, {"/same", 100}, {"/more", 200}};
  for (const auto& [name, limit] : limits) {
    EXPECT_EQ(Ask(Post(Path(name), limit)).body, std::to_string(limit)) << name;
    const HttpReply refused = Ask(Post(Path(name), limit + 1));
    EXPECT_EQ(refused.status, 413) << name;
    EXPECT_NE(refused.body.find(std::to_string(limit)), std::string::npos) << refused.body;
  }
}

TEST_P(BodyLimitTest, ABodyInChunksIsRefusedWhenItGetsTooLong) {
  EXPECT_EQ(Ask(ChunkedPost(Path("/less"), 5)).body, "50");
  EXPECT_EQ(Ask(ChunkedPost(Path("/less"), 6)).status, 413);
  EXPECT_EQ(Ask(ChunkedPost(Path("/more"), 20)).body, "200");
  EXPECT_EQ(Ask(ChunkedPost(Path("/more"), 21)).status, 413);
}

TEST_P(BodyLimitTest, ATooLongBodyIsRefusedBeforeItIsSent) {
  for (const auto& [name, limit] : {std::pair("/less", 50), std::pair("/same", 100)}) {
    const auto ask = [&, path = Path(name)](int bytes) {
      return Ask("POST " + path + " HTTP/1.1\r\nHost: t\r\nContent-Length: " +
                 std::to_string(bytes) + "\r\nExpect: 100-continue\r\n\r\n")
          .status;
    };
    EXPECT_EQ(ask(limit + 1), 413) << name;
    EXPECT_EQ(ask(limit), 100) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(WholeAndInPieces, BodyLimitTest, testing::Values("/whole", "/pieces"));

TEST(RouteOptionsTest, OfTwoLimitsForAFormTheSmallerOneCounts) {
  UploadOptions form;
  form.limits.max_body_bytes = 300;
  const auto keep = [](const ServerRequest&, const Upload& upload, ServerResponse& res) {
    res.Text(std::to_string(upload.Parts().size()));
  };
  RunningServer server([&](HttpServer& http) {
    http.Post("/less", UploadAction(keep, form), {200})
        .Post("/more", UploadAction(keep, form), {400});
  });
  const auto status = [&](const std::string& path, std::size_t bytes) {
    std::string body = "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n";
    body += std::string(bytes - body.size() - 9, 'x') + "\r\n--b--\r\n";
    return HttpClient(server.Port())
        .Ask("POST " + path +
             " HTTP/1.1\r\nHost: t\r\nContent-Type: multipart/form-data; boundary=b\r\n"
             "Content-Length: " +
             std::to_string(body.size()) + "\r\n\r\n" + body)
        .status;
  };
  EXPECT_EQ(status("/less", 200), 200);
  EXPECT_EQ(status("/less", 201), 413);
  EXPECT_EQ(status("/more", 300), 200);
  EXPECT_EQ(status("/more", 301), 413);
}

}  // namespace
}  // namespace TURTLE_SERVER
