// The count of TLS handshakes among a server's statistics.
#include <gtest/gtest.h>

#include <string>

#include "ops/figures_text.h"
#include "ops/server_figures.h"
#include "web/http_server.h"

namespace TURTLE_SERVER {
namespace {

constexpr const char* kName = "turtle_tls_handshakes_total";

TEST(HandshakeFiguresTest, AreReadWhenTheyAreAskedFor) {
  HttpServer server(NetAddress("127.0.0.1", 0));
  ServerFigures figures(server);
  TlsStats now{1, 2, 3};
  figures.SetHandshakes([&now] { return now; });
  for (int i = 0; i < 2; ++i) {
    const FiguresNow read = figures.Read();
    ASSERT_TRUE(read.handshakes);
    EXPECT_EQ(read.handshakes->full, now.full);
    EXPECT_EQ(read.handshakes->resumed, now.resumed);
    EXPECT_EQ(read.handshakes->failed, now.failed);
    now = {11, 12, 13};
  }
}

TEST(HandshakeFiguresTest, AServerWithoutTlsHasNone) {
  HttpServer server(NetAddress("127.0.0.1", 0));
  const ServerFigures figures(server);
  const FiguresNow now = figures.Read();
  EXPECT_FALSE(now.handshakes);
  EXPECT_EQ(MetricsOf(now, {}).find(kName), std::string::npos);
}

TEST(HandshakeFiguresTest, EachOutcomeIsALine) {
  FiguresNow now;
  now.handshakes = TlsStats{3, 2, 1};
  const std::string text = MetricsOf(now, {});
  const std::string name = kName;
  EXPECT_NE(text.find("# TYPE " + name + " counter\n" + name + "{outcome=\"full\"} 3\n" + name +
                      "{outcome=\"resumed\"} 2\n" + name + "{outcome=\"failed\"} 1\n"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace TURTLE_SERVER
