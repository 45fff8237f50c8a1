// A client that speaks plain HTTP to a port with TLS gets a hint, and any other gets TLS.
#include "tls/plain_hint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/proxy_channel.h"
#include "core/server_options.h"
#include "support/certificate_files.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "support/tls_client.h"
#include "support/tls_server.h"
#include "tls/tls.h"

namespace TURTLE_SERVER {
namespace {

using test::HttpClient;
using test::HttpReply;

// Records the calls of the inner channel, and holds its results.
struct Inner {
  std::vector<std::string> opened;  // the bytes of each Open()
  std::vector<const char*> memory;  // and where they were
  std::string sealed;               // by Seal(), and a '.' for each SealEnd()
  const Buffer* plain = nullptr;    // of the last Open()
  const OutQueue* reply = nullptr;  // likewise
  ChannelStatus status = ChannelStatus::kOpen;
  KeptInput kept = KeptInput::kNone;
  bool can_seal = true;
  bool is_secure = true;
  const NetAddress* address = nullptr;

  // Returns all bytes that were opened.
  [[nodiscard]] auto Bytes() const -> std::string {
    std::string bytes;
    for (const std::string& each : opened) {
      bytes += each;
    }
    return bytes;
  }
};

// Opens everything as it is.
class RecordingChannel final : public Channel {
 public:
  explicit RecordingChannel(Inner& inner) : inner_(inner) {}

  auto Open(std::string_view wire, Buffer& plain, OutQueue& reply) -> ChannelStatus override {
    inner_.opened.emplace_back(wire);
    inner_.memory.push_back(wire.data());
    inner_.plain = &plain;
    inner_.reply = &reply;
    plain.Append(wire);
    return inner_.status;
  }
  [[nodiscard]] auto Kept() const noexcept -> KeptInput override { return inner_.kept; }
  [[nodiscard]] auto CanSeal() const noexcept -> bool override { return inner_.can_seal; }
  void Seal(std::string_view plain, OutQueue& wire) override {
    inner_.sealed += plain;
    wire.Append(plain);
  }
  void SealEnd(OutQueue& wire) override {
    inner_.sealed += '.';
    wire.Append("end");
  }
  [[nodiscard]] auto IsSecure() const noexcept -> bool override { return inner_.is_secure; }
  [[nodiscard]] auto PeerAddress() const noexcept -> const NetAddress* override {
    return inner_.address;
  }

 private:
  Inner& inner_;
};

auto TextOf(const OutQueue& queue) -> std::string {
  std::string text(queue.Size(), '\0');
  if (!text.empty()) {
    text.resize(queue.Copy(text.data(), text.size()).bytes);
  }
  return text;
}

// A PlainHint and everything around it.
struct Line {
  Inner inner;
  Buffer plain;
  OutQueue reply;
  PlainHint hint{std::make_unique<RecordingChannel>(inner)};

  auto Open(std::string_view wire) -> ChannelStatus { return hint.Open(wire, plain, reply); }

  // Gives one byte after the other, for as long as the line lasts.
  auto OpenEach(std::string_view wire) -> ChannelStatus {
    ChannelStatus status = ChannelStatus::kOpen;
    for (std::size_t i = 0; i < wire.size() && status == ChannelStatus::kOpen; ++i) {
      status = Open(wire.substr(i, 1));
    }
    return status;
  }

  // True as long as nothing is decided.
  [[nodiscard]] auto Waits() const -> bool {
    return inner.opened.empty() && plain.Empty() && reply.Empty();
  }

  // True if the client has got a response, and the inner channel nothing.
  [[nodiscard]] auto HasHint() const -> bool {
    return inner.opened.empty() && plain.Empty() && TextOf(reply).substr(0, 13) == "HTTP/1.1 400 ";
  }

