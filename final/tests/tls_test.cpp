// A web server that speaks TLS, as its clients see it. TURTLE_POLLER chooses the engine.
#include "tls/tls.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/cidr_set.h"
#include "core/looper.h"
#include "core/proxy_channel.h"
#include "support/certificate_files.h"
#include "support/client.h"
#include "support/clocked_server.h"
#include "support/http_client.h"
#include "support/loop_thread.h"
#include "support/pattern.h"
#include "support/running_server.h"
#include "support/site_folder.h"
#include "support/tls_client.h"
#include "support/tls_server.h"
#include "support/tls_wire_client.h"
#include "web/http_session.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::seconds;
using test::CertificateFiles;
using test::CertificateWish;
using test::SslSessionPtr;
using test::TlsClient;
using test::TlsClientWish;
using test::TlsOptionsOf;
using test::TlsServer;
using test::TlsWireClient;
using test::Way;

constexpr std::size_t kMegabyte = std::size_t{1024} * 1024;

constexpr std::string_view kGet = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
constexpr std::string_view kLastGet =
    "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
constexpr std::string_view kProxyLine = "PROXY TCP4 192.0.2.7 198.51.100.1 56324 443\r\n";

auto Version(int version) -> TlsClientWish {
  TlsClientWish wish;
  wish.version = version;
  return wish;
}

auto Count(std::string_view text, std::string_view word) -> std::size_t {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + word.size())) {
    ++count;
  }
  return count;
}

// Returns the body of the only response in `reply`.
auto BodyOf(const std::string& reply) -> std::string {
  const std::size_t head = reply.find("\r\n\r\n");
  return head == std::string::npos ? "no response: " + reply : reply.substr(head + 4);
}

// Sends the last request of a connection. Returns the body of the response.
auto AskLast(TlsClient& client) -> std::string {
  if (!client.Send(kLastGet)) {
    return "not sent";
  }
  const std::string reply = client.ReceiveAll();
  return reply.empty() ? "no response: " + client.Reason() : BodyOf(reply);
}

// Connects once. Returns the body of the response.
auto Visit(int port, const TlsClientWish& wish = {}) -> std::string {
  TlsClient client(port, wish);
  return client.Shake() ? AskLast(client) : "refused: " + client.Reason();
}

void Reply(Exchange& exchange) { exchange.Reply(TextResponse(200, "a turtle")); }

class TlsTest : public testing::Test {
 protected:
  // Waits until the server has counted `count` handshakes, of whatever result.
  auto AwaitHandshakes(std::uint64_t count) -> bool {
    const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
    for (;;) {
      const TlsStats stats = server_.GetTls().Stats();
      if (stats.full + stats.resumed + stats.failed >= count) {
        return true;
      }
      if (std::chrono::steady_clock::now() > deadline) {
        return false;
      }
      std::this_thread::yield();
    }
  }

  CertificateFiles certificate_{};
  TlsServer server_{TlsOptionsOf(certificate_), Reply};
};

TEST_F(TlsTest, ServesARequest) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsClient client(server_.Port(), Version(version));
    ASSERT_TRUE(client.Shake()) << client.Reason();
    EXPECT_EQ(AskLast(client), "a turtle");
    EXPECT_TRUE(client.SawEnd());
  }
  EXPECT_EQ(server_.GetTls().Stats().full, 2U);
}

TEST_F(TlsTest, ServesSeveralRequestsOnOneConnection) {
  TlsClient client(server_.Port());
  ASSERT_TRUE(client.Shake()) << client.Reason();
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(client.Send(kGet));
    std::string reply;
    while (reply.find("a turtle") == std::string::npos) {
      const std::string more = client.Receive(1);
      ASSERT_FALSE(more.empty()) << reply;
      reply += more;
    }
    EXPECT_EQ(reply.find("HTTP/1.1 200 "), 0U);
  }
}

TEST_F(TlsTest, ServesPipelinedRequests) {
  TlsClient client(server_.Port());
  ASSERT_TRUE(client.Shake()) << client.Reason();
  ASSERT_TRUE(client.Send(std::string(kGet).append(kGet).append(kGet).append(kLastGet)));
  EXPECT_EQ(Count(client.ReceiveAll(), "a turtle"), 4U);
  EXPECT_TRUE(client.SawEnd());
}

