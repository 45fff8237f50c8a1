// The logs of `turtle serve`, as its administrator sees them.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>

#include "support/cgi_server.h"
#include "support/http_client.h"
#include "support/log_folder.h"
#include "support/turtle.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::LogFolder;
using test::Turtle;

// Waits until the file contains this text.
auto AwaitText(const LogFolder& folder, const char* file, const std::string& text) -> bool {
  const auto end = std::chrono::steady_clock::now() + test::kPatience;
  while (folder.Read(file).find(text) == std::string::npos) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
    std::this_thread::yield();
  }
  return true;
}

TEST(ServeLogTest, WritesALineForEachRequest) {
  const LogFolder folder;
  Turtle turtle({folder.Path(), "--port", "0", "--threads", "2", "--access-log",
                 folder.Path("access.log"), "--access-log-format", "json"});
  ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
  EXPECT_EQ(HttpClient(turtle.Port()).Ask(Get("/none")).status, 404);
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
  const std::string text = folder.Read("access.log");
  EXPECT_NE(text.find("\"request\":\"GET /none HTTP/1.1\",\"status\":404,"), std::string::npos)
      << text;
}

TEST(ServeLogTest, OpensItsFilesAnewAtASignal) {
  const LogFolder folder;
  Turtle turtle({folder.Path(), "--port", "0", "--threads", "2", "--access-log",
                 folder.Path("access.log"), "--log-file", folder.Path("turtle.log"), "--log-async",
                 "on", "--log-flush", "1"});
  ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
  HttpClient client(turtle.Port());
  ASSERT_EQ(client.Ask(Get("/before")).status, 404);
  ASSERT_TRUE(AwaitText(folder, "access.log", "GET /before "));
  std::filesystem::rename(folder.Path("access.log"), folder.Path("access.log.1"));
  std::filesystem::rename(folder.Path("turtle.log"), folder.Path("turtle.log.1"));
  turtle.Signal(SIGUSR1);
  const auto end = std::chrono::steady_clock::now() + test::kPatience;
  while (!std::filesystem::exists(folder.Path("access.log")) ||
         !std::filesystem::exists(folder.Path("turtle.log"))) {
    ASSERT_EQ(client.Ask(Get("/after")).status, 404);
    ASSERT_LT(std::chrono::steady_clock::now(), end);
  }
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
  EXPECT_NE(folder.Read("access.log.1").find("GET /before "), std::string::npos);
  EXPECT_EQ(folder.Read("access.log").find("GET /before "), std::string::npos);
}

TEST(ServeLogTest, AHyphenIsStandardOutput) {
  for (const std::string name : {"-", "/dev/stdout"}) {
    const LogFolder folder;
    Turtle turtle({folder.Path(), "--port", "0", "--threads", "1", "--access-log", name});
    ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
    HttpClient client(turtle.Port());
    EXPECT_EQ(client.Ask(Get("/before")).status, 404);
    EXPECT_NE(turtle.ReadLine().find("GET /before "), std::string::npos);
    turtle.Signal(SIGUSR1);
    EXPECT_EQ(client.Ask(Get("/after")).status, 404);
    EXPECT_NE(turtle.ReadLine().find("GET /after "), std::string::npos);
    turtle.Signal(SIGTERM);
    EXPECT_EQ(turtle.Wait(), 0);
    EXPECT_FALSE(std::filesystem::exists("-"));
  }
}

TEST(ServeLogTest, LogsOnlyWhatItIsToldTo) {
  for (const std::string level : {"ERROR", "4"}) {
    const test::ProgramFolder programs;
    programs.Program("broken", "exit 1\n");
    Turtle turtle(
        {programs.Path(), "--port", "0", "--cgi-dir", programs.Path(), "--log-level", level});
    ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
    EXPECT_EQ(HttpClient(turtle.Port()).Ask(Get("/cgi-bin/broken")).status, 502);
    turtle.Signal(SIGTERM);
    EXPECT_EQ(turtle.Wait(), 0);
    const std::string said = turtle.ReadErrors();
    EXPECT_EQ(said.find(" ERROR cgi broken: ") != std::string::npos, level == "ERROR") << said;
  }
}

TEST(ServeLogTest, EndsEvenIfALogThatBlocksIsReadByNobody) {
  const test::ProgramFolder programs;
  // Fills stderr, through its own description, and fails: that logs a line.
  programs.Program(
      "fills",
      "exec 3>&2 2> /dev/null\n"
      "dd if=/dev/zero of=/proc/self/fd/3 oflag=nonblock bs=4096 count=1000\nexit 1\n");
  Turtle turtle({programs.Path(), "--port", "0", "--threads", "1", "--cgi-dir", programs.Path(),
                 "--log-async", "on", "--log-queue", "1", "--log-when-full", "block"});
  ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
  for (int i = 0; i < 4; ++i) {  // one line is with the thread, one in the queue
    EXPECT_EQ(HttpClient(turtle.Port()).Ask(Get("/cgi-bin/fills")).status, 502);
  }
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
}

TEST(ServeLogTest, TheTroublesOfTheAccessLogAreInTheOtherOne) {
  const LogFolder folder;
  std::filesystem::create_directory(folder.Path("logs"));
  Turtle turtle({folder.Path(), "--port", "0", "--threads", "1", "--access-log",
                 folder.Path("logs/access.log"), "--access-log-format", "json"});
  ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
  std::filesystem::rename(folder.Path("logs"), folder.Path("moved"));
  turtle.Signal(SIGUSR1);
  EXPECT_EQ(HttpClient(turtle.Port()).Ask(Get("/none")).status, 404);
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
  std::istringstream lines(folder.Read("moved/access.log"));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_EQ(line.substr(0, 9), "{\"time\":\"");
  }
  EXPECT_NE(turtle.ReadErrors().find(" ERROR log file: reopen "), std::string::npos);
}

TEST(ServeLogTest, ALogThatCannotBeOpenedIsOneLine) {
  const LogFolder folder;
  for (const std::string option : {"--log-file", "--access-log"}) {
    Turtle turtle({folder.Path(), "--port", "0", option, folder.Path("none/a.log")});
    EXPECT_EQ(turtle.Wait(), 1);
    EXPECT_EQ(turtle.ReadErrors(),
              "turtle: log file " + folder.Path("none/a.log") + ": No such file or directory\n");
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
