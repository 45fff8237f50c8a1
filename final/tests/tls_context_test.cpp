// Handshakes in memory: which clients a context accepts, and what it agrees on with them.
#include "tls/tls_context.h"

#include <gtest/gtest.h>
#include <openssl/pem.h>

#include <chrono>
#include <cstddef>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "support/certificate_files.h"
#include "support/manual_clock.h"
#include "support/ocsp_response.h"
#include "support/tls_client_session.h"
#include "support/tls_memory.h"
#include "tls/ticket_keys.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::seconds;
using test::CertificateFiles;
using test::CertificateWish;
using test::KeyKind;
using test::SslSessionPtr;
using test::TlsClientWish;
using namespace std::string_literals;

constexpr seconds kPeriod = std::chrono::hours(1);

auto OptionsOf(const std::vector<const CertificateFiles*>& certificates) -> TlsOptions {
  TlsOptions options;
  for (const CertificateFiles* const each : certificates) {
    options.certificates.push_back(each->Files());
  }
  return options;
}

auto Named(const std::vector<std::string>& names, KeyKind key = KeyKind::kEcdsa)
    -> CertificateWish {
  CertificateWish wish;
  wish.names = names;
  wish.key = key;
  return wish;
}

auto Version(int version) -> TlsClientWish {
  TlsClientWish wish;
  wish.version = version;
  return wish;
}

auto Host(const std::string& host) -> TlsClientWish {
  TlsClientWish wish;
  wish.host = host;
  return wish;
}

auto KeysOf(ClockSource clock = Clock::now) -> std::shared_ptr<TicketKeys> {
  return std::make_shared<TicketKeys>(kPeriod, std::move(clock));
}

// One client and the server's session for it.
class Handshake {
 public:
  using Change = std::function<void(std::string& bytes)>;

  Handshake(const TlsContext& context, const TlsClientWish& wish)
      : session_(context.NewSession()), client_(wish) {}

  // Completes the handshake, and lets the client take its tickets. Returns true if both sides
  // agree. `change` may change what the client sends first.
  auto Run(const Change& change = {}) -> bool {
    constexpr int kMostFlights = 10;
    for (int i = 0; i < kMostFlights; ++i) {
      client_end_.Shake();
      std::string bytes = client_end_.Take();
      if (change && i == 0) {
        change(bytes);
      }
      server_end_.Give(bytes);
      server_end_.Shake();
      client_end_.Give(server_end_.Take());
    }
    const bool are_open = client_end_.IsOpen() && server_end_.IsOpen();
    client_end_.Read();
    return are_open && client_end_.Reason().empty() && server_end_.Reason().empty();
  }

  // Sends some text in both directions. Returns true if both arrive.
  auto Talk() -> bool {
    client_end_.Write("how are you?");
    server_end_.Give(client_end_.Take());
    const bool asked = server_end_.Read() == "how are you?";
    server_end_.Write("slow");
    client_end_.Give(server_end_.Take());
    return asked && client_end_.Read() == "slow";
  }

  auto Client() -> test::TlsClientSession& { return client_; }
  auto ClientEnd() -> test::TlsMemory& { return client_end_; }
  auto ServerEnd() -> test::TlsMemory& { return server_end_; }

 private:
  SslPtr session_;
  test::TlsClientSession client_;
  test::TlsMemory server_end_{*session_};
  test::TlsMemory client_end_{*client_.Get()};
};

// Certificates that cost time, or that several tests use, are made once.
auto Rsa() -> const CertificateFiles& {
  static const CertificateFiles files(Named({"localhost"}, KeyKind::kRsa));
  return files;
}

auto Ecdsa() -> const CertificateFiles& {
  static const CertificateFiles files(Named({"localhost"}));
  return files;
}

auto Authority() -> const CertificateFiles& {
  static const CertificateFiles files([] {
    CertificateWish wish = Named({"authority"});
    wish.is_authority = true;
    return wish;
  }());
  return files;
}

