// The server's side of a session, with a client in memory: each byte passes through the test.
#include "tls/tls_channel.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "core/block_pool.h"
#include "core/buffer.h"
#include "core/out_queue.h"
#include "support/certificate_files.h"
#include "support/failing_new.h"
#include "support/loop_thread.h"
#include "support/pattern.h"
#include "support/record_sealer.h"
#include "support/tls_client_session.h"
#include "support/tls_memory.h"
#include "tls/handshake_turns.h"
#include "tls/ticket_keys.h"
#include "tls/tls_context.h"

namespace TURTLE_SERVER {
namespace {

using test::LoopThread;
using test::RecordSealer;
using test::TlsClientWish;
using namespace std::string_literals;

constexpr std::size_t kShort = TlsChannel::kShortRecord;
constexpr std::size_t kLong = TlsChannel::kLongRecord;
constexpr std::size_t kMostReply = 4096;  // to a flood, in wire bytes

constexpr std::string_view kRequest = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
constexpr std::string_view kResponse = "HTTP/1.1 204 No Content\r\n\r\n";

auto Version(int version) -> TlsClientWish {
  TlsClientWish wish;
  wish.version = version;
  return wish;
}

// Takes all bytes of a queue.
auto TakeAll(OutQueue& queue) -> std::string {
  std::string bytes(queue.Size(), '\0');
  if (!bytes.empty()) {
    bytes.resize(queue.Copy(bytes.data(), bytes.size()).bytes);
    queue.Consume(bytes.size());
  }
  return bytes;
}

// Returns the sizes of the records in `wire`, with their headers.
auto RecordSizes(std::string_view wire) -> std::vector<std::size_t> {
  constexpr std::size_t kHeader = 5;
  std::vector<std::size_t> sizes;
  while (wire.size() >= kHeader) {
    const std::size_t size = kHeader + static_cast<unsigned char>(wire[3]) * std::size_t{256} +
                             static_cast<unsigned char>(wire[4]);
    sizes.push_back(size);
    wire.remove_prefix(std::min(size, wire.size()));
  }
  return sizes;
}

// Holds all free blocks of this thread, so that output needs new ones.
class NoBlocks {
 public:
  NoBlocks() {
    while (BlockPool::Kept() != 0) {
      blocks_.push_back(BlockPool::Take());
    }
  }
  NoBlocks(const NoBlocks&) = delete;
  auto operator=(const NoBlocks&) -> NoBlocks& = delete;
  ~NoBlocks() {
    for (void* const each : blocks_) {
      BlockPool::Give(each);
    }
  }

 private:
  std::vector<void*> blocks_;
};

// Things that the channels of a test share.
struct Shared {
  const test::CertificateFiles certificate{};
  std::shared_ptr<const TlsContext> context = [this] {
    TlsOptions options;
    options.certificates = {certificate.Files()};
    return std::make_shared<const TlsContext>(options,
                                              std::make_shared<TicketKeys>(options.ticket_period));
  }();
  TlsCounts counts;
};

// A channel on its loop, and its client. All calls of the channel are made on the loop's thread,
// each in its own round, so that it has its turn.
class Line {
 public:
  Line(LoopThread& loop, HandshakeTurns& turns, Shared& shared, const TlsClientWish& wish = {},
       ConnectionId id = {0, 0})
      : loop_(loop),
        channel_(std::make_unique<TlsChannel>(
            shared.context, turns, id, shared.counts,
            [this](const char* reason) { reasons_.emplace_back(reason); })),
        client_(wish) {}

  // Opens bytes. The client gets what the channel sends back.
  auto Open(std::string_view wire) -> ChannelStatus {
    OutQueue reply;
    status_ = loop_.Ask([&] { return channel_->Open(wire, plain_, reply); });
    reply_ = TakeAll(reply);
    end_.Give(reply_);
    return status_;
  }

