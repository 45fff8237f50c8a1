// `turtle serve --user` and `--pid-file`, as an administrator sees them.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "support/http_client.h"
#include "support/log_folder.h"
#include "support/nobody_here.h"
#include "support/turtle.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::Turtle;
using Words = std::vector<std::string>;

class ServeUserTest : public testing::Test {
 protected:
  ServeUserTest() { folder_.Write("site/index.html", "hello"); }

  // Returns the arguments of a server of the directory, with more.
  [[nodiscard]] auto With(const Words& more) const -> Words {
    Words words{folder_.Path("site"), "--port", "0", "--threads", "2"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  [[nodiscard]] auto PidFilePath() const -> std::string { return folder_.Path("pid"); }

  // Waits until the log has the text.
  [[nodiscard]] auto AwaitLog(const std::string& text) const -> bool {
    const auto end = std::chrono::steady_clock::now() + test::kPatience;
    while (folder_.Read("turtle.log").find(text) == std::string::npos) {
      if (std::chrono::steady_clock::now() > end) {
        return false;
      }
      std::this_thread::yield();
    }
    return true;
  }

  // Hands over to a successor. Returns its number, from the file; 0: there is none.
  auto HandOver(Turtle& turtle) -> pid_t {
    turtle.Signal(SIGUSR2);
    const std::string line = turtle.ReadLine();
    EXPECT_EQ(line, turtle.FirstLine()) << folder_.Read("turtle.log");
    EXPECT_EQ(turtle.Wait(), 0);
    const std::string number = folder_.Read("pid");
    return number.empty() || line != turtle.FirstLine() ? 0 : std::stoi(number);
  }

  test::LogFolder folder_;
};

TEST_F(ServeUserTest, WhatCanNotBeIsExitCode2) {
  for (const auto& [more, why] :
       {std::pair<Words, std::string>{{"--user", "no such user"},
                                      "user: 'no such user': there is no such user"},
        {{"--user", "nobody", "--group", "no such group"},
         "group: 'no such group': there is no such group"},
        {{"--group", "nobody"}, "group: 'nobody': needs a user, too"}}) {
    Turtle turtle(With(more));
    EXPECT_EQ(turtle.FirstLine(), "");
    EXPECT_EQ(turtle.Wait(), 2);
    EXPECT_EQ(turtle.ReadErrors(), "turtle: " + why + "\n");
  }
}

TEST_F(ServeUserTest, ThePidFileIsThereWhileItServes) {
  Turtle turtle(With({"--pid-file", PidFilePath()}));
  ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
  EXPECT_EQ(folder_.Read("pid"), std::to_string(turtle.Pid()) + "\n");
  Turtle second(With({"--pid-file", PidFilePath()}));
  EXPECT_EQ(second.Wait(), 1);
  EXPECT_NE(second.ReadErrors().find("process " + std::to_string(turtle.Pid()) + " runs"),
            std::string::npos);
  EXPECT_EQ(folder_.Read("pid"), std::to_string(turtle.Pid()) + "\n");
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
  EXPECT_FALSE(std::filesystem::exists(PidFilePath()));
}

TEST_F(ServeUserTest, AServerThatDoesNotStartLeavesNoPidFile) {
  Turtle turtle(With({"--pid-file", PidFilePath(), "--access-log", folder_.Path("none/log")}));
  EXPECT_EQ(turtle.Wait(), 1);
  EXPECT_FALSE(std::filesystem::exists(PidFilePath()));
}

TEST_F(ServeUserTest, ASuccessorTakesThePidFileOver) {
  Turtle turtle(With({"--pid-file", PidFilePath(), "--log-file", folder_.Path("turtle.log")}));
  ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
  const pid_t successor = HandOver(turtle);
  ASSERT_GT(successor, 0);
  EXPECT_NE(successor, turtle.Pid());
  ASSERT_EQ(::kill(successor, SIGTERM), 0);
  static_cast<void>(turtle.ReadOutput());  // to the successor's end
  EXPECT_FALSE(std::filesystem::exists(PidFilePath()));
}

TEST_F(ServeUserTest, ANewPidFileNeedsARestart) {
  const auto configure = [this](const std::string& more) {
    folder_.Write("site.json", "{\"port\": 0, \"http\": {\"root_path\": \"" + folder_.Path("site") +
                                   "\"}, \"log\": {\"file\": \"" + folder_.Path("turtle.log") +
                                   "\", \"flush_second\": 1}" + more + "}");
  };
  configure("");
  Turtle turtle({"-f", folder_.Path("site.json")});
  ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
  configure(R"(, "user": "nobody", "pid_file": ")" + PidFilePath() + "\"");
  turtle.Signal(SIGHUP);
  EXPECT_TRUE(AwaitLog("WARN user is '' until the next start, and 'nobody' from then on\n"));
  EXPECT_TRUE(AwaitLog("WARN pid_file is '' until the next start, and '" + PidFilePath() + "'"));
  EXPECT_FALSE(std::filesystem::exists(PidFilePath()));
}

TEST_F(ServeUserTest, RootServesOtherMachinesOnlyIfItIsTold) {
  const bool is_root = ::geteuid() == 0;
  const std::string user = std::to_string(::geteuid());
  const std::string group = std::to_string(::getegid());
  for (const auto& [more, refused] :
       {std::pair<Words, bool>{{}, false},
        {{"--address", "unix:" + folder_.Path("socket") + ",127.0.0.2"}, false},
        {{"--address", "127.0.0.1,0.0.0.0"}, true},
        {{"--address", "0.0.0.0", "--user", user, "--group", group}, false}}) {
    Turtle turtle(With(more));
    if (is_root && refused) {
      EXPECT_EQ(turtle.FirstLine(), "");
      EXPECT_EQ(turtle.Wait(), 2);
      EXPECT_EQ(
          turtle.ReadErrors(),
          "turtle: user: root would serve other machines, at 0.0.0.0: name a user, or root if "
          "that is meant\n");
    } else {
      ASSERT_FALSE(turtle.FirstLine().empty()) << turtle.ReadErrors();
      turtle.Signal(SIGTERM);
      EXPECT_EQ(turtle.Wait(), 0);
      EXPECT_EQ(turtle.ReadErrors(), "");
    }
  }
}

TEST_F(ServeUserTest, ACheckByRootWarnsThatRootWouldServe) {
  folder_.Write("site.json", R"({"port": 0, "address": "0.0.0.0", "http": {"root_path": ")" +
                                 folder_.Path("site") + "\"}}");
  Turtle turtle({"-f", folder_.Path("site.json"), "-t"});
  EXPECT_EQ(turtle.FirstLine(), folder_.Path("site.json") + " can be served");
  EXPECT_EQ(turtle.Wait(), 0);
  const bool warned =
      turtle.ReadErrors().find("root would serve other machines, at 0.0.0.0") != std::string::npos;
  EXPECT_EQ(warned, ::geteuid() == 0);
}

