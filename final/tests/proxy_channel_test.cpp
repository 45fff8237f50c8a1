// A web server behind a proxy that sends the PROXY protocol: everything that asks for the client's
// address gets the one of the header.
#include "core/proxy_channel.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <future>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "app/serve_options.h"
#include "app/serve_parts.h"
#include "cgi/cgi.h"
#include "log/log_writer.h"
#include "sites/sites.h"
#include "support/cgi_server.h"
#include "support/clocked_server.h"
#include "support/http_client.h"
#include "support/log_folder.h"
#include "support/loop_thread.h"
#include "support/needs_io_uring.h"
#include "support/pattern.h"
#include "support/rot13_channel.h"
#include "support/running_server.h"
#include "web/access_log.h"
#include "web/http_server.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::LoopThread;
using namespace std::string_literals;

const auto kLine = "PROXY TCP4 192.0.2.7 198.51.100.1 56324 443\r\n"s;
const auto kLine6 = "PROXY TCP6 2001:db8::7 2001:db8::1 56324 443\r\n"s;
const auto kMappedLine = "PROXY TCP6 ::ffff:192.0.2.7 ::1 56324 443\r\n"s;
const auto kUnknownLine = "PROXY UNKNOWN\r\n"s;
const auto kSignature = "\r\n\r\n\0\r\nQUIT\n"s;
const auto kAddresses = "\xc0\x00\x02\x08\xc6\x33\x64\x01\xdc\x05\x01\xbb"s;
const auto kBinary = kSignature + "\x21\x11\x00\x0c"s + kAddresses;
const auto kLocal = kSignature + "\x20\x00\x00\x00"s;
const auto kLocalWithAddresses = kSignature + "\x20\x11\x00\x0c"s + kAddresses;

auto LineOf(const std::string& client) -> std::string {
  return "PROXY TCP4 " + client + " 198.51.100.1 56324 443\r\n";
}

// The result of Open(), called once for each part of a stream.
struct Opened {
  std::string plain;
  ChannelStatus status = ChannelStatus::kOpen;
  std::string peer;    // "": none
  bool silent = true;  // nothing was sent
};

auto Open(ProxyChannel& channel, const std::vector<std::string_view>& parts) -> Opened {
  Opened opened;
  Buffer plain;
  OutQueue reply;
  for (const std::string_view part : parts) {
    if (opened.status == ChannelStatus::kOpen) {
      opened.status = channel.Open(part, plain, reply);
    }
  }
  opened.plain = plain.View();
  opened.silent = reply.Empty();
  opened.peer = channel.PeerAddress() == nullptr ? "" : channel.PeerAddress()->ToString();
  return opened;
}

auto TextOf(const OutQueue& queue) -> std::string {
  std::string text(4096, '\0');
  text.resize(queue.Copy(text.data(), text.size()).bytes);
  return text;
}

TEST(ProxyChannelTest, EverySplitGivesTheSame) {
  const std::string request = Get("/");
  for (const std::string& header : {kLine, kLine6, kBinary}) {
    const std::string all = header + request;
    for (std::size_t at = 0; at <= all.size(); ++at) {
      ProxyChannel channel;
      const Opened opened =
          Open(channel, {std::string_view(all).substr(0, at), std::string_view(all).substr(at)});
      ASSERT_EQ(opened.status, ChannelStatus::kOpen) << at;
      ASSERT_EQ(opened.plain, request) << at;
      ASSERT_NE(opened.peer, "") << at;
      ASSERT_TRUE(opened.silent) << at;
    }
  }
}

TEST(ProxyChannelTest, ThereIsNoInputAndNoAddressBeforeTheHeaderIsComplete) {
  ProxyChannel channel;
  for (const char& each : std::string_view(kLine).substr(0, kLine.size() - 1)) {
    const Opened opened = Open(channel, {{&each, 1}});
    ASSERT_EQ(opened.status, ChannelStatus::kOpen);
    ASSERT_EQ(opened.plain, "");
    ASSERT_EQ(opened.peer, "");
  }
  EXPECT_EQ(Open(channel, {"\n"}).peer, "192.0.2.7:56324");
}

