// The program itself speaks TLS: what its clients get on each port, and what signals change.
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "support/basic_login.h"
#include "support/certificate_files.h"
#include "support/cgi_server.h"
#include "support/child.h"
#include "support/http_client.h"
#include "support/log_folder.h"
#include "support/tls_client.h"
#include "support/tls_wire_client.h"
#include "support/turtle.h"
#include "support/unix_client.h"
#include "support/users_file.h"

namespace TURTLE_SERVER {
namespace {

using test::CertificateFiles;
using test::CertificateWish;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::SslSessionPtr;
using test::TlsClient;
using test::TlsClientWish;
using test::TlsWireClient;
using test::Turtle;
using namespace std::string_literals;
using Words = std::vector<std::string>;

const auto kProxyLine = "PROXY TCP4 192.0.2.7 198.51.100.1 56324 443\r\n"s;
const auto kProgram = "/cgi-bin/scheme"s;  // tells whether its client has TLS

// Returns a request that is the last of its connection, and whose response is not chunked.
auto LastGet(const std::string& target, const std::string& fields = "") -> std::string {
  return "GET " + target + " HTTP/1.0\r\nHost: t\r\n" + fields + "\r\n";
}

// Returns the port of the first place with this scheme in the first line; -1: there is none.
auto PortOf(const std::string& line, const std::string& scheme) -> int {
  const std::string begin = scheme + "://127.0.0.1:";
  const std::size_t at = line.find(begin);
  return at == std::string::npos ? -1 : std::stoi(line.substr(at + begin.size()));
}

auto TlsPort(const Turtle& turtle) -> int { return PortOf(turtle.FirstLine(), "https"); }
auto PlainPort(const Turtle& turtle) -> int { return PortOf(turtle.FirstLine(), "http"); }

auto Named(const std::string& name) -> CertificateWish {
  CertificateWish wish;
  wish.names = {name};
  return wish;
}

auto BodyOf(const std::string& reply) -> std::string {
  const std::size_t head = reply.find("\r\n\r\n");
  return head == std::string::npos ? "no response: " + reply : reply.substr(head + 4);
}

// Sends a request, the last of a connection whose handshake is complete. Returns the body.
auto AskLast(TlsClient& client, const std::string& target = "/", const std::string& fields = "")
    -> std::string {
  return client.Send(LastGet(target, fields)) ? BodyOf(client.ReceiveAll()) : "not sent";
}

// Sends one request of a new connection. Returns the whole response.
auto Visit(int port, const std::string& request, const TlsClientWish& wish = {}) -> std::string {
  TlsClient client(port, wish);
  if (!client.Shake() || !client.Send(request)) {
    return "refused: " + client.Reason();
  }
  const std::string reply = client.ReceiveAll();
  return reply.empty() ? "refused: " + client.Reason() : reply;
}

// Returns the name of the certificate that a new client gets.
auto NameAt(int port, const TlsClientWish& wish = {}) -> std::string {
  TlsClient client(port, wish);
  return client.Shake() ? client.ServerName() : "refused: " + client.Reason();
}

class ServeTlsTest : public testing::Test {
 protected:
  ServeTlsTest() {
    folder_.Write("site/index.html", "hello");
    programs_.Program("scheme", "echo Content-Type: text/plain; echo; echo \"${HTTPS-off}\"\n");
    Install(CertificateFiles(Named("old.test")));
  }

  // Puts a certificate and its key where the server reads them.
  void Install(const CertificateFiles& made) const {
    const auto over = std::filesystem::copy_options::overwrite_existing;
    std::filesystem::copy_file(made.Chain(), ChainPath(), over);
    std::filesystem::copy_file(made.Key(), KeyPath(), over);
  }

  [[nodiscard]] auto ChainPath() const -> std::string { return folder_.Path("chain.pem"); }
  [[nodiscard]] auto KeyPath() const -> std::string { return folder_.Path("key.pem"); }

  // Returns the arguments of a server without TLS, with more.
  [[nodiscard]] auto Plain(const Words& more = {}) const -> Words {
    Words words{folder_.Path("site"), "--port",     "0",
                "--threads",          "1",          "--cgi-dir",
                programs_.Path(),     "--log-file", folder_.Path("turtle.log"),
                "--log-flush",        "1"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  // Returns those of one with TLS.
  [[nodiscard]] auto Encrypted(const Words& more = {}) const -> Words {
    Words words{"--https-port", "0", "--tls-certificate", ChainPath(), "--tls-key", KeyPath()};
    words.insert(words.end(), more.begin(), more.end());
    return Plain(words);
  }

  // Writes a configuration, and returns the arguments that use it.
  auto Configured(const std::string& more) const -> Words {
    folder_.Write("site.json",
                  R"({"port": 0, "worker_processes": 1, "log": {"flush_second": 1, "file": ")" +
                      folder_.Path("turtle.log") + R"("}, "http": {"root_path": ")" +
                      folder_.Path("site") + "\"}" + (more.empty() ? "" : ",\n" + more) + "}");
    return {"-f", folder_.Path("site.json")};
  }

  // Returns the "tls" of a configuration.
  [[nodiscard]] auto Tls(const std::string& more = "") const -> std::string {
    return R"("tls": {"port": 0, "certificate": ")" + ChainPath() + R"(", "key": ")" + KeyPath() +
           "\"" + (more.empty() ? "" : ", " + more) + "}";
  }

