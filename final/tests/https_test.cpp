// The TLS of the program, and what its other clients get: connections to all kinds of listeners.
#include "app/https.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/reuse_port.h"
#include "core/unix_listener.h"
#include "support/captured_stderr.h"
#include "support/certificate_files.h"
#include "support/http_client.h"
#include "support/log_folder.h"
#include "support/rot13_channel.h"
#include "support/running_server.h"
#include "support/tls_client.h"
#include "support/unix_client.h"
#include "web/http_server.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::TlsClient;
using test::TlsClientWish;

const auto kLastGet = Get("/page?a=1", "Connection: close\r\n");

void TellWhetherSecure(Exchange& exchange) {
  exchange.Reply(TextResponse(200, exchange.IsSecure() ? "secure" : "plain"));
}

auto BodyOf(const std::string& reply) -> std::string {
  const std::size_t head = reply.find("\r\n\r\n");
  return head == std::string::npos ? "no response: " + reply : reply.substr(head + 4);
}

// A server with a plain port, one for TLS, and a socket in the file system.
class HttpsServer {
 public:
  HttpsServer(Https& https, Https::ChannelMaker plain, const std::string& path)
      : server_({}, Options(https, std::move(plain))), socket_(path) {
    plain_port_ = Listen();
    tls_port_ = Listen();
    https.AddPlainPort(plain_port_);
    https.AddTlsPort(tls_port_);
    server_.AlsoListen(socket_.TakeSocket());
    server_.Mount("/", https.Guard(test::Answering(TellWhetherSecure)));
    thread_ = std::thread([this] {
      server_.Begin();
      ended_.set_value();
    });
  }
  HttpsServer(const HttpsServer&) = delete;
  auto operator=(const HttpsServer&) -> HttpsServer& = delete;
  ~HttpsServer() {
    server_.Stop();
    if (ended_.get_future().wait_for(test::kPatience) != std::future_status::ready) {
      std::abort();  // there is no way to go on without the thread
    }
    thread_.join();
  }

  [[nodiscard]] auto PlainPort() const -> int { return plain_port_; }
  [[nodiscard]] auto TlsPort() const -> int { return tls_port_; }

 private:
  static auto Options(Https& https, Https::ChannelMaker plain) -> ServerOptions {
    ServerOptions options;
    options.threads = 1;
    options.channel = https.Channels(std::move(plain));
    return options;
  }

  auto Listen() -> std::uint16_t {
    std::vector<Socket> listeners = OpenListeners(NetAddress("127.0.0.1", 0), 1);
    const int port = listeners.front().LocalAddress().Port();
    server_.AlsoListen(std::move(listeners));
    return static_cast<std::uint16_t>(port);
  }

  HttpServer server_;
  UnixListener socket_;
  std::uint16_t plain_port_ = 0;
  std::uint16_t tls_port_ = 0;
  std::promise<void> ended_;
  std::thread thread_;
};

class HttpsTest : public testing::Test {
 protected:
  auto OptionsOf(PlainHttp plain) -> HttpsOptions {
    HttpsOptions options;
    options.certificate = certificate_.Files();
    options.plain = plain;
    return options;
  }

  [[nodiscard]] auto Path() const -> std::string { return folder_.Path("socket"); }

  // Returns the body of the response to a client with TLS.
  static auto AskOverTls(int port) -> std::string {
    TlsClient client(port);
    if (!client.Shake() || !client.Send(kLastGet)) {
      return "refused: " + client.Reason();
    }
    return BodyOf(client.ReceiveAll());
  }

  auto AskAtPath() -> std::string { return BodyOf(test::UnixClient(Path()).Ask(kLastGet)); }

  const test::CertificateFiles certificate_{};
  test::LogFolder folder_;
};

TEST_F(HttpsTest, OnlyThePlainPortAndTheSocketAreWithoutTls) {
  Https https(OptionsOf(PlainHttp::kServe));
  const HttpsServer server(https, {}, Path());
  EXPECT_EQ(AskOverTls(server.TlsPort()), "secure");
  EXPECT_EQ(HttpClient(server.PlainPort()).Ask(kLastGet).body, "plain");
  EXPECT_EQ(AskAtPath(), "plain");
  EXPECT_NE(AskOverTls(server.PlainPort()).find("refused: "), std::string::npos);
  EXPECT_EQ(HttpClient(server.TlsPort()).Ask(kLastGet).status, 0);
  EXPECT_EQ(https.GetTls().Stats().full, 1U);
  EXPECT_EQ(https.GetTls().Stats().failed, 1U) << "the plain port has no handshakes";
}

TEST_F(HttpsTest, APortOfWhichNothingIsKnownHasTls) {
  Https https(OptionsOf(PlainHttp::kServe));
  ServerOptions options;
  options.threads = 1;
  options.channel = https.Channels({});
  HttpServer server(NetAddress("127.0.0.1", 0), {}, options);
  server.Mount("/", test::Answering(TellWhetherSecure));
  std::thread thread([&server] { server.Begin(); });
  EXPECT_EQ(AskOverTls(server.LocalAddress().Port()), "secure");
  EXPECT_EQ(HttpClient(server.LocalAddress().Port()).Ask(kLastGet).status, 0);
  server.Stop();
  thread.join();
}

