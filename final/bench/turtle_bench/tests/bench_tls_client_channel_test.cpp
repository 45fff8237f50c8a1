// The client's side of a TLS session, against a server in memory.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "bench/tls_client_channel.h"
#include "bench/tls_client_context.h"
#include "core/out_queue.h"
#include "support/certificate_files.h"
#include "support/tls_memory.h"

namespace TURTLE_SERVER {
namespace {

auto TakeAll(OutQueue& queue) -> std::string {
  std::string bytes(queue.Size(), '\0');
  static_cast<void>(queue.Copy(bytes.data(), bytes.size()));
  queue.Clear();
  return bytes;
}

auto TextOf(const Buffer& buffer) -> std::string { return std::string(buffer.View()); }

// A server that shows a certificate.
class Server {
 public:
  Server(const test::CertificateFiles& certificate, int version)
      : context_(SSL_CTX_new(TLS_server_method())) {
    SSL_CTX_set_max_proto_version(context_.get(), version);
    SSL_CTX_use_certificate(context_.get(), certificate.Get());
    SSL_CTX_use_PrivateKey(context_.get(), certificate.PrivateKey());
  }

  auto NewSession() const -> SslPtr {
    SslPtr session(SSL_new(context_.get()));
    SSL_set_accept_state(session.get());
    return session;
  }

 private:
  SslContextPtr context_;
};

// Both ends of one connection.
struct Line {
  Line(const Server& server, const TlsClientContext& context, SessionStore& store)
      : session(server.NewSession()), channel(context.NewSession(store)) {}

  auto Open(std::string_view wire) -> ChannelStatus { return channel.Open(wire, plain, reply); }

  // Moves bytes until the handshake is over. @return what the client's last input has led to
  auto Shake(std::size_t piece = std::string::npos) -> ChannelStatus {
    ChannelStatus status = Open({});
    while (status == ChannelStatus::kOpen && !reply.Empty()) {
      peer.Give(TakeAll(reply));
      peer.Shake();
      const std::string bytes = peer.Take();
      for (std::size_t at = 0; at < bytes.size() && status == ChannelStatus::kOpen; at += piece) {
        status = Open(std::string_view(bytes).substr(at, piece));
        if (piece == std::string::npos) {
          break;
        }
      }
    }
    return status;
  }

  SslPtr session;
  test::TlsMemory peer{*session};
  TlsClientChannel channel;
  Buffer plain;
  OutQueue reply;
};

class TlsClientChannelTest : public testing::TestWithParam<int> {
 protected:
  auto Options() const -> TlsClientOptions { return {"localhost", certificate_.Chain()}; }