TEST(ProxyChannelTest, OnlyTheFirstHeaderIsTakenOff) {
  ProxyChannel channel;
  const Opened opened = Open(channel, {kLine + kBinary, kLine});
  EXPECT_EQ(opened.plain, kBinary + kLine);
  EXPECT_EQ(opened.peer, "192.0.2.7:56324");
}

TEST(ProxyChannelTest, NothingCanBeSealedBeforeTheHeaderIsComplete) {
  for (const bool encrypted : {false, true}) {
    ProxyChannel channel(encrypted ? std::make_unique<test::LineChannel>() : nullptr);
    EXPECT_FALSE(channel.CanSeal());
    Open(channel, {std::string_view(kLine).substr(0, kLine.size() - 1)});
    EXPECT_FALSE(channel.CanSeal());
    Open(channel, {"\n"});
    EXPECT_EQ(channel.CanSeal(), !encrypted) << "its handshake is still to come";
    Open(channel, {test::LineChannel::kHello});
    EXPECT_TRUE(channel.CanSeal());
  }
}

TEST(ProxyChannelTest, WhatFollowsTheHeaderPassesTheInnerChannel) {
  const std::string all = kBinary + "hello\nuryyb\nend\n";
  for (std::size_t at = 0; at <= all.size(); ++at) {
    ProxyChannel channel(std::make_unique<test::LineChannel>());
    Buffer plain;
    OutQueue wire;
    ChannelStatus status = channel.Open(all.substr(0, at), plain, wire);
    if (status == ChannelStatus::kOpen) {
      status = channel.Open(all.substr(at), plain, wire);
    }
    channel.Seal("hello\n", wire);
    channel.SealEnd(wire);
    ASSERT_EQ(status, ChannelStatus::kEnded) << at;
    ASSERT_EQ(plain.View(), "hello\n") << at;
    ASSERT_EQ(TextOf(wire), "welcome\nuryyb\nend\n") << at;
    ASSERT_EQ(channel.PeerAddress()->ToString(), "192.0.2.8:56325") << at;
  }
}

TEST(ProxyChannelTest, AnInnerChannelThatBreaksIsHeard) {
  ProxyChannel channel(std::make_unique<test::LineChannel>());
  Buffer plain;
  OutQueue wire;
  EXPECT_EQ(channel.Open(kLine + "garbage\n", plain, wire), ChannelStatus::kBroken);
  EXPECT_EQ(TextOf(wire), test::LineChannel::kAlert);
}

TEST(ProxyChannelTest, APeerWithoutAHeaderDoesNotEvenGetAnEnd) {
  ProxyChannel channel(std::make_unique<test::LineChannel>());
  OutQueue wire;
  channel.SealEnd(wire);
  EXPECT_TRUE(wire.Empty());
}

// A channel that nobody can read, or so it says.
class SecureChannel final : public test::Rot13Channel {
 public:
  [[nodiscard]] auto IsSecure() const noexcept -> bool override { return true; }
  [[nodiscard]] auto PeerSubject() const noexcept -> std::string_view override { return "CN=ada"; }
  [[nodiscard]] auto Protocol() const noexcept -> std::string_view override { return "h2"; }
};

TEST(ProxyChannelTest, ThePeersSubjectIsThatOfTheInnerChannel) {
  EXPECT_EQ(ProxyChannel().PeerSubject(), "");
  EXPECT_EQ(ProxyChannel(std::make_unique<SecureChannel>()).PeerSubject(), "CN=ada");
}

TEST(ProxyChannelTest, TheProtocolIsThatOfTheInnerChannel) {
  EXPECT_EQ(ProxyChannel().Protocol(), "");
  EXPECT_EQ(ProxyChannel(std::make_unique<SecureChannel>()).Protocol(), "h2");
}

TEST(ProxyChannelTest, IsAsSecureAsTheInnerChannel) {
  ProxyChannel plain;
  EXPECT_FALSE(plain.IsSecure());
  ProxyChannel rotated(std::make_unique<test::Rot13Channel>());
  EXPECT_FALSE(rotated.IsSecure());
  ProxyChannel secure(std::make_unique<SecureChannel>());
  EXPECT_TRUE(secure.IsSecure());
  for (ProxyChannel* const each : {&plain, &rotated, &secure}) {
    Open(*each, {kLine});
  }
  EXPECT_FALSE(plain.IsSecure()) << "a header is no protection";
  EXPECT_FALSE(rotated.IsSecure());
  EXPECT_TRUE(secure.IsSecure());
}

