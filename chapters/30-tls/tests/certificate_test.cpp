// Certificates: which files are accepted, and what is wrong with the others.
#include "tls/certificate.h"

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "support/certificate_files.h"
#include "tls/openssl.h"

namespace TURTLE_SERVER {
namespace {

using test::CertificateFiles;
using test::CertificateWish;
using test::KeyKind;

constexpr long kHour = 3600;  // seconds, in OpenSSL's type  // NOLINT

auto Content(const std::string& path) -> std::string {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void Write(const std::string& path, std::string_view content) {
  std::ofstream(path, std::ios::binary) << content;
}

void SetMode(const std::string& path, mode_t mode) { ASSERT_EQ(::chmod(path.c_str(), mode), 0); }

// Returns the reason why files are refused; "" if they are not.
auto Fault(const TlsCertificate& files) -> std::string {
  try {
    const Certificate certificate(files);
    return "";
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(ERR_peek_error(), 0U) << "an error of OpenSSL is left";
    return error.what();
  }
}

// Expects that a file can't be opened.
void ExpectNotOpened(const TlsCertificate& files, const std::string& path, int error) {
  try {
    const Certificate certificate(files);
    ADD_FAILURE() << path << " was accepted";
  } catch (const std::system_error& thrown) {
    EXPECT_EQ(thrown.code().value(), error);
    EXPECT_EQ(std::string(thrown.what()).find(path + ": "), 0U) << thrown.what();
  }
}

// A key that is too short for today, and a certificate for it, beside the files of another one.
struct ShortRsa {
  explicit ShortRsa(const CertificateFiles& neighbour)
      : files{neighbour.Path("short.pem"), neighbour.Path("short-key.pem"), ""} {
    X509* const made = certificate.get();
    X509_set_version(made, X509_VERSION_3);
    X509_gmtime_adj(X509_getm_notBefore(made), 0);
    X509_gmtime_adj(X509_getm_notAfter(made), kHour);
    X509_set_pubkey(made, key.get());
    X509_sign(made, key.get(), EVP_sha256());
    const BioPtr chain_file(BIO_new_file(files.chain.c_str(), "w"));
    PEM_write_bio_X509(chain_file.get(), made);
    const BioPtr key_file(BIO_new_file(files.key.c_str(), "w"));
    PEM_write_bio_PrivateKey(key_file.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    SetMode(files.key, 0600);
  }

  PrivateKeyPtr key{EVP_RSA_gen(1024)};
  X509Ptr certificate{X509_new()};
  TlsCertificate files;
};

// The properties of an OCSP response.
struct OcspWish {
  std::optional<long> next = kHour;  // the next update, from now in seconds; none  // NOLINT
  std::size_t certificates = 1;
  int status = OCSP_RESPONSE_STATUS_SUCCESSFUL;
  const CertificateFiles* neighbour =
      nullptr;  // its certificate is good for an hour, and the first
};

using TimePtr = std::unique_ptr<ASN1_TIME, OpenSslDeleter<ASN1_TIME_free>>;

void AddStatus(OCSP_BASICRESP& response, const X509& certificate, ASN1_TIME* next) {
  const TimePtr from(X509_gmtime_adj(nullptr, -2 * kHour));
  OCSP_CERTID* const id = OCSP_cert_to_id(EVP_sha1(), &certificate, &certificate);
  EXPECT_NE(
      OCSP_basic_add1_status(&response, id, V_OCSP_CERTSTATUS_GOOD, 0, nullptr, from.get(), next),
      nullptr);
  OCSP_CERTID_free(id);
}

// Returns a response about a certificate, in DER, signed by its own key.
auto OcspResponse(const CertificateFiles& certificate, const OcspWish& wish = {}) -> std::string {
  const OcspBasicPtr basic(OCSP_BASICRESP_new());
  const TimePtr next(wish.next ? X509_gmtime_adj(nullptr, *wish.next) : nullptr);
  if (wish.neighbour != nullptr) {
    const TimePtr later(X509_gmtime_adj(nullptr, kHour));
    AddStatus(*basic, *wish.neighbour->Get(), later.get());
  }
  for (std::size_t i = 0; i < wish.certificates; ++i) {
    AddStatus(*basic, *certificate.Get(), next.get());
  }
  EXPECT_EQ(OCSP_basic_sign(basic.get(), certificate.Get(), certificate.PrivateKey(), EVP_sha256(),
                            nullptr, 0),
            1);
  const bool is_good = wish.status == OCSP_RESPONSE_STATUS_SUCCESSFUL;
  const OcspResponsePtr response(
      OCSP_response_create(wish.status, is_good ? basic.get() : nullptr));
  unsigned char* der = nullptr;
  const int size = i2d_OCSP_RESPONSE(response.get(), &der);
  EXPECT_GT(size, 0);
  std::string bytes(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return bytes;
}

class CertificateTest : public testing::Test {
 protected:
  // Returns the certificate's files, with this one in place of the chain.
  [[nodiscard]] auto WithChain(std::string_view content) const -> TlsCertificate {
    TlsCertificate files = good_.Files();
    files.chain = good_.Path("other.pem");
    Write(files.chain, content);
    return files;
  }

  // Returns the same with this one in place of the key.
  [[nodiscard]] auto WithKey(std::string_view content) const -> TlsCertificate {
    TlsCertificate files = good_.Files();
    files.key = good_.Path("other-key.pem");
    Write(files.key, content);
    SetMode(files.key, 0600);
    return files;
  }

  // Returns the same with an OCSP response.
  [[nodiscard]] auto WithOcsp(std::string_view content) const -> TlsCertificate {
    TlsCertificate files = good_.Files();
    files.ocsp = good_.Path("ocsp.der");
    Write(files.ocsp, content);
    return files;
  }

  // Returns the certificate's files, in turn each with another path in place of one of them.
  [[nodiscard]] auto WithEach(const std::string& path) const -> std::vector<TlsCertificate> {
    std::vector<TlsCertificate> all(3, good_.Files());
    all[0].chain = path;
    all[1].key = path;
    all[2].ocsp = path;
    return all;
  }

  const CertificateFiles good_{};
};

// --- the files -----------------------------------------------------------------------------------

TEST_F(CertificateTest, GoodFilesAreAccepted) {
  const Certificate certificate(good_.Files());
  EXPECT_EQ(certificate.Names(), std::vector<std::string>{"localhost"});
  EXPECT_EQ(certificate.Staple(), "");
}

TEST_F(CertificateTest, AMissingFileIsNamed) {
  const std::string path = good_.Path("missing");
  for (const TlsCertificate& files : WithEach(path)) {
    ExpectNotOpened(files, path, ENOENT);
  }
  TlsCertificate files = good_.Files();
  files.chain = path;
  try {
    const Certificate certificate(files);
    ADD_FAILURE() << "accepted";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.what(), path + ": No such file or directory");
  }
}

TEST_F(CertificateTest, AFileThatMayNotBeReadIsNamed) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "root may read everything";
  }
  const std::string path = good_.Path("locked");
  Write(path, Content(good_.Chain()));
  SetMode(path, 0);
  for (const TlsCertificate& files : WithEach(path)) {
    ExpectNotOpened(files, path, EACCES);
  }
}

TEST_F(CertificateTest, ADirectoryIsRefused) {
  const std::string path = good_.Path("directory");
  std::filesystem::create_directory(path);
  for (const TlsCertificate& files : WithEach(path)) {
    EXPECT_EQ(Fault(files), path + ": not a regular file");
  }
}

TEST_F(CertificateTest, APipeIsRefusedWithoutWaitingForItsWriter) {
  const std::string path = good_.Path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  for (const TlsCertificate& files : WithEach(path)) {
    EXPECT_EQ(Fault(files), path + ": not a regular file");
  }
}

TEST_F(CertificateTest, AFileLongerThanOneMebibyteIsRefused) {
  const std::string path = good_.Path("long");
  Write(path, Content(good_.Chain()));
  SetMode(path, 0600);
  std::filesystem::resize_file(path, Certificate::kMaxBytes + 1);
  for (const TlsCertificate& files : WithEach(path)) {
    EXPECT_EQ(Fault(files), path + ": longer than 1 MiB");
  }
}

TEST_F(CertificateTest, AFileOfOneMebibyteIsAccepted) {
  const std::string line = std::string(63, '#') + "\n";
  const std::string pem = Content(good_.Chain());
  std::string text(static_cast<std::size_t>(Certificate::kMaxBytes) - pem.size(), '\n');
  for (std::size_t at = 0; at + line.size() < text.size(); at += line.size()) {
    text.replace(at, line.size(), line);
  }
  EXPECT_EQ(Fault(WithChain(text + pem)), "");
}

TEST_F(CertificateTest, NothingOfTheFilesStaysOpen) {
  const auto next = [] {  // the number that the next descriptor gets
    const int fd = ::dup(STDERR_FILENO);
    ::close(fd);
    return fd;
  };
  const TlsCertificate files = WithOcsp(OcspResponse(good_));
  const int before = next();
  const Certificate certificate(files);
  EXPECT_EQ(next(), before);
  EXPECT_NE(Fault(WithChain("")), "");
  EXPECT_NE(Fault(WithEach(good_.Path(".")).front()), "");
  EXPECT_EQ(next(), before);
}

// --- the chain -----------------------------------------------------------------------------------

TEST_F(CertificateTest, AFileWithoutACertificateIsRefused) {
  for (const std::string& content : {std::string(), std::string("a turtle\n"),
                                     std::string("\0\x01\xff", 3), Content(good_.Key())}) {
    const TlsCertificate files = WithChain(content);
    EXPECT_EQ(Fault(files), files.chain + ": it has no certificate in PEM") << content;
  }
}

TEST_F(CertificateTest, ADamagedCertificateIsRefused) {
  const TlsCertificate files = WithChain(
      "-----BEGIN CERTIFICATE-----\n"
      "!!!!\n"
      "-----END CERTIFICATE-----\n");
  EXPECT_EQ(Fault(files), files.chain + ": certificate 1: bad base64 decode");
}

TEST_F(CertificateTest, ADamagedCertificateAfterAGoodOneIsRefused) {
  const TlsCertificate files = WithChain(Content(good_.Chain()) +
                                         "-----BEGIN CERTIFICATE-----\n"
                                         "!!!!\n"
                                         "-----END CERTIFICATE-----\n");
  EXPECT_EQ(Fault(files), files.chain + ": certificate 2: bad base64 decode");
}

TEST_F(CertificateTest, AFileThatEndsTooEarlyIsRefused) {
  const std::string pem = Content(good_.Chain());
  const TlsCertificate files = WithChain(pem + pem.substr(0, pem.size() / 2));
  EXPECT_EQ(Fault(files).find(files.chain + ": certificate 2: "), 0U) << Fault(files);
}

TEST_F(CertificateTest, TextBetweenCertificatesIsSkipped) {
  EXPECT_EQ(Fault(WithChain("Subject: a turtle\n" + Content(good_.Chain()) + "\nThe end.\n")), "");
}

TEST_F(CertificateTest, AnExpiredCertificateIsRefused) {
  CertificateWish wish;
  wish.from = -2 * kHour;
  wish.until = -60;
  const CertificateFiles late(wish);
  EXPECT_EQ(Fault(late.Files()), late.Chain() + ": the certificate has expired");
}

TEST_F(CertificateTest, ACertificateThatIsNotYetValidIsAccepted) {
  CertificateWish wish;
  wish.from = kHour;
  wish.until = 2 * kHour;
  EXPECT_EQ(Fault(CertificateFiles(wish).Files()), "");
}

TEST_F(CertificateTest, OnlyTheFirstCertificateMustNotHaveExpired) {
  CertificateWish late;
  late.until = -60;
  late.is_authority = true;
  const CertificateFiles issuer(late);
  EXPECT_EQ(Fault(CertificateFiles({}, &issuer).Files()), "");
}

// --- any certificates of a file
// --------------------------------------------------------------------

// Returns the reason why ReadCertificates() refuses a file; "" if it doesn't.
auto ReadingFault(const std::string& path) -> std::string {
  try {
    EXPECT_FALSE(ReadCertificates(path).empty());
    return "";
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(ERR_peek_error(), 0U) << "an error of OpenSSL is left";
    return error.what();
  }
}

TEST_F(CertificateTest, AllCertificatesOfAFileAreReadInTheirOrder) {
  const CertificateFiles other{};
  const std::string path = WithChain("A turtle.\n" + Content(good_.Chain()) + Content(good_.Key()) +
                                     Content(other.Chain()) + "The end.\n")
                               .chain;
  const std::vector<X509Ptr> all = ReadCertificates(path);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(X509_cmp(all[0].get(), good_.Get()), 0);
  EXPECT_EQ(X509_cmp(all[1].get(), other.Get()), 0);
  EXPECT_EQ(ERR_peek_error(), 0U);
}

TEST_F(CertificateTest, AnExpiredCertificateIsRead) {
  CertificateWish wish;
  wish.until = -60;
  const CertificateFiles late(wish);
  EXPECT_EQ(ReadCertificates(late.Chain()).size(), 1U);
}

TEST_F(CertificateTest, AFileOfCertificatesThatIsMissingIsNamed) {
  const std::string path = good_.Path("missing.pem");
  try {
    EXPECT_TRUE(ReadCertificates(path).empty());
    ADD_FAILURE() << path << " was accepted";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), ENOENT);
    EXPECT_EQ(std::string(error.what()).find(path + ": "), 0U) << error.what();
  }
}

