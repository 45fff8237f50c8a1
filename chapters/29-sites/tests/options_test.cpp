#include "app/options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <regex>
#include <string>
#include <thread>
#include <vector>

namespace TURTLE_SERVER {
namespace {

auto Parse(std::vector<const char*> arguments) -> CommandLine {
  arguments.insert(arguments.begin(), "turtle");
  arguments.push_back(nullptr);
  return ParseCommandLine(static_cast<int>(arguments.size()) - 1, arguments.data());
}

auto Has(const std::string& text, const std::string& part) -> bool {
  return text.find(part) != std::string::npos;
}

TEST(OptionsTest, ADirectoryAloneHasDefaults) {
  const CommandLine line = Parse({"serve", "."});
  ASSERT_EQ(line.action, CommandAction::kServe) << line.text;
  EXPECT_EQ(line.serve.directory, ".");
  EXPECT_EQ(line.serve.address, "127.0.0.1");
  EXPECT_EQ(line.serve.port, 20080);
  EXPECT_EQ(line.serve.threads, std::max(1U, std::thread::hardware_concurrency()));
  EXPECT_EQ(line.serve.cgi_dir, "");
  EXPECT_EQ(line.serve.cache_size, 64U << 20);
  EXPECT_EQ(line.serve.cache_check, CacheCheck::kWatch);
  EXPECT_EQ(line.serve.deferred_accept, std::chrono::seconds(0));
}

TEST(OptionsTest, EveryOptionArrives) {
  const CommandLine line = Parse({"serve",
                                  "/tmp",
                                  "--port",
                                  "0",
                                  "--address",
                                  "::1",
                                  "--threads=3",
                                  "--cgi-dir",
                                  "/bin",
                                  "--cgi-timeout",
                                  "7",
                                  "--cache-size",
                                  "64k",
                                  "--cache-check",
                                  "always",
                                  "--max-body",
                                  "1G",
                                  "--head-timeout",
                                  "11",
                                  "--body-timeout",
                                  "12",
                                  "--write-timeout",
                                  "13",
                                  "--idle-timeout",
                                  "14",
                                  "--min-body-rate",
                                  "15",
                                  "--min-send-rate",
                                  "0",
                                  "--deferred-accept",
                                  "2",
                                  "--stop-timeout",
                                  "9"});
  ASSERT_EQ(line.action, CommandAction::kServe) << line.text;
  EXPECT_EQ(line.serve.directory, "/tmp");
  EXPECT_EQ(line.serve.port, 0);
  EXPECT_EQ(line.serve.address, "::1");
  EXPECT_EQ(line.serve.threads, 3U);
  EXPECT_EQ(line.serve.cgi_dir, "/bin");
  EXPECT_EQ(line.serve.cgi_timeout, std::chrono::seconds(7));
  EXPECT_EQ(line.serve.cache_size, 65536U);
  EXPECT_EQ(line.serve.cache_check, CacheCheck::kAlways);
  EXPECT_EQ(line.serve.max_body, 1U << 30);
  EXPECT_EQ(line.serve.head_timeout, std::chrono::seconds(11));
  EXPECT_EQ(line.serve.body_timeout, std::chrono::seconds(12));
  EXPECT_EQ(line.serve.write_timeout, std::chrono::seconds(13));
  EXPECT_EQ(line.serve.idle_timeout, std::chrono::seconds(14));
  EXPECT_EQ(line.serve.min_body_rate, 15U);
  EXPECT_EQ(line.serve.min_send_rate, 0U);
  EXPECT_EQ(line.serve.deferred_accept, std::chrono::seconds(2));
  EXPECT_EQ(line.serve.stop_timeout, std::chrono::seconds(9));
}

TEST(OptionsTest, NothingIsServedWithoutADirectory) {
  for (const std::vector<const char*>& arguments :
       {std::vector<const char*>{"serve"}, {"serve", "--port", "0"}}) {
    const CommandLine line = Parse(arguments);
    EXPECT_EQ(line.action, CommandAction::kFail);
    EXPECT_EQ(line.code, 2);
    EXPECT_EQ(line.text,
              "turtle: no directory to serve: name one, such as turtle serve . (see turtle "
              "--help)\n");
  }
  EXPECT_TRUE(std::regex_search(Parse({"serve", "--help"}).text, std::regex("\n +DIR +the files")))
      << "a default would be in brackets";
}

TEST(OptionsTest, TheUserAndThePidFileArrive) {
  const CommandLine none = Parse({"serve", "/"});
  EXPECT_EQ(none.serve.user + none.serve.group + none.serve.pid_file, "");
  const CommandLine line =
      Parse({"serve", "/", "--user", "www", "--group", "33", "--pid-file", "p"});
  ASSERT_EQ(line.action, CommandAction::kServe) << line.text;
  EXPECT_EQ(line.serve.user, "www");
  EXPECT_EQ(line.serve.group, "33");
  EXPECT_EQ(line.serve.pid_file, "p");
}

TEST(OptionsTest, TheDirectoryMayStandBehindTheOptions) {
  const CommandLine line = Parse({"serve", "--port", "65535", "/"});
  ASSERT_EQ(line.action, CommandAction::kServe) << line.text;
  EXPECT_EQ(line.serve.directory, "/");
  EXPECT_EQ(line.serve.port, 65535);
}

TEST(OptionsTest, AMistakeIsOneLineThatNamesOptionAndValue) {
  struct Case {
    std::vector<const char*> arguments;
    std::vector<std::string> parts;
  };
  const std::vector<Case> cases = {
      {{"serve", "--port", "65536"}, {"--port", "65536", "0 to 65535"}},
      {{"serve", "--port", "-1"}, {"-1"}},
      {{"serve", "--port", "http"}, {"--port", "http"}},
      {{"serve", "--port", "0x50"}, {"--port", "0x50"}},
      {{"serve", "--port="}, {"--port"}},
      {{"serve", "--port"}, {"--port"}},
      {{"serve", "--port", "1", "--port", "2"}, {"--port"}},
      {{"serve", "--threads", "0"}, {"--threads", "'0'"}},
      {{"serve", "--threads", "1.5"}, {"--threads", "1.5"}},
      {{"serve", "--threads", "99999"}, {"--threads", "99999"}},
      {{"serve", "--cache-size", "64MB"}, {"--cache-size", "64MB", "64K"}},
      {{"serve", "--cache-check", "never"}, {"--cache-check", "never", "always"}},
      {{"serve", "--cgi-timeout", "0"}, {"--cgi-timeout", "'0'"}},
      {{"serve", "--max-body", "x"}, {"--max-body", "'x'"}},
      {{"serve", "--stop-timeout", "forever"}, {"--stop-timeout", "forever"}},
      {{"serve", "--stop-timeout", "0"}, {"--stop-timeout", "'0'", "from 1 to"}},
      {{"serve", "--head-timeout", "0"}, {"--head-timeout", "'0'", "from 1 to"}},
      {{"serve", "--min-send-rate", "1K"}, {"--min-send-rate", "1K", "from 0 to"}},
      {{"serve", "--deferred-accept", "-1"}, {"--deferred-accept", "-1", "from 0 to"}},
      {{"serve", "/no/such/place"}, {"DIR", "/no/such/place", "directory"}},
      {{"serve", "/etc/passwd"}, {"DIR", "/etc/passwd", "directory"}},
      {{"serve", "--cgi-dir", "/no/such/place"}, {"--cgi-dir", "/no/such/place"}},
      {{"serve", "--prot", "80"}, {"--prot"}},
      {{"serve", "/", "/tmp"}, {"/tmp"}},
      {{"sevre"}, {"sevre"}},
      {{}, {"command", "serve"}},
  };
  for (const Case& each : cases) {
    const CommandLine line = Parse(each.arguments);
    std::string typed;
    for (const char* argument : each.arguments) {
      typed += std::string(" ") + argument;
    }
    EXPECT_EQ(line.action, CommandAction::kFail) << typed;
    EXPECT_EQ(line.text.rfind("turtle: ", 0), 0U) << line.text;
    EXPECT_EQ(std::count(line.text.begin(), line.text.end(), '\n'), 1) << line.text;
    EXPECT_EQ(line.text.back(), '\n');
    for (const std::string& part : each.parts) {
      EXPECT_TRUE(Has(line.text, part)) << "turtle" << typed << ": " << line.text;
    }
  }
}

TEST(OptionsTest, HelpAndVersionAreForStandardOutput) {
  const CommandLine version = Parse({"--version"});
  EXPECT_EQ(version.action, CommandAction::kPrint);
  EXPECT_TRUE(std::regex_match(version.text, std::regex("turtle [0-9]+[.][0-9].*\n")))
      << version.text;
  const CommandLine help = Parse({"--help"});
  EXPECT_EQ(help.action, CommandAction::kPrint);
  EXPECT_TRUE(Has(help.text, "serve")) << help.text;
  const CommandLine serve = Parse({"serve", "--help"});
  EXPECT_EQ(serve.action, CommandAction::kPrint);
  for (const char* option :
       {"DIR", "--port", "--address", "--threads", "--cgi-dir", "--cgi-timeout", "--cache-size",
        "--cache-check", "--max-body", "--head-timeout", "--body-timeout", "--write-timeout",
        "--idle-timeout", "--min-body-rate", "--min-send-rate", "--deferred-accept",
        "--stop-timeout"}) {
    EXPECT_TRUE(Has(serve.text, option)) << option << "\n" << serve.text;
  }
  EXPECT_TRUE(Has(serve.text, "64M")) << serve.text;
}

}  // namespace
}  // namespace TURTLE_SERVER