  // True if the inner channel has all of `bytes`.
  [[nodiscard]] auto HasPassed(std::string_view bytes) const -> bool {
    return reply.Empty() && inner.Bytes() == bytes && plain.View() == bytes;
  }
};

// Bytes, and how many of them decide.
struct Case {
  std::string bytes;
  std::size_t deciding;
};

const std::vector<Case> kRequests{
    {"GET / HTTP/1.1\r\nHost: w.org\r\n\r\n", 4},
    {"POST /form HTTP/1.0\r\n\r\n", 5},
    {"OPTIONS * HTTP/1.1\r\n\r\n", 8},
    {"CONNECT w.org:443 HTTP/1.1\r\n\r\n", 8},
    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 4},
    {"A ", 2},
    {"ABCDEFGHIJKLMNOP /", 17},
    {"XYZ \x16\x03\x01", 4},
};

const std::vector<Case> kOthers{
    {std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc", 9), 1},
    {std::string("\x80\x2e\x01\x00\x02", 5), 1},
    {std::string("\0\0\0\0", 4), 1},
    {"get / HTTP/1.1\r\n\r\n", 1},
    {" GET / HTTP/1.1\r\n\r\n", 1},
    {"\r\nGET / HTTP/1.1\r\n\r\n", 1},
    {"@A /", 1},
    {"[A /", 1},
    {"Get / HTTP/1.1\r\n\r\n", 2},
    {"M-SEARCH * HTTP/1.1\r\n\r\n", 2},
    {"GET\t/ HTTP/1.1\r\n\r\n", 4},
    {"GET\r\n\r\n", 4},
    {"GET1 / HTTP/1.1\r\n\r\n", 4},
    {"SSH-2.0-OpenSSH_9.2\r\n", 4},
    {std::string("GET\0 /", 6), 4},
    {"GET\xff /", 4},
    {"ABCDEFGHIJKLMNOPQ /", 17},
    {"ABCDEFGHIJKLMNOp /", 16},
    {std::string(1000, 'A') + " /", 17},
};

TEST(PlainHintTest, ARequestGetsAHint) {
  for (const auto& [bytes, deciding] : kRequests) {
    Line line;
    EXPECT_EQ(line.Open(bytes), ChannelStatus::kBroken) << bytes;
    EXPECT_TRUE(line.HasHint()) << bytes;
  }
}

TEST(PlainHintTest, AnythingElseIsPassed) {
  for (const auto& [bytes, deciding] : kOthers) {
    Line line;
    EXPECT_EQ(line.Open(bytes), ChannelStatus::kOpen) << bytes;
    EXPECT_TRUE(line.HasPassed(bytes)) << bytes;
  }
}

TEST(PlainHintTest, ItIsDecidedAsSoonAsItCanBeKnown) {
  for (const auto& [bytes, deciding] : kRequests) {
    Line line;
    EXPECT_EQ(line.OpenEach(bytes.substr(0, deciding - 1)), ChannelStatus::kOpen) << bytes;
    EXPECT_TRUE(line.Waits()) << bytes;
    EXPECT_EQ(line.Open(bytes.substr(deciding - 1, 1)), ChannelStatus::kBroken) << bytes;
    EXPECT_TRUE(line.HasHint()) << bytes;
  }
  for (const auto& [bytes, deciding] : kOthers) {
    Line line;
    line.OpenEach(bytes.substr(0, deciding - 1));
    EXPECT_TRUE(line.Waits()) << bytes;
    EXPECT_EQ(line.Open(bytes.substr(deciding - 1, 1)), ChannelStatus::kOpen) << bytes;
    EXPECT_TRUE(line.HasPassed(bytes.substr(0, deciding))) << bytes;
    line.OpenEach(bytes.substr(deciding));
    EXPECT_TRUE(line.HasPassed(bytes)) << bytes;
  }
}

TEST(PlainHintTest, TheBytesMayBeCutAnywhere) {
  for (const auto& [bytes, deciding] : kRequests) {
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
      Line line;
      const bool first = cut >= deciding;
      EXPECT_EQ(line.Open(bytes.substr(0, cut)),
                first ? ChannelStatus::kBroken : ChannelStatus::kOpen)
          << bytes << " cut at " << cut;
      if (!first) {
        EXPECT_TRUE(line.Waits()) << bytes << " cut at " << cut;
        EXPECT_EQ(line.Open(bytes.substr(cut)), ChannelStatus::kBroken)
            << bytes << " cut at " << cut;
      }
      EXPECT_TRUE(line.HasHint()) << bytes << " cut at " << cut;
    }
  }
  for (const auto& [bytes, deciding] : kOthers) {
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
      Line line;
      EXPECT_EQ(line.Open(bytes.substr(0, cut)), ChannelStatus::kOpen);
      EXPECT_TRUE(cut < deciding ? line.Waits() : line.HasPassed(bytes.substr(0, cut)))
          << bytes << " cut at " << cut;
      EXPECT_EQ(line.Open(bytes.substr(cut)), ChannelStatus::kOpen);
      EXPECT_TRUE(line.HasPassed(bytes)) << bytes << " cut at " << cut;
    }
  }
}