  [[nodiscard]] auto Log() const -> std::string { return folder_.Read("turtle.log"); }

  // Waits until a file has this text `count` times.
  [[nodiscard]] auto Await(const std::string& text, std::size_t count = 1,
                           const std::string& file = "turtle.log") const -> bool {
    const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
    while (true) {
      const std::string all = folder_.Read(file);
      std::size_t found = 0;
      for (std::size_t at = all.find(text); at != std::string::npos;
           at = all.find(text, at + text.size())) {
        ++found;
      }
      if (found >= count || std::chrono::steady_clock::now() > deadline) {
        EXPECT_GE(found, count) << text << "\nis not in\n" << all;
        return found >= count;
      }
      std::this_thread::yield();
    }
  }

  // Has a server read its settings again, for the time number `count`.
  [[nodiscard]] auto Reload(const Turtle& turtle, std::size_t count = 1) const -> bool {
    turtle.Signal(SIGHUP);
    return Await(" INFO the settings were reloaded\n", count);
  }

  // Hands over to a successor. Returns its number, from the file; 0: there is none.
  [[nodiscard]] auto HandOver(Turtle& turtle) const -> pid_t {
    turtle.Signal(SIGUSR2);
    const std::string line = turtle.ReadLine();
    EXPECT_EQ(line, turtle.FirstLine()) << Log();
    EXPECT_EQ(turtle.Wait(), 0);
    const std::string number = folder_.Read("pid");
    return number.empty() || line != turtle.FirstLine() ? 0 : std::stoi(number);
  }

  static void ExpectStops(Turtle& turtle) {
    turtle.Signal(SIGTERM);
    EXPECT_EQ(turtle.Wait(), 0);
    EXPECT_EQ(turtle.ReadErrors(), "");
  }