TEST_F(TlsTest, TakesAMegabyteByteForByte) {
  const std::string body = test::Pattern(kMegabyte);
  TlsServer echo(TlsOptionsOf(certificate_), [](HttpServer& server) {
    server.Post("/", [](const ServerRequest& request, ServerResponse& response) {
      response.Text(request.Body());
    });
  });
  TlsClient client(echo.Port());
  ASSERT_TRUE(client.Shake()) << client.Reason();
  ASSERT_TRUE(client.Send("POST / HTTP/1.1\r\nHost: t\r\nConnection: close\r\nContent-Length: " +
                          std::to_string(body.size()) + "\r\n\r\n" + body));
  EXPECT_TRUE(BodyOf(client.ReceiveAll()) == body);
  EXPECT_TRUE(client.SawEnd());
}

TEST_F(TlsTest, SendsALongFileByteForByte) {
  const std::string content = test::Pattern(20 * kMegabyte);
  const test::SiteFolder folder;
  folder.Write("long.bin", content);
  TlsServer files(TlsOptionsOf(certificate_),
                  [&](HttpServer& server) { server.Files("/", folder.Path()); });
  TlsClient client(files.Port());
  ASSERT_TRUE(client.Shake()) << client.Reason();
  ASSERT_TRUE(client.Send("GET /long.bin HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n"));
  EXPECT_TRUE(BodyOf(client.ReceiveAll()) == content);
  EXPECT_TRUE(client.SawEnd());
}

TEST_F(TlsTest, AClientThatHasEndedStillReadsItsResponse) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsClient client(server_.Port(), Version(version));
    ASSERT_TRUE(client.Shake()) << client.Reason();
    ASSERT_TRUE(client.Send(kGet));
    client.End();
    EXPECT_EQ(BodyOf(client.ReceiveAll()), "a turtle");
    EXPECT_TRUE(client.SawEnd());
  }
}

TEST_F(TlsTest, ServesOnAfterAConnectionIsCut) {
  for (const std::string_view sent : {std::string_view(), kGet, kGet.substr(0, 20)}) {
    TlsClient client(server_.Port());
    ASSERT_TRUE(client.Shake()) << client.Reason();
    ASSERT_TRUE(client.Send(sent));
    client.Raw() = Socket();  // without close_notify
  }
  {
    TlsWireClient client(server_.Port());
    ASSERT_TRUE(client.Begin());
    client.Raw().Reset();  // within the handshake
  }
  EXPECT_EQ(Visit(server_.Port()), "a turtle");
}

TEST_F(TlsTest, RefusesPlainHttp) {
  test::Client client(server_.Port());
  ASSERT_TRUE(client.Send(kGet));
  EXPECT_EQ(client.ReceiveAll().find("HTTP"), std::string::npos);
  EXPECT_TRUE(AwaitHandshakes(1));
  EXPECT_EQ(server_.GetTls().Stats().failed, 1U);
}

TEST_F(TlsTest, CountsHandshakes) {
  TlsClientWish old;
  old.version = TLS1_2_VERSION;
  old.ciphers = "AES128-SHA";
  EXPECT_EQ(Visit(server_.Port(), old), "refused: sslv3 alert handshake failure");
  TlsClient client(server_.Port());
  ASSERT_TRUE(client.Shake()) << client.Reason();
  EXPECT_EQ(AskLast(client), "a turtle");
  const SslSessionPtr session = client.Session();
  TlsClientWish again;
  again.session = session.get();
  EXPECT_EQ(Visit(server_.Port(), again), "a turtle");
  const TlsStats stats = server_.GetTls().Stats();
  EXPECT_EQ(stats.full, 1U);
  EXPECT_EQ(stats.resumed, 1U);
  EXPECT_EQ(stats.failed, 1U);
}

// The clients whose handshakes a server has refused.
class RefusedClients {
 public:
  auto Note() -> Tls::OnRefused {
    return [this](const Connection& connection, const char* reason) {
      const std::lock_guard<std::mutex> lock(mutex_);
      all_.push_back(connection.GetPeerAddress().Ip() + ": " + reason);
    };
  }

