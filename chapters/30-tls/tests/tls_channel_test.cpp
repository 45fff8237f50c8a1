// The server's side of a session, with a client in memory: each byte passes through the test.
#include "tls/tls_channel.h"

#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
#include "support/tls_client_session.h"
#include "support/tls_memory.h"
#include "tls/handshake_turns.h"
#include "tls/ticket_keys.h"
#include "tls/tls_context.h"

namespace TURTLE_SERVER {
namespace {

using test::LoopThread;
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

// Seals records with a client's keys, after its handshake: OpenSSL makes neither a flood nor half a
// message. The cipher is kCipher or kCipher13.
class RecordSealer {
 public:
  static constexpr const char* kCipher = "ECDHE-ECDSA-AES128-GCM-SHA256";
  static constexpr const char* kCipher13 = "TLS_AES_128_GCM_SHA256";

  // Prepares a client that has not begun yet. With TLS 1.3, `secret` gets its first secret for
  // data.
  static void KeepSecret(SSL* client, std::string& secret) {
    ASSERT_EQ(SSL_set_ciphersuites(client, kCipher13), 1);
    ASSERT_EQ(SSL_set_ex_data(client, 0, &secret), 1);
    SSL_CTX_set_keylog_callback(SSL_get_SSL_CTX(client), [](const SSL* session, const char* line) {
      const std::string_view text(line);
      if (text.substr(0, text.find(' ')) == "CLIENT_TRAFFIC_SECRET_0") {
        *static_cast<std::string*>(SSL_get_ex_data(session, 0)) =
            Unhex(text.substr(text.rfind(' ') + 1));
      }
    });
  }

  // @param secret that KeepSecret() has kept
  RecordSealer(const SSL& client, const std::string& secret)
      : is_13_(SSL_version(&client) == TLS1_3_VERSION), sequence_(is_13_ ? 0 : 1) {
    if (is_13_) {
      key_ = Expand(secret, "key", kKeySize);
      salt_ = Expand(secret, "iv", kNonceSize);
      return;
    }
    constexpr std::size_t kSaltSize = 4;
    const std::string block = KeyBlock(client, 2 * kKeySize + kSaltSize);
    key_ = block.substr(0, kKeySize);
    salt_ = block.substr(2 * kKeySize) + std::string(kNonceSize - kSaltSize, '\0');
  }

  // Returns the record. TLS 1.2 is RFC 5288, section 3; TLS 1.3 is RFC 8446, section 5.2.
  auto Seal(int type, std::string plain) -> std::string {
    std::string number(kNumberSize, '\0');
    for (std::size_t i = 0; i < kNumberSize; ++i) {
      number[i] = static_cast<char>(sequence_ >> (8 * (kNumberSize - 1 - i)));
    }
    ++sequence_;
    std::string nonce = salt_;
    for (std::size_t i = 0; i < kNumberSize; ++i) {
      char& byte = nonce[kNonceSize - kNumberSize + i];
      byte = static_cast<char>(byte ^ number[i]);
    }
    if (is_13_) {
      plain.push_back(static_cast<char>(type));
      const std::string head = Head(SSL3_RT_APPLICATION_DATA, plain.size() + kTagSize);
      return head + Encrypt(plain, nonce, head);
    }
    const std::string sealed = Encrypt(plain, nonce, number + Head(type, plain.size()));
    return Head(type, kNumberSize + sealed.size()) + number + sealed;
  }

 private:
  static constexpr std::size_t kKeySize = 16;
  static constexpr std::size_t kNonceSize = 12;
  static constexpr std::size_t kNumberSize = 8;
  static constexpr std::size_t kTagSize = 16;

  static auto Unhex(std::string_view digits) -> std::string {
    std::string bytes;
    for (; digits.size() >= 2; digits.remove_prefix(2)) {
      bytes.push_back(static_cast<char>(std::stoi(std::string(digits.substr(0, 2)), nullptr, 16)));
    }
    return bytes;
  }

  static auto Head(int type, std::size_t size) -> std::string {
    return {static_cast<char>(type), 3, 3, static_cast<char>(size / 256),
            static_cast<char>(size % 256)};
  }

