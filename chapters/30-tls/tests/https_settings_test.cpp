// The settings of HTTPS: what arrives from a configuration, and which mistakes are told.
#include "app/https_settings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "app/config.h"
#include "app/options.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using Faults = std::vector<std::string>;

auto SettingsOf(HttpsOptions& https) -> SettingList {
  SettingList list;
  AddHttpsPorts(list, https);
  AddCertificates(list, https);
  return list;
}

// The settings that result from a configuration with this value of "tls".
struct Reading {
  explicit Reading(const std::string& tls)
      : faults(ReadConfig("{\"tls\": " + tls + "}", "t.json", SettingsOf(https).All())) {}

  HttpsOptions https;
  Faults faults;
};

// Returns what is wrong with one more certificate that has these keys.
auto FaultsOfCertificate(const std::string& keys) -> Faults {
  return Reading(R"({"certificates": [{"certificate": "/a.pem", "key": "/a.key"}, {)" + keys +
                 "}]}")
      .faults;
}

// --- values -------------------------------------------------------------------------------------

TEST(HttpsSettingsTest, EveryValueArrives) {
  const Reading read(R"({"port": 443, "public_port": 8443, "http": "serve",
      "certificate": "/c.pem", "key": "/c.key", "ocsp": "/c.der",
      "certificates": [{"certificate": "/d.pem", "key": "/d.key", "ocsp": "/d.der"},
                       {"key": "/e.key", "certificate": "/e.pem"}],
      "version": "1.3", "clients": "required", "client_ca": "/ca.pem", "tickets": false})");
  ASSERT_EQ(read.faults, Faults());
  const HttpsOptions& https = read.https;
  EXPECT_EQ(https.port, 443);
  EXPECT_EQ(https.public_port, 8443);
  EXPECT_EQ(https.plain, PlainHttp::kServe);
  EXPECT_EQ(https.certificate.chain, "/c.pem");
  EXPECT_EQ(https.certificate.key, "/c.key");
  EXPECT_EQ(https.certificate.ocsp, "/c.der");
  ASSERT_EQ(https.certificates.size(), 2U);
  EXPECT_EQ(https.certificates[0].chain, "/d.pem");
  EXPECT_EQ(https.certificates[0].key, "/d.key");
  EXPECT_EQ(https.certificates[0].ocsp, "/d.der");
  EXPECT_EQ(https.certificates[1].chain, "/e.pem");
  EXPECT_EQ(https.certificates[1].key, "/e.key");
  EXPECT_EQ(https.certificates[1].ocsp, "");
  EXPECT_EQ(https.least, TlsVersion::k13);
  EXPECT_EQ(https.clients, ClientCertificates::kRequired);
  EXPECT_EQ(https.client_ca, "/ca.pem");
  EXPECT_FALSE(https.tickets);
}

TEST(HttpsSettingsTest, WhatIsNotSaidIsTheDefault) {
  const Reading read("{}");
  ASSERT_EQ(read.faults, Faults());
  EXPECT_FALSE(read.https.HasTls());
  EXPECT_EQ(read.https.port, 20443);
  EXPECT_EQ(read.https.public_port, 0);
  EXPECT_EQ(read.https.plain, PlainHttp::kRedirect);
  EXPECT_EQ(read.https.least, TlsVersion::k12);
  EXPECT_EQ(read.https.clients, ClientCertificates::kNone);
  EXPECT_TRUE(read.https.tickets);
}

TEST(HttpsSettingsTest, EveryWordHasItsMeaning) {
  EXPECT_EQ(Reading(R"({"http": "redirect"})").https.plain, PlainHttp::kRedirect);
  EXPECT_EQ(Reading(R"({"http": "off"})").https.plain, PlainHttp::kOff);
  EXPECT_EQ(Reading(R"({"version": "1.2"})").https.least, TlsVersion::k12);
  EXPECT_EQ(Reading(R"({"clients": "optional"})").https.clients, ClientCertificates::kOptional);
  EXPECT_EQ(Reading(R"({"clients": "none"})").https.clients, ClientCertificates::kNone);
  EXPECT_TRUE(Reading(R"({"tickets": "on"})").https.tickets);
}

