#include "tls/days_left.h"

#include <gtest/gtest.h>
#include <openssl/asn1.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "support/certificate_files.h"
#include "support/site_folder.h"
#include "tls/openssl.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::system_clock;

constexpr hours kDay{24};

class DaysLeftTest : public testing::Test {
 protected:
  ~DaysLeftTest() override { EXPECT_EQ(ERR_peek_error(), 0U) << "an error of OpenSSL is left"; }

  // Returns a certificate with this end, in PEM.
  auto EndingAt(const std::string& end) -> std::string {
    X509* const certificate = made_.Get();
    ASN1_TIME* const time = X509_getm_notAfter(certificate);
    if (ASN1_TIME_set_string(time, end.c_str()) != 1) {  // no time: it is written nevertheless
      ASN1_STRING_set(time, end.data(), static_cast<int>(end.size()));
    }
    X509_sign(certificate, made_.PrivateKey(), EVP_sha256());
    ERR_clear_error();
    {
      const BioPtr file(BIO_new_file(made_.Path("made.pem").c_str(), "w"));
      PEM_write_bio_X509(file.get(), certificate);
    }
    return Content(made_.Path("made.pem"));
  }

  static auto Content(const std::string& path) -> std::string {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  auto Write(const std::string& content) -> std::string {
    folder_.Write("chain.pem", content);
    return folder_.Path("chain.pem");
  }

  // Returns the reason for which a file is refused, without its path; "": it is not.
  static auto Refusal(const std::string& path) -> std::string {
    try {
      static_cast<void>(DaysLeft(path, system_clock::now()));
    } catch (const std::invalid_argument& error) {
      const std::string text = error.what();
      EXPECT_EQ(text.substr(0, path.size() + 2), path + ": ");
      return text.substr(path.size() + 2);
    }
    return "";
  }

  // 2030-01-01 00:00:00, the end of most certificates here.
  const std::string kEnd = "300101000000Z";
  const system_clock::time_point kNewYear = system_clock::from_time_t(1893456000);
  const test::CertificateFiles made_{};
  const test::SiteFolder folder_{};
};

TEST_F(DaysLeftTest, CountsWholeDays) {
  const std::string file = Write(EndingAt(kEnd));
  EXPECT_EQ(DaysLeft(file, kNewYear - 90 * kDay), 90);
  EXPECT_EQ(DaysLeft(file, kNewYear - 3 * kDay), 3);
  EXPECT_EQ(DaysLeft(file, kNewYear - 3 * kDay + hours(1)), 2);
  EXPECT_EQ(DaysLeft(file, kNewYear - 3 * kDay + milliseconds(1)), 2);
  EXPECT_EQ(DaysLeft(file, kNewYear - 3 * kDay - seconds(1)), 3);
}

TEST_F(DaysLeftTest, TheLastDayIsZero) {
  const std::string file = Write(EndingAt(kEnd));
  ASSERT_EQ(DaysLeft(file, kNewYear - kDay), 1);
  EXPECT_EQ(DaysLeft(file, kNewYear - kDay + seconds(1)), 0);
  EXPECT_EQ(DaysLeft(file, kNewYear - seconds(1)), 0);
  EXPECT_EQ(DaysLeft(file, kNewYear), 0);
}

TEST_F(DaysLeftTest, IsNegativeOnceExpired) {
  const std::string file = Write(EndingAt(kEnd));
  EXPECT_EQ(DaysLeft(file, kNewYear + milliseconds(1)), -1);
  EXPECT_EQ(DaysLeft(file, kNewYear + seconds(1)), -1);
  EXPECT_EQ(DaysLeft(file, kNewYear + kDay), -1);
  EXPECT_EQ(DaysLeft(file, kNewYear + kDay + seconds(1)), -2);
  EXPECT_EQ(DaysLeft(file, kNewYear + 400 * kDay), -400);
}

TEST_F(DaysLeftTest, TheCertificateThatExpiresFirstCounts) {
  const std::string early = EndingAt("291222000000Z");
  const std::string late = EndingAt("350101000000Z");
  const std::string middle = EndingAt("291227000000Z");
  const auto now = kNewYear - 20 * kDay;
  EXPECT_EQ(DaysLeft(Write(early + middle + late), now), 10);
  EXPECT_EQ(DaysLeft(Write(late + early + middle), now), 10);
  EXPECT_EQ(DaysLeft(Write(late + middle + early), now), 10);
  EXPECT_EQ(DaysLeft(Write(late + middle), now), 15);
}

TEST_F(DaysLeftTest, OtherBlocksAreSkipped) {
  const std::string key = Content(made_.Key());
  EXPECT_EQ(DaysLeft(Write(key + EndingAt(kEnd)), kNewYear - kDay), 1);
  EXPECT_EQ(DaysLeft(Write("subject: CN=a\n" + EndingAt(kEnd) + key), kNewYear - kDay), 1);
}

TEST_F(DaysLeftTest, NoDateIsTooLate) {
  const std::string file = Write(EndingAt("99991231235959Z"));
  EXPECT_EQ(DaysLeft(file, kNewYear), 2'910'981);
  EXPECT_EQ(DaysLeft(Write(EndingAt("20510101000000Z")), kNewYear), 7670);
}

TEST_F(DaysLeftTest, RefusesAFileThatCantBeOpened) {
  EXPECT_EQ(Refusal(folder_.Path("missing.pem")), "it can't be opened");
}

TEST_F(DaysLeftTest, RefusesAFileWithoutACertificate) {
  EXPECT_EQ(Refusal(Write("")), "it has no certificate in PEM");
  EXPECT_EQ(Refusal(Write("a turtle\n")), "it has no certificate in PEM");
  EXPECT_EQ(Refusal(made_.Key()), "it has no certificate in PEM");
  EXPECT_EQ(Refusal(folder_.Path()), "it has no certificate in PEM") << "a directory";
}

TEST_F(DaysLeftTest, RefusesACertificateThatCantBeRead) {
  const std::string good = EndingAt(kEnd);
  const std::string half = good.substr(0, good.size() / 2);
  EXPECT_EQ(Refusal(Write(half)).substr(0, 15), "certificate 1: ");
  EXPECT_EQ(Refusal(Write(good + half)).substr(0, 15), "certificate 2: ");
  EXPECT_EQ(Refusal(Write("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" + good))
                .substr(0, 15),
            "certificate 1: ");
}

TEST_F(DaysLeftTest, RefusesAnEndThatIsNoTime) {
  const std::string good = EndingAt(kEnd);
  EXPECT_EQ(Refusal(Write(good + EndingAt("some day"))).substr(0, 15), "certificate 2: ");
}

}  // namespace
}  // namespace TURTLE_SERVER