// Expects that the client is refused, and by which reasons of OpenSSL.
void ExpectRefused(const TlsContext& context, const TlsClientWish& wish, const std::string& server,
                   const std::string& client) {
  Handshake handshake(context, wish);
  EXPECT_FALSE(handshake.Run());
  EXPECT_EQ(handshake.ServerEnd().Reason(), server);
  EXPECT_EQ(handshake.ClientEnd().Reason(), client);
}

// Returns what the constructor throws.
template <typename Error>
auto Refusal(const TlsOptions& options) -> std::string {
  try {
    const TlsContext context(options, KeysOf());
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

class TlsContextTest : public testing::Test {
 protected:
  // Returns the name of the certificate that a client of `host` gets.
  static auto NameFor(const TlsContext& context, const std::string& host) -> std::string {
    Handshake handshake(context, Host(host));
    return handshake.Run() ? handshake.Client().ServerName()
                           : "refused: " + handshake.ClientEnd().Reason();
  }

  // Returns the protocol that a client with this offer gets.
  auto ProtocolFor(const std::string& offer) -> std::string {
    TlsClientWish wish;
    wish.protocols = offer;
    Handshake handshake(Protocols(), wish);
    EXPECT_TRUE(handshake.Run()) << handshake.ClientEnd().Reason();
    return handshake.Client().Protocol();
  }

  auto Protocols() -> const TlsContext& {
    if (!protocols_) {
      TlsOptions options = OptionsOf({&Ecdsa()});
      options.protocols = {"h2", "http/1.1"};
      protocols_ = std::make_unique<TlsContext>(options, KeysOf());
    }
    return *protocols_;
  }

  // Makes a context that asks for certificates of Authority().
  static auto Asking(ClientCertificates clients) -> std::unique_ptr<TlsContext> {
    TlsOptions options = OptionsOf({&Ecdsa()});
    options.clients = clients;
    options.client_ca = Authority().Chain();
    return std::make_unique<TlsContext>(options, KeysOf());
  }

  const TlsContext context_{OptionsOf({&Ecdsa(), &Rsa()}), KeysOf()};

 private:
  std::unique_ptr<TlsContext> protocols_;
};

TEST_F(TlsContextTest, SpeaksTls12And13) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    Handshake handshake(context_, Version(version));
    ASSERT_TRUE(handshake.Run()) << handshake.ClientEnd().Reason();
    EXPECT_EQ(SSL_version(handshake.Client().Get()), version);
    EXPECT_TRUE(handshake.Talk());
  }
}

TEST_F(TlsContextTest, RefusesTls11) {
  TlsClientWish wish = Version(TLS1_1_VERSION);
  wish.ciphers = "ALL:@SECLEVEL=0";
  ExpectRefused(context_, wish, "unsupported protocol", "tlsv1 alert protocol version");
}

TEST_F(TlsContextTest, RefusesTls12IfTheLeastIs13) {
  TlsOptions options = OptionsOf({&Ecdsa()});
  options.least = TlsVersion::k13;
  const TlsContext context(options, KeysOf());
  ExpectRefused(context, Version(TLS1_2_VERSION), "unsupported protocol",
                "tlsv1 alert protocol version");
  EXPECT_TRUE(Handshake(context, Version(TLS1_3_VERSION)).Run());
}

TEST_F(TlsContextTest, AcceptsEachGoodCipherOfTls12) {
  for (const char* const cipher :
       {"ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256",
        "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384",
        "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305"}) {
    TlsClientWish wish = Version(TLS1_2_VERSION);
    wish.ciphers = cipher;
    Handshake handshake(context_, wish);
    EXPECT_TRUE(handshake.Run()) << cipher << ": " << handshake.ClientEnd().Reason();
  }
}

// Old ciphers authenticate after they have decrypted, or have no forward secrecy.
TEST_F(TlsContextTest, RefusesOldCiphersOfTls12) {
  for (const char* const ciphers :
       {"ECDHE-RSA-AES128-SHA:ECDHE-RSA-AES128-SHA256:ECDHE-ECDSA-AES128-SHA:"
        "ECDHE-ECDSA-AES256-SHA384",
        "AES128-GCM-SHA256:AES256-GCM-SHA384:AES128-SHA:AES256-SHA256",
        "DHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES256-GCM-SHA384"}) {
    TlsClientWish wish = Version(TLS1_2_VERSION);
    wish.ciphers = ciphers;
    ExpectRefused(context_, wish, "no shared cipher", "sslv3 alert handshake failure");
  }
}