  auto All() -> std::vector<std::string> {
    const std::lock_guard<std::mutex> lock(mutex_);
    return all_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> all_;
};

TEST_F(TlsTest, TellsWhoseHandshakeIsRefusedAndWhy) {
  for (const Way way : {Way::kDirect, Way::kProxy}) {
    RefusedClients refused;
    TlsOptions options = TlsOptionsOf(certificate_);
    options.least = TlsVersion::k13;
    TlsServer server(
        options, [](HttpServer& each) { each.Mount("/", test::Answering(Reply)); },
        TlsServer::WithThreads(1), way, {}, refused.Note());
    const std::string first = way == Way::kProxy ? std::string(kProxyLine) : "";
    {
      TlsWireClient leaves(server.Port(), first);
      ASSERT_TRUE(leaves.Begin());
      ASSERT_TRUE(test::AwaitBytes(leaves.Raw().GetSocket().GetFd(), 1));
      leaves.Raw().FinishSending();
      leaves.Raw().ReceiveAll();
      TlsWireClient good(server.Port(), first);
      ASSERT_TRUE(good.Shake() && good.Send(kLastGet));
      EXPECT_EQ(BodyOf(good.ReceiveAll()), "a turtle");
    }
    EXPECT_EQ(refused.All(), std::vector<std::string>());
    test::Client plain(server.Port());
    ASSERT_TRUE(plain.Send(first + std::string(kGet)));
    EXPECT_EQ(plain.ReceiveAll().find("HTTP"), std::string::npos);
    const std::string ip = way == Way::kProxy ? "192.0.2.7" : "127.0.0.1";
    EXPECT_EQ(refused.All(), std::vector<std::string>{ip + ": http request"});
    if (way == Way::kDirect) {
      TlsClient old(server.Port(), Version(TLS1_2_VERSION));
      EXPECT_FALSE(old.Shake());
      EXPECT_EQ(refused.All().back(), ip + ": unsupported protocol");
    }
  }
}

// --- what a handler sees ------------------------------------------------------------------------

void TellWhetherSecure(Exchange& exchange) {
  exchange.Reply(TextResponse(200, exchange.IsSecure() ? "secure" : "plain"));
}

auto Trusting(const char* proxy) -> HttpOptions {
  HttpOptions options;
  options.trusted_proxies = std::make_shared<const CidrSet>(std::vector<std::string>{proxy});
  return options;
}

auto AskWith(TlsClient& client, const std::string& fields) -> std::string {
  const bool sent = client.Shake() && client.Send(test::Get("/", "Connection: close\r\n" + fields));
  return sent ? BodyOf(client.ReceiveAll()) : "not sent: " + client.Reason();
}

// A request: the fields of a proxy, and whether it is secure over TLS and without it.
struct ProxiedRequest {
  std::string fields;
  std::string over_tls;
  std::string over_plain;
};

TEST_F(TlsTest, AnExchangeIsSecureUnlessATrustedProxySaysOtherwise) {
  TlsServer encrypted(TlsOptionsOf(certificate_), TellWhetherSecure, 1, Trusting("127.0.0.1"));
  const test::RunningServer plain(TellWhetherSecure, Trusting("127.0.0.1"));
  for (const auto& [fields, over_tls, over_plain] :
       {ProxiedRequest{"", "secure", "plain"},
        {"X-Forwarded-For: 192.0.2.7\r\n", "secure", "plain"},
        {"X-Forwarded-Proto: http\r\n", "plain", "plain"},
        {"X-Forwarded-Proto: https\r\n", "secure", "secure"},
        {"Forwarded: for=192.0.2.7;proto=http\r\n", "plain", "plain"},
        {"Forwarded: for=192.0.2.7;proto=https\r\n", "secure", "secure"}}) {
    TlsClient client(encrypted.Port());
    EXPECT_EQ(AskWith(client, fields), over_tls) << fields;
    EXPECT_EQ(test::HttpClient(plain.Port()).Ask(test::Get("/", fields)).body, over_plain)
        << fields;
  }
}

TEST_F(TlsTest, WhatOthersSayAboutTheSchemeMeansNothing) {
  TlsServer encrypted(TlsOptionsOf(certificate_), TellWhetherSecure, 1, Trusting("192.0.2.1"));
  const test::RunningServer plain(TellWhetherSecure, Trusting("192.0.2.1"));
  for (const char* scheme : {"http", "https"}) {
    const std::string fields = std::string("X-Forwarded-Proto: ") + scheme + "\r\n";
    TlsClient client(encrypted.Port());
    EXPECT_EQ(AskWith(client, fields), "secure") << scheme;
    EXPECT_EQ(test::HttpClient(plain.Port()).Ask(test::Get("/", fields)).body, "plain") << scheme;
  }
}

void TellSubject(Exchange& exchange) {
  exchange.Reply(
      TextResponse(200, "[" + std::string(exchange.GetConnection().PeerSubject()) + "]"));
}

TEST_F(TlsTest, AHandlerSeesTheSubjectOfTheClientsCertificate) {
  CertificateWish names;
  names.names = {"authority"};
  names.is_authority = true;
  const CertificateFiles authority(names);
  names = {};
  names.names = {"ada+\xC3\xA9"};
  const CertificateFiles mine(names, &authority);
  TlsOptions options = TlsOptionsOf(certificate_);
  options.clients = ClientCertificates::kOptional;
  options.client_ca = authority.Chain();
  TlsServer server(options, TellSubject);
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsClientWish wish = Version(version);
    TlsClient nobody(server.Port(), wish);
    EXPECT_EQ(AskWith(nobody, ""), "[]");
    wish.certificate = &mine;
    TlsClient ada(server.Port(), wish);
    EXPECT_EQ(AskWith(ada, ""), "[CN=ada\\+\\C3\\A9]");
  }
}