TEST(PlainHintTest, OnlyALetterFromAToZWaits) {
  for (int value = 0; value < 256; ++value) {
    const std::string byte(1, static_cast<char>(value));
    const bool is_letter = value >= 'A' && value <= 'Z';
    Line first;
    EXPECT_EQ(first.Open(byte), ChannelStatus::kOpen);
    EXPECT_TRUE(is_letter ? first.Waits() : first.HasPassed(byte)) << value;
    Line second;
    second.Open("G");
    const ChannelStatus status = second.Open(byte);
    EXPECT_EQ(status, byte == " " ? ChannelStatus::kBroken : ChannelStatus::kOpen) << value;
    EXPECT_TRUE(is_letter     ? second.Waits()
                : byte == " " ? second.HasHint()
                              : second.HasPassed("G" + byte))
        << value;
  }
}

TEST(PlainHintTest, NoBytesDecideNothing) {
  Line line;
  EXPECT_EQ(line.Open(""), ChannelStatus::kOpen);
  line.Open("GE");
  EXPECT_EQ(line.Open(""), ChannelStatus::kOpen);
  EXPECT_TRUE(line.Waits());
  EXPECT_EQ(line.Open("T "), ChannelStatus::kBroken);
  EXPECT_TRUE(line.HasHint());
}

TEST(PlainHintTest, TheHintIsOneWholeResponse) {
  for (const char* request : {"GET / HTTP/1.1\r\n\r\n", "HEAD / HTTP/1.1\r\n\r\n", "QUIT "}) {
    Line line;
    line.Open(request);
    const std::string text = TextOf(line.reply);
    const std::size_t end = text.find("\r\n\r\n");
    ASSERT_NE(end, std::string::npos) << text;
    const HttpReply reply{400, text.substr(0, end + 4), text.substr(end + 4), true};
    EXPECT_EQ(reply.head.substr(0, 13), "HTTP/1.1 400 ");
    EXPECT_EQ(reply.Field("Content-Type"), "text/plain");
    EXPECT_EQ(reply.Field("Connection"), "close");
    EXPECT_EQ(reply.Field("Content-Length"), std::to_string(reply.body.size()));
    EXPECT_NE(reply.body.find("This port speaks TLS"), std::string::npos) << text;
    EXPECT_EQ(reply.body.substr(std::max<std::size_t>(reply.body.size(), 1) - 1), "\n");
    EXPECT_EQ(std::count(reply.head.begin(), reply.head.end(), '\n'),
              std::count(reply.head.begin(), reply.head.end(), '\r'));
    EXPECT_LE(text.size(), 512U);
  }
}

