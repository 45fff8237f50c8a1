// Requests that wait until there is a slot for their program.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "support/cgi_server.h"
#include "support/http_client.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::LifeLine;
using test::ProgramFolder;

// The parts that the exercise adds. It compiles before they are there, too.
template <typename Options, typename = void>
struct HasLine : std::false_type {};

template <typename Options>
struct HasLine<Options, std::void_t<decltype(std::declval<Options&>().max_waiting),
                                    decltype(std::declval<Options&>().wait_timeout)>>
    : std::true_type {};

template <typename Options>
void SetLine([[maybe_unused]] Options& options, [[maybe_unused]] std::size_t most,
             [[maybe_unused]] milliseconds timeout) {
  if constexpr (HasLine<Options>::value) {
    options.max_waiting = most;
    options.wait_timeout = timeout;
  }
}

template <typename Handler>
auto WaitingCount(const Handler& cgi, int) -> decltype(cgi.WaitingCount()) {
  return cgi.WaitingCount();
}

template <typename Handler>
auto WaitingCount(const Handler&, ...) -> std::size_t {
  ADD_FAILURE() << "Cgi has no WaitingCount()";
  return 0;
}

class CgiWaitingTest : public testing::Test {
 protected:
  CgiWaitingTest() {
    // Says that it runs, and waits until the test opens its gate.
    const std::string head = std::string("echo $QUERY_STRING >> .log\n") + LifeLine::kHold;
    const std::string reply = "printf 'Content-Type: text/plain\\n\\n'\n";
    programs_.Program("gated", head + "read line < .gate\n" + reply + "echo $QUERY_STRING\n");
    programs_.Program("quick", head + reply + "echo $QUERY_STRING\n");
    programs_.Program("upper", head + reply + "tr a-z A-Z\n");
    EXPECT_EQ(::mkfifo(programs_.Path(".gate").c_str(), 0600), 0);
    // Both ends are ours, so that opening it never waits and its end never comes.
    gate_.Reset(::open(programs_.Path(".gate").c_str(), O_RDWR | O_CLOEXEC));
    life_.emplace(programs_);
    options_.directory = programs_.Path();
    options_.max_programs = 1;
    SetLine(options_, 2, seconds(5));
  }

  void SetUp() override {
    ASSERT_TRUE(HasLine<CgiOptions>::value) << "CgiOptions has no max_waiting and wait_timeout";
  }

  void Start() {
    server_.emplace([this](Looper& looper, LoopHttp& http) {
      auto cgi = std::make_unique<Cgi>(looper, options_);
      cgi_ = cgi.get();
      http.Mount("/cgi-bin", std::move(cgi));
    });
  }

  // Waits until one more program runs.
  auto AwaitStart() -> bool {
    const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
    while (std::chrono::steady_clock::now() < deadline) {
      if (life_->AwaitStart()) {
        return true;
      }
      std::this_thread::yield();
    }
    return false;
  }

  // Occupies the only slot.
  void Occupy(HttpClient& client, const std::string& query = "first") {
    ASSERT_TRUE(client.Send(Get("/cgi-bin/gated?" + query)));
    ASSERT_TRUE(AwaitStart());
  }

  // Lets one program go on that waits at the gate, or will.
  void OpenGate() { ASSERT_EQ(::write(gate_.Get(), "\n", 1), 1); }

  auto AwaitWaiting(std::size_t count) -> bool {
    return server_->Loop().Await([this, count] { return WaitingCount(*cgi_, 0) == count; });
  }