  test::LogFolder folder_;
  test::ProgramFolder programs_;
};

// --- what clients get ---------------------------------------------------------------------------

TEST_F(ServeTlsTest, ServesOverTlsAndRedirectsTheOthers) {
  Turtle turtle(Encrypted());
  ASSERT_GT(TlsPort(turtle), 0) << turtle.ReadErrors();
  EXPECT_EQ(turtle.FirstLine(), "Serving " + folder_.Path("site") +
                                    " at http://127.0.0.1:" + std::to_string(PlainPort(turtle)) +
                                    "/, https://127.0.0.1:" + std::to_string(TlsPort(turtle)) +
                                    "/");
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsClientWish wish;
    wish.version = version;
    wish.protocols = "\x08http/1.1";
    TlsClient client(TlsPort(turtle), wish);
    ASSERT_TRUE(client.Shake()) << client.Reason();
    EXPECT_EQ(client.ServerName(), "old.test");
    EXPECT_EQ(client.Protocol(), "http/1.1");
    EXPECT_EQ(AskLast(client), "hello");
    EXPECT_TRUE(client.SawEnd());
  }
  HttpClient plain(PlainPort(turtle));
  for (const std::string target : {"/a%20b?c=d", "/cgi-bin/scheme"}) {
    const HttpReply reply = plain.Ask(Get(target));
    EXPECT_EQ(reply.status, 308);
    EXPECT_EQ(reply.Field("Location"), "https://t:" + std::to_string(TlsPort(turtle)) + target);
  }
  ExpectStops(turtle);
}

TEST_F(ServeTlsTest, ARedirectMayNameAnotherPort) {
  const Turtle turtle(Encrypted({"--https-public-port", "443"}));
  ASSERT_GT(TlsPort(turtle), 0);
  EXPECT_EQ(HttpClient(PlainPort(turtle)).Ask(Get("/x")).Field("Location"), "https://t/x");
}

TEST_F(ServeTlsTest, AChallengeOfAnAuthorityIsNotRedirected) {
  folder_.Write("site/.well-known/acme-challenge/token", "proof");
  const Turtle turtle(Encrypted());
  ASSERT_GT(TlsPort(turtle), 0);
  EXPECT_EQ(HttpClient(PlainPort(turtle)).Ask(Get("/.well-known/acme-challenge/token")).body,
            "proof");
}

TEST_F(ServeTlsTest, HttpServeGivesEverybodyTheSame) {
  const Turtle turtle(Encrypted({"--http", "serve"}));
  ASSERT_GT(TlsPort(turtle), 0);
  EXPECT_EQ(HttpClient(PlainPort(turtle)).Ask(Get("/")).body, "hello");
  EXPECT_EQ(BodyOf(Visit(TlsPort(turtle), LastGet("/"))), "hello");
}

TEST_F(ServeTlsTest, HttpOffOpensNoPlainPort) {
  Turtle turtle(Encrypted({"--http", "off"}));
  EXPECT_EQ(PlainPort(turtle), -1);
  ASSERT_GT(TlsPort(turtle), 0) << turtle.ReadErrors();
  EXPECT_EQ(turtle.FirstLine(), "Serving " + folder_.Path("site") + " at https://127.0.0.1:" +
                                    std::to_string(TlsPort(turtle)) + "/");
  EXPECT_EQ(BodyOf(Visit(TlsPort(turtle), LastGet("/"))), "hello");
  EXPECT_EQ(HttpClient(TlsPort(turtle)).Ask(Get("/")).status, 0);
  ExpectStops(turtle);
}

TEST_F(ServeTlsTest, AProgramKnowsWhetherItsClientHasTls) {
  const Turtle turtle(Encrypted({"--http", "serve", "--response-cache", "on"}));
  ASSERT_GT(TlsPort(turtle), 0);
  for (int i = 0; i < 2; ++i) {  // the second time from the cache
    EXPECT_EQ(BodyOf(Visit(TlsPort(turtle), LastGet(kProgram))), "on\n");
    EXPECT_EQ(HttpClient(PlainPort(turtle)).Ask(Get(kProgram)).body, "off\n");
  }
}

TEST_F(ServeTlsTest, ATrustedProxyKnowsBetter) {
  const Turtle turtle(Encrypted({"--trusted-proxies", "127.0.0.1"}));
  ASSERT_GT(TlsPort(turtle), 0);
  HttpClient plain(PlainPort(turtle));
  EXPECT_EQ(plain.Ask(Get(kProgram, "X-Forwarded-Proto: https\r\n")).body, "on\n");
  EXPECT_EQ(plain.Ask(Get(kProgram, "X-Forwarded-Proto: http\r\n")).status, 308);
  EXPECT_EQ(plain.Ask(Get(kProgram)).status, 308);
  const std::string over_tls =
      Visit(TlsPort(turtle), LastGet(kProgram, "X-Forwarded-Proto: http\r\n"));
  EXPECT_EQ(over_tls.rfind("HTTP/1.1 308 ", 0), 0U) << over_tls;
}

TEST_F(ServeTlsTest, NobodyIsAskedForAPasswordInTheClear) {
  if (!test::HasCrypt()) {
    GTEST_SKIP() << "there is no crypt(3)";
  }
  folder_.Write("users", test::UserLine("alice", "secret"));
  const Turtle turtle(Configured(Tls() + R"(, "sites": [{"default": true, "root_path": ")" +
                                 folder_.Path("site") + R"(", "rules": [{"users": ")" +
                                 folder_.Path("users") + R"("}]}])"));
  ASSERT_GT(TlsPort(turtle), 0);
  HttpClient plain(PlainPort(turtle));
  EXPECT_EQ(plain.Ask(Get("/")).status, 308);
  const std::string stranger = Visit(TlsPort(turtle), LastGet("/"));
  EXPECT_EQ(stranger.rfind("HTTP/1.1 401 ", 0), 0U) << stranger;
  TlsClient client(TlsPort(turtle));
  ASSERT_TRUE(client.Shake()) << client.Reason();
  EXPECT_EQ(AskLast(client, "/", test::LoginLine("alice:secret")), "hello");
}

TEST_F(ServeTlsTest, TheClientChoosesTheCertificateByItsHost) {
  const CertificateFiles one(Named("one.test"));
  const CertificateFiles wide(Named("*.two.test"));
  const Turtle turtle(Configured(Tls(R"("certificates": [{"certificate": ")" + one.Chain() +
                                     R"(", "key": ")" + one.Key() + R"("}, {"certificate": ")" +
                                     wide.Chain() + R"(", "key": ")" + wide.Key() + R"("}])")));
  ASSERT_GT(TlsPort(turtle), 0);
  for (const auto& [host, name] : {std::pair{"one.test"s, "one.test"s},
                                   {"ONE.test", "one.test"},
                                   {"a.two.test", "*.two.test"},
                                   {"old.test", "old.test"},
                                   {"other.test", "old.test"},
                                   {"", "old.test"}}) {
    TlsClientWish wish;
    wish.host = host;
    EXPECT_EQ(NameAt(TlsPort(turtle), wish), name) << host;
  }
}

