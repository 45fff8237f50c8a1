// `turtle-bench` as its user meets it: the program itself, its lines and its exit codes.
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "bench/descriptor_limit.h"
#include "support/child.h"
#include "support/json.h"
#include "support/running_server.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using test::Child;

class BenchCommandTest : public testing::Test {
 protected:
  auto Url() const -> std::string {
    return "http://127.0.0.1:" + std::to_string(server_.Port()) + "/";
  }

  const std::string program_ = test::ExamplePath("../turtle-bench");
  std::atomic<int> requests_{0};
  test::RunningServer server_{[this](Exchange& exchange) {
    exchange.Reply(TextResponse(200, "hello"));
    ++requests_;
  }};
};

TEST_F(BenchCommandTest, ReportsAndWritesJson) {
  const test::SiteFolder folder;
  const std::string file = folder.Path("figures.json");
  Child bench(program_, {"-c", "4", "-t", "1", "--json", file, Url()});
  const std::string report = bench.ReadOutput();
  EXPECT_EQ(bench.Wait(), 0);
  EXPECT_NE(report.find("4 connections, keep-alive, 1 thread"), std::string::npos) << report;
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  const test::FlatJson json(text.str());
  EXPECT_GT(json.Number("requests"), 0);
  EXPECT_LE(json.Number("requests"), requests_);
}

TEST_F(BenchCommandTest, ASignalEndsItWithAReport) {
  for (const int number : {SIGINT, SIGTERM}) {
    Child bench(program_, {"-t", "3600", "--json", "-", Url()});
    const int before = requests_;
    EXPECT_TRUE(server_.Await([&] { return requests_ > before + 100; }));
    bench.Signal(number);
    const test::FlatJson json(bench.ReadOutput());
    EXPECT_GT(json.Number("requests"), 0);
    EXPECT_EQ(bench.Wait(), 0);
  }
}

TEST_F(BenchCommandTest, IdleConnectionsAreHeldUntilStdinEnds) {
  Child bench(program_, {"--idle", "-c", "600", "-t", "3600", "--json", "-", "--quiet", Url()});
  EXPECT_EQ(bench.ReadLine(), "READY");
  EXPECT_EQ(requests_, 600);
  EXPECT_EQ(server_.Ask([&] { return server_.GetLooper().ConnectionCount(); }), 600U);
  EXPECT_TRUE(bench.Write("still here\n"));
  server_.Settle();
  EXPECT_EQ(server_.Ask([&] { return server_.GetLooper().ConnectionCount(); }), 600U);
  bench.CloseInput();
  const test::FlatJson json(bench.ReadOutput());
  EXPECT_EQ(bench.Wait(), 0);
  EXPECT_EQ(json.Text("mode"), "idle");
  EXPECT_EQ(json.Number("requests"), 600);
  EXPECT_EQ(json.Number("connections_opened"), 600);
  EXPECT_EQ(json.Number("errors.reset"), 0);
}

TEST_F(BenchCommandTest, IdleEndsInTimeToo) {
  Child bench(program_, {"--idle", "-c", "5", "-t", "0.05", Url()});
  EXPECT_EQ(bench.ReadLine(), "READY");
  EXPECT_EQ(bench.Wait(), 0);
}

TEST_F(BenchCommandTest, ShowsProgressEverySecond) {
  Child bench(program_, {"-t", "1.5", Url()});
  EXPECT_EQ(bench.Wait(), 0);
  const std::string errors = bench.ReadErrors();
  EXPECT_EQ(errors.rfind("1 s: ", 0), 0U) << errors;
  EXPECT_NE(errors.find(" requests/s, "), std::string::npos) << errors;
}

TEST_F(BenchCommandTest, WithoutRoomForItsThreadsItEndsAtOnce) {
  const std::string limited = "ulimit -s 8192; ulimit -v 1500000 && exec " + program_;
  Child version("/bin/sh", {"-c", limited + " --version"});
  if (version.Wait() != 0) {
    GTEST_SKIP() << "address space can't be limited here, or a sanitizer needs all of it";
  }
  Child bench("/bin/sh",
              {"-c", limited + " --threads 400 -c 400 -t 3600 --timeout 3600 --quiet " + Url()});
  const std::string errors = bench.ReadErrors();
  EXPECT_EQ(errors.rfind("turtle-bench: thread ", 0), 0U) << errors;
  EXPECT_NE(errors.find(" of 400: Resource temporarily unavailable\n"), std::string::npos)
      << errors;
  EXPECT_EQ(bench.Wait(), 1);
}

TEST_F(BenchCommandTest, MistakesAndTextsEndAtOnce) {
  Child version(program_, {"--version"});
  EXPECT_EQ(version.ReadOutput().rfind("turtle-bench ", 0), 0U);
  EXPECT_EQ(version.Wait(), 0);
  Child help(program_, {"--help"});
  EXPECT_NE(help.ReadOutput().find("--pipeline"), std::string::npos);
  EXPECT_EQ(help.Wait(), 0);
  Child mistake(program_, {"-c", "many", Url()});
  EXPECT_NE(mistake.ReadErrors().find("'many'"), std::string::npos);
  EXPECT_EQ(mistake.Wait(), 1);
}

TEST(DescriptorLimitTest, SaysWhatIsMissing) {
  EXPECT_GE(RequireDescriptors(10, 20), 10U);
  try {
    static_cast<void>(RequireDescriptors(std::uint64_t{1} << 40, std::uint64_t{1} << 41));
    FAIL() << "more than any kernel gives";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("needs 1099511627776 descriptors"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