TEST(PlainHintTest, TheInnerChannelGetsAllBytesSoFarInOneCall) {
  Line line;
  line.OpenEach("GET");
  line.Open("\r\n\r\n");
  EXPECT_EQ(line.inner.opened, std::vector<std::string>{"GET\r\n\r\n"});
  line.Open("GET / HTTP/1.1\r\n");
  EXPECT_EQ(line.inner.opened, (std::vector<std::string>{"GET\r\n\r\n", "GET / HTTP/1.1\r\n"}));
}

TEST(PlainHintTest, NothingIsCopiedAfterTheDecision) {
  for (const std::string start : {"\x16", "GET\n"}) {
    Line line;
    line.OpenEach(start.substr(0, start.size() - 1));
    const std::string last = start.substr(start.size() - 1);
    const std::string more(1000, 'A');
    line.Open(last);
    line.Open(more);
    line.Open("");  // Kept() may ask for it
    ASSERT_EQ(line.inner.memory.size(), 3U);
    EXPECT_EQ(line.inner.memory[1], more.data());
    EXPECT_EQ(line.inner.opened[2], "");
  }
  Line line;
  const std::string hello = "\x16\x03\x01 and so on, longer than a short string";
  line.Open(hello);
  ASSERT_EQ(line.inner.memory.size(), 1U);
  EXPECT_EQ(line.inner.memory[0], hello.data()) << "there was nothing to be put before it";
}

TEST(PlainHintTest, TheResultsAreThoseOfTheInnerChannel) {
  for (const ChannelStatus status :
       {ChannelStatus::kOpen, ChannelStatus::kEnded, ChannelStatus::kBroken}) {
    Line line;
    line.inner.status = status;
    EXPECT_EQ(line.Open("G"), ChannelStatus::kOpen);
    EXPECT_EQ(line.Open("!"), status);
    EXPECT_EQ(line.inner.plain, &line.plain);
    EXPECT_EQ(line.inner.reply, &line.reply);
  }
  Line line;
  line.Open("\x16");
  line.inner.status = ChannelStatus::kEnded;
  EXPECT_EQ(line.Open("A"), ChannelStatus::kEnded);
}

TEST(PlainHintTest, KeptAndCanSealAndIsSecureBeginWithTheDecision) {
  Line line;
  line.inner.kept = KeptInput::kWaits;
  for (const char* bytes : {"", "G", "E"}) {
    line.Open(bytes);
    EXPECT_EQ(line.hint.Kept(), KeptInput::kNone);
    EXPECT_FALSE(line.hint.CanSeal());
    EXPECT_FALSE(line.hint.IsSecure());
  }
  line.Open("!");
  for (const KeptInput kept : {KeptInput::kWaits, KeptInput::kReady, KeptInput::kNone}) {
    line.inner.kept = kept;
    EXPECT_EQ(line.hint.Kept(), kept);
  }
  EXPECT_TRUE(line.hint.CanSeal());
  EXPECT_TRUE(line.hint.IsSecure());
  line.inner.can_seal = false;
  line.inner.is_secure = false;
  EXPECT_FALSE(line.hint.CanSeal());
  EXPECT_FALSE(line.hint.IsSecure());
}

TEST(PlainHintTest, AfterTheHintNothingIsSealed) {
  Line line;
  line.inner.kept = KeptInput::kReady;
  line.Open("GET ");
  EXPECT_FALSE(line.hint.CanSeal());
  EXPECT_FALSE(line.hint.IsSecure());
  EXPECT_EQ(line.hint.Kept(), KeptInput::kNone);
  const std::string hint = TextOf(line.reply);
  line.hint.SealEnd(line.reply);
  EXPECT_EQ(TextOf(line.reply), hint);
  EXPECT_EQ(line.inner.sealed, "");
}

TEST(PlainHintTest, OutputIsPassedOn) {
  Line line;
  OutQueue wire;
  line.Open("\x16");
  line.hint.Seal("abc", wire);
  line.hint.Seal("de", wire);
  line.hint.SealEnd(wire);
  EXPECT_EQ(line.inner.sealed, "abcde.");
  EXPECT_EQ(TextOf(wire), "abcdeend");
}