  // Opens all that the client has to send, cut before byte number `cut` of its stream.
  auto Deliver(std::size_t cut = 0) -> ChannelStatus {
    const std::string bytes = end_.Take();
    const std::string_view wire = bytes;
    const std::size_t first = cut > sent_ && cut < sent_ + wire.size() ? cut - sent_ : 0;
    sent_ += wire.size();
    if (first != 0 && Open(wire.substr(0, first)) != ChannelStatus::kOpen) {
      return status_;
    }
    return wire.empty() ? status_ : Open(wire.substr(first));
  }

  // Opens it byte by byte.
  auto DeliverBytes() -> ChannelStatus {
    const std::string bytes = end_.Take();
    for (const char& each : bytes) {
      if (Open({&each, 1}) != ChannelStatus::kOpen) {
        break;
      }
    }
    return status_;
  }

  // Completes the handshake. Returns false if it fails.
  auto Shake() -> bool {
    constexpr int kMostFlights = 5;
    for (int i = 0; i < kMostFlights && end_.Shake(); ++i) {
      Deliver();
    }
    return end_.IsOpen() && channel_->CanSeal() && status_ == ChannelStatus::kOpen;
  }

  // Seals text as a connection does. Returns the wire bytes, which the client gets, too.
  auto Seal(std::string_view plain) -> std::string {
    OutQueue queue;
    for (; !plain.empty(); plain.remove_prefix(std::min(plain.size(), Connection::kSealStep))) {
      channel_->Seal(plain.substr(0, Connection::kSealStep), queue);
    }
    std::string wire = TakeAll(queue);
    end_.Give(wire);
    return wire;
  }

  auto SealEnd() -> std::string {
    OutQueue queue;
    channel_->SealEnd(queue);
    std::string wire = TakeAll(queue);
    end_.Give(wire);
    return wire;
  }

  auto TakePlain() -> std::string {
    std::string plain(plain_.View());
    plain_.Clear();
    return plain;
  }

  // Returns the number of bytes that the client has sent.
  [[nodiscard]] auto Sent() const -> std::size_t { return sent_; }

  // Returns the wire bytes that the last Open() has appended.
  [[nodiscard]] auto Reply() const -> const std::string& { return reply_; }

  // Returns the reasons of refused handshakes that the channel has told.
  [[nodiscard]] auto Reasons() const -> const std::vector<std::string>& { return reasons_; }

  auto Get() -> TlsChannel& { return *channel_; }
  auto Client() -> test::TlsClientSession& { return client_; }
  auto End() -> test::TlsMemory& { return end_; }

 private:
  LoopThread& loop_;
  std::vector<std::string> reasons_;
  std::unique_ptr<TlsChannel> channel_;
  test::TlsClientSession client_;
  test::TlsMemory end_{*client_.Get()};
  Buffer plain_;
  ChannelStatus status_ = ChannelStatus::kOpen;
  std::string reply_;
  std::size_t sent_ = 0;
};

using Reasons = std::vector<std::string>;

class TlsChannelTest : public testing::Test {
 protected:
  auto Connect(const TlsClientWish& wish = {}) -> std::unique_ptr<Line> {
    return std::make_unique<Line>(loop_, turns_, shared_, wish);
  }

  auto Shaken(const TlsClientWish& wish = {}) -> std::unique_ptr<Line> {
    auto line = Connect(wish);
    EXPECT_TRUE(line->Shake()) << line->End().Reason();
    return line;
  }

  // Goes through a session from its first byte to its last, and moves the client's bytes with
  // `deliver`.
  template <typename Deliver>
  static void ExpectWholeSession(Line& line, const Deliver& deliver) {
    while (!line.End().IsOpen()) {
      ASSERT_TRUE(line.End().Shake()) << line.End().Reason();
      ASSERT_EQ(deliver(line), ChannelStatus::kOpen);
    }
    ASSERT_TRUE(line.End().Write(kRequest));
    ASSERT_EQ(deliver(line), ChannelStatus::kOpen);
    ASSERT_EQ(line.TakePlain(), kRequest);
    ASSERT_TRUE(line.Get().CanSeal());
    line.Seal(kResponse);
    ASSERT_EQ(line.End().Read(), kResponse);
    line.Client().End();
    ASSERT_EQ(deliver(line), ChannelStatus::kEnded);
    line.SealEnd();
    ASSERT_EQ(line.End().Read(), "");
    ASSERT_TRUE(line.Client().SawEnd());
  }