TEST(HttpsSettingsTest, OneCertificateIsEnoughForTls) {
  EXPECT_TRUE(Reading(R"({"certificate": "/c.pem"})").https.HasTls());
  EXPECT_TRUE(
      Reading(R"({"certificates": [{"certificate": "/c.pem", "key": "/k"}]})").https.HasTls());
  EXPECT_FALSE(Reading(R"({"key": "/c.key", "port": 1, "certificates": []})").https.HasTls());
}

// --- mistakes in a configuration ----------------------------------------------------------------

TEST(HttpsSettingsTest, ACertificateNeedsBothFiles) {
  EXPECT_EQ(FaultsOfCertificate(""),
            (Faults{"t.json: tls.certificates[1].certificate: the key is missing",
                    "t.json: tls.certificates[1].key: the key is missing"}));
  EXPECT_EQ(FaultsOfCertificate(R"("certificate": "/b.pem")"),
            Faults{"t.json: tls.certificates[1].key: the key is missing"});
  EXPECT_EQ(FaultsOfCertificate(R"("key": "/b.key", "ocsp": "/b.der")"),
            Faults{"t.json: tls.certificates[1].certificate: the key is missing"});
}

TEST(HttpsSettingsTest, AnUnknownKeyIsToldWithTheNearestOne) {
  const std::string files = R"("certificate": "/b.pem", "key": "/b.key", )";
  EXPECT_EQ(FaultsOfCertificate(files + R"("oscp": "/b.der")"),
            Faults{"t.json: \"tls.certificates[1].oscp\" is not a key; did you mean "
                   "tls.certificates[1].ocsp?"});
  EXPECT_EQ(FaultsOfCertificate(files + R"("colour": "green")"),
            Faults{"t.json: \"tls.certificates[1].colour\" is not a key"});
  EXPECT_EQ(Reading(R"({"certificat": "/a.pem"})").faults,
            Faults{"t.json: \"tls.certificat\" is not a key; did you mean tls.certificate?"});
}

TEST(HttpsSettingsTest, AWrongValueIsTold) {
  struct Case {
    std::string tls;
    std::string fault;
  };
  for (const auto& [tls, fault] :
       {Case{R"({"port": 65536})", "tls.port: 65536 is not a number from 0 to 65535"},
        {R"({"port": -1})", "tls.port: -1 is not a number from 0 to 65535"},
        {R"({"public_port": "x"})", "tls.public_port: \"x\" is not a number from 0 to 65535"},
        {R"({"http": "on"})", "tls.http: \"on\" is not one of redirect, serve, off"},
        {R"({"version": "1.1"})", "tls.version: \"1.1\" is not one of 1.2, 1.3"},
        {R"({"clients": "on"})", "tls.clients: \"on\" is not one of none, optional, required"},
        {R"({"tickets": "yes"})", "tls.tickets: \"yes\" is not one of on, off"}}) {
    EXPECT_EQ(Reading(tls).faults, Faults{"t.json: " + fault}) << tls;
  }
  EXPECT_EQ(Reading(R"({"certificates": {"certificate": "/a"}})").faults.size(), 1U);
  EXPECT_EQ(FaultsOfCertificate(R"("certificate": 1, "key": "/b.key")").size(), 1U);
}

// --- TlsOf() ------------------------------------------------------------------------------------

TEST(TlsOfTest, TheSingleCertificateIsTheFirst) {
  const TlsOptions both = TlsOf(Reading(R"({"certificate": "/c.pem", "key": "/c.key",
      "certificates": [{"certificate": "/d.pem", "key": "/d.key"},
                       {"certificate": "/e.pem", "key": "/e.key", "ocsp": "/e.der"}]})")
                                    .https);
  ASSERT_EQ(both.certificates.size(), 3U);
  EXPECT_EQ(both.certificates[0].chain, "/c.pem");
  EXPECT_EQ(both.certificates[0].key, "/c.key");
  EXPECT_EQ(both.certificates[1].chain, "/d.pem");
  EXPECT_EQ(both.certificates[2].chain, "/e.pem");
  EXPECT_EQ(both.certificates[2].ocsp, "/e.der");

  const TlsOptions list =
      TlsOf(Reading(R"({"certificates": [{"certificate": "/d.pem", "key": "/d.key"}]})").https);
  ASSERT_EQ(list.certificates.size(), 1U);
  EXPECT_EQ(list.certificates[0].chain, "/d.pem");
}