TEST_F(CertificateTest, AFileWithoutCertificatesOrWithADamagedOneIsNamed) {
  const std::string damaged =
      "-----BEGIN CERTIFICATE-----\n"
      "!!!!\n"
      "-----END CERTIFICATE-----\n";
  for (const std::string& content :
       {std::string(), std::string("a turtle\n"), Content(good_.Key())}) {
    const std::string path = WithChain(content).chain;
    EXPECT_EQ(ReadingFault(path), path + ": it has no certificate in PEM") << content;
  }
  const std::string path = WithChain(Content(good_.Chain()) + damaged).chain;
  EXPECT_EQ(ReadingFault(path), path + ": certificate 2: bad base64 decode");
}

// --- the key -------------------------------------------------------------------------------------

TEST_F(CertificateTest, AFileWithoutAPrivateKeyIsRefused) {
  for (const std::string& content :
       {std::string(), std::string("a turtle\n"), Content(good_.Chain())}) {
    const TlsCertificate files = WithKey(content);
    EXPECT_EQ(Fault(files), files.key + ": it has no private key in PEM") << content;
  }
}

TEST_F(CertificateTest, ADamagedPrivateKeyIsRefused) {
  const TlsCertificate files = WithKey(
      "-----BEGIN PRIVATE KEY-----\n"
      "AAAA\n"
      "-----END PRIVATE KEY-----\n");
  EXPECT_EQ(Fault(files), files.key + ": it has no private key in PEM");
}