  const test::CertificateFiles certificate_{};
  const Server server_{certificate_, GetParam()};
  const TlsClientContext context_{Options()};
  SessionStore store_{4};
};

INSTANTIATE_TEST_SUITE_P(Versions, TlsClientChannelTest,
                         testing::Values(TLS1_2_VERSION, TLS1_3_VERSION), [](const auto& each) {
                           return each.param == TLS1_2_VERSION ? "Tls12" : "Tls13";
                         });

TEST_P(TlsClientChannelTest, SpeaksFirstWithoutInput) {
  Line line(server_, context_, store_);
  EXPECT_EQ(line.channel.Kept(), KeptInput::kReady) << "Recv() calls Open() at once";
  EXPECT_FALSE(line.channel.CanSeal());
  EXPECT_EQ(line.Open({}), ChannelStatus::kOpen);
  EXPECT_FALSE(line.reply.Empty()) << "the ClientHello";
  EXPECT_EQ(line.channel.Kept(), KeptInput::kNone);
  EXPECT_FALSE(line.channel.CanSeal());
}

TEST_P(TlsClientChannelTest, OpensAndSealsInAnyPieces) {
  for (const std::size_t piece : {std::string::npos, std::size_t{1}, std::size_t{7}}) {
    Line line(server_, context_, store_);
    ASSERT_EQ(line.Shake(piece), ChannelStatus::kOpen) << line.channel.Failure();
    ASSERT_TRUE(line.channel.CanSeal());
    EXPECT_TRUE(line.channel.IsSecure());
    EXPECT_STREQ(line.channel.Names().version,
                 GetParam() == TLS1_2_VERSION ? "TLSv1.2" : "TLSv1.3");
    EXPECT_STREQ(line.channel.Names().cipher, SSL_get_cipher_name(line.session.get()));

    const std::string request(16384, 'q');
    line.channel.Seal(request, line.reply);
    line.peer.Give(TakeAll(line.reply));
    EXPECT_EQ(line.peer.Read(), request);

    const std::string response(40'000, 'r');
    EXPECT_TRUE(line.peer.Write(response));
    const std::string bytes = line.peer.Take();
    for (std::size_t at = 0; at < bytes.size(); at += 999) {
      EXPECT_EQ(line.Open(std::string_view(bytes).substr(at, 999)), ChannelStatus::kOpen);
    }
    EXPECT_EQ(TextOf(line.plain), response);
  }
}

TEST_P(TlsClientChannelTest, EachSideMarksItsEnd) {
  Line line(server_, context_, store_);
  ASSERT_EQ(line.Shake(), ChannelStatus::kOpen) << line.channel.Failure();
  EXPECT_TRUE(line.peer.Write("bye"));
  SSL_shutdown(line.session.get());
  EXPECT_FALSE(line.channel.SawEnd());
  EXPECT_EQ(line.Open(line.peer.Take()), ChannelStatus::kEnded);
  EXPECT_TRUE(line.channel.SawEnd());
  EXPECT_EQ(TextOf(line.plain), "bye");
  line.channel.SealEnd(line.reply);
  line.peer.Give(TakeAll(line.reply));
  EXPECT_EQ(line.peer.Read(), "");
  EXPECT_NE(SSL_get_shutdown(line.session.get()) & SSL_RECEIVED_SHUTDOWN, 0);
}

TEST_P(TlsClientChannelTest, AnEndBeforeTheHandshakeIsNotMarked) {
  Line line(server_, context_, store_);
  line.channel.SealEnd(line.reply);
  EXPECT_TRUE(line.reply.Empty());
}

TEST_P(TlsClientChannelTest, ASessionIsResumedThoughItsConnectionWasCut) {
  {
    Line line(server_, context_, store_);
    ASSERT_EQ(line.Shake(), ChannelStatus::kOpen) << line.channel.Failure();
    EXPECT_FALSE(line.channel.IsResumed());
    EXPECT_EQ(line.Open(line.peer.Take()), ChannelStatus::kOpen);  // tickets of TLS 1.3
  }
  for (int i = 0; i < 4; ++i) {
    Line line(server_, context_, store_);
    ASSERT_EQ(line.Shake(), ChannelStatus::kOpen) << line.channel.Failure();
    EXPECT_TRUE(line.channel.IsResumed()) << i;
    EXPECT_EQ(SSL_session_reused(line.session.get()), 1) << "the server agrees";
    EXPECT_EQ(line.Open(line.peer.Take()), ChannelStatus::kOpen);
  }
}

TEST_P(TlsClientChannelTest, NoSessionIsResumedIfTheOptionsSaySo) {
  TlsClientOptions options = Options();
  options.resume = false;
  const TlsClientContext context(options);
  for (int i = 0; i < 3; ++i) {
    Line line(server_, context, store_);
    ASSERT_EQ(line.Shake(), ChannelStatus::kOpen) << line.channel.Failure();
    EXPECT_EQ(line.Open(line.peer.Take()), ChannelStatus::kOpen);
    EXPECT_FALSE(line.channel.IsResumed());
  }
  EXPECT_EQ(store_.Take(), nullptr);
}

TEST_P(TlsClientChannelTest, ACertificateForAnotherHostIsRefused) {
  TlsClientOptions options = Options();
  options.host = "other.example";
  const TlsClientContext context(options);
  Line line(server_, context, store_);
  EXPECT_EQ(line.Shake(), ChannelStatus::kBroken);
  EXPECT_TRUE(line.channel.IsRefused());
  EXPECT_EQ(line.channel.Failure(), "hostname mismatch");
  EXPECT_FALSE(line.channel.CanSeal());
  line.peer.Give(TakeAll(line.reply));
  EXPECT_FALSE(line.peer.Shake());
  EXPECT_NE(line.peer.Reason().find("bad certificate"), std::string::npos) << line.peer.Reason();
}

TEST_P(TlsClientChannelTest, WithoutVerificationAnyCertificateIsAccepted) {
  const TlsClientContext context({"other.example", "", false});
  Line line(server_, context, store_);
  EXPECT_EQ(line.Shake(), ChannelStatus::kOpen) << line.channel.Failure();
  EXPECT_TRUE(line.channel.CanSeal());
  EXPECT_STREQ(SSL_get_servername(line.session.get(), TLSEXT_NAMETYPE_host_name), "other.example");
}

TEST_P(TlsClientChannelTest, AnAddressIsNotNamedToTheServer) {
  for (const char* address : {"127.0.0.1", "::1"}) {
    const TlsClientContext context({address, "", false});
    Line line(server_, context, store_);
    EXPECT_EQ(line.Shake(), ChannelStatus::kOpen) << line.channel.Failure();
    EXPECT_EQ(SSL_get_servername(line.session.get(), TLSEXT_NAMETYPE_host_name), nullptr);
  }
}

TEST_P(TlsClientChannelTest, BytesThatAreNoTlsBreakIt) {
  Line line(server_, context_, store_);
  EXPECT_EQ(line.Open({}), ChannelStatus::kOpen);
  EXPECT_EQ(line.Open("HTTP/1.1 400 Bad Request\r\n\r\n"), ChannelStatus::kBroken);
  EXPECT_FALSE(line.channel.IsRefused());
  EXPECT_EQ(line.channel.Failure(), "wrong version number");

  Line later(server_, context_, store_);
  ASSERT_EQ(later.Shake(), ChannelStatus::kOpen) << later.channel.Failure();
  EXPECT_EQ(later.Open("HTTP/1.1 400 Bad Request\r\n\r\n"), ChannelStatus::kBroken);
}

}  // namespace
}  // namespace TURTLE_SERVER