TEST(ProxyChannelTest, TheReasonOfARefusalIsToldOnce) {
  struct Case {
    std::string header;
    std::string reason;
  };
  for (const auto& [header, reason] :
       {Case{Get("/"), "the stream begins with something else"},
        {"PROXY UDP4 a b 1 2\r\n", "a protocol other than TCP4, TCP6 and UNKNOWN"},
        {LineOf("localhost"), "a malformed address or port"},
        {"PROXY UNKNOWN" + std::string(94, ' '), "a line that is too long"},
        {kSignature + "\x22", "an unknown version or command"},
        {kSignature + "\x21\x41", "an unknown address family or transport"},
        {kSignature + "\x21\x11\x00\x0b"s, "a length that can't be right"}}) {
    std::string told;
    ProxyChannel channel(nullptr, [&told](const char* each) { told += each; });
    EXPECT_EQ(Open(channel, {header}).status, ChannelStatus::kBroken);
    EXPECT_EQ(told, reason);
  }
}

TEST(ProxyChannelTest, WhatIsNoHeaderBreaksItAndYieldsNothing) {
  for (const std::string& wrong : {Get("/"), "PROXY TCP4 a b 1 2\r\n" + Get("/"), "\r\n" + kLine}) {
    ProxyChannel channel;
    const Opened opened = Open(channel, {wrong});
    EXPECT_EQ(opened.status, ChannelStatus::kBroken) << wrong;
    EXPECT_EQ(opened.plain, "") << wrong;
    EXPECT_EQ(opened.peer, "") << wrong;
    EXPECT_TRUE(opened.silent) << wrong;
  }
}

// A server that expects a PROXY header of every client.
class ProxiedServer {
 public:
  ProxiedServer(PollerKind poller, const std::function<void(HttpServer&)>& setup)
      : ProxiedServer(Proxied(poller), setup) {}
  ProxiedServer(ServerOptions options, const std::function<void(HttpServer&)>& setup)
      : server_(NetAddress("127.0.0.1", 0), {}, std::move(options)) {
    setup(server_);
    thread_ = std::thread([this] {
      server_.Begin();
      ended_.set_value();
    });
  }
  ProxiedServer(const ProxiedServer&) = delete;
  auto operator=(const ProxiedServer&) -> ProxiedServer& = delete;
  ~ProxiedServer() {
    server_.Stop();
    if (ended_.get_future().wait_for(test::kPatience) != std::future_status::ready) {
      std::cerr << "the server doesn't end" << std::endl;
      std::abort();  // there is no way to go on without the thread
    }
    thread_.join();
  }

  [[nodiscard]] auto Port() const -> int { return server_.LocalAddress().Port(); }

  // Sends a header and a request at once.
  [[nodiscard]] auto Ask(const std::string& header, const std::string& target) const -> HttpReply {
    return HttpClient(Port()).Ask(header + Get(target));
  }

  void SetMaxConnections(std::size_t limit) { server_.SetMaxConnections(limit); }

  // Lets the loop take what has arrived.
  void Settle() {
    for (int i = 0; i < 2; ++i) {  // the first one's round has ended when the second runs
      auto ran = std::make_shared<std::promise<void>>();
      auto has_run = ran->get_future();
      ASSERT_TRUE(server_.Loopers().front()->Post([ran] { ran->set_value(); }));
      ASSERT_EQ(has_run.wait_for(test::kPatience), std::future_status::ready);
    }
  }

 private:
  static auto Proxied(PollerKind poller) -> ServerOptions {
    ServerOptions options;
    options.threads = 1;
    options.poller = poller;
    options.channel = [](Connection&) { return std::make_unique<ProxyChannel>(); };
    return options;
  }

  HttpServer server_;
  std::promise<void> ended_;
  std::thread thread_;
};