TEST_F(CertificateTest, AnEncryptedKeyIsRefusedWithoutAskingAnybody) {
  CertificateWish wish;
  wish.passphrase = "secret";
  const CertificateFiles files(wish);
  EXPECT_EQ(Fault(files.Files()),
            files.Key() + ": the private key needs a passphrase, which a server can't type");
}

TEST_F(CertificateTest, TheKeyOfAnotherCertificateIsRefused) {
  CertificateWish wish;
  wish.key = KeyKind::kRsa;
  const CertificateFiles rsa(wish);
  const CertificateFiles ecdsa{};
  for (const std::string& key : {rsa.Key(), ecdsa.Key()}) {
    TlsCertificate files = good_.Files();
    files.key = key;
    EXPECT_EQ(Fault(files), key + ": it is not the key of " + good_.Chain());
  }
}

TEST_F(CertificateTest, AKeyThatOthersMayAccessIsRefused) {
  for (const mode_t mode : {0644U, 0604U, 0602U, 0601U, 0666U, 0777U}) {
    SetMode(good_.Key(), mode);
    EXPECT_EQ(Fault(good_.Files()),
              good_.Key() + ": everybody on this machine may access this private key: chmod o= " +
                  good_.Key())
        << mode;
  }
}

TEST_F(CertificateTest, AKeyThatItsOwnerAndGroupMayAccessIsAccepted) {
  for (const mode_t mode : {0640U, 0600U, 0400U, 0440U, 0660U}) {
    SetMode(good_.Key(), mode);
    EXPECT_EQ(Fault(good_.Files()), "") << mode;
  }
}

