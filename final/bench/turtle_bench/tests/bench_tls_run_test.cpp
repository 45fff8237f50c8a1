// Runs against servers with TLS in this process, good ones and bad ones, on each kind of poller.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "core/turtle_server.h"
#include "support/bench_run.h"
#include "support/certificate_files.h"
#include "support/child.h"
#include "support/needs_io_uring.h"
#include "support/tls_server.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using test::CertificateFiles;
using test::CertificateWish;
using test::Enough;
using test::ExpectGood;
using test::Ran;
using test::RunWith;

auto Options(int port, const std::string& host = "localhost") -> BenchOptions {
  BenchOptions options;
  options.url_text = "https://" + host + ":" + std::to_string(port) + "/page";
  options.url = ParseUrl(options.url_text);
  options.connections = 8;
  options.time = std::chrono::duration_cast<milliseconds>(test::kPatience);
  options.json = "-";
  options.quiet = true;
  return options;
}

// Returns the errors of a run that could not go on.
auto FailureOf(const BenchOptions& options) -> std::string {
  std::ostringstream out;
  std::ostringstream errors;
  EXPECT_EQ(RunLoad(options, out, errors), 1);
  EXPECT_EQ(out.str(), "");
  return errors.str();
}

// Certificates have names, and here an address: OpenSSL takes both in one text.
auto WithNames(const std::string& names) -> CertificateWish {
  CertificateWish wish;
  wish.names = {names};
  return wish;
}

// All loops of this process have the poller of the parameter: the server's and the clients'.
class BenchTlsTest : public testing::TestWithParam<const char*> {
 protected:
  static constexpr int kRequests = 200;

  BenchTlsTest() {
    if (const char* const before = std::getenv("TURTLE_POLLER")) {
      before_ = before;
    }
    ::setenv("TURTLE_POLLER", GetParam(), 1);
  }

  ~BenchTlsTest() override {
    if (before_.empty()) {
      ::unsetenv("TURTLE_POLLER");
    } else {
      ::setenv("TURTLE_POLLER", before_.c_str(), 1);
    }
  }

  void SetUp() override {
    if (std::string(GetParam()) == "io_uring") {
      TURTLE_NEEDS_IO_URING();
    }
  }

  // Serves everyone in the same way, and interrupts the run after kRequests.
  void Serve(const TlsOptions& options, std::size_t size = 1000) {
    server_.reset();  // it may still have requests of an earlier run
    enough_ = std::make_unique<Enough>(kRequests);
    server_ = std::make_unique<test::TlsServer>(options, [this, size](Exchange& exchange) {
      exchange.Reply(TextResponse(200, std::string(size, 'x')));
      enough_->Count();
    });
  }

  // Trusts the server's certificate.
  auto Trusting(const CertificateFiles& root, const std::string& host = "localhost")
      -> BenchOptions {
    BenchOptions options = Options(server_->Port(), host);
    options.ca = root.Chain();
    return options;
  }

  const CertificateFiles certificate_{};
  std::unique_ptr<Enough> enough_;
  std::unique_ptr<test::TlsServer> server_;

 private:
  std::string before_;
};

INSTANTIATE_TEST_SUITE_P(Pollers, BenchTlsTest, testing::Values("epoll", "io_uring"),
                         [](const auto& each) { return std::string(each.param); });

TEST_P(BenchTlsTest, KeepAlive) {
  Serve(test::TlsOptionsOf(certificate_));
  const Ran ran = RunWith(Trusting(certificate_));
  ExpectGood(ran, kRequests);
  EXPECT_EQ(ran.Number("connections_opened"), 8);
  EXPECT_EQ(ran.Number("tls.full") + ran.Number("tls.resumed"), 8);
  EXPECT_GT(ran.Number("tls.full"), 0) << "there was nothing to resume";
  EXPECT_EQ(ran.json.Text("tls.version"), "TLSv1.3");
  EXPECT_EQ(ran.json.Text("tls.cipher").rfind("TLS_", 0), 0U) << ran.json.Text("tls.cipher");
  EXPECT_GT(ran.Number("tls.handshake_us.mean"), 0);
}

TEST_P(BenchTlsTest, ReconnectsResumeSessions) {
  Serve(test::TlsOptionsOf(certificate_));
  BenchOptions options = Trusting(certificate_);
  options.mode = LoadMode::kClose;
  const Ran ran = RunWith(options);
  ExpectGood(ran, kRequests);
  EXPECT_LE(ran.Number("tls.full"), 8) << "the first of each client";
  EXPECT_GE(ran.Number("tls.full"), 1);
  EXPECT_GE(ran.Number("tls.resumed"), kRequests - 16);
  const TlsStats after = server_->GetTls().Stats();
  EXPECT_LE(after.full, 8U) << "the server agrees";
  EXPECT_GE(after.resumed + 8.0, ran.Number("tls.resumed"))
      << "some may have ended on our side only";
}

