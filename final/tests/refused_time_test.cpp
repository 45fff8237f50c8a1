// How long it took to refuse a bad request: not counted from the end of the previous one.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "support/clocked_server.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "web/exchange_observer.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::seconds;
using test::ClockedServer;
using test::HttpClient;

// Records how long each exchange took, by the loop's clock.
class Times : public ExchangeObserver {
 public:
  Times(Looper& looper, std::vector<Clock::duration>& all) : looper_(looper), all_(all) {}
  void OnEnd(const ExchangeRecord& record) noexcept override {
    all_.push_back(looper_.Now() - record.began);
  }

 private:
  Looper& looper_;
  std::vector<Clock::duration>& all_;
};

class RefusedTime : public testing::Test {
 protected:
  auto Took() -> std::vector<Clock::duration> {
    return server_.Loop().Ask([this] { return times_; });
  }

  std::vector<Clock::duration> times_;  // the loop's
  ClockedServer server_{[this](Looper& looper, LoopHttp& http) {
    http.Observe(std::make_unique<Times>(looper, times_));
    http.Mount("/", test::Answering([](Exchange& exchange) {
                 exchange.Reply(TextResponse(200, "hello"));
               })(looper));
  }};
};

TEST_F(RefusedTime, TheTimeBeforeItsFirstByteIsNotItsOwn) {
  HttpClient client(server_.Port());
  EXPECT_EQ(client.Ask(test::Get("/")).status, 200);
  server_.Advance(seconds(30));
  EXPECT_EQ(client.Ask("no request\r\n\r\n").status, 400);
  EXPECT_EQ(Took(), (std::vector<Clock::duration>{seconds(0), seconds(0)}));
}

TEST_F(RefusedTime, AHeadThatDoesNotEndTookFromItsFirstByteOn) {
  HttpClient client(server_.Port());
  server_.Advance(seconds(30));
  ASSERT_TRUE(client.Send("GET /"));
  ASSERT_TRUE(server_.Loop().Await([&] {
    bool read = false;
    server_.Loop().Get().ForEachConnection([&](Connection* one) { read = !one->Read().empty(); });
    return read;
  }));
  server_.Advance(HttpOptions().head_timeout);
  EXPECT_EQ(client.ReadReply().status, 408);
  EXPECT_EQ(Took(), (std::vector<Clock::duration>{HttpOptions().head_timeout}));
}

}  // namespace
}  // namespace TURTLE_SERVER