TEST_F(TlsContextTest, AsksAClientForAnotherKeyIfItsFirstGroupIsUnknown) {
  Handshake handshake(context_, Version(TLS1_3_VERSION));
  ASSERT_EQ(SSL_set1_groups_list(handshake.Client().Get(), "P-521:P-384"), 1);
  ASSERT_TRUE(handshake.Run()) << handshake.ClientEnd().Reason();
  EXPECT_TRUE(handshake.Talk());
}

TEST_F(TlsContextTest, ChoosesTheCertificateByTheName) {
  const CertificateFiles first(Named({"first.test"}));
  const CertificateFiles second(Named({"example.org", "*.example.org"}));
  const CertificateFiles third(Named({"other.test"}));
  const TlsContext context(OptionsOf({&first, &second, &third}), KeysOf());
  EXPECT_EQ(NameFor(context, "first.test"), "first.test");
  EXPECT_EQ(NameFor(context, "example.org"), "example.org");
  EXPECT_EQ(NameFor(context, "other.test"), "other.test");
  EXPECT_EQ(NameFor(context, "www.example.org"), "example.org");
  EXPECT_EQ(NameFor(context, "WWW.Example.ORG"), "example.org");
  EXPECT_EQ(NameFor(context, "a.b.example.org"), "first.test");
  EXPECT_EQ(NameFor(context, "unknown.test"), "first.test");
  EXPECT_EQ(NameFor(context, ""), "first.test");
}

TEST_F(TlsContextTest, ChoosesTheCertificateInBothVersions) {
  const CertificateFiles first(Named({"first.test"}));
  const CertificateFiles second(Named({"second.test"}));
  const TlsContext context(OptionsOf({&first, &second}), KeysOf());
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsClientWish wish = Version(version);
    wish.host = "second.test";
    Handshake handshake(context, wish);
    ASSERT_TRUE(handshake.Run()) << handshake.ClientEnd().Reason();
    EXPECT_EQ(handshake.Client().ServerName(), "second.test");
    EXPECT_TRUE(handshake.Talk());
  }
}

TEST_F(TlsContextTest, ChoosesTheFirstOfTwoCertificatesForAName) {
  const CertificateFiles one(Named({"www.example.org"}));
  const CertificateFiles all(Named({"*.example.org"}));
  const TlsContext context(OptionsOf({&one, &all}), KeysOf());
  EXPECT_EQ(NameFor(context, "www.example.org"), "www.example.org");
  EXPECT_EQ(NameFor(context, "other.example.org"), "*.example.org");
  EXPECT_EQ(NameFor(context, ""), "www.example.org");
  const TlsContext reverse(OptionsOf({&all, &one}), KeysOf());
  EXPECT_EQ(NameFor(reverse, "www.example.org"), "*.example.org");
}

TEST_F(TlsContextTest, RefusesANameThatIsCutShort) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    Handshake handshake(context_, Version(version));
    EXPECT_FALSE(handshake.Run([](std::string& hello) {
      const std::size_t name = hello.find("\x00\x09localhost"s);
      ASSERT_NE(name, std::string::npos);
      hello[name + 1] = 8;  // the list is longer than its only name now
    }));
    EXPECT_EQ(handshake.ServerEnd().Reason(), "bad extension");
    EXPECT_EQ(handshake.ClientEnd().Reason(), "tlsv1 alert decode error");
  }
}

TEST_F(TlsContextTest, AClientThatCanOnlyVerifyRsaGetsRsa) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    Handshake any(context_, Version(version));
    ASSERT_TRUE(any.Run()) << any.ClientEnd().Reason();
    EXPECT_EQ(any.Client().ServerKeyKind(), EVP_PKEY_EC);
    TlsClientWish wish = Version(version);
    wish.signatures = "RSA-PSS+SHA256:RSA+SHA256";
    Handshake old(context_, wish);
    ASSERT_TRUE(old.Run()) << old.ClientEnd().Reason();
    EXPECT_EQ(old.Client().ServerKeyKind(), EVP_PKEY_RSA);
  }
}