void TellProtocol(Exchange& exchange) {
  exchange.Reply(TextResponse(200, "[" + std::string(exchange.GetConnection().Protocol()) + "]"));
}

TEST_F(TlsTest, AHandlerSeesTheProtocolThatWasAgreedOn) {
  TlsOptions options = TlsOptionsOf(certificate_);
  options.protocols = {"first", "http/1.1"};
  TlsServer server(options, TellProtocol);
  for (const auto& [offer, agreed] : {std::pair("", "[]"),
                                      {"\x08http/1.1", "[http/1.1]"},
                                      {"\x08http/1.1\x05"
                                       "first",
                                       "[first]"}}) {
    TlsClientWish wish;
    wish.protocols = offer;
    TlsClient client(server.Port(), wish);
    EXPECT_EQ(AskWith(client, ""), agreed);
  }
  const test::RunningServer plain(TellProtocol);
  EXPECT_EQ(test::HttpClient(plain.Port()).Ask(test::Get("/", "")).body, "[]");
}

TEST_F(TlsTest, AnExchangeBehindAProxyHeaderIsSecure) {
  TlsServer server(
      TlsOptionsOf(certificate_),
      [](HttpServer& each) { each.Mount("/", test::Answering(TellWhetherSecure)); },
      TlsServer::WithThreads(1), Way::kProxy);
  TlsWireClient client(server.Port(), std::string(kProxyLine));
  ASSERT_TRUE(client.Shake());
  ASSERT_TRUE(client.Send(kLastGet));
  EXPECT_EQ(BodyOf(client.ReceiveAll()), "secure");
}

// --- many clients, and replacements -------------------------------------------------------------

TEST_F(TlsTest, ServesHundredsOfClientsAtOnce) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kClients = 75;
  std::atomic<std::size_t> served{0};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, &served] {
      std::deque<TlsWireClient> clients;
      bool good = true;
      for (std::size_t n = 0; n < kClients; ++n) {
        good = clients.emplace_back(server_.Port()).Begin() && good;
      }
      for (TlsWireClient& each : clients) {
        const bool is_served =
            good && each.Shake() && each.Send(kLastGet) && BodyOf(each.ReceiveAll()) == "a turtle";
        served += is_served ? 1 : 0;
      }
    });
  }
  for (std::thread& each : threads) {
    each.join();
  }
  EXPECT_EQ(served, kThreads * kClients);
  EXPECT_EQ(server_.GetTls().Stats().full, kThreads * kClients);
}