TEST_F(CertificateTest, TheModeIsThatOfTheFileAndNotOfALinkToIt) {
  TlsCertificate files = good_.Files();
  files.key = good_.Path("link.pem");
  std::filesystem::create_symlink(good_.Key(), files.key);
  EXPECT_EQ(Fault(files), "");
  SetMode(good_.Key(), 0644);
  EXPECT_EQ(Fault(files).find(files.key + ": everybody on this machine"), 0U) << Fault(files);
}

TEST_F(CertificateTest, EverybodyMayReadTheChainAndTheOcspResponse) {
  const TlsCertificate files = WithOcsp(OcspResponse(good_));
  SetMode(files.chain, 0644);
  SetMode(files.ocsp, 0644);
  EXPECT_EQ(Fault(files), "");
}

// --- names ---------------------------------------------------------------------------------------

TEST_F(CertificateTest, TheNamesAreInLowerCaseAndInTheirOrder) {
  CertificateWish wish;
  wish.names = {"WWW.Example.ORG", "*.Example.org", "b-1.example"};
  const Certificate certificate(CertificateFiles(wish).Files());
  EXPECT_EQ(certificate.Names(),
            (std::vector<std::string>{"www.example.org", "*.example.org", "b-1.example"}));
}

TEST_F(CertificateTest, OnlyNamesOfHostsCount) {
  CertificateWish wish;
  wish.names = {"a.org,IP:127.0.0.1,email:turtle@example.org", "b.org"};
  EXPECT_EQ(Certificate(CertificateFiles(wish).Files()).Names(),
            (std::vector<std::string>{"a.org", "b.org"}));
}