  // The programs that have run, in this order.
  auto Log() const -> std::string {
    std::ifstream file(programs_.Path(".log"));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const ProgramFolder programs_;
  UniqueFd gate_;
  std::optional<LifeLine> life_;
  CgiOptions options_;
  Cgi* cgi_ = nullptr;
  std::optional<test::ClockedServer> server_;
};

TEST_F(CgiWaitingTest, WhoFindsNoPlaceWaitsForOne) {
  Start();
  HttpClient first(server_->Port());
  HttpClient second(server_->Port());
  Occupy(first);
  ASSERT_TRUE(second.Send(Get("/cgi-bin/quick?second")));
  ASSERT_TRUE(AwaitWaiting(1));
  EXPECT_FALSE(life_->HasStarted());
  OpenGate();
  EXPECT_EQ(first.ReadReply().body, "first\n");
  EXPECT_EQ(second.ReadReply().body, "second\n");
  EXPECT_TRUE(AwaitWaiting(0));
}

TEST_F(CgiWaitingTest, InTheOrderInWhichTheyCame) {
  SetLine(options_, 3, seconds(5));
  Start();
  HttpClient first(server_->Port());
  Occupy(first);
  std::list<HttpClient> others;
  for (const char* query : {"b", "c", "a"}) {
    others.emplace_back(server_->Port());
    ASSERT_TRUE(others.back().Send(Get(std::string("/cgi-bin/quick?") + query)));
    ASSERT_TRUE(AwaitWaiting(others.size()));
  }
  OpenGate();
  for (HttpClient& client : others) {
    EXPECT_EQ(client.ReadReply().status, 200);
  }
  EXPECT_EQ(Log(), "first\nb\nc\na\n");
}

TEST_F(CgiWaitingTest, SoManyAndNoMore) {
  Start();
  HttpClient first(server_->Port());
  HttpClient second(server_->Port());
  HttpClient third(server_->Port());
  Occupy(first);
  ASSERT_TRUE(second.Send(Get("/cgi-bin/quick?2")));
  ASSERT_TRUE(AwaitWaiting(1));
  ASSERT_TRUE(third.Send(Get("/cgi-bin/quick?3")));
  ASSERT_TRUE(AwaitWaiting(2));
  const HttpReply refused = HttpClient(server_->Port()).Ask(Get("/cgi-bin/quick?4"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.Field("Retry-After"), "1");
  // Nor is a body requested that would wait for nothing.
  EXPECT_EQ(HttpClient(server_->Port())
                .Ask("POST /cgi-bin/upper HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n"
                     "Expect: 100-continue\r\n\r\n")
                .status,
            503);
  OpenGate();
  EXPECT_EQ(first.ReadReply().status, 200);
  EXPECT_EQ(second.ReadReply().status, 200);
  EXPECT_EQ(third.ReadReply().status, 200);
}

TEST_F(CgiWaitingTest, NobodyWaitsUnlessThatIsAskedFor) {
  options_ = CgiOptions();
  options_.directory = programs_.Path();
  options_.max_programs = 1;
  Start();
  HttpClient first(server_->Port());
  Occupy(first);
  EXPECT_EQ(HttpClient(server_->Port()).Ask(Get("/cgi-bin/quick")).status, 503);
  OpenGate();
  EXPECT_EQ(first.ReadReply().status, 200);
}

TEST_F(CgiWaitingTest, NobodyWaitsForEver) {
  Start();
  HttpClient first(server_->Port());
  HttpClient second(server_->Port());
  HttpClient third(server_->Port());
  Occupy(first);
  ASSERT_TRUE(second.Send(Get("/cgi-bin/quick?2")));
  ASSERT_TRUE(AwaitWaiting(1));
  server_->Advance(seconds(3));
  ASSERT_TRUE(third.Send(Get("/cgi-bin/quick?3")));
  ASSERT_TRUE(AwaitWaiting(2));
  server_->Advance(milliseconds(1999));
  EXPECT_TRUE(AwaitWaiting(2));
  server_->Advance(milliseconds(1));
  const HttpReply reply = second.ReadReply();
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.Field("Retry-After"), "1");
  EXPECT_TRUE(AwaitWaiting(1)) << "the third came later";
  OpenGate();
  EXPECT_EQ(first.ReadReply().status, 200);
  EXPECT_EQ(third.ReadReply().body, "3\n");
  EXPECT_EQ(second.Ask(Get("/cgi-bin/quick?again")).body, "again\n");
  EXPECT_EQ(Log(), "first\n3\nagain\n");
}

TEST_F(CgiWaitingTest, AProgramsTimeBeginsWithTheProgram) {
  options_.timeout = seconds(10);
  SetLine(options_, 2, seconds(60));
  Start();
  HttpClient first(server_->Port());
  HttpClient second(server_->Port());
  Occupy(first);
  server_->Advance(seconds(9));
  ASSERT_TRUE(second.Send(Get("/cgi-bin/gated?second")));
  ASSERT_TRUE(AwaitWaiting(1));
  server_->Advance(seconds(1));  // the first is killed, which makes room
  EXPECT_EQ(first.ReadReply().status, 504);
  ASSERT_TRUE(AwaitStart());
  server_->Advance(milliseconds(9999));
  OpenGate();
  EXPECT_EQ(second.ReadReply().body, "second\n");
}

TEST_F(CgiWaitingTest, WhoBreaksOffWaitsNoMore) {
  Start();
  HttpClient first(server_->Port());
  HttpClient second(server_->Port());
  HttpClient third(server_->Port());
  Occupy(first);
  ASSERT_TRUE(second.Send(Get("/cgi-bin/quick?2")));
  ASSERT_TRUE(AwaitWaiting(1));
  ASSERT_TRUE(third.Send(Get("/cgi-bin/quick?3")));
  ASSERT_TRUE(AwaitWaiting(2));
  second.Reset();
  ASSERT_TRUE(AwaitWaiting(1));
  OpenGate();
  EXPECT_EQ(third.ReadReply().body, "3\n");
  EXPECT_EQ(Log(), "first\n3\n");
}

TEST_F(CgiWaitingTest, AClientThatGoesMakesRoom) {
  Start();
  HttpClient first(server_->Port());
  HttpClient second(server_->Port());
  Occupy(first);
  ASSERT_TRUE(second.Send(Get("/cgi-bin/quick?2")));
  ASSERT_TRUE(AwaitWaiting(1));
  first.Reset();
  EXPECT_EQ(second.ReadReply().body, "2\n");
}

TEST_F(CgiWaitingTest, AProgramThatCanNotBeStartedKeepsNobodyWaiting) {
  programs_.Write("text", "no program\n");
  Start();
  HttpClient first(server_->Port());
  HttpClient second(server_->Port());
  HttpClient third(server_->Port());
  Occupy(first);
  ASSERT_TRUE(second.Send(Get("/cgi-bin/text")));
  ASSERT_TRUE(AwaitWaiting(1));
  ASSERT_TRUE(third.Send(Get("/cgi-bin/quick?3")));
  ASSERT_TRUE(AwaitWaiting(2));
  OpenGate();
  EXPECT_EQ(second.ReadReply().status, 403);
  EXPECT_EQ(third.ReadReply().body, "3\n");
}

TEST_F(CgiWaitingTest, ABodyWaitsToo) {
  Start();
  HttpClient first(server_->Port());
  HttpClient second(server_->Port());
  Occupy(first);
  ASSERT_TRUE(
      second.Send("POST /cgi-bin/upper HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nhel"));
  server_->Loop().RunRounds(3);
  EXPECT_TRUE(AwaitWaiting(0)) << "whose body is not there yet takes nobody's turn";
  ASSERT_TRUE(second.Send("lo"));
  ASSERT_TRUE(AwaitWaiting(1));
  OpenGate();
  EXPECT_EQ(second.ReadReply().body, "HELLO");
}

TEST_F(CgiWaitingTest, NeverMoreAtOnceThanAllowed) {
  options_.max_programs = 2;
  SetLine(options_, 100, seconds(5));
  Start();
  std::list<HttpClient> clients;
  for (int i = 0; i < 12; ++i) {
    clients.emplace_back(server_->Port());
    ASSERT_TRUE(clients.back().Send(Get("/cgi-bin/gated?x")));
  }
  ASSERT_TRUE(AwaitWaiting(10));
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(AwaitStart());
    if (i > 0) {
      EXPECT_FALSE(life_->HasStarted()) << "two are running: " << i;
      OpenGate();
    }
  }
  OpenGate();
  for (HttpClient& client : clients) {
    EXPECT_EQ(client.ReadReply().status, 200);
  }
}

TEST_F(CgiWaitingTest, TheServerMayEndMeanwhile) {
  Start();
  HttpClient first(server_->Port());
  HttpClient second(server_->Port());
  Occupy(first);
  ASSERT_TRUE(second.Send(Get("/cgi-bin/quick?2")));
  ASSERT_TRUE(AwaitWaiting(1));
  server_.reset();
  EXPECT_TRUE(life_->AwaitEnd());
  EXPECT_EQ(Log(), "first\n");
}

}  // namespace
}  // namespace TURTLE_SERVER
