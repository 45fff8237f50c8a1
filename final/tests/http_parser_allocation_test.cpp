// How often the parser calls the allocator.
#include <gtest/gtest.h>

#include <string>

#include "http/http_parser.h"
#include "support/counting_new.h"

namespace TURTLE_SERVER {
namespace {

TEST(HttpParserAllocationTest, NoneOnceTheRequestHasWarmedUp) {
  const std::string heads[] = {
      "GET /a/rather/long/path/with/%65scapes/and/../dots/in/it?query HTTP/1.1\r\nHost: a\r\n"
      "A: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\nE: 5\r\nF: 6\r\nConnection: keep-alive\r\n\r\n",
      "POST /short HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n",
      "GET /bad HTTP/1.1\r\nHost : a\r\n\r\n",
  };
  ParserLimits limits;
  HttpParser parser(limits);
  Request request;
  std::size_t done = 0;
  const auto round = [&] {
    for (const std::string& head : heads) {
      for (const std::size_t size : {head.size() / 3, head.size() / 2, head.size()}) {
        done += parser.Parse({head.data(), size}, request).state == ParseState::kDone ? 1 : 0;
      }
    }
  };
  test::counts_allocations = true;
  round();
  const std::size_t warm = test::allocations;
  ASSERT_GT(warm, 0u);
  for (int i = 0; i < 100; ++i) {
    round();
  }
  EXPECT_EQ(test::allocations - warm, 0u);
  EXPECT_EQ(done, 2 * 101u);
}

}  // namespace
}  // namespace TURTLE_SERVER