#ifdef __linux__
// A server that root has started.
class ServeAsNobodyTest : public ServeUserTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) {
      GTEST_SKIP() << "needs root: only root can become another user";
    }
    const test::NobodyHere nobody;
    if (!UniqueFd(::open(test::ExamplePath("../turtle").c_str(), O_RDONLY | O_CLOEXEC))) {
      GTEST_SKIP() << "needs a program that other users can reach";
    }
  }

  // Returns the threads of a process that have an identity, or supplementary groups, of root's.
  static auto ThreadsOfRoot(pid_t pid) -> int {
    int count = 0;
    for (const auto& thread :
         std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
      std::ifstream status(thread.path() / "status");
      for (std::string line; std::getline(status, line);) {
        std::istringstream words(line);
        std::string word;
        words >> word;
        const bool counts = word == "Uid:" || word == "Gid:" || word == "Groups:";
        while (counts && words >> word) {
          count += word == "0" ? 1 : 0;
        }
      }
    }
    return count;
  }

  static auto OwnerOf(const std::string& path) -> uid_t {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? status.st_uid : 0;
  }
};

TEST_F(ServeAsNobodyTest, NoThreadIsRootsAndTheLogsAreTheUsers) {
  Turtle turtle(With({"--user", "nobody", "--pid-file", PidFilePath(), "--log-file",
                      folder_.Path("turtle.log"), "--access-log", folder_.Path("access.log"),
                      "--task-threads", "2"}));
  ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
  EXPECT_EQ(ThreadsOfRoot(turtle.Pid()), 0);
  EXPECT_EQ(HttpClient(turtle.Port()).Ask(Get("/")).body, "hello");
  const uid_t nobody = ::getpwnam("nobody")->pw_uid;
  for (const char* name : {"turtle.log", "access.log", "pid"}) {
    EXPECT_EQ(OwnerOf(folder_.Path(name)), nobody) << name;
  }
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
  EXPECT_EQ(turtle.ReadErrors(), "");
  EXPECT_EQ(folder_.Read("pid"), "") << "only root could remove it from this directory";
}

