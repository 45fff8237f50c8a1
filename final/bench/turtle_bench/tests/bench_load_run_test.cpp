// Whole runs against servers in this process: good ones, and bad ones of every kind. A run ends
// when the server has seen enough: it then sends the signal that a user would send.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "bench/load_run.h"
#include "core/turtle_server.h"
#include "support/bench_run.h"
#include "support/raw_server.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Enough;
using test::ExpectGood;
using test::Ran;
using test::RunWith;

auto Options(int port) -> BenchOptions {
  BenchOptions options;
  options.url_text = "http://127.0.0.1:" + std::to_string(port) + "/page";
  options.url = ParseUrl(options.url_text);
  options.connections = 8;
  options.time = std::chrono::duration_cast<milliseconds>(test::kPatience);
  options.json = "-";
  options.quiet = true;
  return options;
}

// Answers every request in the same way, and interrupts the run after 200 of them.
class LoadRunTest : public testing::Test {
 protected:
  static constexpr int kRequests = 200;

  void Serve(Exchange& exchange) {
    Response response = TextResponse(200, std::string(1000, 'x'));
    exchange.Reply(response);
    enough_.Count();
  }

  Enough enough_{kRequests};
  test::RunningServer server_{[this](Exchange& exchange) { Serve(exchange); }};
  BenchOptions options_ = Options(server_.Port());
};

TEST_F(LoadRunTest, KeepAlive) {
  const Ran ran = RunWith(options_);
  ExpectGood(ran, kRequests);
  EXPECT_EQ(ran.json.Text("mode"), "keep-alive");
  EXPECT_EQ(ran.Number("connections_opened"), 8);
  EXPECT_EQ(ran.json.Text("latency_us.corrected"), "false");
}

TEST_F(LoadRunTest, AConnectionForEachRequest) {
  options_.mode = LoadMode::kClose;
  const Ran ran = RunWith(options_);
  ExpectGood(ran, kRequests);
  EXPECT_GE(ran.Number("connections_opened"), ran.Number("requests"));
}

TEST_F(LoadRunTest, Pipelined) {
  options_.mode = LoadMode::kPipeline;
  options_.depth = 16;
  const Ran ran = RunWith(options_);
  ExpectGood(ran, kRequests);
  EXPECT_EQ(ran.Number("connections_opened"), 8);
}

TEST_F(LoadRunTest, AtARate) {
  options_.rate = 5000;
  const Ran ran = RunWith(options_);
  ExpectGood(ran, kRequests);
  EXPECT_EQ(ran.json.Text("latency_us.corrected"), "true");
}

TEST_F(LoadRunTest, AtARateWithAConnectionForEachRequest) {
  options_.rate = 5000;
  options_.mode = LoadMode::kClose;
  const Ran ran = RunWith(options_);
  ExpectGood(ran, kRequests);
  EXPECT_GE(ran.Number("connections_opened"), ran.Number("requests"));
}

// One thread may have done a lot before the next one begins: it ends when all are seen at work.
TEST(LoadRunThreadsTest, ShareTheConnectionsOut) {
  std::set<int> seen;
  Enough enough(1);
  test::RunningServer server([&](Exchange& exchange) {
    exchange.Reply(TextResponse(200, "hello"));
    if (seen.insert(exchange.GetConnection().GetFd()).second && seen.size() == 8) {
      enough.Count();
    }
  });
  BenchOptions options = Options(server.Port());
  options.threads = 3;
  const Ran ran = RunWith(options);
  ExpectGood(ran, 8);
  EXPECT_EQ(ran.Number("connections_opened"), 8) << "3, 3 and 2";
}

// One slow response must not represent all the requests that were due meanwhile.
TEST(LoadRunRateTest, AServerThatStallsUntilTheEndIsSlow) {
  std::atomic<int> requests{0};
  test::RawServer server([&](Connection& connection) {
    if (++requests <= 20) {
      connection.WriteToWriteBuffer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    }
  });
  for (const LoadMode mode : {LoadMode::kKeepAlive, LoadMode::kClose}) {
    BenchOptions options = Options(server.Port());
    requests = 0;
    options.mode = mode;
    options.connections = 1;
    options.rate = 1000;
    options.time = milliseconds(200);
    const Ran ran = RunWith(options);
    EXPECT_GT(ran.Number("overdue"), 20);
    EXPECT_GE(ran.Number("latency_us.max"), (ran.Number("overdue") - 1) * 1000)
        << "one is due each millisecond";
    EXPECT_GT(ran.Number("latency_us.mean"), ran.Number("overdue") * 1000 / 4);
  }
}

TEST_F(LoadRunTest, AtARateOnSeveralThreads) {
  options_.threads = 2;
  options_.rate = 2000;
  ExpectGood(RunWith(options_), kRequests);
}