TEST_F(ServeTlsTest, ClientsMayNeedCertificatesOfTheirOwn) {
  CertificateWish authority = Named("authority");
  authority.is_authority = true;
  const CertificateFiles signs(authority);
  const CertificateFiles known(Named("known"), &signs);
  const CertificateFiles stranger(Named("stranger"));
  Turtle turtle(Encrypted({"--tls-clients", "required", "--tls-client-ca", signs.Chain()}));
  ASSERT_GT(TlsPort(turtle), 0) << turtle.ReadErrors();
  TlsClientWish wish;
  EXPECT_EQ(Visit(TlsPort(turtle), LastGet("/"), wish).rfind("refused: ", 0), 0U);
  wish.certificate = &stranger;
  EXPECT_EQ(Visit(TlsPort(turtle), LastGet("/"), wish).rfind("refused: ", 0), 0U);
  wish.certificate = &known;
  EXPECT_EQ(BodyOf(Visit(TlsPort(turtle), LastGet("/"), wish)), "hello");
}

TEST_F(ServeTlsTest, ASocketInTheFileSystemHasNoTls) {
  const std::string path = folder_.Path("socket");
  for (const std::string& places : {"127.0.0.1,unix:" + path, "unix:" + path}) {
    Words words = Encrypted({"--address", places});
    words.insert(words.begin(), "serve");
    test::Child turtle(test::ExamplePath("../turtle"), words);  // a Turtle would look for a port
    ASSERT_EQ(turtle.ReadLine().rfind("Serving ", 0), 0U) << places << ": " << turtle.ReadErrors();
    EXPECT_EQ(BodyOf(test::UnixClient(path).Ask(LastGet(kProgram))), "off\n");
    turtle.Signal(SIGTERM);
    EXPECT_EQ(turtle.Wait(), 0);
  }
}

// --- refused clients ----------------------------------------------------------------------------

TEST_F(ServeTlsTest, ARefusedHandshakeIsLogged) {
  Turtle turtle(Encrypted());
  ASSERT_GT(TlsPort(turtle), 0) << turtle.ReadErrors();
  HttpClient plain(TlsPort(turtle));
  NetAddress address;
  ::getsockname(plain.GetFd(), address.Data(), address.Length());
  EXPECT_EQ(plain.Ask(Get("/")).status, 0);
  EXPECT_TRUE(Await(" INFO TLS handshake of " + address.ToString() + " refused: http request\n"));
  ExpectStops(turtle);
}

TEST_F(ServeTlsTest, OtherLevelsHaveNoRefusedHandshakes) {
  Turtle turtle(Encrypted({"--log-level", "warn"}));
  ASSERT_GT(TlsPort(turtle), 0) << turtle.ReadErrors();
  EXPECT_EQ(HttpClient(TlsPort(turtle)).Ask(Get("/")).status, 0);
  ExpectStops(turtle);
  EXPECT_EQ(Log(), "");
}

TEST_F(ServeTlsTest, AHeaderOfAProxyComesBeforeTls) {
  Turtle turtle(
      Encrypted({"--proxy-protocol", "127.0.0.1", "--access-log", folder_.Path("access.log")}));
  ASSERT_GT(TlsPort(turtle), 0) << turtle.ReadErrors();
  for (const std::size_t step : {std::string::npos, std::size_t{7}}) {
    TlsWireClient client(TlsPort(turtle), kProxyLine, step);
    ASSERT_TRUE(client.Shake());
    ASSERT_TRUE(client.Send(LastGet(kProgram)));
    EXPECT_EQ(BodyOf(client.ReceiveAll()), "on\n");
  }
  EXPECT_EQ(HttpClient(PlainPort(turtle)).Ask(kProxyLine + Get("/")).status, 308);
  EXPECT_EQ(HttpClient(TlsPort(turtle)).Ask(kProxyLine + Get("/")).status, 0);
  TlsClient without(TlsPort(turtle));
  EXPECT_FALSE(without.Shake());
  EXPECT_TRUE(Await(" INFO TLS handshake of 192.0.2.7:56324 refused: http request\n"));
  EXPECT_TRUE(Await(" PROXY header of 127.0.0.1:"));
  ExpectStops(turtle);
  const std::string log = folder_.Read("access.log");
  EXPECT_EQ(log.rfind("192.0.2.7 - - [", 0), 0U) << log;
  EXPECT_EQ(log.find("127.0.0.1"), std::string::npos) << log;
}