// Responds with the address of the connection.
void TellPeer(Exchange& exchange) {
  exchange.Reply(TextResponse(200, exchange.GetConnection().GetPeerAddress().ToString()));
}

auto LocalAddressOf(HttpClient& client) -> std::string {
  NetAddress address;
  ::getsockname(client.GetFd(), address.Data(), address.Length());
  return address.ToString();
}

class ProxiedServerTest : public testing::TestWithParam<PollerKind> {
 protected:
  void SetUp() override {
    if (GetParam() == PollerKind::kIoUring) {
      TURTLE_NEEDS_IO_URING();
    }
  }

  // A server that responds with the client's address: "/source" of the request, others of the
  // connection.
  [[nodiscard]] static auto Telling() -> std::unique_ptr<ProxiedServer> {
    return std::make_unique<ProxiedServer>(GetParam(), [](HttpServer& http) {
      http.Get("/source", [](const ServerRequest& request, ServerResponse& response) {
        response.Text(request.Source().ToString());
      });
      http.Mount("/", test::Answering(TellPeer));
    });
  }

  // A server with the rule of one site.
  [[nodiscard]] static auto Ruled(SiteRule rule) -> std::unique_ptr<ProxiedServer> {
    SiteOptions site;
    site.is_default = true;
    site.rules.push_back(std::move(rule));
    auto sites = std::make_shared<Sites>(SitesOptions{site});
    return std::make_unique<ProxiedServer>(GetParam(), [sites](HttpServer& http) {
      // The factory keeps the sites for as long as the server lives.
      http.Mount("/", [sites, around = sites->Around(test::Answering(TellPeer))](Looper& looper) {
        return around(looper);
      });
    });
  }
};

TEST_P(ProxiedServerTest, TheConnectionAndTheRequestHaveTheClientsAddress) {
  const auto server = Telling();
  struct Case {
    std::string header;
    std::string address;
  };
  for (const auto& [header, address] : {Case{kLine, "192.0.2.7:56324"},
                                        {kLine6, "[2001:db8::7]:56324"},
                                        {kBinary, "192.0.2.8:56325"}}) {
    EXPECT_EQ(server->Ask(header, "/peer").body, address);
    EXPECT_EQ(server->Ask(header, "/source").body, address);
  }
}

TEST_P(ProxiedServerTest, WhoHasNoClientKeepsTheProxysAddress) {
  const auto server = Telling();
  for (const std::string& header : {kLocal, kLocalWithAddresses, kUnknownLine}) {
    HttpClient client(server->Port());
    EXPECT_EQ(client.Ask(header + Get("/peer")).body, LocalAddressOf(client));
    EXPECT_EQ(client.Ask(Get("/source")).body, LocalAddressOf(client));
  }
}

TEST_P(ProxiedServerTest, AHeaderMayComeByteByByte) {
  const auto server = Telling();
  for (const std::string& header : {kLine, kBinary}) {
    HttpClient client(server->Port());
    for (const char& each : header + Get("/peer")) {
      ASSERT_TRUE(client.Send({&each, 1}));
      server->Settle();
    }
    const HttpReply reply = client.ReadReply();
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, server->Ask(header, "/peer").body);
  }
}

TEST_P(ProxiedServerTest, AHeaderMayBringAPartOfARequestOrSeveral) {
  const auto server = Telling();
  HttpClient part(server->Port());
  ASSERT_TRUE(part.Send(kLine + "GET /peer HT"));
  server->Settle();
  EXPECT_EQ(part.Ask("TP/1.1\r\nHost: t\r\n\r\n").body, "192.0.2.7:56324");

  HttpClient several(server->Port());
  ASSERT_TRUE(several.Send(kLine + Get("/peer") + Get("/source") + Get("/peer")));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(several.ReadReply().body, "192.0.2.7:56324");
  }
}

TEST_P(ProxiedServerTest, EveryRequestOfAConnectionHasTheSameAddress) {
  const auto server = Telling();
  HttpClient client(server->Port());
  ASSERT_TRUE(client.Send(kLine));
  for (const char* target : {"/peer", "/source", "/peer", "/source"}) {
    EXPECT_EQ(client.Ask(Get(target)).body, "192.0.2.7:56324");
  }
}