TEST_P(BenchTlsTest, ReconnectsMakeFullHandshakesIfSessionsAreNotResumed) {
  Serve(test::TlsOptionsOf(certificate_));
  BenchOptions options = Trusting(certificate_);
  options.mode = LoadMode::kClose;
  options.resume = false;
  const Ran ran = RunWith(options);
  ExpectGood(ran, kRequests);
  EXPECT_EQ(ran.Number("tls.resumed"), 0);
  EXPECT_GE(ran.Number("tls.full"), kRequests - 8);
  EXPECT_EQ(server_->GetTls().Stats().resumed, 0U) << "the server agrees";
}

TEST_P(BenchTlsTest, AServerWithoutTicketsGetsFullHandshakes) {
  TlsOptions tls = test::TlsOptionsOf(certificate_);
  tls.tickets = false;
  Serve(tls);
  BenchOptions options = Trusting(certificate_);
  options.mode = LoadMode::kClose;
  const Ran ran = RunWith(options);
  ExpectGood(ran, kRequests);
  EXPECT_EQ(ran.Number("tls.resumed"), 0);
}

TEST_P(BenchTlsTest, LargeResponsesPipelined) {
  Serve(test::TlsOptionsOf(certificate_), 100'000);
  BenchOptions options = Trusting(certificate_);
  options.mode = LoadMode::kPipeline;
  options.depth = 16;
  const Ran ran = RunWith(options);
  ExpectGood(ran, kRequests);
  EXPECT_GE(ran.Number("bytes"), ran.Number("requests") * 100'000);
}

TEST_P(BenchTlsTest, AtARate) {
  for (const LoadMode mode : {LoadMode::kKeepAlive, LoadMode::kClose}) {
    Serve(test::TlsOptionsOf(certificate_));
    BenchOptions options = Trusting(certificate_);
    options.rate = 2000;
    options.threads = 2;
    options.mode = mode;
    const Ran ran = RunWith(options);
    ExpectGood(ran, kRequests);
    EXPECT_EQ(ran.json.Text("latency_us.corrected"), "true");
  }
}

TEST_P(BenchTlsTest, IdleConnectionsAreHeld) {
  server_ = std::make_unique<test::TlsServer>(
      test::TlsOptionsOf(certificate_),
      [](Exchange& exchange) { exchange.Reply(TextResponse(200, "hello")); });
  test::Child bench(test::ExamplePath("../turtle-bench"),
                    {"--idle", "-c", "50", "-t", "3600", "--json", "-", "--quiet", "--ca",
                     certificate_.Chain(), Options(server_->Port()).url_text});
  EXPECT_EQ(bench.ReadLine(), "READY");
  bench.CloseInput();
  const test::FlatJson json(bench.ReadOutput());
  EXPECT_EQ(bench.Wait(), 0);
  EXPECT_EQ(json.Number("requests"), 50);
  EXPECT_EQ(json.Number("tls.full") + json.Number("tls.resumed"), 50);
}

// --- certificates --------------------------------------------------------------------------------

TEST_P(BenchTlsTest, TheHostIsNamedToTheServer) {
  const CertificateFiles other(WithNames("other.example"));
  Serve(test::TlsOptionsOf(other, certificate_));  // a client without a name gets the first
  ExpectGood(RunWith(Trusting(certificate_)), kRequests);
}

TEST_P(BenchTlsTest, AnAddressIsVerifiedAsAnAddress) {
  const CertificateFiles address(WithNames("localhost,IP:127.0.0.1"));
  Serve(test::TlsOptionsOf(address));
  ExpectGood(RunWith(Trusting(address, "127.0.0.1")), kRequests);

  Serve(test::TlsOptionsOf(certificate_));
  EXPECT_EQ(FailureOf(Trusting(certificate_, "127.0.0.1")),
            "turtle-bench: certificate of 127.0.0.1: IP address mismatch\n");
}

TEST_P(BenchTlsTest, AChainEndsAtARootOfTheFile) {
  CertificateWish authority = WithNames("An authority");
  authority.is_authority = true;
  const CertificateFiles root(authority);
  const CertificateFiles leaf({}, &root);
  Serve(test::TlsOptionsOf(leaf));
  ExpectGood(RunWith(Trusting(root)), kRequests);
}

TEST_P(BenchTlsTest, ACertificateThatIsNotAcceptedEndsTheRunWithOneLine) {
  const CertificateFiles other(WithNames("other.example"));
  CertificateWish future;
  future.from = 3600;
  future.until = 7200;
  const CertificateFiles early(future);
  const struct {
    const CertificateFiles& shown;
    const CertificateFiles* trusted;
    std::string reason;
  } cases[] = {{other, &other, "hostname mismatch"},
               {certificate_, nullptr, "self-signed certificate"},
               {certificate_, &other, "self-signed certificate"},
               {early, &early, "certificate is not yet valid"}};
  for (const auto& each : cases) {
    Serve(test::TlsOptionsOf(each.shown));
    BenchOptions options = Options(server_->Port());
    options.ca = each.trusted == nullptr ? "" : each.trusted->Chain();
    options.threads = 2;
    EXPECT_EQ(FailureOf(options), "turtle-bench: certificate of localhost: " + each.reason + "\n");

    options.ca.clear();
    options.verify = false;
    ExpectGood(RunWith(options), kRequests);
  }
}

TEST_P(BenchTlsTest, AFileOfRootsThatCannotBeUsedIsNamed) {
  BenchOptions options = Options(1);
  options.ca = "/no/such/file";
  EXPECT_EQ(FailureOf(options), "turtle-bench: open /no/such/file: No such file or directory\n");
  options.ca = certificate_.Key();
  const std::string said = FailureOf(options);
  EXPECT_EQ(said.rfind("turtle-bench: read " + certificate_.Key() + ": ", 0), 0U) << said;
}

// --- bad servers ---------------------------------------------------------------------------------

// A server that sees the bytes of the handshake.
class BytesServer {
 public:
  explicit BytesServer(std::function<void(Connection&)> answer)
      : server_(NetAddress("127.0.0.1", 0), OneThread()) {
    server_.OnHandle([answer = std::move(answer)](Connection* connection) {
      if (connection->Recv().exit) {
        connection->Close();
      } else if (!connection->Read().empty()) {
        answer(*connection);
      }
    });
    thread_ = std::thread([this] { server_.Begin(); });
  }

  BytesServer(const BytesServer&) = delete;
  auto operator=(const BytesServer&) -> BytesServer& = delete;

  ~BytesServer() {
    server_.Stop();
    thread_.join();
  }

  auto Options() const -> BenchOptions {
    BenchOptions options = TURTLE_SERVER::Options(Port());
    options.verify = false;
    return options;
  }
  auto Port() const -> int { return server_.LocalAddress().Port(); }

  // Returns the message of a run that never gets TLS.
  auto Message(const std::string& reason) const -> std::string {
    return "turtle-bench: TLS with 127.0.0.1:" + std::to_string(Port()) + ": " + reason + "\n";
  }

 private:
  static auto OneThread() -> ServerOptions {
    ServerOptions options;
    options.threads = 1;
    options.stop_timeout = milliseconds(0);
    return options;
  }

  TurtleServer server_;
  std::thread thread_;
};

TEST_P(BenchTlsTest, AServerThatClosesInTheHandshakeEndsTheRun) {
  const BytesServer closes([](Connection& connection) { connection.Close(Closing::kLinger); });
  EXPECT_EQ(FailureOf(closes.Options()), closes.Message("the server closed the connection"));
  const BytesServer resets([](Connection& connection) { connection.Close(Closing::kReset); });
  EXPECT_EQ(FailureOf(resets.Options()), resets.Message("the connection was reset"));
}

TEST_P(BenchTlsTest, AServerWithoutTlsEndsTheRun) {
  const BytesServer server([](Connection& connection) {
    connection.ClearReadBuffer();
    connection.Write("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
  });
  EXPECT_EQ(FailureOf(server.Options()), server.Message("wrong version number"));
}

TEST_P(BenchTlsTest, AServerThatDoesNotAnswerTheHandshakeEndsTheRun) {
  const BytesServer server([](Connection& connection) { connection.ClearReadBuffer(); });
  BenchOptions options = server.Options();
  options.timeout = milliseconds(20);
  EXPECT_EQ(FailureOf(options), server.Message("no response in time"));
}

// Every second client that comes back gets no TLS.
TEST_P(BenchTlsTest, LaterFailuresAreErrorsOfTheirOwnKind) {
  Tls tls(test::TlsOptionsOf(certificate_));
  int clients = 0;
  ServerOptions options = test::TlsServer::WithThreads(1);
  options.channel = [&, make = tls.Channels()](Connection& connection) -> std::unique_ptr<Channel> {
    const int number = clients++;
    return number < 8 || number % 2 == 0 ? make(connection) : nullptr;
  };
  Enough enough(100);
  HttpServer server(NetAddress("127.0.0.1", 0), {}, options);
  server.Mount("/", test::Answering([&](Exchange& exchange) {
                 exchange.Reply(TextResponse(200, "hello"));
                 enough.Count();
               }));
  std::thread thread([&] { server.Begin(); });
  BenchOptions bench = Options(server.LocalAddress().Port());
  bench.ca = certificate_.Chain();
  bench.mode = LoadMode::kClose;
  const Ran ran = RunWith(bench);
  server.Stop();
  thread.join();
  EXPECT_EQ(ran.code, 0) << ran.errors;
  EXPECT_GT(ran.Number("requests"), 50);
  EXPECT_GT(ran.Number("errors.handshake"), 20);
  EXPECT_EQ(ran.Errors(), ran.Number("errors.handshake")) << "of other kinds";
  EXPECT_NE(ran.errors.find("first of handshake: wrong version number\n"), std::string::npos)
      << ran.errors;
}

}  // namespace
}  // namespace TURTLE_SERVER