TEST_F(TlsContextTest, SendsTheWholeChain) {
  const CertificateFiles site(Named({"localhost"}), &Authority());
  const TlsContext context(OptionsOf({&site}), KeysOf());
  Handshake handshake(context, {});
  ASSERT_TRUE(handshake.Run()) << handshake.ClientEnd().Reason();
  EXPECT_EQ(sk_X509_num(SSL_get_peer_cert_chain(handshake.Client().Get())), 2);
}

// By default, OpenSSL completes a chain with the authorities of clients.
TEST_F(TlsContextTest, SendsAChainWithoutItsIntermediateAsItIs) {
  const CertificateFiles site(Named({"localhost"}), &Authority());
  {
    const BioPtr chain(BIO_new_file(site.Chain().c_str(), "w"));
    ASSERT_EQ(PEM_write_bio_X509(chain.get(), site.Get()), 1);
  }
  TlsOptions options = OptionsOf({&site});
  options.clients = ClientCertificates::kOptional;
  options.client_ca = Authority().Chain();
  const TlsContext context(options, KeysOf());
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    Handshake handshake(context, Version(version));
    ASSERT_TRUE(handshake.Run()) << handshake.ClientEnd().Reason();
    EXPECT_EQ(sk_X509_num(SSL_get_peer_cert_chain(handshake.Client().Get())), 1);
  }
}

TEST_F(TlsContextTest, AgreesOnTheFirstOfOurProtocols) {
  EXPECT_EQ(ProtocolFor("\x08http/1.1\x02h2"), "h2");
  EXPECT_EQ(ProtocolFor("\x08http/1.1"), "http/1.1");
  EXPECT_EQ(ProtocolFor("\x08http/1.0\x04spdy\x08http/1.1"), "http/1.1");
}

TEST_F(TlsContextTest, AClientNeedNotOfferProtocols) {
  EXPECT_EQ(ProtocolFor(""), "");
  TlsOptions options = OptionsOf({&Ecdsa()});
  options.protocols.clear();
  const TlsContext context(options, KeysOf());
  TlsClientWish wish;
  wish.protocols = "\x08http/1.1";
  Handshake handshake(context, wish);  // nor need a server have one
  ASSERT_TRUE(handshake.Run()) << handshake.ClientEnd().Reason();
  EXPECT_EQ(handshake.Client().Protocol(), "");
}

TEST_F(TlsContextTest, RefusesAClientWithoutACommonProtocol) {
  for (const std::string& offer : {"\x08http/1.0"s, "\x01h"s, "\x03h2c"s, "\x09http/1.1x"s}) {
    TlsClientWish wish;
    wish.protocols = offer;
    ExpectRefused(Protocols(), wish, "no application protocol",
                  "tlsv1 alert no application protocol");
  }
}

TEST_F(TlsContextTest, RefusesMalformedOffersOfProtocols) {
  TlsClientWish wish;
  wish.protocols = "\x08http/1.1";
  for (const char length : {'\x00', '\x07', '\x09', '\xff'}) {
    Handshake handshake(Protocols(), wish);
    EXPECT_FALSE(handshake.Run([length](std::string& hello) {
      const std::size_t name = hello.find("\x08http/1.1");
      ASSERT_NE(name, std::string::npos);
      hello[name] = length;
    }));
    EXPECT_EQ(handshake.ClientEnd().Reason(), "tlsv1 alert decode error") << int{length};
  }
}

TEST_F(TlsContextTest, AsksForNoClientCertificateUnlessItIsTold) {
  const CertificateFiles mine(Named({"alice"}), &Authority());
  TlsClientWish wish;
  wish.certificate = &mine;
  Handshake handshake(context_, wish);
  ASSERT_TRUE(handshake.Run()) << handshake.ClientEnd().Reason();
  EXPECT_EQ(SSL_get_client_CA_list(handshake.Client().Get()), nullptr);
  EXPECT_EQ(SSL_get_certificate(handshake.Client().Get()), mine.Get());  // it would have had one
}

