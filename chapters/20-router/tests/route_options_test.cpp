// Limits of a single route.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
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

// Each route has its own limit, and the one without it has the server's, which is 100 here.
class BodyLimitTest : public testing::Test {
 protected:
  BodyLimitTest()
      : server_(
            [](HttpServer& http) {
              http.Post("/less", CountBytes, {50})
                  .Post("/same", CountBytes)
                  .Post("/more", CountBytes, {200});
            },
            Options()) {}

  auto Ask(const std::string& request) -> HttpReply {
    return HttpClient(server_.Port()).Ask(request);
  }

 private:
  static auto Options() -> HttpOptions {
    HttpOptions options;
    options.body.max_body_bytes = 100;
    return options;
  }

  RunningServer server_;
};

TEST_F(BodyLimitTest, ADeclaredLengthIsHeldAgainstTheRoutesLimit) {
  const std::pair<const char*, std::size_t> limits[] = {
      {"/less", 50}, {"/same", 100}, {"/more", 200}};
  for (const auto& [name, limit] : limits) {
    EXPECT_EQ(Ask(Post(name, limit)).body, std::to_string(limit)) << name;
    const HttpReply refused = Ask(Post(name, limit + 1));
    EXPECT_EQ(refused.status, 413) << name;
    EXPECT_NE(refused.body.find(std::to_string(limit)), std::string::npos) << refused.body;
  }
}

TEST_F(BodyLimitTest, ABodyInChunksIsRefusedWhenItGetsTooLong) {
  EXPECT_EQ(Ask(ChunkedPost("/less", 5)).body, "50");
  EXPECT_EQ(Ask(ChunkedPost("/less", 6)).status, 413);
  EXPECT_EQ(Ask(ChunkedPost("/more", 20)).body, "200");
  EXPECT_EQ(Ask(ChunkedPost("/more", 21)).status, 413);
}

TEST_F(BodyLimitTest, ATooLongBodyIsRefusedBeforeItIsSent) {
  for (const auto& [path, limit] : {std::pair("/less", 50), std::pair("/same", 100)}) {
    const auto ask = [&, path = path](int bytes) {
      return Ask("POST " + std::string(path) + " HTTP/1.1\r\nHost: t\r\nContent-Length: " +
                 std::to_string(bytes) + "\r\nExpect: 100-continue\r\n\r\n")
          .status;
    };
    EXPECT_EQ(ask(limit + 1), 413) << path;
    EXPECT_EQ(ask(limit), 100) << path;
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