TEST_F(CertificateTest, ACertificateWithoutNamesHasNone) {
  CertificateWish wish;
  wish.names = {};  // but a common name
  EXPECT_TRUE(Certificate(CertificateFiles(wish).Files()).Names().empty());
}

// A name without a byte is no name: the table of certificates has no use for it.
TEST_F(CertificateTest, AnEmptyNameDoesNotCount) {
  X509* const certificate = good_.Get();
  X509_EXTENSION_free(
      X509_delete_ext(certificate, X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1)));
  GENERAL_NAMES* const names = GENERAL_NAMES_new();
  for (const char* const text : {"", "a.org"}) {
    ASN1_IA5STRING* const value = ASN1_IA5STRING_new();
    ASSERT_EQ(ASN1_STRING_set(value, text, -1), 1);
    GENERAL_NAME* const name = GENERAL_NAME_new();
    GENERAL_NAME_set0_value(name, GEN_DNS, value);
    sk_GENERAL_NAME_push(names, name);
  }
  ASSERT_EQ(X509_add1_ext_i2d(certificate, NID_subject_alt_name, names, 0, 0), 1);
  GENERAL_NAMES_free(names);
  ASSERT_NE(X509_sign(certificate, good_.PrivateKey(), EVP_sha256()), 0);
  const TlsCertificate files = WithChain("");
  {
    const BioPtr bio(BIO_new_file(files.chain.c_str(), "w"));
    ASSERT_EQ(PEM_write_bio_X509(bio.get(), certificate), 1);
  }
  EXPECT_EQ(Certificate(files).Names(), std::vector<std::string>{"a.org"});
}

TEST_F(CertificateTest, DamagedNamesAreRefused) {
  X509* const certificate = good_.Get();
  X509_EXTENSION_free(
      X509_delete_ext(certificate, X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1)));
  X509_EXTENSION* const none =
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "DER:05:00");  // NULL
  ASSERT_EQ(X509_add_ext(certificate, none, -1), 1);
  X509_EXTENSION_free(none);
  ASSERT_NE(X509_sign(certificate, good_.PrivateKey(), EVP_sha256()), 0);
  const TlsCertificate files = WithChain("");
  {
    const BioPtr bio(BIO_new_file(files.chain.c_str(), "w"));
    ASSERT_EQ(PEM_write_bio_X509(bio.get(), certificate), 1);
  }
  const std::string fault = Fault(files);
  EXPECT_EQ(fault.rfind(files.chain + ": the names of the certificate: ", 0), 0U) << fault;
}

TEST_F(CertificateTest, TheNamesAreThoseOfTheFirstCertificate) {
  CertificateWish authority;
  authority.names = {"ca.example.org"};
  authority.is_authority = true;
  const CertificateFiles issuer(authority);
  EXPECT_EQ(Certificate(CertificateFiles({}, &issuer).Files()).Names(),
            std::vector<std::string>{"localhost"});
}

// --- the OCSP response ---------------------------------------------------------------------------