TEST_F(TlsContextTest, AnOptionalClientCertificateMayBeMissing) {
  const auto context = Asking(ClientCertificates::kOptional);
  const CertificateFiles mine(Named({"alice"}), &Authority());
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsClientWish wish = Version(version);
    EXPECT_TRUE(Handshake(*context, wish).Run());
    wish.certificate = &mine;
    Handshake handshake(*context, wish);
    EXPECT_TRUE(handshake.Run()) << handshake.ServerEnd().Reason();
    EXPECT_EQ(sk_X509_NAME_num(SSL_get_client_CA_list(handshake.Client().Get())), 1);
  }
}

TEST_F(TlsContextTest, ARequiredClientCertificateMustBeThere) {
  const auto context = Asking(ClientCertificates::kRequired);
  const CertificateFiles mine(Named({"alice"}), &Authority());
  TlsClientWish wish = Version(TLS1_3_VERSION);
  ExpectRefused(*context, wish, "peer did not return a certificate",
                "tlsv13 alert certificate required");
  wish.certificate = &mine;
  Handshake handshake(*context, wish);
  EXPECT_TRUE(handshake.Run()) << handshake.ServerEnd().Reason();
  EXPECT_TRUE(handshake.Talk());
}

TEST_F(TlsContextTest, RefusesAClientCertificateOfAnotherAuthority) {
  CertificateWish authority = Named({"authority"});  // the same name, but another key
  authority.is_authority = true;
  const CertificateFiles other(authority);
  const CertificateFiles foreign(Named({"mallory"}), &other);
  const CertificateFiles own(Named({"mallory"}));
  for (const CertificateFiles* const mine : {&foreign, &own}) {
    for (const auto clients : {ClientCertificates::kOptional, ClientCertificates::kRequired}) {
      TlsClientWish wish;
      wish.certificate = mine;
      const auto context = Asking(clients);
      Handshake handshake(*context, wish);
      EXPECT_FALSE(handshake.Run());
      EXPECT_EQ(handshake.ServerEnd().Reason(), "certificate verify failed");
    }
  }
}

TEST_F(TlsContextTest, RefusesAnExpiredClientCertificate) {
  CertificateWish old = Named({"alice"});
  old.until = -10;
  const CertificateFiles mine(old, &Authority());
  for (const auto clients : {ClientCertificates::kOptional, ClientCertificates::kRequired}) {
    TlsClientWish wish;
    wish.certificate = &mine;
    const auto context = Asking(clients);
    ExpectRefused(*context, wish, "certificate verify failed", "sslv3 alert certificate expired");
  }
}

TEST_F(TlsContextTest, SendsTheOcspResponseToClientsThatAsk) {
  const CertificateFiles site(Named({"localhost"}));
  WriteOcspResponse(site, site.Path("ocsp.der"));
  TlsOptions options = OptionsOf({&Ecdsa(), &site});
  options.certificates.erase(options.certificates.begin());
  options.certificates.front().ocsp = site.Path("ocsp.der");
  const TlsContext context(options, KeysOf());
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsClientWish wish = Version(version);
    Handshake silent(context, wish);
    ASSERT_TRUE(silent.Run()) << silent.ClientEnd().Reason();
    EXPECT_EQ(silent.Client().Staple(), "");
    wish.asks_status = true;
    Handshake asking(context, wish);
    ASSERT_TRUE(asking.Run()) << asking.ClientEnd().Reason();
    EXPECT_GT(asking.Client().Staple().size(), 100U);
  }
}