  // Has the client ask for new keys.
  static void AskForKeys(Line& line, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(SSL_key_update(line.Client().Get(), SSL_KEY_UPDATE_REQUESTED), 1);
      ASSERT_TRUE(line.End().Shake());
    }
  }

  // A line after the handshake, for which the test seals the client's records.
  struct SealedLine {
    SealedLine(TlsChannelTest& test, int version) {
      TlsClientWish wish = Version(version);
      wish.ciphers = RecordSealer::kCipher;
      line = test.Connect(wish);
      RecordSealer::KeepSecret(line->Client().Get(), secret);
      EXPECT_TRUE(line->Shake()) << line->End().Reason();
      sealer = std::make_unique<RecordSealer>(*line->Client().Get(), secret);
    }
    [[nodiscard]] auto Send(int type, const std::string& plain) const -> ChannelStatus {
      return line->Open(sealer->Seal(type, plain));
    }

    std::string secret;
    std::unique_ptr<Line> line;
    std::unique_ptr<RecordSealer> sealer;
  };

  ConnectionCallbacks callbacks_;
  Shared shared_;
  LoopThread loop_;
  HandshakeTurns turns_{loop_.Get()};
};

TEST_F(TlsChannelTest, OpensASessionAtEverySplit) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    std::size_t size = 1;
    for (std::size_t cut = 1; cut <= size; ++cut) {
      const auto line = Connect(Version(version));
      ExpectWholeSession(*line, [cut](Line& each) { return each.Deliver(cut); });
      ASSERT_FALSE(HasFatalFailure()) << cut;
      size = line->Sent();
    }
    EXPECT_GT(size, 300U);
  }
}

TEST_F(TlsChannelTest, OpensASessionByteByByte) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const auto line = Connect(Version(version));
    ExpectWholeSession(*line, [](Line& each) { return each.DeliverBytes(); });
  }
  EXPECT_EQ(shared_.counts.full, 2U);
}

TEST_F(TlsChannelTest, OpensTheRequestThatComesWithTheLastByteOfTheHandshake) {
  const auto line = Connect(Version(TLS1_3_VERSION));
  ASSERT_TRUE(line->End().Shake());
  ASSERT_EQ(line->Deliver(), ChannelStatus::kOpen);
  ASSERT_TRUE(line->End().Shake());
  ASSERT_TRUE(line->End().Write(kRequest));
  EXPECT_FALSE(line->Get().CanSeal());
  EXPECT_EQ(line->Deliver(), ChannelStatus::kOpen);
  EXPECT_TRUE(line->Get().CanSeal());
  EXPECT_EQ(line->TakePlain(), kRequest);
}

TEST_F(TlsChannelTest, OpensTheRequestAndTheEndThatComeWithTheHandshake) {
  const auto line = Connect(Version(TLS1_3_VERSION));
  ASSERT_TRUE(line->End().Shake());
  ASSERT_EQ(line->Deliver(), ChannelStatus::kOpen);
  ASSERT_TRUE(line->End().Shake());
  ASSERT_TRUE(line->End().Write(kRequest));
  line->Client().End();
  EXPECT_EQ(line->Deliver(), ChannelStatus::kEnded);
  EXPECT_EQ(line->TakePlain(), kRequest);
  line->Seal(kResponse);
  EXPECT_EQ(line->End().Read(), kResponse);
}