// Only the proxy can send the first bytes. A client that sends its own header comes too late.
TEST_P(ProxiedServerTest, ASecondHeaderIsAMalformedRequest) {
  const auto server = Telling();
  EXPECT_EQ(HttpClient(server->Port()).Ask(kLine + LineOf("203.0.113.9") + Get("/peer")).status,
            400);
  HttpClient later(server->Port());
  EXPECT_EQ(later.Ask(kLine + Get("/peer")).status, 200);
  EXPECT_EQ(later.Ask(LineOf("203.0.113.9") + Get("/peer")).status, 400);
}

TEST_P(ProxiedServerTest, AMalformedHeaderClosesWithoutAByte) {
  std::atomic<int> calls = 0;
  const ProxiedServer server(GetParam(), [&calls](HttpServer& http) {
    http.Mount("/", test::Answering([&calls](Exchange& exchange) {
                 ++calls;
                 TellPeer(exchange);
               }));
  });
  const std::vector<std::string> wrong{Get("/"),
                                       "GET",
                                       "\r\n\r\n" + Get("/"),
                                       LineOf("localhost") + Get("/"),
                                       "PROXY TCP4 192.0.2.7 198.51.100.1 65536 443\r\n" + Get("/"),
                                       "PROXY UNKNOWN" + std::string(94, ' '),
                                       kSignature + "\x22",
                                       kSignature + "\x21\x11\x00\x0b"s};
  for (const std::string& each : wrong) {
    HttpClient client(server.Port());
    ASSERT_TRUE(client.Send(each));
    EXPECT_TRUE(client.IsClosedByServer()) << each;
    HttpClient slow(server.Port());
    for (const char& byte : each) {
      if (!slow.Send({&byte, 1})) {
        break;  // it is closed already
      }
    }
    EXPECT_EQ(slow.ReadRest(), "") << each;
    EXPECT_TRUE(slow.Ended() || slow.WasReset()) << each;
  }
  EXPECT_EQ(server.Ask(kLine, "/").status, 200);
  EXPECT_EQ(calls, 1);
}

TEST_P(ProxiedServerTest, AClientThatEndsWithinTheHeaderIsClosed) {
  const auto server = Telling();
  for (const std::string& part :
       {std::string(), kLine.substr(0, 20), kLine, kBinary.substr(0, 20)}) {
    HttpClient client(server->Port());
    ASSERT_TRUE(client.Send(part));
    client.FinishSending();
    EXPECT_TRUE(client.IsClosedByServer()) << part;
  }
}

TEST_P(ProxiedServerTest, ALargeFileArrivesWhole) {
  const test::SiteFolder folder;
  const std::string content = test::Pattern((std::size_t{8} << 20) + 7);
  folder.Write("large.bin", content);
  const ProxiedServer server(GetParam(), [&](HttpServer& http) { http.Files("/", folder.Path()); });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(kLine));
  for (int i = 0; i < 2; ++i) {
    const HttpReply reply = client.Ask(Get("/large.bin"));
    EXPECT_TRUE(reply.complete);
    EXPECT_TRUE(reply.body == content) << reply.body.size();
  }
  const HttpReply part = client.Ask(Get("/large.bin", "Range: bytes=5000000-5000099\r\n"));
  EXPECT_EQ(part.status, 206);
  EXPECT_TRUE(part.body == content.substr(5'000'000, 100));
}

TEST_P(ProxiedServerTest, ALargeBodyArrivesWhole) {
  const ProxiedServer server(GetParam(), [](HttpServer& http) {
    http.Post("/echo", [](const ServerRequest& request, ServerResponse& response) {
      response.Text(std::string(request.Body()));
    });
  });
  const std::string body(900'000, 'b');
  HttpClient client(server.Port());
  const HttpReply reply = client.Ask(
      kBinary + "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\n\r\n" + body);
  EXPECT_EQ(reply.status, 200);
  EXPECT_TRUE(reply.body == body) << reply.body.size();
}

// The proxy only forwards: what its client has encrypted follows the header.
TEST_P(ProxiedServerTest, TheChannelOfAProgramOpensWhatFollowsTheHeader) {
  ServeOptions options;
  options.threads = 1;
  options.poller = GetParam();
  options.proxies = "127.0.0.0/8";
  options.channel = [](Connection&) { return std::make_unique<test::Rot13Channel>(); };
  const ProxiedServer server(ServerOf(options, nullptr),
                             [](HttpServer& http) { http.Mount("/", test::Answering(TellPeer)); });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(kLine + test::Rot13(Get("/", "Connection: close\r\n"))));
  const std::string reply = test::Rot13(client.ReadRest());
  EXPECT_NE(reply.find("\r\n\r\n192.0.2.7:56324"), std::string::npos) << reply;
}