TEST_F(TlsTest, AClientResumesItsSessionOnAnyLoop) {
  constexpr std::size_t kLoops = 3;
  constexpr std::size_t kVisits = 12;
  std::mutex mutex;
  std::set<std::thread::id> loops;
  TlsServer server(
      TlsOptionsOf(certificate_),
      [&](Exchange& exchange) {
        const std::lock_guard<std::mutex> lock(mutex);
        loops.insert(std::this_thread::get_id());
        Reply(exchange);
      },
      kLoops);
  TlsClient first(server.Port());
  ASSERT_TRUE(first.Shake()) << first.Reason();
  ASSERT_TRUE(first.Send(kGet));
  ASSERT_EQ(first.Receive(1), "H");
  const SslSessionPtr session = first.Session();
  TlsClientWish wish;
  wish.session = session.get();
  std::deque<TlsClient> clients;  // all stay, so that the loops share them
  for (std::size_t i = 0; i < kVisits; ++i) {
    TlsClient& client = clients.emplace_back(server.Port(), wish);
    ASSERT_TRUE(client.Shake()) << client.Reason();
    EXPECT_TRUE(client.IsResumed());
    ASSERT_TRUE(client.Send(kGet));
    ASSERT_EQ(client.Receive(1), "H");
  }
  const std::lock_guard<std::mutex> lock(mutex);
  EXPECT_EQ(loops.size(), kLoops);
  EXPECT_EQ(server.GetTls().Stats().resumed, kVisits);
}

TEST_F(TlsTest, NewClientsGetAReplacedCertificate) {
  TlsClient before(server_.Port());
  ASSERT_TRUE(before.Shake()) << before.Reason();
  EXPECT_EQ(before.ServerName(), "localhost");
  EXPECT_EQ(server_.GetTls().Names(), std::set<std::string>{"localhost"});
  CertificateWish other;
  other.names = {"new.test", "localhost"};
  const CertificateFiles made(other);
  server_.GetTls().Replace(TlsOptionsOf(made));
  TlsClient after(server_.Port());
  ASSERT_TRUE(after.Shake()) << after.Reason();
  EXPECT_EQ(after.ServerName(), "new.test");
  EXPECT_EQ(server_.GetTls().Names(), (std::set<std::string>{"localhost", "new.test"}));
  EXPECT_EQ(AskLast(before), "a turtle");  // the one that was connected goes on
  EXPECT_EQ(AskLast(after), "a turtle");
}

TEST_F(TlsTest, AHandshakeUnderWayGoesOnAfterAReplacement) {
  TlsWireClient client(server_.Port(), {}, 100);
  ASSERT_TRUE(client.Begin());
  const CertificateFiles made;
  server_.GetTls().Replace(TlsOptionsOf(made));
  ASSERT_TRUE(client.Shake());
  ASSERT_TRUE(client.Send(kLastGet));
  EXPECT_EQ(BodyOf(client.ReceiveAll()), "a turtle");
}

TEST_F(TlsTest, TicketsStayGoodAfterAReplacement) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsClient before(server_.Port(), Version(version));
    ASSERT_TRUE(before.Shake()) << before.Reason();
    EXPECT_EQ(AskLast(before), "a turtle");
    const SslSessionPtr session = before.Session();
    server_.GetTls().Replace(TlsOptionsOf(certificate_));
    TlsClientWish wish = Version(version);
    wish.session = session.get();
    TlsClient after(server_.Port(), wish);
    ASSERT_TRUE(after.Shake()) << after.Reason();
    EXPECT_TRUE(after.IsResumed());
    EXPECT_EQ(AskLast(after), "a turtle");
  }
}

TEST_F(TlsTest, ABadFileChangesNothing) {
  TlsOptions bad = TlsOptionsOf(certificate_);
  bad.certificates.front().chain = certificate_.Path("missing.pem");
  try {
    server_.GetTls().Replace(bad);
    ADD_FAILURE() << "it has taken a file that is missing";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.what(), certificate_.Path("missing.pem") + ": No such file or directory");
  }
  const CertificateFiles other;
  bad.certificates.front() = {certificate_.Chain(), other.Key(), ""};
  try {
    server_.GetTls().Replace(bad);
    ADD_FAILURE() << "it has taken another certificate's key";
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(error.what(), other.Key() + ": it is not the key of " + certificate_.Chain());
  }
  EXPECT_EQ(Visit(server_.Port()), "a turtle");
}