TEST_F(TlsChannelTest, OpensManyRecordsAtOnce) {
  const auto line = Shaken();
  const std::string text = test::Pattern(50'000);
  ASSERT_TRUE(line->End().Write(text));
  EXPECT_EQ(line->Deliver(), ChannelStatus::kOpen);
  EXPECT_TRUE(line->TakePlain() == text);
  EXPECT_EQ(line->Get().Kept(), KeptInput::kNone);
}

TEST_F(TlsChannelTest, RefusesPlainText) {
  const auto line = Connect();
  EXPECT_EQ(line->Open(kRequest), ChannelStatus::kBroken);
  EXPECT_EQ(line->TakePlain(), "");
  EXPECT_EQ(shared_.counts.failed, 1U);
}

TEST_F(TlsChannelTest, TellsWhyAHandshakeIsRefused) {
  const auto plain = Connect();
  EXPECT_EQ(plain->Open("GET / HTTP/1.1\r\n\r\n"), ChannelStatus::kBroken);
  EXPECT_EQ(plain->Reasons(), Reasons{"http request"});

  TlsOptions options;
  options.certificates = {shared_.certificate.Files()};
  options.least = TlsVersion::k13;
  shared_.context = std::make_shared<const TlsContext>(
      options, std::make_shared<TicketKeys>(options.ticket_period));
  const auto old = Connect(Version(TLS1_2_VERSION));
  EXPECT_FALSE(old->Shake());
  EXPECT_EQ(old->Reasons(), Reasons{"unsupported protocol"});
}

TEST_F(TlsChannelTest, TellsThatAClientRefusesTheCertificate) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const auto line = Connect(Version(version));
    SSL_set_verify(line->Client().Get(), SSL_VERIFY_PEER, nullptr);  // it knows no authority
    EXPECT_FALSE(line->Shake());
    EXPECT_EQ(line->Reasons(), Reasons());
    EXPECT_EQ(line->Deliver(), ChannelStatus::kBroken);
    ASSERT_EQ(line->Reasons().size(), 1U);
    EXPECT_NE(line->Reasons().front().find("alert"), std::string::npos) << line->Reasons().front();
  }
  EXPECT_EQ(shared_.counts.failed, 2U);
}

TEST_F(TlsChannelTest, AHandshakeThatIsNeverCompletedHasFailed) {
  static_cast<void>(Connect());  // a client that says nothing begins none
  EXPECT_EQ(shared_.counts.failed, 0U);
  static_cast<void>(Connect()->Open("\x16\x03\x01"));
  EXPECT_EQ(shared_.counts.failed, 1U);
  static_cast<void>(Shaken());
  static_cast<void>(Connect()->Open("GET / HTTP/1.1\r\n\r\n"));
  EXPECT_EQ(shared_.counts.failed, 2U) << "one that is refused counts once";
}

TEST_F(TlsChannelTest, TellsNoReasonOfAGoodHandshakeOrOfAClientThatLeaves) {
  const auto cut = Connect();
  ASSERT_TRUE(cut->End().Shake());
  EXPECT_EQ(cut->Deliver(), ChannelStatus::kOpen);
  OutQueue reply;
  cut->Get().SealEnd(reply);  // it ends within the handshake
  EXPECT_EQ(cut->Reasons(), Reasons());

  const auto good = Shaken();
  ASSERT_TRUE(good->End().Write(kRequest));
  EXPECT_EQ(good->Deliver(), ChannelStatus::kOpen);
  EXPECT_EQ(good->Open("\x17\x03\x03\x00\x14"s + std::string(20, 'x')), ChannelStatus::kBroken);
  EXPECT_EQ(good->Reasons(), Reasons()) << "the handshake was complete";
  EXPECT_EQ(shared_.counts.failed, 0U);
}

TEST_F(TlsChannelTest, NeedsNobodyWhoHearsTheReason) {
  TlsChannel channel(shared_.context, turns_, {0, 0}, shared_.counts);
  Buffer plain;
  OutQueue reply;
  EXPECT_EQ(loop_.Ask([&] { return channel.Open(kRequest, plain, reply); }),
            ChannelStatus::kBroken);
}

TEST_F(TlsChannelTest, IsSecure) {
  const auto line = Connect();
  EXPECT_TRUE(line->Get().IsSecure()) << "no byte will pass in the clear";
  ASSERT_TRUE(line->Shake());
  EXPECT_TRUE(line->Get().IsSecure());
}

