// Which programs are silent? They send their name by UDP now and then: heartbeats [PORT [UDP_PORT]]
//
//   GET /metrics   for Prometheus: heartbeat_age_seconds{name="backup"} 3.2
#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>

#include <turtle/base/argument.h>
#include <turtle/http/metrics_text.h>
#include <turtle/udp/udp_server.h>
#include <turtle/web/http_server.h>

using namespace turtle;

namespace {

constexpr std::size_t kMaxNames = 1000;

// The socket, the table and the pages are on one loop: nothing needs a lock.
class Heartbeats {
 public:
  void Take(const Datagram& beat, TimePoint now) {
    std::string name(beat.payload);
    name.erase(name.find_last_not_of(" \r\n") + 1);
    const auto is_plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; };
    const bool is_name =
        !name.empty() && !beat.truncated && std::all_of(name.begin(), name.end(), is_plain);
    if (is_name && (last_.size() < kMaxNames || last_.count(name) != 0)) {
      last_[name] = now;
    } else {
      ++refused_;  // anyone who reaches the port can send anything, from any address
    }
  }

  [[nodiscard]] auto Metrics(TimePoint now, const UdpFigures& figures) const -> std::string {
    MetricsText text;
    text.Begin("heartbeat_age_seconds", MetricType::kGauge, "Since the last one, by name.");
    for (const auto& [name, when] : last_) {
      text.Add({{"name", name}}, std::chrono::duration<double>(now - when).count());
    }
    text.Begin("heartbeats_total", MetricType::kCounter, "Datagrams that were received.");
    text.Add({}, figures.received);
    text.Begin("heartbeats_refused_total", MetricType::kCounter, "Of them, those without a name.");
    text.Add({}, refused_);
    text.Begin("heartbeats_lost_total", MetricType::kCounter, "Found no room in the kernel.");
    text.Add({}, figures.kernel_dropped);
    return text.Take();
  }

 private:
  std::map<std::string, TimePoint> last_;
  std::uint64_t refused_ = 0;
};

}  // namespace

auto main(int argc, char** argv) -> int try {
  ServerOptions one_loop;
  one_loop.threads = 1;
  HttpServer http(NetAddress("127.0.0.1", argc > 1 ? ReadPort(argv[1]) : 8080), {}, one_loop);
  Looper& loop = *http.Loopers().front();

  UdpOptions options;
  options.max_payload = 64;  // a longer one is truncated, and marked so
  UdpServer udp(loop, NetAddress("127.0.0.1", argc > 2 ? ReadPort(argv[2]) : 8125), options);
  Heartbeats heartbeats;
  udp.OnDatagram([&](const Datagram& beat) { heartbeats.Take(beat, loop.Now()); });
  http.Get("/metrics", [&](const ServerRequest&, ServerResponse& res) {
    res.Body(heartbeats.Metrics(loop.Now(), udp.Figures()), kMetricsTextType);
  });

  http.StopOnSignals();
  udp.Start();
  std::cout << "listening on " << http.LocalAddress().ToString() << std::endl
            << "heartbeats to " << udp.LocalAddress().ToString() << ", UDP" << std::endl;
  http.Begin();
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "heartbeats: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "heartbeats: " << error.what() << '\n';
  return 1;
}