TEST_F(ServeTlsTest, AClientAboveTheLimitGetsItsRefusalOverTls) {
  Turtle turtle(Encrypted({"--max-connections", "1"}));
  ASSERT_GT(TlsPort(turtle), 0) << turtle.ReadErrors();
  TlsClient first(TlsPort(turtle));
  ASSERT_TRUE(first.Shake()) << first.Reason();
  TlsClient second(TlsPort(turtle));
  ASSERT_TRUE(second.Shake()) << second.Reason();
  const std::string refusal = second.ReceiveAll();
  EXPECT_EQ(refusal.rfind("HTTP/1.1 503 ", 0), 0U) << refusal << second.Reason();
  EXPECT_TRUE(second.SawEnd());
  EXPECT_EQ(AskLast(first), "hello");
  EXPECT_TRUE(first.SawEnd());
  EXPECT_EQ(BodyOf(Visit(TlsPort(turtle), LastGet("/"))), "hello") << "there is room again";
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
}

TEST_F(ServeTlsTest, AClientAboveTheLimitGetsNothingInTheClear) {
  // Each of so many refused clients gets a response; further ones are reset.
  Turtle turtle(Encrypted({"--max-connections", "3", "--stop-timeout", "1"}));
  ASSERT_GT(TlsPort(turtle), 0) << turtle.ReadErrors();
  std::vector<TlsClient> present;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(present.emplace_back(TlsPort(turtle)).Shake());
  }
  HttpClient confused(TlsPort(turtle));
  EXPECT_TRUE(confused.Send(Get("/")));
  EXPECT_EQ(confused.ReadRest().find("HTTP"), std::string::npos);
  HttpClient silent(TlsPort(turtle));
  HttpClient plain(PlainPort(turtle));
  EXPECT_EQ(plain.ReadReply().status, 503) << "this port has no TLS";
  EXPECT_FALSE(silent.HasInput(std::chrono::milliseconds(0))) << "its handshake comes first";
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0) << "a silent client keeps nobody from ending";
}

TEST_F(ServeTlsTest, HandshakesAreCounted) {
  const auto line = [](const char* outcome, int count) {
    return "turtle_tls_handshakes_total{outcome=\""s + outcome + "\"} " + std::to_string(count) +
           "\n";
  };
  Turtle turtle(Encrypted({"--operations", "127.0.0.1:0"}));
  ASSERT_GT(TlsPort(turtle), 0) << turtle.ReadErrors();
  const int operations = PortOf(turtle.ReadLine(), "http");
  ASSERT_GT(operations, 0);
  TlsClient client(TlsPort(turtle));
  ASSERT_TRUE(client.Shake()) << client.Reason();
  EXPECT_EQ(AskLast(client), "hello");
  const SslSessionPtr session = client.Session();
  TlsClientWish wish;
  wish.session = session.get();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(BodyOf(Visit(TlsPort(turtle), LastGet("/"), wish)), "hello");
  }
  EXPECT_EQ(HttpClient(TlsPort(turtle)).Ask(Get("/")).status, 0);
  const std::string metrics = HttpClient(operations).Ask(Get("/metrics")).body;
  EXPECT_NE(metrics.find(line("full", 1) + line("resumed", 2) + line("failed", 1)),
            std::string::npos)
      << metrics;

  Turtle plain(Plain({"--operations", "127.0.0.1:0"}));
  const std::string none = HttpClient(PortOf(plain.ReadLine(), "http")).Ask(Get("/metrics")).body;
  EXPECT_NE(none.find("turtle_ready 1\n"), std::string::npos) << none;
  EXPECT_EQ(none.find("tls"), std::string::npos);
}

// --- SIGHUP -------------------------------------------------------------------------------------

TEST_F(ServeTlsTest, AReloadGivesNewClientsTheNewCertificate) {
  for (const char* threads : {"0", "1"}) {
    Install(CertificateFiles(Named("old.test")));
    folder_.Write("turtle.log", "");
    Turtle turtle(Encrypted({"--task-threads", threads}));  // without -f
    ASSERT_GT(TlsPort(turtle), 0) << turtle.ReadErrors();
    TlsClient before(TlsPort(turtle));
    ASSERT_TRUE(before.Shake()) << before.Reason();
    Install(CertificateFiles(Named("new.test")));
    EXPECT_EQ(NameAt(TlsPort(turtle)), "old.test") << "nobody has asked for the new one yet";
    ASSERT_TRUE(Reload(turtle));
    TlsClient after(TlsPort(turtle));
    ASSERT_TRUE(after.Shake()) << after.Reason();
    EXPECT_EQ(after.ServerName(), "new.test");
    EXPECT_EQ(AskLast(after), "hello");
    EXPECT_EQ(before.ServerName(), "old.test");
    EXPECT_EQ(AskLast(before), "hello");
    ExpectStops(turtle);
    EXPECT_EQ(Log().find("next start"), std::string::npos) << Log();
    EXPECT_EQ(Log().find("WARN"), std::string::npos) << Log();
  }
}

