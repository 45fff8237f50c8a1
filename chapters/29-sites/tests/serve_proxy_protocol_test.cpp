// The program behind a proxy: some addresses must send the PROXY header, all others can't.
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <string>
#include <vector>

#include "core/io_result.h"
#include "core/net_address.h"
#include "core/socket.h"
#include "support/cgi_server.h"
#include "support/child.h"
#include "support/http_client.h"
#include "support/log_folder.h"
#include "support/turtle.h"
#include "support/unix_client.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::Turtle;
using namespace std::string_literals;

const auto kLine = "PROXY TCP4 192.0.2.7 198.51.100.1 56324 443\r\n"s;
const auto kOtherLine = "PROXY TCP4 203.0.113.9 198.51.100.1 56324 443\r\n"s;
const auto kAddress = "/cgi-bin/address"s;  // of a program that tells its client's address

class ServeProxyProtocolTest : public testing::Test {
 protected:
  ServeProxyProtocolTest() {
    folder_.Write("site/index.html", "hello");
    programs_.Program("address", "echo Content-Type: text/plain; echo; echo \"$REMOTE_ADDR\"\n");
  }

  [[nodiscard]] auto Arguments(std::vector<std::string> more) const -> std::vector<std::string> {
    std::vector<std::string> all{folder_.Path("site"), "--port",     "0",
                                 "--threads",          "1",          "--cgi-dir",
                                 programs_.Path(),     "--log-file", folder_.Path("turtle.log")};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  [[nodiscard]] auto Trusting(const std::string& networks) const -> std::vector<std::string> {
    return Arguments({"--proxy-protocol", networks});
  }

  // Writes a configuration, and returns the arguments that use it.
  [[nodiscard]] auto Configured(const std::string& more) const -> std::vector<std::string> {
    folder_.Write("site.json", R"({"port": 0, "worker_processes": 1, "log": {"file": ")" +
                                   folder_.Path("turtle.log") + R"("}, "http": {"root_path": ")" +
                                   folder_.Path("site") + R"(", "cgi_path": ")" + programs_.Path() +
                                   "\"},\n" + more + "}");
    return {"-f", folder_.Path("site.json")};
  }

  test::LogFolder folder_;
  test::ProgramFolder programs_;
};

// Expects that a header is required of this machine, and is taken.
void ExpectTrusted(int port) {
  EXPECT_EQ(HttpClient(port).Ask(kLine + Get(kAddress)).body, "192.0.2.7\n");
  HttpClient plain(port);
  ASSERT_TRUE(plain.Send(Get("/")));
  EXPECT_TRUE(plain.IsClosedByServer());
}

// Expects that this machine is an ordinary client, and that it can't pretend to be another one.
void ExpectPlain(int port) {
  HttpClient plain(port);
  EXPECT_EQ(plain.Ask(Get("/")).body, "hello");
  EXPECT_EQ(plain.Ask(Get(kAddress)).body, "127.0.0.1\n");
  HttpClient forger(port);
  const HttpReply reply = forger.Ask(kLine + Get(kAddress));
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.body.find("192.0.2.7\n"), std::string::npos) << reply.body;
}

TEST_F(ServeProxyProtocolTest, ATrustedNetworkMustSendTheHeader) {
  for (const char* networks : {"127.0.0.1", "127.0.0.0/8", "2001:db8::/32,10.0.0.0/8,127.0.0.1"}) {
    Turtle turtle(Trusting(networks));
    ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
    ExpectTrusted(turtle.Port());
    turtle.Signal(SIGTERM);
    EXPECT_EQ(turtle.Wait(), 0);
  }
}

TEST_F(ServeProxyProtocolTest, OthersAreOrdinaryClients) {
  for (const char* networks : {"192.0.2.0/24", "127.0.0.2,::1", ""}) {
    Turtle turtle(Trusting(networks));
    ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
    ExpectPlain(turtle.Port());
    turtle.Signal(SIGTERM);
    EXPECT_EQ(turtle.Wait(), 0);
  }
}

TEST_F(ServeProxyProtocolTest, WithoutTheSettingNobodyIsTrusted) {
  const Turtle turtle(Arguments({}));
  ExpectPlain(turtle.Port());
}

TEST_F(ServeProxyProtocolTest, ARefusedHeaderIsLogged) {
  Turtle turtle(Trusting("127.0.0.0/8"));
  ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
  ExpectTrusted(turtle.Port());
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
  const std::string log = folder_.Read("turtle.log");
  EXPECT_NE(log.find("PROXY header of 127.0.0.1:"), std::string::npos) << log;
  EXPECT_NE(log.find("refused: the stream begins with something else"), std::string::npos) << log;
}