TEST(PlainHintTest, AnEndBeforeTheDecisionIsNotSealed) {
  for (const char* bytes : {"", "GET"}) {
    Line line;
    line.Open(bytes);
    line.hint.SealEnd(line.reply);
    EXPECT_EQ(line.inner.sealed, "") << bytes;
    EXPECT_TRUE(line.reply.Empty()) << bytes;
  }
}

TEST(PlainHintTest, TheAddressIsTheInnerChannels) {
  const NetAddress address("192.0.2.7", 443);
  Line line;
  EXPECT_EQ(line.hint.PeerAddress(), nullptr);
  line.inner.address = &address;
  EXPECT_EQ(line.hint.PeerAddress(), &address);
  line.Open("\x16");
  EXPECT_EQ(line.hint.PeerAddress(), &address);
}

TEST(PlainHintTest, AProxyHeaderMayComeFirst) {
  const std::string header = "PROXY TCP4 192.0.2.7 198.51.100.1 56324 443\r\n";
  for (const bool is_http : {false, true}) {
    Inner inner;
    Buffer plain;
    OutQueue reply;
    ProxyChannel channel(std::make_unique<PlainHint>(std::make_unique<RecordingChannel>(inner)));
    const ChannelStatus status =
        channel.Open(header + (is_http ? "GET / HTTP/1.1\r\n" : "\x16\x03\x01"), plain, reply);
    EXPECT_EQ(status, is_http ? ChannelStatus::kBroken : ChannelStatus::kOpen);
    EXPECT_EQ(inner.Bytes(), is_http ? "" : "\x16\x03\x01");
    EXPECT_EQ(reply.Empty(), !is_http);
  }
}

// A web server with TLS and the hint.
class PlainHintServerTest : public testing::Test {
 protected:
  PlainHintServerTest() {
    server_.Mount("/", test::Answering([](Exchange& exchange) {
                    exchange.Reply(TextResponse(200, "a turtle"));
                  }));
    thread_ = std::thread([this] { server_.Begin(); });
  }

  ~PlainHintServerTest() override {
    server_.Stop();
    thread_.join();
  }

  auto Options() -> ServerOptions {
    ServerOptions options;
    options.threads = 1;
    options.channel = [channels = tls_.Channels()](Connection& connection) {
      return std::make_unique<PlainHint>(channels(connection));
    };
    return options;
  }

  [[nodiscard]] auto Port() const -> int { return server_.LocalAddress().Port(); }

  const test::CertificateFiles certificate_{};
  Tls tls_{test::TlsOptionsOf(certificate_)};
  HttpServer server_{NetAddress("127.0.0.1", 0), {}, Options()};
  std::thread thread_;
};

TEST_F(PlainHintServerTest, APlainRequestGetsTheHintAndTheEnd) {
  for (const std::string& request :
       {test::Get("/"), "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 100000\r\n\r\n" +
                            std::string(100'000, 'b')}) {
    HttpClient client(Port());
    const HttpReply reply = client.Ask(request);
    EXPECT_EQ(reply.status, 400);
    EXPECT_TRUE(reply.complete);
    EXPECT_NE(reply.body.find("This port speaks TLS"), std::string::npos) << reply.body;
    EXPECT_TRUE(client.IsClosedByServer());
  }
  EXPECT_EQ(tls_.Stats().failed, 0U) << "no handshake has begun";
}

TEST_F(PlainHintServerTest, TlsIsServedAsBefore) {
  test::TlsClient client(Port());
  ASSERT_TRUE(client.Shake()) << client.Reason();
  ASSERT_TRUE(client.Send("GET / HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n"));
  const std::string reply = client.ReceiveAll();
  EXPECT_EQ(reply.substr(0, 13), "HTTP/1.1 200 ") << reply;
  EXPECT_NE(reply.find("a turtle"), std::string::npos) << reply;
}

}  // namespace
}  // namespace TURTLE_SERVER
