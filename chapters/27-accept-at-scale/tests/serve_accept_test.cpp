// The program with a listener for each loop.
#ifdef __linux__

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iomanip>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "support/http_client.h"
#include "support/log_folder.h"
#include "support/site_folder.h"
#include "support/turtle.h"
#include "support/unix_client.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::Turtle;

// Returns how many sockets listen on a port, proc_net_tcp(5): the port is in hexadecimal, and 0A is
// TCP_LISTEN.
auto Listeners(int port) -> int {
  std::ostringstream address;
  address << "0100007F:" << std::uppercase << std::hex << std::setw(4) << std::setfill('0') << port;
  std::ifstream table("/proc/net/tcp");
  int count = 0;
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string number;
    std::string local;
    std::string remote;
    std::string state;
    words >> number >> local >> remote >> state;
    count += local == address.str() && state == "0A" ? 1 : 0;
  }
  return count;
}

// Returns how many sockets listen on a path, /proc/net/unix: __SO_ACCEPTCON is 0x10000.
auto SocketsAt(const std::string& path) -> int {
  std::ifstream table("/proc/net/unix");
  int count = 0;
  for (std::string line; std::getline(table, line);) {
    const std::size_t at = line.find(" " + path);
    count += at != std::string::npos && line.find(" 00010000 ") != std::string::npos ? 1 : 0;
  }
  return count;
}

class ServeAcceptTest : public testing::Test {
 protected:
  ServeAcceptTest() { folder_.Write("index.html", "hello"); }

  auto Arguments(std::vector<std::string> more, const std::string& port = "0")
      -> std::vector<std::string> {
    std::vector<std::string> all{folder_.Path(), "--port", port};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  test::SiteFolder folder_;
};

TEST_F(ServeAcceptTest, EachLoopHasAListener) {
  for (const std::string accept : {"per-loop", "per-cpu"}) {
    Turtle turtle(Arguments({"--threads", "3", "--accept", accept}));
    ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
    EXPECT_EQ(Listeners(turtle.Port()), 3);
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(HttpClient(turtle.Port()).Ask(Get("/")).body, "hello");
    }
    turtle.Signal(SIGTERM);
    EXPECT_EQ(turtle.Wait(), 0);
    EXPECT_EQ(Listeners(turtle.Port()), 0);
  }
}

TEST_F(ServeAcceptTest, OneLoopAcceptsForAllUnlessSomebodySaysElse) {
  const Turtle turtle(Arguments({"--threads", "3"}));
  EXPECT_EQ(Listeners(turtle.Port()), 1);
}

TEST_F(ServeAcceptTest, AConfigurationSaysItToo) {
  const test::LogFolder folder;
  folder.Write("site.json", R"({"port": 0, "worker_processes": 2, "accept": "per-loop",
      "http": {"root_path": ")" +
                                folder_.Path() + R"("}})");
  Turtle turtle({"-f", folder.Path("site.json")});
  ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
  EXPECT_EQ(Listeners(turtle.Port()), 2);
}

TEST_F(ServeAcceptTest, AnotherWordIsRefused) {
  Turtle turtle(Arguments({"--accept", "all"}));
  EXPECT_EQ(turtle.Wait(), 2);
  EXPECT_EQ(
      turtle.ReadErrors(),
      "turtle: --accept: 'all' is not one of shared, per-loop, per-cpu (see turtle --help)\n");
}

TEST_F(ServeAcceptTest, ASecondProgramOnThePortIsRefusedInOneLine) {
  Turtle turtle(Arguments({"--threads", "2", "--accept", "per-loop"}));
  ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
  for (const std::string accept : {"shared", "per-loop", "per-cpu"}) {
    const std::string port = std::to_string(turtle.Port());
    Turtle second(Arguments({"--threads", "2", "--accept", accept}, port));
    EXPECT_EQ(second.Wait(), 1);
    EXPECT_EQ(second.ReadErrors(), "turtle: bind 127.0.0.1:" + port + ": Address already in use\n");
  }
}

TEST_F(ServeAcceptTest, APathHasOneListener) {
  const test::LogFolder folder;
  const std::string path = folder.Path("socket");
  Turtle turtle(Arguments(
      {"--threads", "2", "--accept", "per-loop", "--address", "unix:" + path + ",127.0.0.1"}));
  EXPECT_NE(turtle.FirstLine().find("unix:" + path + ", http://127.0.0.1:"), std::string::npos)
      << turtle.FirstLine();
  EXPECT_EQ(SocketsAt(path), 1);
  for (int i = 0; i < 20; ++i) {
    const std::string reply = test::UnixClient(path).Ask("GET / HTTP/1.0\r\n\r\n");
    EXPECT_NE(reply.find("\r\n\r\nhello"), std::string::npos) << reply;
  }
}

}  // namespace
}  // namespace TURTLE_SERVER

#endif  // __linux__