TEST_F(ServeAsNobodyTest, AFileThatOnlyRootReadsIsNotSent) {
  folder_.Write("site/secret.html", "secret");
  ASSERT_EQ(::chmod(folder_.Path("site/secret.html").c_str(), 0600), 0);
  Turtle turtle(With({"--user", "nobody"}));
  EXPECT_EQ(HttpClient(turtle.Port()).Ask(Get("/secret.html")).status, 403);
}

TEST_F(ServeAsNobodyTest, ALogThatTheUserCannotWriteIsFoundAtTheStart) {
  std::filesystem::create_directory(folder_.Path("closed"));
  ASSERT_EQ(::chmod(folder_.Path("closed").c_str(), 0700), 0);
  Turtle turtle(With({"--user", "nobody", "--log-file", folder_.Path("closed/turtle.log")}));
  EXPECT_EQ(turtle.Wait(), 1);
  EXPECT_EQ(turtle.ReadErrors(),
            "turtle: log file " + folder_.Path("closed/turtle.log") + ": Permission denied\n");
}

TEST_F(ServeAsNobodyTest, ADirectoryThatTheUserCannotEnterLeavesTheOldSettings) {
  const auto configure = [this](const std::string& directory) {
    folder_.Write("sites.json",
                  R"({"port": 0, "user": "nobody", "sites": [{"default": "on", "root_path": ")" +
                      folder_.Path(directory) + R"("}], "log": {"flush_second": 1, "file": ")" +
                      folder_.Path("turtle.log") + "\"}}");
  };
  configure("site");
  Turtle turtle({"-f", folder_.Path("sites.json")});
  ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
  std::filesystem::create_directory(folder_.Path("closed"));
  ASSERT_EQ(::chmod(folder_.Path("closed").c_str(), 0700), 0);
  configure("closed");
  turtle.Signal(SIGHUP);
  EXPECT_TRUE(AwaitLog("the settings were not reloaded: open sites[0].root_path " +
                       folder_.Path("closed") + ": Permission denied\n"));
  EXPECT_EQ(HttpClient(turtle.Port()).Ask(Get("/")).body, "hello");
}

TEST_F(ServeAsNobodyTest, ASuccessorNeedsNoRoot) {
  const std::string group = std::to_string(::getpwnam("nobody")->pw_gid);
  Turtle turtle(
      With({"--user", "nobody", "--group", group, "--pid-file", PidFilePath(), "--log-file",
            folder_.Path("turtle.log"), "--access-log", folder_.Path("access.log")}));
  ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
  const pid_t successor = HandOver(turtle);
  ASSERT_GT(successor, 0);
  EXPECT_NE(successor, turtle.Pid());
  EXPECT_EQ(ThreadsOfRoot(successor), 0);
  EXPECT_EQ(HttpClient(turtle.Port()).Ask(Get("/")).body, "hello");
  ASSERT_EQ(::kill(successor, SIGTERM), 0);
  static_cast<void>(turtle.ReadOutput());  // to the successor's end
  EXPECT_EQ(folder_.Read("pid"), "");
}
#endif  // __linux__

}  // namespace
}  // namespace TURTLE_SERVER