TEST_P(ProxiedServerTest, TheAccessLogHasTheClientsAddress) {
  const test::LogFolder folder;
  {
    LogWriterOptions options;
    options.file = folder.Path("access.log");
    auto writer = std::make_shared<LogWriter>(options);
    const ProxiedServer server(GetParam(), [&](HttpServer& http) {
      http.Observe([writer](Looper& looper) {
        return std::make_unique<AccessLog>(looper, writer, AccessLogFormat::kCombined);
      });
      http.Mount("/", test::Answering(TellPeer));
    });
    EXPECT_EQ(server.Ask(kLine, "/one").status, 200);
    EXPECT_EQ(server.Ask(kLine6, "/two").status, 200);
    EXPECT_EQ(server.Ask(kLocal, "/three").status, 200);
    EXPECT_EQ(HttpClient(server.Port()).Ask(kBinary + "four\r\n\r\n").status, 400);
    EXPECT_EQ(HttpClient(server.Port()).Ask("five\r\n\r\n").status, 0);
  }
  const std::string log = folder.Read("access.log");
  EXPECT_EQ(log.rfind("192.0.2.7 - - [", 0), 0U) << log;
  for (const char* part : {"\n2001:db8::7 - - [", "\n127.0.0.1 - - [", "\n192.0.2.8 - - ["}) {
    EXPECT_NE(log.find(part), std::string::npos) << part << " is not in\n" << log;
  }
  EXPECT_EQ(log.find("five"), std::string::npos) << log;
}

TEST_P(ProxiedServerTest, AProgramHasTheClientsAddress) {
  const test::ProgramFolder folder;
  folder.Program("address", "echo Content-Type: text/plain; echo; echo \"$REMOTE_ADDR\"\n");
  const ProxiedServer server(GetParam(), [&](HttpServer& http) {
    http.Mount("/cgi-bin", [&](Looper& looper) {
      CgiOptions options;
      options.directory = folder.Path();
      return std::make_unique<Cgi>(looper, options);
    });
  });
  EXPECT_EQ(server.Ask(kLine, "/cgi-bin/address").body, "192.0.2.7\n");
  EXPECT_EQ(server.Ask(kLine6, "/cgi-bin/address").body, "2001:db8::7\n");
  EXPECT_EQ(server.Ask(kLocal, "/cgi-bin/address").body, "127.0.0.1\n");
}

TEST_P(ProxiedServerTest, ASiteDeniesTheClientAndNotTheProxy) {
  SiteRule rule;
  rule.deny = {"192.0.2.0/24"};
  const auto server = Ruled(rule);
  EXPECT_EQ(server->Ask(kLine, "/").status, 403);
  EXPECT_EQ(server->Ask(kBinary, "/").status, 403);
  EXPECT_EQ(server->Ask(kMappedLine, "/").status, 403);
  EXPECT_EQ(server->Ask(LineOf("203.0.113.9"), "/").status, 200);
  EXPECT_EQ(server->Ask(kLocal, "/").status, 200);
}

TEST_P(ProxiedServerTest, ASiteAllowsTheClientAndNotTheProxy) {
  SiteRule rule;
  rule.allow = {"192.0.2.0/24"};
  const auto server = Ruled(rule);
  EXPECT_EQ(server->Ask(kLine, "/").status, 200);
  EXPECT_EQ(server->Ask(kLine6, "/").status, 403);
  EXPECT_EQ(server->Ask(kLocal, "/").status, 403);
}