TEST_F(LoadRunTest, ReadsInPiecesOfAnySize) {
  for (const LoadMode mode : {LoadMode::kKeepAlive, LoadMode::kClose}) {
    Enough enough(kRequests);
    test::RunningServer server([&](Exchange& exchange) {
      exchange.Reply(TextResponse(200, std::string(100'000, 'x')));
      enough.Count();
    });
    options_ = Options(server.Port());
    options_.mode = mode;
    options_.read_size = mode == LoadMode::kClose ? 1 << 20 : 777;
    ExpectGood(RunWith(options_), kRequests);
  }
}

TEST_F(LoadRunTest, Head) {
  options_.to_head = true;
  const Ran ran = RunWith(options_);
  ExpectGood(ran, kRequests);
  EXPECT_LT(ran.Number("bytes"), ran.Number("requests") * 1000 + 8000);
}

TEST_F(LoadRunTest, Http10) {
  options_.minor_version = 0;
  ExpectGood(RunWith(options_), kRequests);
}

TEST(LoadRunRepliesTest, ChunkedOrUntilTheEnd) {
  for (const int minor_version : {0, 1}) {
    Enough enough(100);
    test::RunningServer server([&](Exchange& exchange) {
      exchange.BeginReply(TextResponse(200, ""));  // no length: chunks, for HTTP/1.0 the end
      exchange.Write("hello");
      exchange.Write("world");
      exchange.End();
      enough.Count();
    });
    BenchOptions options = Options(server.Port());
    options.minor_version = minor_version;
    const Ran ran = RunWith(options);
    ExpectGood(ran, 100);
    EXPECT_EQ(ran.Number("connections_opened") > 8, minor_version == 0);
  }
}

// --- bad servers ---------------------------------------------------------------------------------

constexpr std::string_view kGood = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

void Delete(Connection& connection, Closing closing) {
  connection.GetLooper()->DeleteConnection(connection.GetFd(), closing);
}

// The first reply is good, so that there is a reference; every second one is bad.
auto RunBadServer(const std::function<void(Connection&)>& bad) -> Ran {
  Enough enough(100);
  test::RawServer server([&](Connection& connection) {
    if (enough.Count() % 2 == 1) {
      bad(connection);
    } else {
      connection.WriteToWriteBuffer(kGood);
    }
  });
  return RunWith(Options(server.Port()));
}

void ExpectOnly(const Ran& ran, const std::string& kind) {
  EXPECT_EQ(ran.code, 0) << ran.errors;
  EXPECT_GT(ran.Number("requests"), 0);
  EXPECT_GT(ran.Number("errors." + kind), 10);
  EXPECT_EQ(ran.Errors(), ran.Number("errors." + kind)) << "of other kinds";
}

TEST(LoadRunErrorsTest, AWrongBody) {
  ExpectOnly(RunBadServer([](Connection& connection) {
               connection.WriteToWriteBuffer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhellO");
             }),
             "mismatch");
}

TEST(LoadRunErrorsTest, ABodyOfAnotherLength) {
  ExpectOnly(RunBadServer([](Connection& connection) {
               connection.WriteToWriteBuffer("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhell");
             }),
             "mismatch");
}

TEST(LoadRunErrorsTest, ABodyThatIsCut) {
  const Ran ran = RunBadServer([](Connection& connection) {
    connection.WriteToWriteBuffer(kGood.substr(0, kGood.size() - 2));
    Delete(connection, Closing::kAuto);
  });
  ExpectOnly(ran, "truncated");
  EXPECT_GT(ran.Number("connections_opened"), 8) << "they are opened anew";
}

TEST(LoadRunErrorsTest, AReset) {
  ExpectOnly(RunBadServer([](Connection& connection) { Delete(connection, Closing::kReset); }),
             "reset");
}

TEST(LoadRunErrorsTest, AnEndInsteadOfAReply) {
  ExpectOnly(RunBadServer([](Connection& connection) { Delete(connection, Closing::kAuto); }),
             "reset");
}

TEST(LoadRunErrorsTest, AnotherStatus) {
  ExpectOnly(RunBadServer([](Connection& connection) {
               connection.WriteToWriteBuffer("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
             }),
             "status");
}

TEST(LoadRunErrorsTest, NoHttp) {
  ExpectOnly(RunBadServer([](Connection& connection) {
               connection.WriteToWriteBuffer("+OK ready\r\n\r\n");
             }),
             "protocol");
}

TEST(LoadRunErrorsTest, MoreThanOneReply) {
  ExpectOnly(RunBadServer([](Connection& connection) {
               connection.WriteToWriteBuffer(std::string(kGood) + std::string(kGood));
             }),
             "protocol");
}

TEST(LoadRunErrorsTest, AServerThatLimitsRequestsIsNoError) {
  Enough enough(100);
  test::RawServer server([&](Connection& connection) {
    if (enough.Count() % 3 == 2) {
      connection.WriteToWriteBuffer(
          "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello");
      Delete(connection, Closing::kAuto);
    } else {
      connection.WriteToWriteBuffer(kGood);
    }
  });
  const Ran ran = RunWith(Options(server.Port()));
  ExpectGood(ran, 90);
  EXPECT_GT(ran.Number("connections_opened"), 8);
}

TEST(LoadRunErrorsTest, ChangingBodiesMayBeAllowed) {
  Enough enough(100);
  test::RunningServer server([&](Exchange& exchange) {
    exchange.Reply(TextResponse(200, std::to_string(enough.Count())));
  });
  BenchOptions options = Options(server.Port());
  options.any_body = true;
  ExpectGood(RunWith(options), 90);
}

TEST(LoadRunEchoTest, WhatComesBackIsAReply) {
  Enough enough(200);
  TurtleServer server(NetAddress("127.0.0.1", 0));
  BenchOptions options = Options(server.LocalAddress().Port());
  options.echo = true;
  server.OnHandle([&](Connection* connection) {
    const auto [read, exit] = connection->Recv();
    if (exit) {
      connection->GetLooper()->DeleteConnection(connection->GetFd());
    } else if (read != 0) {
      EXPECT_EQ(connection->Read(), RequestText(options));
      connection->WriteToWriteBuffer(connection->Read());
      connection->ClearReadBuffer();
      enough.Count();
    }
  });
  std::thread thread([&] { server.Begin(); });
  const Ran ran = RunWith(options);
  server.Stop();
  thread.join();
  ExpectGood(ran, 200);
  EXPECT_EQ(ran.Number("bytes"), ran.Number("requests") * 64);
}

TEST(LoadRunErrorsTest, NeverAnAnswer) {
  Enough enough(40);  // each of 8 connections is given up and opened several times
  test::RawServer server([&](Connection&) { enough.Count(); });
  BenchOptions options = Options(server.Port());
  options.timeout = milliseconds(10);
  const Ran ran = RunWith(options);
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.Number("requests"), 0);
  EXPECT_GE(ran.Number("errors.timeout"), 32);
  EXPECT_EQ(ran.Errors(), ran.Number("errors.timeout"));
  EXPECT_NE(ran.errors.find("turtle-bench: no request succeeded\n"), std::string::npos);
}

TEST(LoadRunErrorsTest, NoEndOfAConnectionThatWasToBeClosed) {
  Enough enough(40);
  test::RawServer server([&](Connection& connection) {
    connection.WriteToWriteBuffer(kGood);
    enough.Count();
  });
  BenchOptions options = Options(server.Port());
  options.mode = LoadMode::kClose;
  options.timeout = milliseconds(10);
  const Ran ran = RunWith(options);
  EXPECT_EQ(ran.code, 0);
  EXPECT_GE(ran.Number("errors.timeout"), 32);
}

TEST(LoadRunErrorsTest, NobodyThere) {
  Socket nobody;
  nobody.Bind(NetAddress("127.0.0.1", 0));  // bound, but not listening
  const int port = nobody.LocalAddress().Port();
  for (const std::size_t threads : {1U, 2U}) {
    BenchOptions options = Options(port);
    options.threads = threads;
    std::ostringstream out;
    std::ostringstream errors;
    EXPECT_EQ(RunLoad(options, out, errors), 1);
    EXPECT_EQ(out.str(), "");
    EXPECT_EQ(errors.str(),
              "turtle-bench: connect 127.0.0.1:" + std::to_string(port) + ": Connection refused\n");
  }
}

TEST(LoadRunErrorsTest, AServerThatGoesAway) {
  std::function<void()> stop;
  test::RawServer server([&](Connection& connection) {
    connection.WriteToWriteBuffer(kGood);
    stop();
  });
  stop = [&] { server.Stop(); };
  BenchOptions options = Options(server.Port());
  options.time = seconds(1);
  const Ran ran = RunWith(options);
  EXPECT_EQ(ran.code, 0) << "some requests succeeded";
  EXPECT_GT(ran.Number("requests"), 0);
  EXPECT_GT(ran.Number("errors.connect"), 0);
  // Refused; or reset, when the queue of the listening socket went with it.
  EXPECT_NE(ran.errors.find("first of connect: Connection re"), std::string::npos) << ran.errors;
}

TEST(LoadRunErrorsTest, WhatCannotBeginIsOneLine) {
  std::ostringstream out;
  std::ostringstream errors;
  BenchOptions options = Options(1);
  options.url = ParseUrl("http://no-such-host.invalid/");
  EXPECT_EQ(RunLoad(options, out, errors), 1);
  EXPECT_NE(errors.str().find("no-such-host.invalid"), std::string::npos) << errors.str();

  errors.str("");
  options = Options(1);
  options.json = "/no/such/folder/file";
  EXPECT_EQ(RunLoad(options, out, errors), 1);
  EXPECT_EQ(errors.str(), "turtle-bench: open /no/such/folder/file: No such file or directory\n");
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace TURTLE_SERVER