TEST_F(TlsTest, FilesAreReadBeforeTheyAreUsed) {
  CertificateWish other;
  other.names = {"new.test"};
  std::shared_ptr<const TlsContext> context;
  {
    const CertificateFiles made(other);
    context = server_.GetTls().Read(TlsOptionsOf(made));
  }  // the files are gone
  TlsClient before(server_.Port());
  ASSERT_TRUE(before.Shake()) << before.Reason();
  EXPECT_EQ(before.ServerName(), "localhost");
  server_.GetTls().Use(context);
  TlsClient after(server_.Port());
  ASSERT_TRUE(after.Shake()) << after.Reason();
  EXPECT_EQ(after.ServerName(), "new.test");
  EXPECT_EQ(AskLast(before), "a turtle");
  EXPECT_EQ(AskLast(after), "a turtle");
  EXPECT_THROW(static_cast<void>(server_.GetTls().Read(TlsOptions())), std::invalid_argument);
}

TEST_F(TlsTest, AnotherServerResumesWithTheSameKeys) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsServer other(TlsOptionsOf(certificate_), Reply);
    TlsClient first(server_.Port(), Version(version));
    ASSERT_TRUE(first.Shake()) << first.Reason();
    EXPECT_EQ(AskLast(first), "a turtle");
    const SslSessionPtr session = first.Session();
    TlsClientWish wish = Version(version);
    wish.session = session.get();
    {
      TlsClient early(other.Port(), wish);
      ASSERT_TRUE(early.Shake()) << early.Reason();
      EXPECT_FALSE(early.IsResumed()) << "it has keys of its own";
    }
    ASSERT_TRUE(other.GetTls().LoadKeys(server_.GetTls().SaveKeys()));
    TlsClient later(other.Port(), wish);
    ASSERT_TRUE(later.Shake()) << later.Reason();
    EXPECT_TRUE(later.IsResumed());
    EXPECT_EQ(AskLast(later), "a turtle");
    EXPECT_EQ(other.GetTls().Stats().resumed, 1U);
  }
}

TEST_F(TlsTest, KeysThatAreNoneChangeNothing) {
  TlsClient first(server_.Port());
  ASSERT_TRUE(first.Shake()) << first.Reason();
  EXPECT_EQ(AskLast(first), "a turtle");
  const SslSessionPtr session = first.Session();
  for (const char* bytes : {"", "0", "1c", "no keys"}) {
    EXPECT_FALSE(server_.GetTls().LoadKeys(bytes)) << bytes;
  }
  TlsClientWish wish;
  wish.session = session.get();
  TlsClient again(server_.Port(), wish);
  ASSERT_TRUE(again.Shake()) << again.Reason();
  EXPECT_TRUE(again.IsResumed());
}

TEST_F(TlsTest, StopsWhileHandshakesAreUnderWay) {
  ServerOptions options = TlsServer::WithThreads(1);
  options.stop_timeout = std::chrono::hours(1);
  TlsServer server(
      TlsOptionsOf(certificate_), [](HttpServer&) {}, options);
  TlsWireClient begun(server.Port());
  ASSERT_TRUE(begun.Begin());
  ASSERT_TRUE(test::AwaitBytes(begun.Raw().GetSocket().GetFd(), 1));  // the server's part
  test::Client cut(server.Port());
  ASSERT_TRUE(cut.Send("\x16\x03\x01"));
  server.Get().Stop();
  server.Join();
  EXPECT_FALSE(begun.Shake() && begun.Send(kGet) && !begun.ReceiveAll().empty());
}

TEST_F(TlsTest, ServesClientsOfAProxy) {
  TlsServer server(
      TlsOptionsOf(certificate_),
      [](HttpServer& each) {
        each.Mount("/", test::Answering([](Exchange& exchange) {
                     const NetAddress peer = exchange.GetConnection().GetPeerAddress();
                     exchange.Reply(TextResponse(200, peer.Ip()));
                   }));
      },
      TlsServer::WithThreads(1), Way::kProxy);
  for (const std::size_t step : {std::string::npos, std::size_t{1}, kProxyLine.size() - 1}) {
    TlsWireClient client(server.Port(), std::string(kProxyLine), step);
    ASSERT_TRUE(client.Shake()) << step;
    ASSERT_TRUE(client.Send(kLastGet));
    EXPECT_EQ(BodyOf(client.ReceiveAll()), "192.0.2.7");
    EXPECT_TRUE(client.Session().SawEnd());
  }
  EXPECT_EQ(server.GetTls().Stats().full, 3U);
}

// A server with TLS whose clock stands still: the turns of handshakes are renewed only when a round
// has given out its turns.
class TlsDeadlineTest : public testing::Test {
 protected:
  static auto Times() -> HttpOptions {
    HttpOptions options;
    options.head_timeout = seconds(10);
    options.idle_timeout = seconds(60);
    return options;
  }