TEST_F(CertificateTest, AFreshOcspResponseIsGivenAsItIs) {
  const std::string der = OcspResponse(good_);
  const Certificate certificate(WithOcsp(der));
  EXPECT_EQ(certificate.Staple(), der);
  EXPECT_EQ(certificate.Staple(), der) << "the second time";
}

TEST_F(CertificateTest, AnOcspResponseIsReadOnce) {
  const std::string der = OcspResponse(good_);
  const TlsCertificate files = WithOcsp(der);
  const Certificate certificate(files);
  std::filesystem::remove(files.ocsp);
  EXPECT_EQ(certificate.Staple(), der);
}

TEST_F(CertificateTest, ALateOcspResponseIsNotGiven) {
  OcspWish wish;
  wish.next = -60;
  EXPECT_EQ(Certificate(WithOcsp(OcspResponse(good_, wish))).Staple(), "");
}

TEST_F(CertificateTest, AnOcspResponseWithoutANextUpdateIsNeverLate) {
  OcspWish wish;
  wish.next = std::nullopt;
  const std::string der = OcspResponse(good_, wish);
  EXPECT_EQ(Certificate(WithOcsp(der)).Staple(), der);
}

TEST_F(CertificateTest, AFileThatIsNoOcspResponseIsRefused) {
  const std::string der = OcspResponse(good_);
  for (const std::string& content : {std::string(), std::string("a turtle\n"),
                                     der.substr(0, der.size() - 1), Content(good_.Chain())}) {
    const TlsCertificate files = WithOcsp(content);
    EXPECT_EQ(Fault(files), files.ocsp + ": it is no OCSP response in DER") << content.size();
  }
}

TEST_F(CertificateTest, AnOcspResponseThatReportsAnErrorIsRefused) {
  OcspWish wish;
  wish.status = OCSP_RESPONSE_STATUS_TRYLATER;
  const TlsCertificate files = WithOcsp(OcspResponse(good_, wish));
  EXPECT_EQ(Fault(files), files.ocsp + ": the OCSP response reports an error");
}

TEST_F(CertificateTest, AnOcspResponseAboutNothingIsRefused) {
  OcspWish wish;
  wish.certificates = 0;
  const TlsCertificate files = WithOcsp(OcspResponse(good_, wish));
  EXPECT_EQ(Fault(files), files.ocsp + ": the OCSP response is about no certificate");
}

TEST_F(CertificateTest, AnOcspResponseAboutAnotherCertificateIsRefused) {
  const CertificateFiles other;
  const TlsCertificate files = WithOcsp(OcspResponse(other));
  EXPECT_EQ(Fault(files),
            files.ocsp + ": the OCSP response is about another certificate than " + files.chain);
}

TEST_F(CertificateTest, AnOcspResponseAboutSeveralCertificatesIsAsLateAsThePartAboutThisOne) {
  const CertificateFiles other;
  for (const bool is_late : {false, true}) {
    OcspWish wish;
    wish.next = is_late ? -60 : kHour;
    wish.neighbour = &other;
    EXPECT_EQ(Certificate(WithOcsp(OcspResponse(good_, wish))).Staple().empty(), is_late);
  }
}

TEST_F(CertificateTest, AnOcspResponseThatSucceedsWithoutContentIsRefused) {
  const std::string der("\x30\x03\x0a\x01\x00", 5);  // RFC 6960, section 4.2.1: the status alone
  const TlsCertificate files = WithOcsp(der);
  EXPECT_EQ(Fault(files), files.ocsp + ": the OCSP response is about no certificate");
}

// --- in a context --------------------------------------------------------------------------------

class CertificateUseTest : public CertificateTest {
 protected:
  // Returns the certificates of the chain, without the first.
  [[nodiscard]] auto Chain() const -> std::vector<X509*> {
    STACK_OF(X509)* all = nullptr;
    EXPECT_EQ(SSL_CTX_get0_chain_certs(context_.get(), &all), 1);
    std::vector<X509*> chain;
    for (int i = 0; i < sk_X509_num(all); ++i) {
      chain.push_back(sk_X509_value(all, i));
    }
    return chain;
  }

  [[nodiscard]] auto Current() const -> X509* { return SSL_CTX_get0_certificate(context_.get()); }

  const SslContextPtr context_{SSL_CTX_new(TLS_server_method())};
};

