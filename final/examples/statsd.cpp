// A statistics sink: programs send it their counts, and never wait for it.
//
//   statsd [PORT [HTTP_PORT [SECONDS [ADDRESS]]]]
//
// Defaults: 20080, 20081, 10 and 127.0.0.1; port 0: any free one. Datagrams are in the statsd
// format (statsd_line.h). Every SECONDS, and at SIGINT and SIGTERM, a report goes to stdout; the
// same text is available at http://ADDRESS:HTTP_PORT/metrics. The last report includes all data
// that has reached the kernel by the time of the signal. A second signal ends the program at once.
//
// There is no name and no password: any program that reaches the port can write, and use up all
// names. Let only your own programs reach it.
#include <atomic>
#include <chrono>
#include <csignal>
#include <exception>
#include <functional>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/argument.h"
#include "core/looper.h"
#include "core/signal_watch.h"
#include "statsd_table.h"
#include "task/thread_pool.h"
#include "udp/udp_server.h"
#include "web/http_server.h"

using namespace turtle;
using turtle_examples::StatsdTable;

namespace {

constexpr std::size_t kMaxNames = 1000;
constexpr std::size_t kMaxDrained = 100'000;  // datagrams: more than any usual buffer holds

// Prints on its own thread: a stopped terminal, or a pipe that is not read, must not block the
// loop.
class Printer {
 public:
  Printer() : thread_(1) { thread_.Start(); }

  // @return false if the text before this one has not been printed yet, and this one is dropped
  auto Print(std::string text) -> bool {
    if (busy_.exchange(true)) {
      return false;
    }
    return thread_.Submit([this, text = std::move(text)] {
      std::cout << text << std::endl;
      busy_ = false;
    });
  }

  // Waits until everything is printed.
  void Stop() { thread_.Stop(); }

 private:
  std::atomic<bool> busy_{false};
  ThreadPool thread_;  // the last member: its thread uses the other
};

// Losses on the way belong to the report: without them the sums are a guess.
auto Describe(StatsdTable& table, UdpServer& server) -> std::string {
  const UdpFigures figures = server.Figures();
  return table.Report() + "datagrams " + std::to_string(figures.received) +
         ", dropped by the kernel " + std::to_string(figures.kernel_dropped) + ", truncated " +
         std::to_string(figures.truncated) + "\n";
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  const auto port = [&](int index, int otherwise) {
    return argc > index ? ReadPort(argv[index]) : otherwise;
  };
  const std::string address = argc > 4 ? argv[4] : "127.0.0.1";
  const std::chrono::seconds interval(argc > 3 ? ReadNumber("seconds", argv[3], 1, 86'400) : 10);

  ServerOptions one_loop;  // so that the table and the socket belong to one thread
  one_loop.threads = 1;
  HttpServer http(NetAddress(address, port(2, 20081)), {}, one_loop);
  Looper& looper = *http.Loopers().front();

  StatsdTable table(kMaxNames);
  UdpOptions options;
  options.max_payload = 8192;
  options.receive_buffer = 4U << 20U;  // for datagrams that come while the loop is busy
  UdpServer server(looper, NetAddress(address, port(1, 20080)), options);
  server.OnDatagram([&table](const Datagram& told) { table.Take(told.payload, told.truncated); });
  http.Get("/metrics",
           [&](const ServerRequest&, ServerResponse& res) { res.Text(Describe(table, server)); });

  Printer printer;
  const std::function<void()> report_again = [&] {
    if (printer.Print(Describe(table, server))) {
      table.BeginInterval();  // else it continues, and the next report covers both
    }
    looper.RunAfter(interval, report_again);
  };
  looper.RunAfter(interval, report_again);
  std::optional<SignalWatch> signals;
  signals.emplace(looper, std::vector<int>{SIGINT, SIGTERM}, [&](int) {
    http.Stop();
    signals.reset();  // a second one ends the program, even if its last report is not read
  });
  server.Start();
  std::cout << "listening on " << server.LocalAddress().ToString() << ", metrics at http://"
            << http.LocalAddress().ToString() << "/metrics" << std::endl;
  http.Begin();
  server.Drain(kMaxDrained);
  server.Stop();
  printer.Stop();
  std::cout << Describe(table, server) << std::endl;
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "statsd: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "statsd: " << error.what() << '\n';
  return 1;
}
