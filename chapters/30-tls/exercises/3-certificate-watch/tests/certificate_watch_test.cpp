// A renewed certificate is used at the next look, and a broken one never.
#include "tls/certificate_watch.h"

#include <gtest/gtest.h>
#include <openssl/ocsp.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "support/captured_stderr.h"
#include "support/certificate_files.h"
#include "support/loop_thread.h"
#include "support/manual_clock.h"
#include "support/tls_client.h"
#include "support/tls_server.h"

namespace TURTLE_SERVER {
namespace {

namespace fs = std::filesystem;

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using test::CertificateFiles;

constexpr const char* kNotReplaced = "ERROR tls: certificates not replaced: ";

auto Named(const std::string& name) -> test::CertificateWish {
  test::CertificateWish wish;
  wish.names = {name};
  return wish;
}

auto Count(const std::string& text, const std::string& part) -> int {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// Puts a file in another's place, as a careful program does: there is one at any time.
void Put(const std::string& from, const std::string& to) {
  fs::copy_file(from, to + ".new", fs::copy_options::overwrite_existing);
  fs::permissions(to + ".new", fs::status(from).permissions());
  fs::rename(to + ".new", to);
}

void Touch(const std::string& path, milliseconds by = milliseconds(1)) {
  fs::last_write_time(path, fs::last_write_time(path) + by);
}

// Writes an OCSP response about a certificate, which signs it itself.
void WriteStaple(const CertificateFiles& certificate, const std::string& path) {
  const OcspBasicPtr basic(OCSP_BASICRESP_new());
  ASN1_TIME* const now = X509_gmtime_adj(nullptr, 0);
  OCSP_CERTID* const id = OCSP_cert_to_id(nullptr, certificate.Get(), certificate.Get());
  OCSP_basic_add1_status(basic.get(), id, V_OCSP_CERTSTATUS_GOOD, 0, nullptr, now, nullptr);
  OCSP_basic_sign(basic.get(), certificate.Get(), certificate.PrivateKey(), EVP_sha256(), nullptr,
                  0);
  OCSP_CERTID_free(id);
  ASN1_TIME_free(now);
  const OcspResponsePtr response(
      OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic.get()));
  const BioPtr file(BIO_new_file(path.c_str(), "w"));
  i2d_OCSP_RESPONSE_bio(file.get(), response.get());
}

// A server with a certificate for "old", and one for "new" that may take its place. The looks are
// those of another loop, whose clock the test turns.
class CertificateWatchTest : public testing::Test {
 protected:
  ~CertificateWatchTest() override {
    loop_.Ask([this] { watch_.reset(); });
  }

  void Watch(const TlsOptions& options, seconds period = minutes(1)) {
    loop_.Ask([&] {
      watch_ = std::make_unique<CertificateWatch>(loop_.Get(), server_.GetTls(), options, period);
    });
  }

  void Watch() { Watch(TlsOptionsOf(live_)); }

  void Advance(Clock::duration by) { clock_.Advance(by, loop_); }

  auto Replaced() -> std::uint64_t {
    return loop_.Ask([this] { return watch_->Replaced(); });
  }

  // Returns the name in the certificate that a new client gets.
  auto Served() -> std::string {
    test::TlsClient client(server_.Port());
    return client.Shake() ? client.ServerName() : client.Reason();
  }

  // Puts the new pair in the place of the old one.
  void Renew() {
    Put(next_.Key(), live_.Key());
    Put(next_.Chain(), live_.Chain());
  }