TEST_F(ServeTlsTest, AReloadWithABadFileChangesNothing) {
  for (const char* threads : {"0", "1"}) {
    const CertificateFiles old(Named("old.test"));
    Install(old);
    folder_.Write("turtle.log", "");
    Turtle turtle(Encrypted({"--task-threads", threads}));
    ASSERT_GT(TlsPort(turtle), 0) << turtle.ReadErrors();
    std::size_t count = 0;
    const auto expect_unchanged = [&](const std::string& reason) {
      turtle.Signal(SIGHUP);
      EXPECT_TRUE(Await(" ERROR the settings were not reloaded: " + reason + "\n"));
      EXPECT_TRUE(Await(" ERROR the settings are unchanged\n", ++count));
      TlsClient client(TlsPort(turtle));
      ASSERT_TRUE(client.Shake()) << client.Reason();
      EXPECT_EQ(client.ServerName(), "old.test");
      EXPECT_EQ(AskLast(client), "hello");
    };
    Install(CertificateFiles(Named("new.test")));
    folder_.Write("key.pem", "-----BEGIN NOTHING");
    expect_unchanged(KeyPath() + ": it has no private key in PEM");
    std::filesystem::copy_file(old.Key(), KeyPath(),
                               std::filesystem::copy_options::overwrite_existing);
    expect_unchanged(KeyPath() + ": it is not the key of " + ChainPath());
    Install(CertificateFiles(Named("new.test")));
    ASSERT_EQ(::chmod(KeyPath().c_str(), 0604), 0);
    expect_unchanged(
        KeyPath() +
        ": everybody on this machine may access this private key: chmod o= " + KeyPath());
    ASSERT_EQ(::chmod(KeyPath().c_str(), 0600), 0);
    std::filesystem::rename(ChainPath(), folder_.Path("elsewhere.pem"));
    expect_unchanged(ChainPath() + ": No such file or directory");
    std::filesystem::rename(folder_.Path("elsewhere.pem"), ChainPath());
    ASSERT_TRUE(Reload(turtle));
    EXPECT_EQ(NameAt(TlsPort(turtle)), "new.test") << "now all is well";
    ExpectStops(turtle);
  }
}

TEST_F(ServeTlsTest, AReloadOfAConfigurationMayChangeTheVersionAndTheFiles) {
  Turtle turtle(Configured(Tls()));
  ASSERT_GT(TlsPort(turtle), 0) << turtle.ReadErrors();
  TlsClientWish old;
  old.version = TLS1_2_VERSION;
  EXPECT_EQ(NameAt(TlsPort(turtle), old), "old.test");
  const CertificateFiles other(Named("other.test"));
  Configured(R"("tls": {"port": 0, "version": "1.3", "certificates": [{"certificate": ")" +
             other.Chain() + R"(", "key": ")" + other.Key() + "\"}]}");
  ASSERT_TRUE(Reload(turtle));
  EXPECT_EQ(NameAt(TlsPort(turtle)), "other.test");
  EXPECT_EQ(NameAt(TlsPort(turtle), old).rfind("refused: ", 0), 0U);
  ExpectStops(turtle);
  EXPECT_EQ(Log().find("next start"), std::string::npos) << Log();
}

#ifdef __linux__
TEST_F(ServeTlsTest, AUserWhoCannotReadTheKeyCannotRenewIt) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "needs root: only root can become another user";
  }
  Turtle turtle(Encrypted({"--user", "nobody"}));
  ASSERT_GT(TlsPort(turtle), 0) << turtle.ReadErrors();
  EXPECT_TRUE(Await(" WARN '" + KeyPath() + "' can't be read by the user 'nobody': "));
  turtle.Signal(SIGHUP);
  EXPECT_TRUE(
      Await(" ERROR the settings were not reloaded: " + KeyPath() + ": Permission denied\n"));
  EXPECT_EQ(BodyOf(Visit(TlsPort(turtle), LastGet("/"))), "hello");
  ExpectStops(turtle);
}
#endif  // __linux__

TEST_F(ServeTlsTest, PortsWaitForTheNextStart) {
  Turtle turtle(Configured(Tls()));
  ASSERT_GT(TlsPort(turtle), 0) << turtle.ReadErrors();
  Configured(Tls(R"("public_port": 443, "http": "serve")"));
  ASSERT_TRUE(Reload(turtle));
  EXPECT_EQ(HttpClient(PlainPort(turtle)).Ask(Get("/")).Field("Location"),
            "https://t:" + std::to_string(TlsPort(turtle)) + "/");
  EXPECT_TRUE(Await(" WARN tls.public_port is '0' until the next start, and '443' from then on\n"));
  EXPECT_TRUE(
      Await(" WARN tls.http is 'redirect' until the next start, and 'serve' from then on\n"));
  Configured(Tls(R"("clients": "required")"));
  turtle.Signal(SIGHUP);
  EXPECT_TRUE(Await("tls.clients: without a tls.client_ca no client's certificate is valid"));
  EXPECT_TRUE(Await(" ERROR the settings are unchanged\n"));
  ExpectStops(turtle);
}