TEST_F(TlsChannelTest, RefusesGarbageInsteadOfAHandshake) {
  const auto line = Connect();
  EXPECT_EQ(line->Open("\x16\x03\x01\x00\x05hello"s), ChannelStatus::kBroken);
  ASSERT_FALSE(line->Reply().empty());
  EXPECT_EQ(line->Reply().front(), SSL3_RT_ALERT);
  EXPECT_FALSE(line->Get().CanSeal());
  EXPECT_EQ(shared_.counts.failed, 1U);
}

TEST_F(TlsChannelTest, RefusesGarbageWithinAHandshake) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const auto line = Connect(Version(version));
    ASSERT_TRUE(line->End().Shake());
    ASSERT_EQ(line->Deliver(), ChannelStatus::kOpen);
    EXPECT_EQ(line->Open("\x16\x03\x03\x00\x14"s + std::string(20, 'x')), ChannelStatus::kBroken);
    EXPECT_FALSE(line->Reply().empty());
    while (line->End().Shake() && !line->End().IsOpen()) {
      ASSERT_EQ(line->End().Take(), "");  // or it would wait forever
    }
    line->End().Read();
    EXPECT_NE(line->End().Reason().find("alert"), std::string::npos) << line->End().Reason();
  }
  EXPECT_EQ(shared_.counts.failed, 2U);
  EXPECT_EQ(shared_.counts.full, 0U);
}

TEST_F(TlsChannelTest, RefusesGarbageAfterTheHandshake) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const auto line = Shaken(Version(version));
    EXPECT_EQ(line->Open("\x17\x03\x03\x00\x28"s + std::string(40, 'x')), ChannelStatus::kBroken);
    EXPECT_FALSE(line->Reply().empty());
    EXPECT_EQ(line->TakePlain(), "");
    EXPECT_EQ(line->End().Read(), "");
    EXPECT_EQ(line->End().Reason(), "sslv3 alert bad record mac");
  }
  EXPECT_EQ(shared_.counts.failed, 0U);
  EXPECT_EQ(shared_.counts.full, 2U);
}

TEST_F(TlsChannelTest, RefusesAChangedByteOfAnyRecord) {
  const auto line = Shaken();
  ASSERT_TRUE(line->End().Write(kRequest));
  std::string wire = line->End().Take();
  wire[wire.size() / 2] = static_cast<char>(wire[wire.size() / 2] ^ 1);
  EXPECT_EQ(line->Open(wire), ChannelStatus::kBroken);
  EXPECT_EQ(line->TakePlain(), "");
}

TEST_F(TlsChannelTest, CanSealOnlyAfterTheHandshake) {
  const auto line = Connect();
  EXPECT_FALSE(line->Get().CanSeal());
  ASSERT_TRUE(line->End().Shake());
  line->Deliver();
  EXPECT_FALSE(line->Get().CanSeal());
  ASSERT_TRUE(line->End().Shake());
  line->Deliver();
  EXPECT_TRUE(line->Get().CanSeal());
}

TEST_F(TlsChannelTest, MarksTheEndOnce) {
  const auto line = Shaken();
  EXPECT_EQ(RecordSizes(line->SealEnd()).size(), 1U);
  EXPECT_EQ(line->End().Read(), "");
  EXPECT_TRUE(line->Client().SawEnd());
}

TEST_F(TlsChannelTest, MarksNoEndBeforeTheHandshake) {
  EXPECT_EQ(Connect()->SealEnd(), "");
  const auto line = Connect();
  ASSERT_TRUE(line->End().Shake());
  line->Deliver();
  EXPECT_EQ(line->SealEnd(), "");
}