TEST(TlsOfTest, HasEverySetting) {
  const TlsOptions defaults = TlsOf(HttpsOptions());
  EXPECT_TRUE(defaults.certificates.empty());
  EXPECT_EQ(defaults.least, TlsVersion::k12);
  EXPECT_EQ(defaults.clients, ClientCertificates::kNone);
  EXPECT_EQ(defaults.client_ca, "");
  EXPECT_TRUE(defaults.tickets);
  EXPECT_EQ(defaults.protocols, std::vector<std::string>{"http/1.1"});
  const TlsOptions others = TlsOf(Reading(R"({"version": "1.3", "clients": "optional",
      "client_ca": "/ca.pem", "tickets": "off"})")
                                      .https);
  EXPECT_EQ(others.least, TlsVersion::k13);
  EXPECT_EQ(others.clients, ClientCertificates::kOptional);
  EXPECT_EQ(others.client_ca, "/ca.pem");
  EXPECT_FALSE(others.tickets);
  HttpsOptions two;
  two.protocols = {"two", "one"};
  EXPECT_EQ(TlsOf(two).protocols, two.protocols);
}

// --- HttpsMistake() -----------------------------------------------------------------------------

TEST(HttpsMistakeTest, TellsTheFirstMistake) {
  struct Case {
    std::string tls;
    std::string mistake;
  };
  const std::string whole = R"("certificate": "/c.pem", "key": "/c.key")";
  for (const auto& [tls, mistake] :
       {Case{R"({"key": "/c.key"})", "tls.key: '/c.key' needs a tls.certificate"},
        {R"({"key": "/c.key", "certificates": [{"certificate": "/d", "key": "/d"}]})",
         "tls.key: '/c.key' needs a tls.certificate"},
        {R"({"ocsp": "/c.der"})", "tls.ocsp: '/c.der' needs a tls.certificate"},
        {R"({"certificate": "/c.pem"})", "tls.certificate: '/c.pem' needs a tls.key"},
        {R"({"certificate": "/c.pem", "ocsp": "/c.der"})",
         "tls.certificate: '/c.pem' needs a tls.key"},
        {R"({"http": "off"})", "tls.http: without a tls.certificate nothing is served"},
        {R"({"clients": "required", "client_ca": "/ca.pem"})",
         "tls.clients: without a tls.certificate no client has TLS"},
        {"{" + whole + R"(, "clients": "required"})",
         "tls.clients: without a tls.client_ca no client's certificate is valid"},
        {"{" + whole + R"(, "clients": "optional"})",
         "tls.clients: without a tls.client_ca no client's certificate is valid"},
        {"{" + whole + R"(, "clients": "required", "client_ca": "/ca.pem", "http": "serve"})",
         "tls.clients: with tls.http 'serve', a client needs no certificate"},
        {"{" + whole + R"(, "client_ca": "/ca.pem"})",
         "tls.client_ca: '/ca.pem' needs tls.clients optional or required"},
        {"{" + whole + R"(, "port": 8080})", "tls.port: 8080 is also the port without TLS"},
        {"{" + whole + R"(, "port": 8080, "http": "serve"})",
         "tls.port: 8080 is also the port without TLS"},
        {R"({"certificates": [{"certificate": "/d", "key": "/d"}], "port": 8080})",
         "tls.port: 8080 is also the port without TLS"}}) {
    const Reading read(tls);
    ASSERT_EQ(read.faults, Faults()) << tls;
    EXPECT_EQ(HttpsMistake(read.https, 8080), mistake) << tls;
  }
}

TEST(HttpsMistakeTest, ThereMayBeNone) {
  const std::string whole = R"("certificate": "/c.pem", "key": "/c.key")";
  for (const std::string& tls :
       {std::string("{}"), "{" + whole + "}", "{" + whole + R"(, "ocsp": "/c.der"})",
        "{" + whole + R"(, "clients": "optional", "client_ca": "/ca.pem"})",
        "{" + whole + R"(, "clients": "required", "client_ca": "/ca.pem"})",
        "{" + whole + R"(, "port": 8080, "http": "off"})", "{" + whole + R"(, "port": 0})",
        std::string(R"({"port": 8080})"),
        std::string(R"({"certificates": [{"certificate": "/d", "key": "/d"}]})")}) {
    const Reading read(tls);
    ASSERT_EQ(read.faults, Faults()) << tls;
    EXPECT_EQ(HttpsMistake(read.https, 8080), "") << tls;
  }
  EXPECT_EQ(HttpsMistake(Reading("{" + whole + R"(, "port": 0})").https, 0), "")
      << "both are any free port, so they differ";
}