TEST_F(TlsContextTest, AnotherCertificateHasNoneOfItsOcspResponse) {
  const CertificateFiles site(Named({"localhost"}));
  const CertificateFiles other(Named({"other.test"}));
  WriteOcspResponse(site, site.Path("ocsp.der"));
  TlsOptions options = OptionsOf({&site, &other});
  options.certificates.front().ocsp = site.Path("ocsp.der");
  const TlsContext context(options, KeysOf());
  TlsClientWish wish = Host("other.test");
  wish.asks_status = true;
  Handshake handshake(context, wish);
  ASSERT_TRUE(handshake.Run()) << handshake.ClientEnd().Reason();
  EXPECT_EQ(handshake.Client().ServerName(), "other.test");
  EXPECT_EQ(handshake.Client().Staple(), "");
}

TEST_F(TlsContextTest, RefusesRenegotiation) {
  Handshake handshake(context_, Version(TLS1_2_VERSION));
  ASSERT_TRUE(handshake.Run()) << handshake.ClientEnd().Reason();
  ASSERT_EQ(SSL_renegotiate(handshake.Client().Get()), 1);
  EXPECT_TRUE(handshake.ClientEnd().Shake());
  handshake.ServerEnd().Give(handshake.ClientEnd().Take());
  EXPECT_EQ(handshake.ServerEnd().Read(), "");
  handshake.ClientEnd().Give(handshake.ServerEnd().Take());
  EXPECT_FALSE(handshake.ClientEnd().Shake());
  EXPECT_EQ(handshake.ClientEnd().Reason(), "no renegotiation");
}

TEST_F(TlsContextTest, NeedsACertificate) {
  EXPECT_EQ(Refusal<std::invalid_argument>({}), "TLS needs a certificate");
}

TEST_F(TlsContextTest, NamesAFileThatIsMissing) {
  TlsOptions options = OptionsOf({&Ecdsa()});
  options.certificates.front().chain = Ecdsa().Path("missing.pem");
  EXPECT_EQ(Refusal<std::system_error>(options),
            Ecdsa().Path("missing.pem") + ": No such file or directory");
}

TEST_F(TlsContextTest, NamesAProtocolThatCanNotBeOne) {
  TlsOptions options = OptionsOf({&Ecdsa()});
  options.protocols = {"http/1.1", ""};
  EXPECT_EQ(Refusal<std::invalid_argument>(options),
            "\"\" is no protocol for ALPN: it needs 1 to 255 bytes");
  const std::string longest(255, 'x');
  options.protocols = {longest + "x"};
  EXPECT_EQ(Refusal<std::invalid_argument>(options),
            "\"" + longest + "x\" is no protocol for ALPN: it needs 1 to 255 bytes");
  options.protocols = {longest};
  EXPECT_EQ(Refusal<std::invalid_argument>(options), "");
}

TEST_F(TlsContextTest, NamesAFileOfAuthoritiesThatIsMissing) {
  TlsOptions options = OptionsOf({&Ecdsa()});
  options.client_ca = Ecdsa().Path("missing.pem");
  EXPECT_EQ(Refusal<std::system_error>(options), "");  // it is not read: nobody is asked
  for (const auto clients : {ClientCertificates::kOptional, ClientCertificates::kRequired}) {
    options.clients = clients;
    EXPECT_EQ(Refusal<std::system_error>(options),
              options.client_ca + ": No such file or directory");
  }
}

TEST_F(TlsContextTest, NamesAFileWithoutAuthorities) {
  const CertificateFiles site(Named({"localhost"}));
  TlsOptions options = OptionsOf({&site});
  options.clients = ClientCertificates::kOptional;
  options.client_ca = site.Path("authorities.pem");
  for (const char* const content : {"", "a turtle\n"}) {
    std::ofstream(options.client_ca) << content;
    EXPECT_EQ(Refusal<std::invalid_argument>(options),
              options.client_ca + ": it has no certificate in PEM");
  }
  options.client_ca = site.Key();
  EXPECT_EQ(Refusal<std::invalid_argument>(options), site.Key() + ": it has no certificate in PEM");
}