TEST_P(ProxiedServerTest, ASiteCountsTheRequestsOfEachClient) {
  SiteRule rule;
  rule.rate = RateLimit{1, std::chrono::hours(24), 1};
  const auto server = Ruled(rule);
  EXPECT_EQ(server->Ask(kLine, "/").status, 200);
  EXPECT_EQ(server->Ask(kLine, "/").status, 429);
  EXPECT_EQ(server->Ask(LineOf("203.0.113.9"), "/").status, 200);
  EXPECT_EQ(server->Ask(kLine6, "/").status, 200);
  EXPECT_EQ(server->Ask(kLine6, "/").status, 429);
}

// The 503 waits for the header: a proxy that has not sent it can't be one that is trusted.
TEST_P(ProxiedServerTest, AClientAboveTheLimitIsRefusedAfterItsHeader) {
  const auto server = Telling();
  server->SetMaxConnections(1);
  HttpClient first(server->Port());
  EXPECT_EQ(first.Ask(kLine + Get("/peer")).status, 200);
  HttpClient above(server->Port());
  ASSERT_TRUE(above.Send(kLine.substr(0, 20)));
  server->Settle();
  EXPECT_FALSE(above.HasInput(std::chrono::milliseconds(0)));
  EXPECT_EQ(above.Ask(kLine.substr(20) + Get("/peer")).status, 503);
}

#ifdef __linux__
const auto kEngines = testing::Values(PollerKind::kEpoll, PollerKind::kIoUring);
#else
const auto kEngines = testing::Values(PollerKind::kKqueue);
#endif

INSTANTIATE_TEST_SUITE_P(Each, ProxiedServerTest, kEngines, [](const auto& each) {
  return each.param == PollerKind::kIoUring ? "IoUring" : "Native";
});

// A part of a header is no request, so nothing is sent in response, not even a 408.
class ProxiedServerTimeTest : public testing::Test {
 protected:
  ProxiedServerTimeTest()
      : server_([](Looper& looper,
                   LoopHttp& http) { http.Mount("/", test::Answering(TellPeer)(looper)); },
                Times(),
                [this](Connection& connection, LoopHttp& http) {
                  if (!shared_) {
                    shared_ = std::make_unique<Http1Shared>(http);
                  }
                  connection.SetChannel(std::make_unique<ProxyChannel>());
                  return std::make_unique<HttpSession>(connection, *shared_);
                }),
        client_(server_.Port()) {
    LoopThread& loop = server_.Loop();
    EXPECT_TRUE(loop.Await([&loop] { return loop.Get().ConnectionCount() == 1; }));
  }

  static auto Times() -> HttpOptions {
    HttpOptions options;
    options.idle_timeout = std::chrono::seconds(60);
    options.head_timeout = std::chrono::seconds(10);
    return options;
  }

  // Sends bytes that the loop takes before the clock is turned.
  void Send(const std::string& bytes) {
    ASSERT_TRUE(client_.Send(bytes));
    server_.Loop().RunRounds(3);
  }

  std::unique_ptr<Http1Shared> shared_;
  test::ClockedServer server_;
  HttpClient client_;
};

TEST_F(ProxiedServerTimeTest, AHeaderThatDripsIsResetAfterTheTimeOfAHead) {
  for (std::size_t i = 0; i < 9; ++i) {
    Send(kLine.substr(i, 1));
    server_.Advance(std::chrono::seconds(1));
    EXPECT_FALSE(client_.HasInput(std::chrono::milliseconds(0)));
  }
  server_.Advance(std::chrono::seconds(2));
  EXPECT_EQ(client_.ReadRest(), "");
  EXPECT_TRUE(client_.WasReset());
}

TEST_F(ProxiedServerTimeTest, AfterTheHeaderTheIdleTimeBegins) {
  server_.Advance(std::chrono::seconds(9));
  Send(kLine);
  server_.Advance(std::chrono::seconds(59));
  EXPECT_FALSE(client_.HasInput(std::chrono::milliseconds(0)));
  server_.Advance(std::chrono::seconds(2));
  EXPECT_TRUE(client_.IsClosedByServer());
}

}  // namespace
}  // namespace TURTLE_SERVER