// --- the command line ---------------------------------------------------------------------------

class HttpsFlagsTest : public testing::Test {
 protected:
  // Reads a command line that serves a directory.
  auto Parse(const std::vector<std::string>& flags) -> CommandLine {
    std::vector<std::string> words{"turtle", "serve"};
    words.insert(words.end(), flags.begin(), flags.end());
    std::vector<const char*> argv;
    std::transform(words.begin(), words.end(), std::back_inserter(argv),
                   [](const std::string& word) { return word.c_str(); });
    return ParseCommandLine(static_cast<int>(argv.size()), argv.data());
  }

  const test::SiteFolder folder_{};
};

TEST_F(HttpsFlagsTest, EverySettingButTheListHasAFlag) {
  const CommandLine line = Parse({folder_.Path(), "--tls-certificate",   "/c.pem",  "--tls-key",
                                  "/c.key",       "--tls-ocsp",          "/c.der",  "--https-port",
                                  "443",          "--https-public-port", "8443",    "--http",
                                  "off",          "--tls-version",       "1.3",     "--tls-clients",
                                  "required",     "--tls-client-ca",     "/ca.pem", "--tls-tickets",
                                  "off"});
  ASSERT_EQ(line.action, CommandAction::kServe) << line.text;
  const HttpsOptions& https = line.serve.https;
  EXPECT_EQ(https.certificate.chain, "/c.pem");
  EXPECT_EQ(https.certificate.key, "/c.key");
  EXPECT_EQ(https.certificate.ocsp, "/c.der");
  EXPECT_EQ(https.port, 443);
  EXPECT_EQ(https.public_port, 8443);
  EXPECT_EQ(https.plain, PlainHttp::kOff);
  EXPECT_EQ(https.least, TlsVersion::k13);
  EXPECT_EQ(https.clients, ClientCertificates::kRequired);
  EXPECT_EQ(https.client_ca, "/ca.pem");
  EXPECT_FALSE(https.tickets);
}

TEST_F(HttpsFlagsTest, AMistakeIsRefused) {
  const CommandLine half = Parse({folder_.Path(), "--tls-certificate", "/c.pem"});
  EXPECT_EQ(half.action, CommandAction::kFail);
  EXPECT_EQ(half.code, 2);
  EXPECT_EQ(half.text, "turtle: tls.certificate: '/c.pem' needs a tls.key (see turtle --help)\n");
  const CommandLine same = Parse({folder_.Path(), "--tls-certificate", "/c.pem", "--tls-key",
                                  "/c.key", "--port", "8443", "--https-port", "8443"});
  EXPECT_EQ(same.action, CommandAction::kFail);
  EXPECT_EQ(same.code, 2);
  EXPECT_EQ(same.text, "turtle: tls.port: 8443 is also the port without TLS (see turtle --help)\n");
}

TEST_F(HttpsFlagsTest, AFlagTakesThePlaceOfTheConfiguration) {
  folder_.Write("t.json", R"({"http": {"root_path": ")" + folder_.Path() +
                              R"("}, "tls": {"certificate": "/c.pem", "key": "/c.key",
                              "port": 443, "http": "serve"}})");
  const std::string file = folder_.Path() + "/t.json";
  const CommandLine line = Parse({"-f", file, "--https-port", "8443"});
  ASSERT_EQ(line.action, CommandAction::kServe) << line.text;
  EXPECT_EQ(line.serve.https.port, 8443);
  EXPECT_EQ(line.serve.https.plain, PlainHttp::kServe);
  const CommandLine again = ReadAgain(line);
  ASSERT_EQ(again.action, CommandAction::kServe) << again.text;
  EXPECT_EQ(again.serve.https.port, 8443);
  EXPECT_EQ(again.serve.https.certificate.chain, "/c.pem");
}

}  // namespace
}  // namespace TURTLE_SERVER