// Sessions that clients resume.
class TlsTicketTest : public testing::Test {
 protected:
  // Runs a test for clients of each version.
  template <typename Test>
  void ForEachVersion(Test test) {
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
      SCOPED_TRACE(version == TLS1_2_VERSION ? "TLS 1.2" : "TLS 1.3");
      version_ = version;
      keys_ = KeysOf(clock_.Source());
      context_ = std::make_unique<TlsContext>(options_, keys_);
      test();
    }
  }

  // Connects, and returns the client's session, with its ticket.
  auto Visit(const TlsContext& context, const std::string& host = "localhost") const
      -> SslSessionPtr {
    return Again(context, nullptr, false, host);
  }

  // Connects again with a session, and expects that it is resumed, or not. Returns the new one.
  auto Again(const TlsContext& context, SSL_SESSION* session, bool resumes,
             const std::string& host = "localhost") const -> SslSessionPtr {
    TlsClientWish wish = Version(version_);
    wish.host = host;
    wish.session = session;
    Handshake handshake(context, wish);
    EXPECT_TRUE(handshake.Run()) << handshake.ClientEnd().Reason();
    EXPECT_EQ(handshake.Client().IsResumed(), resumes) << host;
    EXPECT_TRUE(handshake.Talk());
    return handshake.Client().Session();
  }

  static auto TicketOf(const SslSessionPtr& session) -> std::string {
    const unsigned char* ticket = nullptr;
    std::size_t size = 0;
    SSL_SESSION_get0_ticket(session.get(), &ticket, &size);
    return {reinterpret_cast<const char*>(ticket), size};
  }

  // Returns the name of the key that has encrypted the session's ticket.
  static auto KeyOf(const SslSessionPtr& session) -> std::string {
    return TicketOf(session).substr(0, TicketKey::kNameSize);
  }

  // Returns the session with one byte of its ticket changed.
  static auto Changed(const SslSessionPtr& session, std::size_t at) -> SslSessionPtr {
    std::string der(static_cast<std::size_t>(i2d_SSL_SESSION(session.get(), nullptr)), '\0');
    auto* into = reinterpret_cast<unsigned char*>(der.data());
    i2d_SSL_SESSION(session.get(), &into);
    const std::size_t ticket = der.find(TicketOf(session));
    EXPECT_NE(ticket, std::string::npos);
    der[ticket + at] = static_cast<char>(der[ticket + at] ^ 1);
    const auto* from = reinterpret_cast<const unsigned char*>(der.data());
    return SslSessionPtr(d2i_SSL_SESSION(nullptr, &from, static_cast<long>(der.size())));  // NOLINT
  }

  int version_ = 0;
  test::ManualClock clock_;
  std::shared_ptr<TicketKeys> keys_;
  const TlsOptions options_ = OptionsOf({&Ecdsa()});
  std::unique_ptr<TlsContext> context_;
};

TEST_F(TlsTicketTest, AClientResumesItsSession) {
  ForEachVersion([&] {
    const SslSessionPtr session = Visit(*context_);
    ASSERT_EQ(SSL_SESSION_has_ticket(session.get()), 1);
    const SslSessionPtr second = Again(*context_, session.get(), true);
    Again(*context_, second.get(), true);
  });
}

TEST_F(TlsTicketTest, AResumptionBringsANewTicketInTls13) {
  ForEachVersion([&] {
    SslSessionPtr session = Visit(*context_);
    for (int visit = 2; visit <= 4; ++visit) {
      SslSessionPtr next = Again(*context_, session.get(), true);
      ASSERT_EQ(SSL_SESSION_has_ticket(next.get()), 1);
      EXPECT_EQ(TicketOf(next) != TicketOf(session), version_ == TLS1_3_VERSION) << visit;
      session = std::move(next);
    }
  });
}

TEST_F(TlsTicketTest, AReplacementWithTheSameKeysResumes) {
  ForEachVersion([&] {
    const SslSessionPtr session = Visit(*context_);
    const TlsContext after(OptionsOf({&Rsa()}), keys_);
    Again(after, session.get(), true);
  });
}

TEST_F(TlsTicketTest, OtherKeysDoNotResume) {
  ForEachVersion([&] {
    const SslSessionPtr session = Visit(*context_);
    const TlsContext other(options_, KeysOf(clock_.Source()));
    const SslSessionPtr second = Again(other, session.get(), false);
    EXPECT_EQ(SSL_SESSION_has_ticket(second.get()), 1);
  });
}