TEST_F(ServeTlsTest, TlsThatIsAddedWaitsForTheNextStart) {
  Turtle turtle(Configured(""));
  ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
  EXPECT_EQ(TlsPort(turtle), -1);
  Configured(Tls());
  ASSERT_TRUE(Reload(turtle));
  EXPECT_TRUE(Await(" WARN tls.certificate: it is used from the next start on\n"));
  EXPECT_EQ(HttpClient(turtle.Port()).Ask(Get("/")).body, "hello");
  ExpectStops(turtle);
}

TEST_F(ServeTlsTest, TlsThatIsTakenAwayStaysUntilTheNextStart) {
  Turtle turtle(Configured(Tls()));
  ASSERT_GT(TlsPort(turtle), 0) << turtle.ReadErrors();
  Configured("");
  ASSERT_TRUE(Reload(turtle));
  EXPECT_TRUE(Await(" WARN tls.certificate: the old one stays until the next start\n"));
  EXPECT_EQ(BodyOf(Visit(TlsPort(turtle), LastGet("/"))), "hello");
  EXPECT_EQ(HttpClient(PlainPort(turtle)).Ask(Get("/")).status, 308);
  ExpectStops(turtle);
}

TEST_F(ServeTlsTest, WithoutACertificateAndAConfigurationThereIsNothingToReload) {
  Turtle turtle(Plain());
  ASSERT_GT(turtle.Port(), 0) << turtle.ReadErrors();
  turtle.Signal(SIGHUP);
  EXPECT_TRUE(Await(" WARN SIGHUP: without a configuration (-f) there is nothing to reload\n"));
  ExpectStops(turtle);
}

// --- SIGUSR2 ------------------------------------------------------------------------------------

TEST_F(ServeTlsTest, TicketsAreGoodAtASuccessor) {
  Turtle turtle(Encrypted({"--pid-file", folder_.Path("pid")}));
  ASSERT_GT(TlsPort(turtle), 0) << turtle.ReadErrors();
  std::vector<SslSessionPtr> sessions;
  std::vector<TlsClientWish> wishes;
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsClientWish wish;
    wish.version = version;
    TlsClient client(TlsPort(turtle), wish);
    ASSERT_TRUE(client.Shake()) << client.Reason();
    EXPECT_EQ(AskLast(client), "hello");
    sessions.push_back(client.Session());
    wish.session = sessions.back().get();
    wishes.push_back(wish);
  }
  CertificateWish renewed = Named("old.test");
  renewed.key = test::KeyKind::kRsa;
  Install(CertificateFiles(renewed));
  const pid_t successor = HandOver(turtle);
  ASSERT_GT(successor, 0);
  TlsClient stranger(TlsPort(turtle));
  ASSERT_TRUE(stranger.Shake()) << stranger.Reason();
  EXPECT_EQ(stranger.ServerKeyKind(), EVP_PKEY_RSA) << "it has read the files";
  EXPECT_EQ(AskLast(stranger), "hello");
  for (const TlsClientWish& wish : wishes) {
    TlsClient client(TlsPort(turtle), wish);
    ASSERT_TRUE(client.Shake()) << client.Reason();
    EXPECT_TRUE(client.IsResumed()) << wish.version;
    EXPECT_EQ(AskLast(client, kProgram), "on\n");
  }
  EXPECT_EQ(HttpClient(PlainPort(turtle)).Ask(Get("/")).status, 308) << "the ports kept their kind";
  ::kill(successor, SIGTERM);
  EXPECT_EQ(turtle.ReadOutput(), "");  // until the successor has ended
}

TEST_F(ServeTlsTest, AProgramOfASuccessorHasNothingOfItsSecret) {
  programs_.Program("environment", "echo Content-Type: text/plain; echo; env; ls /proc/self/fd\n");
  Turtle turtle(Encrypted({"--pid-file", folder_.Path("pid")}));
  ASSERT_GT(TlsPort(turtle), 0) << turtle.ReadErrors();
  const pid_t successor = HandOver(turtle);
  ASSERT_GT(successor, 0);
  const std::string told = BodyOf(Visit(TlsPort(turtle), LastGet("/cgi-bin/environment")));
  EXPECT_NE(told.find("HTTPS=on\n"), std::string::npos) << told;
  EXPECT_EQ(told.find("TURTLE_SECRET_FD"), std::string::npos) << told;
  ::kill(successor, SIGTERM);
  EXPECT_EQ(turtle.ReadOutput(), "");
}