TEST_F(TlsChannelTest, BeginsAResponseWithShortRecords) {
  constexpr std::size_t kIpAndTcp = 40 + 32;  // version 6, with the options of RFC 7323
  constexpr std::size_t kMostPerPacket = 1500;
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const std::size_t around = 5 + (version == TLS1_2_VERSION ? 24 : 17);  // AES-GCM
    TlsClientWish wish = Version(version);
    wish.ciphers = "ECDHE+AESGCM";
    const auto line = Shaken(wish);
    const std::string body = test::Pattern(3 * kLong);
    std::vector<std::size_t> expected(10, kShort + around);
    expected.push_back(kLong - 10 * kShort + around);
    expected.push_back(kLong + around);
    expected.push_back(kLong + around);
    EXPECT_LE(expected.front() + kIpAndTcp, kMostPerPacket);
    line->End().Read();  // the tickets
    EXPECT_EQ(RecordSizes(line->Seal(body)), expected);
    EXPECT_TRUE(line->End().Read() == body);
    EXPECT_EQ(RecordSizes(line->Seal(body.substr(0, kLong))),
              std::vector<std::size_t>{kLong + around});
    line->End().Read();
    ASSERT_TRUE(line->End().Write("x"));
    ASSERT_EQ(line->Deliver(), ChannelStatus::kOpen);
    EXPECT_EQ(RecordSizes(line->Seal(body)), expected);  // another request, another response
  }
}

TEST_F(TlsChannelTest, GivesNewKeysToAClientThatAsks) {
  const auto line = Shaken(Version(TLS1_3_VERSION));
  AskForKeys(*line, 20);
  ASSERT_TRUE(line->End().Write(kRequest));
  EXPECT_EQ(line->Deliver(), ChannelStatus::kOpen);
  EXPECT_EQ(line->TakePlain(), kRequest);
  line->Seal(kResponse);
  EXPECT_EQ(line->End().Read(), kResponse);
  EXPECT_EQ(line->End().Reason(), "");
}

TEST_F(TlsChannelTest, BreaksOffWithAClientThatAsksForKeysOnly) {
  const auto line = Shaken(Version(TLS1_3_VERSION));
  AskForKeys(*line, TlsChannel::kFreeMessages);
  EXPECT_EQ(line->Deliver(), ChannelStatus::kOpen);
  AskForKeys(*line, 1);
  EXPECT_EQ(line->Deliver(), ChannelStatus::kBroken);
}

TEST_F(TlsChannelTest, MakesFewKeysForAFloodOfQuestions) {
  constexpr std::size_t kFlood = 1000;
  const auto line = Shaken(Version(TLS1_3_VERSION));
  AskForKeys(*line, kFlood);
  EXPECT_EQ(line->Deliver(), ChannelStatus::kBroken);
  EXPECT_LE(RecordSizes(line->Reply()).size(), TlsChannel::kFreeMessages + 1);
}

TEST_F(TlsChannelTest, AllowsMoreKeysWithMoreBytes) {
  constexpr std::size_t kMore = 3;
  const auto line = Shaken(Version(TLS1_3_VERSION));
  const std::string text(TlsChannel::kBytesPerMessage, 'x');
  for (std::size_t i = 0; i < kMore; ++i) {
    ASSERT_TRUE(line->End().Write(text));
    ASSERT_EQ(line->Deliver(), ChannelStatus::kOpen);
  }
  AskForKeys(*line, TlsChannel::kFreeMessages + kMore);
  EXPECT_EQ(line->Deliver(), ChannelStatus::kOpen);
  AskForKeys(*line, 1);
  EXPECT_EQ(line->Deliver(), ChannelStatus::kBroken);
}

// Each client hello asks for another handshake, and is refused by an alert.
TEST_F(TlsChannelTest, BreaksOffWithAClientThatFloodsOneRecordWithHellos) {
  const SealedLine sealed(*this, TLS1_2_VERSION);
  std::string hellos;
  while (hellos.size() < kLong) {
    hellos += "\x01\x00\x00\x00"s;
  }
  EXPECT_EQ(sealed.Send(SSL3_RT_HANDSHAKE, hellos), ChannelStatus::kBroken);
  EXPECT_LE(sealed.line->Reply().size(), kMostReply);
}