#ifdef __linux__  // where all of 127.0.0.0/8 is this machine
TEST_F(ServeProxyProtocolTest, TheAddressOfTheConnectionDecides) {
  const Turtle turtle(Trusting("127.0.0.2"));
  ASSERT_GT(turtle.Port(), 0);
  ExpectPlain(turtle.Port());
  Socket proxy;
  proxy.Bind(NetAddress("127.0.0.2", 0));
  proxy.Connect(NetAddress("127.0.0.1", turtle.Port()));
  const std::string request = kLine + Get(kAddress, "Connection: close\r\n");
  ASSERT_EQ(proxy.Send(request).bytes, request.size());
  std::string received;
  std::array<char, 4096> bytes;
  for (IoResult result = proxy.Recv(bytes.data(), bytes.size()); result.status == IoStatus::kBytes;
       result = proxy.Recv(bytes.data(), bytes.size())) {
    received.append(bytes.data(), result.bytes);
  }
  EXPECT_NE(received.find("\r\n\r\n"), std::string::npos) << received;
  EXPECT_NE(received.find("192.0.2.7\n"), std::string::npos) << received;
}
#endif  // __linux__

TEST_F(ServeProxyProtocolTest, AClientOfAPathIsAnOrdinaryOne) {
  const std::string path = folder_.Path("socket");
  // Turtle would take the path for a port.
  std::vector<std::string> arguments =
      Arguments({"--address", "127.0.0.1,unix:" + path, "--proxy-protocol", "0.0.0.0/0,::/0"});
  arguments.insert(arguments.begin(), "serve");
  test::Child turtle(test::ExamplePath("../turtle"), arguments);
  ASSERT_EQ(turtle.ReadLine().rfind("Serving ", 0), 0U) << turtle.ReadErrors();
  const std::string request = Get("/", "Connection: close\r\n");
  EXPECT_NE(test::UnixClient(path).Ask(request).find("\r\n\r\nhello"), std::string::npos);
  EXPECT_EQ(test::UnixClient(path).Ask(kLine + request).rfind("HTTP/1.1 400 ", 0), 0U);
}

TEST_F(ServeProxyProtocolTest, TheAccessLogHasTheClient) {
  Turtle turtle(
      Arguments({"--proxy-protocol", "127.0.0.0/8", "--access-log", folder_.Path("access.log")}));
  ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
  EXPECT_EQ(HttpClient(turtle.Port()).Ask(kLine + Get("/")).body, "hello");
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
  const std::string log = folder_.Read("access.log");
  EXPECT_EQ(log.rfind("192.0.2.7 - - [", 0), 0U) << log;
}

TEST_F(ServeProxyProtocolTest, AConfigurationSaysItToo) {
  for (const char* key :
       {R"("proxy_protocol": ["192.0.2.1", "127.0.0.0/8"])", R"("proxy_protocol": "127.0.0.1")"}) {
    const Turtle turtle(Configured(key));
    ASSERT_GT(turtle.Port(), 0) << key;
    ExpectTrusted(turtle.Port());
  }
  const Turtle turtle(Configured(R"("proxy_protocol": [])"));
  ASSERT_GT(turtle.Port(), 0);
  ExpectPlain(turtle.Port());
}

TEST_F(ServeProxyProtocolTest, TheRulesOfASiteSeeTheClient) {
  const Turtle turtle(Configured(R"("proxy_protocol": ["127.0.0.0/8"],
      "sites": [{"default": true, "root_path": ")" +
                                 folder_.Path("site") +
                                 R"(", "rules": [{"deny": ["192.0.2.0/24"]}]}])"));
  ASSERT_GT(turtle.Port(), 0);
  EXPECT_EQ(HttpClient(turtle.Port()).Ask(kLine + Get("/")).status, 403);
  EXPECT_EQ(HttpClient(turtle.Port()).Ask(kOtherLine + Get("/")).body, "hello");
}

TEST_F(ServeProxyProtocolTest, AConfigurationCanBeCheckedOnly) {
  std::vector<std::string> arguments = Configured(R"("proxy_protocol": ["127.0.0.0/8", "::1"])");
  arguments.emplace_back("-t");
  Turtle turtle(arguments);
  EXPECT_EQ(turtle.FirstLine(), folder_.Path("site.json") + " can be served");
  EXPECT_EQ(turtle.Wait(), 0);
}

TEST_F(ServeProxyProtocolTest, ABadNetworkIsRefused) {
  const std::string reason = " is not an address or a network such as 10.0.0.0/8";
  for (const char* network : {"10.0.0.1/8", "10.0.0.0/33", "localhost", "::1%lo", "10.0.0.0/8/8"}) {
    const std::string list = "127.0.0.1," + std::string(network);
    Turtle turtle(Trusting(list));
    EXPECT_EQ(turtle.Port(), -1);
    EXPECT_EQ(turtle.Wait(), 2) << network;
    EXPECT_EQ(turtle.ReadErrors(),
              "turtle: --proxy-protocol: '" + list + "'" + reason + " (see turtle --help)\n");
  }
  for (const bool only_checks : {false, true}) {
    std::vector<std::string> arguments = Configured(R"("proxy_protocol": ["::1", "10.0.0.1/8"])");
    if (only_checks) {
      arguments.emplace_back("-t");
    }
    Turtle turtle(arguments);
    EXPECT_EQ(turtle.Wait(), 2);
    EXPECT_EQ(turtle.ReadErrors(), "turtle: " + folder_.Path("site.json") +
                                       ": proxy_protocol[1]: \"10.0.0.1/8\"" + reason + "\n");
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
