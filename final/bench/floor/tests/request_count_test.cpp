#include "request_count.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace TURTLE_SERVER {
namespace {

constexpr std::string_view kRequest = "GET /small.html HTTP/1.1\r\nHost: a\r\n\r\n";

TEST(RequestCount, CountsWhatOneReadBrought) {
  RequestCount requests;
  EXPECT_EQ(requests.Feed(kRequest), 1U);
  const std::string request(kRequest);
  EXPECT_EQ(requests.Feed(request + request + request), 3U);
}

TEST(RequestCount, CountsOnceAtEverySplit) {
  const std::string two = std::string(kRequest) + std::string(kRequest);
  for (std::size_t first = 0; first <= two.size(); ++first) {
    for (std::size_t second = first; second <= two.size(); ++second) {
      RequestCount requests;
      const std::size_t count = requests.Feed(std::string_view(two).substr(0, first)) +
                                requests.Feed(std::string_view(two).substr(first, second - first)) +
                                requests.Feed(std::string_view(two).substr(second));
      ASSERT_EQ(count, 2U) << "split at " << first << " and " << second;
    }
  }
}

TEST(RequestCount, ALineEndAtTheEndOfAPieceIsNoBlankLine) {
  RequestCount requests;
  EXPECT_EQ(requests.Feed("GET / HTTP/1.1\r\n"), 0U);
  EXPECT_EQ(requests.Feed("Host: a\r"), 0U);
  EXPECT_EQ(requests.Feed("\n"), 0U);
  EXPECT_EQ(requests.Feed("\r\n"), 1U);
}

}  // namespace
}  // namespace TURTLE_SERVER
