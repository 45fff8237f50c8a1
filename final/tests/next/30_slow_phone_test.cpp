// A page of text must not cost a phone all of its bytes.
#include <gtest/gtest.h>

#include <string>

#include "support/http_client.h"
#include "support/running_server.h"
#if __has_include("compress/compression.h")
#include <memory>

#include "compress/compression.h"
#endif

namespace TURTLE_SERVER {
namespace {

// Options of a server that sends fewer bytes, if it can.
auto Frugal() -> HttpOptions {
  HttpOptions options;
#if __has_include("compress/compression.h")
  options.compression = std::make_shared<const Compression>();
#endif
  return options;
}

// A list, as a script on a page would ask for it.
auto Messages() -> std::string {
  std::string list;
  for (int i = 0; i < 1000; ++i) {
    list += R"({"id": )" + std::to_string(i) + R"(, "title": "message )" + std::to_string(i * i) +
            R"(", "read": false})" + "\n";
  }
  return list;
}

TEST(SlowPhone, GetsTextInFewBytes) {
  const std::string list = Messages();
  const test::RunningServer server(
      [&](Exchange& exchange) { exchange.Reply(TextResponse(200, list)); }, Frugal());
  const test::HttpReply reply =
      test::HttpClient(server.Port()).Ask(test::Get("/", "Accept-Encoding: gzip\r\n"));
  ASSERT_EQ(reply.status, 200);
  ASSERT_TRUE(reply.complete);
  EXPECT_LT(reply.body.size(), list.size() / 3) << "it could have been a third of that";
}

}  // namespace
}  // namespace TURTLE_SERVER