TEST_F(TlsChannelTest, BreaksOffWithAClientThatFloodsManyRecordsWithHellos) {
  const SealedLine sealed(*this, TLS1_2_VERSION);
  std::size_t reply = 0;
  std::size_t count = 0;
  while (sealed.Send(SSL3_RT_HANDSHAKE, "\x01\x00\x00\x00"s) == ChannelStatus::kOpen) {
    reply += sealed.line->Reply().size();
    ASSERT_LE(++count, TlsChannel::kFreeMessages);
  }
  EXPECT_LE(reply, kMostReply);
}

TEST_F(TlsChannelTest, BreaksOffWithHalfAMessage) {
  const SealedLine sealed(*this, TLS1_3_VERSION);
  EXPECT_EQ(sealed.Send(SSL3_RT_HANDSHAKE, "\x18\x00\x00\x01"s), ChannelStatus::kBroken);
}

// So the records of these tests are sealed as they should be.
TEST_F(TlsChannelTest, OpensTheRecordOfATest) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const SealedLine sealed(*this, version);
    for (const std::string& text : {"one"s, "two"s}) {
      EXPECT_EQ(sealed.Send(SSL3_RT_APPLICATION_DATA, text), ChannelStatus::kOpen);
      EXPECT_EQ(sealed.line->TakePlain(), text);
    }
  }
  const SealedLine sealed(*this, TLS1_3_VERSION);
  EXPECT_EQ(sealed.Send(SSL3_RT_HANDSHAKE, "\x18\x00\x00\x01\x00"s), ChannelStatus::kOpen);
}

TEST_F(TlsChannelTest, CountsResumedSessions) {
  const auto first = Shaken();
  first->End().Read();  // the tickets
  const test::SslSessionPtr session = first->Client().Session();
  TlsClientWish wish;
  wish.session = session.get();
  EXPECT_TRUE(Shaken(wish)->Client().IsResumed());
  EXPECT_EQ(shared_.counts.full, 1U);
  EXPECT_EQ(shared_.counts.resumed, 1U);
  EXPECT_EQ(shared_.counts.failed, 0U);
}

// Here all other turns of the round are taken, as if eight clients had come before.
TEST_F(TlsChannelTest, KeepsTheBytesOfAClientThatWaitsForItsTurn) {
  callbacks_.on_handle = [](Connection*) {};
  ConnectionId id{};
  const test::Client socket = loop_.Connect(callbacks_, &id);
  Line line(loop_, turns_, shared_, {}, id);
  ASSERT_TRUE(line.End().Shake());
  const std::string hello = line.End().Take();
  Buffer plain;
  OutQueue reply;
  loop_.Ask([&] {
    bool other = false;
    for (std::size_t i = 0; i < HandshakeTurns::kPerRound; ++i) {
      EXPECT_TRUE(turns_.Take({0, 0}, other));
    }
    EXPECT_EQ(line.Get().Open(hello, plain, reply), ChannelStatus::kOpen);
    EXPECT_EQ(line.Get().Kept(), KeptInput::kWaits);
    EXPECT_TRUE(reply.Empty());
  });
  ASSERT_TRUE(loop_.Await([&] { return line.Get().Kept() == KeptInput::kReady; }));
  EXPECT_EQ(line.Open({}), ChannelStatus::kOpen);
  EXPECT_EQ(line.Get().Kept(), KeptInput::kNone);
  EXPECT_TRUE(line.Shake()) << line.End().Reason();
}

TEST_F(TlsChannelTest, AConnectionThatIsDeletedWhileItWaitsTakesNoTurn) {
  callbacks_.on_handle = [](Connection*) {};
  ConnectionId id{};
  const test::Client socket = loop_.Connect(callbacks_, &id);
  auto line = std::make_unique<Line>(loop_, turns_, shared_, TlsClientWish(), id);
  ASSERT_TRUE(line->End().Shake());
  const std::string hello = line->End().Take();
  loop_.Ask([&] {
    bool other = false;
    for (std::size_t i = 0; i < HandshakeTurns::kPerRound; ++i) {
      EXPECT_TRUE(turns_.Take({0, 0}, other));
    }
    Buffer plain;
    OutQueue reply;
    EXPECT_EQ(line->Get().Open(hello, plain, reply), ChannelStatus::kOpen);
    loop_.Get().DeleteConnection(id, Closing::kReset);
    line.reset();
  });
  loop_.RunRounds(3);
  EXPECT_TRUE(Connect()->Shake());
}