  static auto Octets(std::string& bytes) -> unsigned char* {
    return reinterpret_cast<unsigned char*>(bytes.data());
  }

  // Runs a function of OpenSSL's that derives keys, EVP_KDF(3).
  static auto Derive(const char* name, const std::vector<OSSL_PARAM>& wish, std::size_t size)
      -> std::string {
    std::string bytes(size, '\0');
    EVP_KDF* const kind = EVP_KDF_fetch(nullptr, name, nullptr);
    EVP_KDF_CTX* const context = EVP_KDF_CTX_new(kind);
    EXPECT_EQ(EVP_KDF_derive(context, Octets(bytes), size, wish.data()), 1) << name;
    EVP_KDF_CTX_free(context);
    EVP_KDF_free(kind);
    return bytes;
  }

  static auto Expand(std::string secret, const std::string& label, std::size_t size)
      -> std::string {
    const std::string whole = "tls13 " + label;
    std::string info{0, static_cast<char>(size), static_cast<char>(whole.size())};
    info.append(whole).push_back(0);
    int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
    std::string digest = "SHA256";
    return Derive(
        "HKDF",
        {OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
         OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
         OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, secret.data(), secret.size()),
         OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info.data(), info.size()),
         OSSL_PARAM_construct_end()},
        size);
  }

  // The keys of both sides, then their salts, RFC 5246, section 6.3.
  static auto KeyBlock(const SSL& client, std::size_t size) -> std::string {
    std::string master(SSL_MAX_MASTER_KEY_LENGTH, '\0');
    SSL_SESSION_get_master_key(SSL_get_session(&client), Octets(master), master.size());
    std::string ours(SSL3_RANDOM_SIZE, '\0');
    std::string theirs(SSL3_RANDOM_SIZE, '\0');
    SSL_get_client_random(&client, Octets(ours), ours.size());
    SSL_get_server_random(&client, Octets(theirs), theirs.size());
    std::string seed = "key expansion" + theirs + ours;
    std::string digest = "SHA256";
    return Derive(
        "TLS1-PRF",
        {OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
         OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SECRET, master.data(), master.size()),
         OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SEED, seed.data(), seed.size()),
         OSSL_PARAM_construct_end()},
        size);
  }

  // Returns the encrypted bytes and their tag.
  auto Encrypt(std::string plain, std::string nonce, std::string known) -> std::string {
    std::string sealed(plain.size(), '\0');
    std::string tag(kTagSize, '\0');
    int size = 0;
    EVP_CIPHER_CTX* const context = EVP_CIPHER_CTX_new();
    EXPECT_EQ(EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), nullptr, Octets(key_), Octets(nonce)),
              1);
    EVP_EncryptUpdate(context, nullptr, &size, Octets(known), static_cast<int>(known.size()));
    EVP_EncryptUpdate(context, Octets(sealed), &size, Octets(plain),
                      static_cast<int>(plain.size()));
    EXPECT_EQ(EVP_EncryptFinal_ex(context, Octets(sealed) + size, &size), 1);
    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, static_cast<int>(kTagSize), tag.data());
    EVP_CIPHER_CTX_free(context);
    return sealed + tag;
  }

  const bool is_13_;
  std::uint64_t sequence_;  // of the next record
  std::string key_;
  std::string salt_;  // combined with the sequence
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
        channel_(std::make_unique<TlsChannel>(shared.context, turns, id, shared.counts)),
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
    const std::string wire = TakeAll(queue);
    end_.Give(wire);
    return wire;
  }

  auto SealEnd() -> std::string {
    OutQueue queue;
    channel_->SealEnd(queue);
    const std::string wire = TakeAll(queue);
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

  auto Get() -> TlsChannel& { return *channel_; }
  auto Client() -> test::TlsClientSession& { return client_; }
  auto End() -> test::TlsMemory& { return end_; }

 private:
  LoopThread& loop_;
  std::unique_ptr<TlsChannel> channel_;
  test::TlsClientSession client_;
  test::TlsMemory end_{*client_.Get()};
  Buffer plain_;
  ChannelStatus status_ = ChannelStatus::kOpen;
  std::string reply_;
  std::size_t sent_ = 0;
};

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