  auto Serve(Connection& connection, LoopHttp& http) -> std::unique_ptr<Session> {
    if (!shared_) {
      shared_ = std::make_unique<Http1Shared>(http);
    }
    std::unique_ptr<Channel> channel = tls_.Channels()(connection);
    if (way_ == Way::kProxy) {
      channel = std::make_unique<ProxyChannel>(std::move(channel));
    }
    connection.SetChannel(std::move(channel));
    return std::make_unique<HttpSession>(connection, *shared_);
  }

  // Waits until the loop has this number of connections.
  auto AwaitCount(std::size_t count) -> bool {
    return server_.Loop().Await([&] { return server_.Loop().Get().ConnectionCount() == count; });
  }

  // Begins many handshakes in one round. Returns the clients.
  auto BeginMany(std::size_t count, const std::string& first) -> std::deque<TlsWireClient> {
    std::deque<TlsWireClient> clients;
    server_.Loop().WhileItStandsStill([&] {
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_TRUE(clients.emplace_back(server_.Port(), first).Begin());
      }
    });
    return clients;
  }

  static auto IsServed(TlsWireClient& client) -> bool {
    return client.Shake() && client.Send(kLastGet) && BodyOf(client.ReceiveAll()) == "a turtle";
  }

  const CertificateFiles certificate_{};
  Tls tls_{TlsOptionsOf(certificate_)};
  Way way_ = Way::kDirect;
  std::unique_ptr<Http1Shared> shared_;
  test::ClockedServer server_{
      [](Looper& looper, LoopHttp& http) { http.Mount("/", test::Answering(Reply)(looper)); },
      Times(), [this](Connection& connection, LoopHttp& http) { return Serve(connection, http); }};
};

TEST_F(TlsDeadlineTest, AHandshakeThatNeverEndsIsResetAfterTheTimeOfAHead) {
  TlsWireClient client(server_.Port());
  ASSERT_TRUE(AwaitCount(1));
  ASSERT_TRUE(client.Begin());
  ASSERT_TRUE(test::AwaitBytes(client.Raw().GetSocket().GetFd(), 1));
  server_.Loop().RunRounds(3);
  server_.Advance(seconds(9));
  EXPECT_TRUE(AwaitCount(1));
  server_.Advance(seconds(2));
  EXPECT_TRUE(AwaitCount(0));
  client.Raw().ReceiveAll();
  EXPECT_TRUE(client.Raw().WasReset());
}

TEST_F(TlsDeadlineTest, ClientsThatWaitForTheirTurnAreServed) {
  auto clients = BeginMany(30, "");
  for (TlsWireClient& each : clients) {
    EXPECT_TRUE(IsServed(each));
  }
  EXPECT_EQ(tls_.Stats().full, clients.size());
}

TEST_F(TlsDeadlineTest, ClientsOfAProxyThatWaitForTheirTurnAreServed) {
  way_ = Way::kProxy;
  auto clients = BeginMany(30, std::string(kProxyLine));
  for (TlsWireClient& each : clients) {
    EXPECT_TRUE(IsServed(each));
  }
  EXPECT_EQ(tls_.Stats().full, clients.size());
}

TEST_F(TlsDeadlineTest, AClientThatGivesUpBeforeItsTurnDelaysNobody) {
  constexpr std::size_t kCount = 40;
  std::deque<TlsWireClient> clients;
  server_.Loop().WhileItStandsStill([&] {
    for (std::size_t i = 0; i < kCount; ++i) {
      ASSERT_TRUE(clients.emplace_back(server_.Port()).Begin());
      if (i % 4 == 1) {
        clients.back().Raw().Reset();
      } else if (i % 4 == 2) {
        clients.back().Raw().FinishSending();
      }
    }
  });
  for (std::size_t i = 0; i < kCount; ++i) {
    if (i % 4 == 0 || i % 4 == 3) {
      EXPECT_TRUE(IsServed(clients[i])) << i;
    }
  }
  clients.clear();
  server_.Advance(seconds(11));  // the longest that a deleted connection lingers
  EXPECT_TRUE(AwaitCount(0));
}

}  // namespace
}  // namespace TURTLE_SERVER