TEST_F(TlsChannelTest, FailsInAnOrderlyWayWithoutMemory) {
  std::size_t failures = 0;
  bool is_done = false;
  for (std::size_t first = 1; !is_done; ++first) {
    ASSERT_LT(first, 100U);
    const auto line = Connect();
    ASSERT_TRUE(line->End().Shake());
    const std::string hello = line->End().Take();
    loop_.Ask([&] {
      const NoBlocks none;
      Buffer plain;
      OutQueue reply;
      bool has_thrown = false;
      test::FailAllocations(first);
      try {
        line->Get().Open(hello, plain, reply);
      } catch (const std::bad_alloc&) {
        has_thrown = true;
      }
      is_done = test::StopFailing() == 0;
      EXPECT_EQ(has_thrown, !is_done) << first;
      failures += has_thrown ? 1 : 0;
    });
  }
  EXPECT_GE(failures, 1U);
}

TEST_F(TlsChannelTest, AHandshakeIsCountedOnceWithoutMemory) {
  test::CertificateWish names;
  names.is_authority = true;
  const test::CertificateFiles authority(names);
  names = {};
  names.names = {std::string(60, 'a')};  // too long for a string without memory
  const test::CertificateFiles mine(names, &authority);
  TlsOptions options;
  options.certificates = {shared_.certificate.Files()};
  options.clients = ClientCertificates::kOptional;
  options.client_ca = authority.Chain();
  shared_.context = std::make_shared<const TlsContext>(
      options, std::make_shared<TicketKeys>(options.ticket_period));
  TlsClientWish wish;
  wish.certificate = &mine;
  std::size_t handshakes = 0;
  bool is_done = false;
  for (std::size_t first = 1; !is_done; ++first) {
    ASSERT_LT(first, 100U);
    auto line = Connect(wish);
    ASSERT_TRUE(line->End().Shake());
    line->Deliver();
    ASSERT_TRUE(line->End().Shake()) << line->End().Reason();
    const std::string last = line->End().Take();
    loop_.Ask([&] {
      const NoBlocks none;
      Buffer plain;
      OutQueue reply;
      test::FailAllocations(first);
      try {
        line->Get().Open(last, plain, reply);
      } catch (const std::bad_alloc&) {
        EXPECT_EQ(line->Get().PeerSubject(), "");
      }
      is_done = test::StopFailing() == 0;
      EXPECT_TRUE(!is_done || line->Get().PeerSubject() == "CN=" + names.names.front());
    });
    line.reset();
    EXPECT_EQ(shared_.counts.full + shared_.counts.failed, ++handshakes);
  }
  EXPECT_EQ(shared_.counts.full, 1U);
  EXPECT_GE(shared_.counts.failed, 1U);
}

TEST_F(TlsChannelTest, ThrowsIfThereIsNoMemoryForSealedBytes) {
  const std::string body = test::Pattern(kLong);
  std::size_t failures = 0;
  bool is_done = false;
  for (std::size_t first = 1; !is_done; ++first) {
    ASSERT_LT(first, 100U);
    const auto line = Shaken();
    const NoBlocks none;
    OutQueue wire;
    bool has_thrown = false;
    test::FailAllocations(first);
    try {
      line->Get().Seal(body, wire);
    } catch (const std::bad_alloc&) {
      has_thrown = true;
    }
    is_done = test::StopFailing() == 0;
    EXPECT_EQ(has_thrown, !is_done) << first;
    failures += has_thrown ? 1 : 0;
  }
  EXPECT_GE(failures, 1U);
}

}  // namespace
}  // namespace TURTLE_SERVER