  const CertificateFiles live_{Named("old")};
  const CertificateFiles old_{Named("older")};
  const CertificateFiles next_{Named("new")};
  test::TlsServer server_{TlsOptionsOf(live_), [](Exchange& exchange) {
                            exchange.Reply(TextResponse(200, "a turtle"));
                          }};
  test::ManualClock clock_;
  test::LoopThread loop_{clock_.Source()};
  std::unique_ptr<CertificateWatch> watch_;
};

TEST_F(CertificateWatchTest, ARenewedPairIsUsedAtTheNextLook) {
  Watch();
  Renew();
  EXPECT_EQ(Served(), "old");
  Advance(seconds(59));
  EXPECT_EQ(Served(), "old") << "a second early";
  Advance(seconds(1));
  EXPECT_EQ(Served(), "new");
  EXPECT_EQ(Replaced(), 1U);
}

TEST_F(CertificateWatchTest, TheLooksGoOn) {
  Watch(TlsOptionsOf(live_), seconds(5));
  for (std::uint64_t i = 1; i <= 5; ++i) {
    Touch(live_.Chain());
    Advance(seconds(5));
    ASSERT_EQ(Replaced(), i);
  }
  Renew();
  Advance(seconds(5));
  EXPECT_EQ(Served(), "new");
}

TEST_F(CertificateWatchTest, NothingIsReadWhileNothingHasChanged) {
  Watch();
  Touch(live_.Key());
  Advance(minutes(1));
  ASSERT_EQ(Replaced(), 1U);
  const test::CapturedStderr log;
  for (int i = 0; i < 10; ++i) {
    Advance(minutes(1));
  }
  EXPECT_EQ(Replaced(), 1U);
  EXPECT_EQ(log.Text(), "");
}

TEST_F(CertificateWatchTest, AClockThatHasJumpedMeansOneLook) {
  Watch();
  Renew();
  Advance(hours(1));
  EXPECT_EQ(Replaced(), 1U);
  EXPECT_EQ(Served(), "new");
  Touch(live_.Chain());
  Advance(seconds(59));
  EXPECT_EQ(Replaced(), 1U);
  Advance(seconds(1));
  EXPECT_EQ(Replaced(), 2U);
}

TEST_F(CertificateWatchTest, AHalfReplacedPairWaitsForTheOtherHalf) {
  Watch();
  Put(next_.Chain(), live_.Chain());
  for (int i = 0; i < 3; ++i) {
    Advance(minutes(1));
    EXPECT_EQ(Served(), "old");
  }
  EXPECT_EQ(Replaced(), 0U);
  Put(next_.Key(), live_.Key());
  Advance(minutes(1));
  EXPECT_EQ(Served(), "new");
  EXPECT_EQ(Replaced(), 1U);
}

TEST_F(CertificateWatchTest, AFileThatIsGoneMayComeBack) {
  Watch();
  fs::rename(live_.Chain(), live_.Path("aside"));
  Advance(minutes(1));
  EXPECT_EQ(Served(), "old");
  fs::rename(live_.Path("aside"), live_.Chain());
  Advance(minutes(1));
  EXPECT_EQ(Served(), "old");
  EXPECT_EQ(Replaced(), 1U) << "the last attempt had failed";
  Advance(minutes(1));
  EXPECT_EQ(Replaced(), 1U);
}

TEST_F(CertificateWatchTest, AFailureIsRetriedEvenIfTheFilesLookTheSame) {
  Watch();
  Renew();
  fs::permissions(live_.Key(), fs::perms::others_read, fs::perm_options::add);
  Advance(minutes(1));
  EXPECT_EQ(Served(), "old");
  fs::permissions(live_.Key(), fs::perms::others_read, fs::perm_options::remove);
  Advance(minutes(1));
  EXPECT_EQ(Served(), "new");
}

TEST_F(CertificateWatchTest, AnotherInodeIsAChange) {
  Watch();
  const auto time = fs::last_write_time(live_.Chain());
  fs::copy_file(live_.Chain(), live_.Path("copy"));
  fs::last_write_time(live_.Path("copy"), time);
  fs::rename(live_.Path("copy"), live_.Chain());
  Advance(minutes(1));
  EXPECT_EQ(Replaced(), 1U);
}

TEST_F(CertificateWatchTest, AnotherSizeIsAChange) {
  Watch();
  const auto time = fs::last_write_time(live_.Key());
  std::ofstream(live_.Key(), std::ios::app) << "\n";
  fs::last_write_time(live_.Key(), time);
  Advance(minutes(1));
  EXPECT_EQ(Replaced(), 1U);
}

TEST_F(CertificateWatchTest, AMillisecondIsAChange) {
  fs::last_write_time(live_.Chain(),
                      std::chrono::floor<seconds>(fs::last_write_time(live_.Chain())));
  Watch();
  Touch(live_.Chain(), milliseconds(1));
  Advance(minutes(1));
  EXPECT_EQ(Replaced(), 1U);
  Touch(live_.Chain(), -milliseconds(1));  // a restored backup is older
  Advance(minutes(1));
  EXPECT_EQ(Replaced(), 2U);
}

TEST_F(CertificateWatchTest, LinksAreFollowed) {
  fs::create_symlink(live_.Chain(), live_.Path("chain"));
  fs::create_symlink(live_.Key(), live_.Path("key"));
  TlsOptions options;
  options.certificates = {{live_.Path("chain"), live_.Path("key"), ""}};
  Watch(options);
  Touch(live_.Chain());
  Advance(minutes(1));
  EXPECT_EQ(Replaced(), 1U);
  fs::remove(live_.Path("chain"));
  fs::remove(live_.Path("key"));
  fs::create_symlink(next_.Chain(), live_.Path("chain"));
  fs::create_symlink(next_.Key(), live_.Path("key"));
  Advance(minutes(1));
  EXPECT_EQ(Replaced(), 2U);
  EXPECT_EQ(Served(), "new");
}

TEST_F(CertificateWatchTest, EveryFileOfTheOptionsIsWatched) {
  WriteStaple(old_, old_.Path("ocsp.der"));
  TlsOptions options = TlsOptionsOf(live_, old_);
  options.certificates[1].ocsp = old_.Path("ocsp.der");
  options.clients = ClientCertificates::kOptional;
  options.client_ca = next_.Chain();
  Watch(options);
  std::uint64_t replaced = 0;
  for (const std::string& path : {live_.Chain(), live_.Key(), old_.Chain(), old_.Key(),
                                  old_.Path("ocsp.der"), next_.Chain()}) {
    Touch(path);
    Advance(minutes(1));
    EXPECT_EQ(Replaced(), ++replaced) << path;
  }
}

TEST_F(CertificateWatchTest, ABrokenFileOfOneCertificateKeepsAllAsTheyAre) {
  Watch(TlsOptionsOf(live_, old_));
  Renew();
  std::ofstream(old_.Chain()) << "-----BEGIN CERTIFICATE-----\nMIIB";
  Advance(minutes(1));
  EXPECT_EQ(Served(), "old");
  EXPECT_EQ(Replaced(), 0U);
  Put(next_.Chain(), old_.Chain());
  Put(next_.Key(), old_.Key());
  Advance(minutes(1));
  EXPECT_EQ(Served(), "new");
  EXPECT_EQ(Replaced(), 1U);
}

TEST_F(CertificateWatchTest, ASuccessIsLogged) {
  Watch();
  Touch(live_.Chain());
  const test::CapturedStderr log;
  Advance(minutes(1));
  EXPECT_EQ(Count(log.Text(), "INFO tls: certificates replaced\n"), 1) << log.Text();
  EXPECT_EQ(Count(log.Text(), "\n"), 1) << log.Text();
}

TEST_F(CertificateWatchTest, EachFailureIsLoggedOnce) {
  Watch();
  const test::CapturedStderr log;
  const std::string no_pair =
      kNotReplaced + live_.Key() + ": it is not the key of " + live_.Chain() + "\n";
  const std::string no_chain = kNotReplaced + live_.Chain() + ": it has no certificate in PEM\n";
  for (int i = 0; i < 3; ++i) {
    Put(next_.Chain(), live_.Chain());
    Advance(minutes(1));
    Advance(minutes(1));
    std::ofstream(live_.Chain()) << "\n";
    Advance(minutes(1));
  }
  EXPECT_EQ(Count(log.Text(), no_pair), 1) << log.Text();
  EXPECT_EQ(Count(log.Text(), no_chain), 1) << log.Text();
  EXPECT_EQ(Count(log.Text(), "\n"), 2) << log.Text();
}

TEST_F(CertificateWatchTest, ASuccessForgetsTheFailures) {
  Watch();
  const test::CapturedStderr log;
  fs::copy_file(live_.Chain(), live_.Path("good"));
  for (int i = 1; i <= 2; ++i) {
    std::ofstream(live_.Chain()) << "\n";
    Advance(minutes(1));
    Advance(minutes(1));
    EXPECT_EQ(Count(log.Text(), kNotReplaced + live_.Chain()), i) << log.Text();
    Put(live_.Path("good"), live_.Chain());
    Advance(minutes(1));
  }
  EXPECT_EQ(Replaced(), 2U);
}

TEST_F(CertificateWatchTest, AChangeBeforeTheBeginningIsNotLost) {
  Renew();
  Watch();
  EXPECT_EQ(Served(), "new");
  EXPECT_EQ(Replaced(), 0U);
}

TEST_F(CertificateWatchTest, BrokenFilesAtTheBeginningAreRefused) {
  std::ofstream(live_.Chain()) << "\n";
  EXPECT_THROW(Watch(), std::invalid_argument);
  fs::remove(live_.Chain());
  EXPECT_THROW(Watch(), std::system_error);
  EXPECT_EQ(watch_, nullptr);
  EXPECT_EQ(Served(), "old");
  Advance(minutes(1));  // there is no timer of the failed ones
}

TEST_F(CertificateWatchTest, NoLookAfterTheDestructor) {
  Watch();
  Touch(live_.Chain());
  Advance(minutes(1));
  ASSERT_EQ(Replaced(), 1U);
  Renew();
  loop_.Ask([this] { watch_.reset(); });
  Advance(minutes(2));
  EXPECT_EQ(Served(), "old");
}

TEST_F(CertificateWatchTest, APeriodBelowASecondIsRefused) {
  const auto refusal = [this](seconds period) -> std::string {
    try {
      Watch(TlsOptionsOf(live_), period);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(seconds(0)), "certificate watch: period of 0 s: at least 1");
  EXPECT_EQ(refusal(seconds(-5)), "certificate watch: period of -5 s: at least 1");
  EXPECT_EQ(refusal(seconds(1)), "");
  EXPECT_EQ(refusal(seconds::max()), "");
}

}  // namespace
}  // namespace TURTLE_SERVER