TEST_F(HttpsTest, ClientsWithoutTlsGetTheOtherChannel) {
  int made = 0;
  Https https(OptionsOf(PlainHttp::kServe));
  const HttpsServer server(
      https,
      [&made](Connection&) {
        ++made;
        return std::make_unique<test::Rot13Channel>();
      },
      Path());
  EXPECT_EQ(AskOverTls(server.TlsPort()), "secure");
  const std::string request = test::Rot13(kLastGet);
  HttpClient plain(server.PlainPort());
  ASSERT_TRUE(plain.Send(request));
  EXPECT_EQ(BodyOf(test::Rot13(plain.ReadRest())), "plain") << "a channel may be insecure";
  EXPECT_EQ(BodyOf(test::Rot13(test::UnixClient(Path()).Ask(request))), "plain");
  EXPECT_EQ(made, 2) << "TLS has its own";
}

// --- Guard() ------------------------------------------------------------------------------------

TEST_F(HttpsTest, ARedirectLeadsToTheListenersPort) {
  Https https(OptionsOf(PlainHttp::kRedirect));
  const HttpsServer server(https, {}, Path());
  const HttpReply reply = HttpClient(server.PlainPort()).Ask(kLastGet);
  EXPECT_EQ(reply.status, 308);
  EXPECT_EQ(reply.Field("Location"), "https://t:" + std::to_string(server.TlsPort()) + "/page?a=1");
  EXPECT_EQ(AskOverTls(server.TlsPort()), "secure");
  EXPECT_EQ(AskAtPath(), "plain") << "it has crossed no network";
}

TEST_F(HttpsTest, ARedirectLeadsToThePortThatClientsSee) {
  struct Case {
    std::uint16_t port;
    std::string target;
  };
  for (const auto& [port, target] :
       {Case{443, "https://t/page?a=1"}, Case{8443, "https://t:8443/page?a=1"}}) {
    HttpsOptions options = OptionsOf(PlainHttp::kRedirect);
    options.public_port = port;
    Https https(options);
    const HttpsServer server(https, {}, Path());
    EXPECT_EQ(HttpClient(server.PlainPort()).Ask(kLastGet).Field("Location"), target);
  }
}

// Nobody comes to a port without TLS: there is none. If it were, its clients would not be sent
// away.
TEST_F(HttpsTest, OthersAreNotRedirected) {
  for (const PlainHttp plain : {PlainHttp::kServe, PlainHttp::kOff}) {
    HttpsOptions options = OptionsOf(plain);
    options.public_port = 443;
    Https https(options);
    const HttpsServer server(https, {}, Path());
    EXPECT_EQ(HttpClient(server.PlainPort()).Ask(kLastGet).body, "plain");
  }
}

TEST_F(HttpsTest, WithoutAPortThereIsARedirectAllTheSame) {
  Https https(OptionsOf(PlainHttp::kRedirect));
  test::RunningServer server([&https](HttpServer& made) {
    made.Mount("/", https.Guard(test::Answering(TellWhetherSecure)));
  });
  EXPECT_EQ(HttpClient(server.Port()).Ask(kLastGet).Field("Location"), "https://t/page?a=1");
}

// --- files, keys and refused clients ------------------------------------------------------------

TEST_F(HttpsTest, ABadFileIsToldByName) {
  HttpsOptions options = OptionsOf(PlainHttp::kOff);
  options.certificate.key = folder_.Path("none");
  try {
    const Https https(options);
    ADD_FAILURE() << "there is no key";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.what(), folder_.Path("none") + ": No such file or directory");
  }
  EXPECT_THROW(Https(HttpsOptions{}), std::invalid_argument) << "there is no certificate";
}

TEST_F(HttpsTest, APortIsEitherWithTlsOrWithout) {
  Https https(OptionsOf(PlainHttp::kRedirect));
  https.AddPlainPort(8080);
  https.AddTlsPort(8443);
  https.AddTlsPort(9443);
  EXPECT_EQ(https.FirstTlsPort(), 8443);
  EXPECT_THROW(https.AddTlsPort(8080), std::runtime_error);
  EXPECT_THROW(https.AddPlainPort(9443), std::runtime_error);
}

TEST_F(HttpsTest, ARefusedHandshakeIsALineForThoseWhoLook) {
  const test::CapturedStderr errors;
  Https https(OptionsOf(PlainHttp::kOff));
  {
    const HttpsServer server(https, {}, Path());
    EXPECT_EQ(HttpClient(server.TlsPort()).Ask(kLastGet).status, 0);
  }
  const std::string text = errors.Text();
  EXPECT_NE(text.find(" INFO TLS handshake of 127.0.0.1:"), std::string::npos) << text;
  EXPECT_NE(text.find(" refused: http request\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace TURTLE_SERVER