TEST_F(TlsTicketTest, ATicketIsGoodForTwoPeriods) {
  ForEachVersion([&] {
    const SslSessionPtr session = Visit(*context_);
    clock_.Advance(2 * kPeriod - seconds(1));
    Again(*context_, session.get(), true);
    clock_.Advance(seconds(1));
    Again(*context_, session.get(), false);
  });
}

TEST_F(TlsTicketTest, AnOldKeyGivesANewTicket) {
  ForEachVersion([&] {
    const SslSessionPtr session = Visit(*context_);
    clock_.Advance(kPeriod - seconds(1));
    EXPECT_EQ(KeyOf(Again(*context_, session.get(), true)), KeyOf(session));
    clock_.Advance(seconds(1));
    const SslSessionPtr renewed = Again(*context_, session.get(), true);
    EXPECT_NE(KeyOf(renewed), KeyOf(session));
    clock_.Advance(kPeriod + seconds(1));
    Again(*context_, session.get(), false);
    Again(*context_, renewed.get(), true);
  });
}

TEST_F(TlsTicketTest, ATicketIsGoodForItsGroupOfNamesOnly) {
  ForEachVersion([&] {
    const CertificateFiles one(Named({"one.test", "uno.test"}));
    const CertificateFiles two(Named({"two.test"}));
    const TlsContext context(OptionsOf({&one, &two}), keys_);
    const SslSessionPtr session = Visit(context, "one.test");
    Again(context, session.get(), true, "uno.test");
    Again(context, session.get(), false, "two.test");
    const SslSessionPtr other = Visit(context, "two.test");
    Again(context, other.get(), false, "one.test");
    Again(context, other.get(), true, "two.test");
  });
}

// The second name has another number after the replacement.
TEST_F(TlsTicketTest, AReplacementWithMoreNamesResumesTheSameNameOnly) {
  ForEachVersion([&] {
    const CertificateFiles a(Named({"a.test"}));
    const CertificateFiles b(Named({"b.test"}));
    const CertificateFiles c(Named({"c.test"}));
    const TlsContext before(OptionsOf({&a, &c}), keys_);
    const TlsContext after(OptionsOf({&a, &b, &c}), keys_);
    const SslSessionPtr session = Visit(before, "c.test");
    Again(after, session.get(), false, "b.test");
    Again(after, session.get(), true, "c.test");
  });
}

TEST_F(TlsTicketTest, WithoutTicketsNoneIsGivenOrTaken) {
  ForEachVersion([&] {
    TlsOptions options = options_;
    options.tickets = false;
    const TlsContext without(options, keys_);
    EXPECT_EQ(SSL_SESSION_has_ticket(Visit(without).get()), 0);
    const SslSessionPtr session = Visit(*context_);
    EXPECT_EQ(SSL_SESSION_has_ticket(Again(without, session.get(), false).get()), 0);
  });
}

TEST_F(TlsTicketTest, AClientWithACertificateIsVerifiedEachTime) {
  ForEachVersion([&] {
    TlsOptions options = options_;
    options.clients = ClientCertificates::kOptional;
    options.client_ca = Authority().Chain();
    const TlsContext asking(options, keys_);
    EXPECT_EQ(SSL_SESSION_has_ticket(Visit(asking).get()), 0);
    const SslSessionPtr session = Visit(*context_);
    Again(asking, session.get(), false);
  });
}

TEST_F(TlsTicketTest, AChangedTicketMeansTheWholeHandshake) {
  ForEachVersion([&] {
    const SslSessionPtr session = Visit(*context_);
    const std::size_t size = TicketOf(session).size();
    ASSERT_GT(size, 100U);
    for (const std::size_t at : {std::size_t{0}, TicketKey::kNameSize, size / 2, size - 1}) {
      Again(*context_, Changed(session, at).get(), false);
    }
    Again(*context_, session.get(), true);
  });
}

}  // namespace
}  // namespace TURTLE_SERVER