TEST_F(ServeTlsTest, ASuccessorThatCannotReadItsKeyReplacesNobody) {
  Turtle turtle(Encrypted());
  ASSERT_GT(TlsPort(turtle), 0) << turtle.ReadErrors();
  folder_.Write("key.pem", "nothing");
  turtle.Signal(SIGUSR2);
  EXPECT_TRUE(Await("this process continues to serve. It said: " + KeyPath() +
                    ": it has no private key in PEM\n"));
  EXPECT_EQ(BodyOf(Visit(TlsPort(turtle), LastGet("/"))), "hello");
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
}

// --- what is refused at the start ---------------------------------------------------------------

TEST_F(ServeTlsTest, ABadKeyIsExitCode2) {
  folder_.Write("key.pem", "nothing");
  Turtle turtle(Encrypted());
  EXPECT_EQ(turtle.FirstLine(), "");
  EXPECT_EQ(turtle.Wait(), 2);
  EXPECT_EQ(turtle.ReadErrors(), "turtle: " + KeyPath() + ": it has no private key in PEM\n");
}

TEST_F(ServeTlsTest, ACheckNamesTheBadFile) {
  Words words = Configured(Tls());
  words.emplace_back("-t");
  Turtle good(words);
  EXPECT_EQ(good.FirstLine(), folder_.Path("site.json") + " can be served");
  EXPECT_EQ(good.Wait(), 0);
  ASSERT_EQ(::chmod(KeyPath().c_str(), 0644), 0);
  Turtle bad(words);
  EXPECT_EQ(bad.FirstLine(), "");
  EXPECT_EQ(bad.Wait(), 2);
  const std::string errors = bad.ReadErrors();
  EXPECT_EQ(errors.rfind("turtle: " + folder_.Path("site.json") + ": tls: " + KeyPath() +
                             ": everybody on this machine may access this private key",
                         0),
            0U)
      << errors;
}

TEST_F(ServeTlsTest, ACheckWarnsOfAHostWithoutACertificate) {
  const CertificateFiles wide(Named("*.two.test"));
  const auto site = [this](const std::string& names) {
    return R"({"names": [)" + names + R"(], "root_path": ")" + folder_.Path("site") + "\"}";
  };
  Words words = Configured(Tls(R"("certificates": [{"certificate": ")" + wide.Chain() +
                               R"(", "key": ")" + wide.Key() + R"("}])") +
                           R"(, "sites": [)" + site(R"("old.test", "a.two.test", "*.two.test")") +
                           ", " + site(R"("other.test", "a.b.two.test", "two.test")") + "]");
  words.emplace_back("-t");
  Turtle turtle(words);
  EXPECT_EQ(turtle.FirstLine(), folder_.Path("site.json") + " can be served");
  EXPECT_EQ(turtle.Wait(), 0);
  std::string wanted;
  for (const char* host : {"other.test", "a.b.two.test", "two.test"}) {
    wanted += "turtle: " + folder_.Path("site.json") + ": warning: sites[1].names: '" + host +
              "': no certificate is valid for this host\n";
  }
  EXPECT_EQ(turtle.ReadErrors(), wanted);
}

// A client names no address in its handshake, so no certificate is chosen by one.
TEST_F(ServeTlsTest, ACheckWarnsOfNoAddress) {
  const auto check = [this](const std::string& names) {
    Words words = Configured(Tls() + R"(, "sites": [{"names": [)" + names + R"(], "root_path": ")" +
                             folder_.Path("site") + "\"}]");
    words.emplace_back("-t");
    Turtle turtle(words);
    static_cast<void>(turtle.Wait());
    return turtle.ReadErrors();
  };
  EXPECT_EQ(check(R"("old.test", "192.0.2.7", "[2001:db8::7]", "[::ffff:192.0.2.7]")"), "");
  const std::string refused = check(R"("2001:db8::7")");
  EXPECT_NE(refused.find("2001:db8::7"), std::string::npos) << "a host has brackets there";
  EXPECT_EQ(refused.find("certificate"), std::string::npos) << refused;
  EXPECT_NE(check(R"("192.0.2.256")").find("certificate"), std::string::npos) << "no address";
}

TEST_F(ServeTlsTest, OnePortCannotBeBoth) {
  const Words words{folder_.Path("site"), "--port",    "18443",     "--https-port", "18443",
                    "--tls-certificate",  ChainPath(), "--tls-key", KeyPath()};
  Turtle turtle(words);
  EXPECT_EQ(turtle.Wait(), 2);
  EXPECT_EQ(turtle.ReadErrors(),
            "turtle: tls.port: 18443 is also the port without TLS (see turtle --help)\n");
}

}  // namespace
}  // namespace TURTLE_SERVER
