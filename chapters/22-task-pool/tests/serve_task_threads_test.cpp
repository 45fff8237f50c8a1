// `turtle serve` reloads its settings on a thread of the pool, if it has one.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "app/options.h"
#include "support/child.h"
#include "support/gate.h"
#include "support/http_client.h"
#include "support/log_folder.h"

namespace TURTLE_SERVER {
namespace {

using test::Await;
using test::Get;
using test::HttpClient;

class ServeTaskThreadsTest : public testing::Test {
 protected:
  auto Configuration(int threads, int max_body) -> std::string {
    return "{\"port\": 0, \"worker_processes\": 1, \"task_processes\": " + std::to_string(threads) +
           ", \"log\": {\"file\": \"" + folder_.Path("turtle.log") +
           "\", \"flush_second\": 1}, \"http\": {\"root_path\": \"" + folder_.Path("site") +
           "\", \"max_body_size\": " + std::to_string(max_body) + "}}";
  }
  auto Arguments() -> std::vector<std::string> { return {"-f", folder_.Path("site.json")}; }
  auto AwaitLog(const std::string& text) -> bool {
    return Await([&] { return folder_.Read("turtle.log").find(text) != std::string::npos; });
  }
  static auto PortOf(const std::string& line) -> int {
    const std::size_t colon = line.rfind(':');
    return colon == std::string::npos ? 0 : std::stoi(line.substr(colon + 1));
  }

  test::LogFolder folder_;
};

// The file is a pipe: opening it waits until another process has written it.
TEST_F(ServeTaskThreadsTest, ClientsDoNotWaitForTheFile) {
  folder_.Write("site/index.html", "hello");
  folder_.Write("site.json", Configuration(1, 10));
  test::Child turtle(test::ExamplePath("../turtle"), Arguments());
  const int port = PortOf(turtle.ReadLine());
  ASSERT_GT(port, 0) << turtle.ReadErrors();
  const std::string path = folder_.Path("site.json");
  ASSERT_EQ(::unlink(path.c_str()), 0);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  turtle.Signal(SIGHUP);
  std::ofstream file(path);  // waits until the program has opened it, too
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(HttpClient(port).Ask(Get("/")).body, "hello") << "while it is read";
  }
  file << Configuration(1, 11) << std::flush;
  file.close();
  ASSERT_TRUE(AwaitLog(" INFO the settings were reloaded\n"));
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
  EXPECT_EQ(folder_.Read("turtle.log").find("task_processes"), std::string::npos);
}

TEST_F(ServeTaskThreadsTest, WithoutThreadsTheLoopDoesIt) {
  folder_.Write("site/index.html", "hello");
  folder_.Write("site.json", Configuration(0, 10));
  test::Child turtle(test::ExamplePath("../turtle"), Arguments());
  ASSERT_GT(PortOf(turtle.ReadLine()), 0) << turtle.ReadErrors();
  turtle.Signal(SIGHUP);
  ASSERT_TRUE(AwaitLog(" INFO the settings were reloaded\n"));
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
  EXPECT_EQ(folder_.Read("turtle.log").find("task_processes"), std::string::npos)
      << "as nobody has asked for other";
}

TEST(TaskThreadsOptionTest, IsAFlagAndAKey) {
  const std::vector<const char*> none{"turtle", "serve", "/tmp"};
  EXPECT_EQ(ParseCommandLine(3, none.data()).serve.task_threads, 0U);
  const std::vector<const char*> two{"turtle", "serve", "/tmp", "--task-threads", "2"};
  EXPECT_EQ(ParseCommandLine(5, two.data()).serve.task_threads, 2U);
  const std::vector<const char*> bad{"turtle", "serve", "/tmp", "--task-threads", "1025"};
  const CommandLine line = ParseCommandLine(5, bad.data());
  EXPECT_EQ(line.action, CommandAction::kFail);
  EXPECT_NE(line.text.find("from 0 to 1024"), std::string::npos) << line.text;
}

}  // namespace
}  // namespace TURTLE_SERVER
