// How many files a client may make the server hold open.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "support/http_client.h"
#include "support/narrow_pair.h"
#include "support/running_server.h"
#include "support/site_folder.h"
#include "support/static_site.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::RunningServer;

constexpr int kRequests = 40;  // in one read, and in one call of the session

// Returns the open descriptors of this process, which has few.
auto OpenDescriptors() -> int {
  int count = 0;
  for (int fd = 0; fd < 1024; ++fd) {
    count += ::fcntl(fd, F_GETFD) == -1 ? 0 : 1;
  }
  return count;
}

// A site that counts the open descriptors after each response, before anything is sent.
class CountingSite {
 public:
  explicit CountingSite(StaticFilesOptions options)
      : server_([&](HttpServer& server) {
          options.root = folder_.Path();
          const HandlerFactory serving = test::Serving(options);
          server.Mount("/", [this, serving](Looper& looper) {
            files_ = serving(looper);
            return test::Answering([this](Exchange& exchange) {
              files_->Handle(exchange);
              most_ = std::max(most_, OpenDescriptors());
            })(looper);
          });
        }) {
    folder_.Write("large.bin", content);
  }

  // Sends `kRequests` at once, and expects `body` for each. @return the most descriptors that they
  // held
  auto Hold(const std::string& range, const std::string& body) -> int {
    // The previous client is gone, and its descriptor with it.
    EXPECT_TRUE(server_.Await([&] { return server_.GetLooper().ConnectionCount() == 0; }));
    HttpClient client(server_.Port());
    EXPECT_EQ(client.Ask(Get("/large.bin", range)).status, range.empty() ? 200 : 206);
    std::string requests;
    for (int i = 0; i < kRequests; ++i) {
      requests += Get("/large.bin", range);
    }
    const int before = server_.Ask([&] {
      most_ = 0;
      EXPECT_TRUE(client.Send(requests));
      return OpenDescriptors();
    });
    for (int i = 0; i < kRequests; ++i) {
      const HttpReply reply = client.ReadReply();
      EXPECT_TRUE(reply.complete) << "reply " << i;
      EXPECT_TRUE(body.empty() || reply.body == body) << "reply " << i;
    }
    return server_.Ask([&] { return most_ - before; });
  }

  const std::string content = test::Pattern(100'000);

 private:
  test::SiteFolder folder_;
  std::unique_ptr<RequestHandler> files_;  // the loop's, as is `most_`
  int most_ = 0;
  RunningServer server_;
};

// Each used to hold one, and added hardly any of the bytes at which a connection is paused.
TEST(StaticFilesDescriptors, ShortPartsOfALargeFileHoldNone) {
  CountingSite site({});
  EXPECT_EQ(site.Hold("Range: bytes=7-7\r\n", site.content.substr(7, 1)), 0);
  EXPECT_EQ(site.Hold("Range: bytes=-3\r\n", site.content.substr(99'997)), 0);
  EXPECT_EQ(site.Hold("Range: bytes=0-0,9-9,-1\r\n", ""), 0);
}

TEST(StaticFilesDescriptors, WhatIsSentFromTheFileHoldsAFew) {
  const int most = static_cast<int>(Connection::kHighFiles) + 1;
  CountingSite large({});
  EXPECT_LE(large.Hold("", large.content), most);
  EXPECT_LE(large.Hold("Range: bytes=1-40000\r\n", large.content.substr(1, 40'000)), most);
  StaticFilesOptions nothing_copied;
  nothing_copied.max_copied_bytes = 0;
  CountingSite uncopied(nothing_copied);
  EXPECT_LE(uncopied.Hold("Range: bytes=7-7\r\n", uncopied.content.substr(7, 1)), most);
}

// One file, and more parts than a connection may hold: they are sent, and the connection goes on.
TEST(StaticFilesDescriptors, ManyLargePartsOfOneReplyArrive) {
  CountingSite site({});
  std::string parts = "0-9999";
  for (int i = 1; i < 10; ++i) {
    parts += "," + std::to_string(i * 10'000) + "-" + std::to_string(i * 10'000 + 5'000);
  }
  EXPECT_LE(site.Hold("Range: bytes=" + parts + "\r\n", ""), 1);
}

}  // namespace
}  // namespace TURTLE_SERVER