TEST_F(CertificateUseTest, TheContextHasTheCertificateAndItsKey) {
  const Certificate certificate(good_.Files());
  certificate.Use(*context_);
  ASSERT_NE(Current(), nullptr);
  EXPECT_EQ(X509_cmp(Current(), good_.Get()), 0);
  EXPECT_EQ(EVP_PKEY_eq(SSL_CTX_get0_privatekey(context_.get()), good_.PrivateKey()), 1);
  EXPECT_EQ(SSL_CTX_check_private_key(context_.get()), 1);
  EXPECT_TRUE(Chain().empty());
}

TEST_F(CertificateUseTest, ACertificateKnowsItself) {
  const Certificate certificate(good_.Files());
  const CertificateFiles other_files{};
  const Certificate other(other_files.Files());
  certificate.Use(*context_);
  EXPECT_TRUE(certificate.Is(Current()));
  EXPECT_FALSE(other.Is(Current()));
  EXPECT_FALSE(certificate.Is(nullptr));
}

TEST_F(CertificateUseTest, TheContextHasTheChainInItsOrder) {
  CertificateWish authority;
  authority.is_authority = true;
  const CertificateFiles root(authority);
  const CertificateFiles intermediate(authority, &root);
  const CertificateFiles leaf({}, &intermediate);
  Write(leaf.Chain(), Content(leaf.Chain()) + Content(root.Chain()));
  Certificate(leaf.Files()).Use(*context_);
  EXPECT_EQ(X509_cmp(Current(), leaf.Get()), 0);
  ASSERT_EQ(Chain().size(), 2U);
  EXPECT_EQ(X509_cmp(Chain()[0], intermediate.Get()), 0);
  EXPECT_EQ(X509_cmp(Chain()[1], root.Get()), 0);
}

TEST_F(CertificateUseTest, ALaterOneOfItsKindTakesItsPlaceWithItsChain) {
  CertificateWish authority;
  authority.is_authority = true;
  const CertificateFiles issuer(authority);
  Certificate(CertificateFiles({}, &issuer).Files()).Use(*context_);
  ASSERT_EQ(Chain().size(), 1U);
  Certificate(good_.Files()).Use(*context_);
  EXPECT_EQ(X509_cmp(Current(), good_.Get()), 0);
  EXPECT_EQ(EVP_PKEY_eq(SSL_CTX_get0_privatekey(context_.get()), good_.PrivateKey()), 1);
  EXPECT_TRUE(Chain().empty());
}

TEST_F(CertificateUseTest, AContextHasOneOfEachKind) {
  CertificateWish wish;
  wish.key = KeyKind::kRsa;
  const CertificateFiles rsa(wish);
  Certificate(rsa.Files()).Use(*context_);
  Certificate(good_.Files()).Use(*context_);
  ASSERT_EQ(SSL_CTX_set_current_cert(context_.get(), SSL_CERT_SET_FIRST), 1);
  EXPECT_EQ(X509_cmp(Current(), rsa.Get()), 0);
  ASSERT_EQ(SSL_CTX_set_current_cert(context_.get(), SSL_CERT_SET_NEXT), 1);
  EXPECT_EQ(X509_cmp(Current(), good_.Get()), 0);
}

// Which keys are too short depends on the system's level; 2 is what most of them have.
TEST_F(CertificateUseTest, AKeyThatIsTooShortIsRefused) {
  const ShortRsa rsa(good_);
  const Certificate certificate(rsa.files);
  SSL_CTX_set_security_level(context_.get(), 2);
  try {
    certificate.Use(*context_);
    ADD_FAILURE() << "a key of 1024 bits was accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(error.what(), rsa.files.chain + ": ee key too small");
    EXPECT_EQ(ERR_peek_error(), 0U) << "an error of OpenSSL is left";
  }
}

TEST_F(CertificateUseTest, AKeyThatIsTooShortInTheChainIsRefused) {
  const ShortRsa rsa(good_);
  const TlsCertificate files = WithChain(Content(good_.Chain()) + Content(rsa.files.chain));
  const Certificate certificate(files);
  SSL_CTX_set_security_level(context_.get(), 2);
  try {
    certificate.Use(*context_);
    ADD_FAILURE() << "a key of 1024 bits was accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(error.what(), files.chain + ": ca key too small");
    EXPECT_EQ(ERR_peek_error(), 0U) << "an error of OpenSSL is left";
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
