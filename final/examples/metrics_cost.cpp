// Measures what a request pays for reporting itself to a statistics sink. The "requests" do nothing
// else: each sends one metric, and its client would wait that much longer.
//
//   metrics_cost tcp|udp REQUESTS
//
// The sink is a thread of this program. At first it reads its data. Then it stalls, like a sink
// whose disk is full or whose host swaps.
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "base/argument.h"
#include "base/unique_fd.h"
#include "core/socket.h"
#include "udp/udp_socket.h"

using namespace turtle;
using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

namespace {

constexpr std::string_view kMetric = "requests:1|c\n";

// Serves `count` requests. `tell` sends the metric, and returns whether the sink took it.
void Measure(const char* what, int count, const std::function<bool()>& tell) {
  Microseconds slowest{0};
  const auto begin = Clock::now();
  int served = 0;
  bool taken = true;
  while (taken && served < count) {
    const auto before = Clock::now();
    taken = tell();
    slowest = std::max(slowest, Microseconds(Clock::now() - before));
    ++served;
  }
  const double mean = Microseconds(Clock::now() - begin).count() / served;
  std::printf("%-32s %7d requests, %8.1f us each, the slowest %8.1f ms%s\n", what, served, mean,
              slowest.count() / 1000, taken ? "" : ", and gave up");
}

// Reads from each client until it has closed, one after the other.
void ReadAll(Socket& listener) {
  NetAddress client;
  for (;;) {
    Socket connection(UniqueFd(listener.Accept(client)));
    if (connection.GetFd() < 0) {
      return;  // shut down
    }
    char bytes[4096];
    while (connection.Recv(bytes, sizeof bytes).status == IoStatus::kBytes) {
    }
  }
}

auto Connected(const NetAddress& sink) -> Socket {
  Socket socket;
  socket.Connect(sink);
  const timeval patience{1, 0};  // without it, the last request below would never end
  ::setsockopt(socket.GetFd(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  return socket;
}

void OverTcp(int count) {
  Socket listener;
  listener.Bind(NetAddress("127.0.0.1", 0));
  listener.Listen();
  const NetAddress sink = listener.LocalAddress();
  const auto send = [](Socket& socket) { return socket.Send(kMetric).status == IoStatus::kBytes; };

  std::thread reader([&listener] { ReadAll(listener); });
  Measure("TCP, a connection for each", count, [&] {
    Socket socket = Connected(sink);
    return send(socket);
  });
  Socket kept = Connected(sink);
  Measure("TCP, one connection", count, [&] { return send(kept); });
  kept = Socket();
  ::shutdown(listener.GetFd(), SHUT_RD);  // ends the reader
  reader.join();

  Socket sleeper;
  sleeper.Bind(NetAddress("127.0.0.1", 0));
  sleeper.Listen();
  kept = Connected(sleeper.LocalAddress());  // by the kernel alone: no thread accepts
  // Both kernels first buffer some megabytes of it.
  Measure("TCP, the sink stands still", 10'000'000, [&] { return send(kept); });
}

void OverUdp(int count) {
  UdpSocket sink;
  sink.Bind(NetAddress("127.0.0.1", 0));
  UdpSocket sender;
  sender.Connect(sink.LocalAddress());
  const auto send = [&sender] { return sender.Send(kMetric).status == IoStatus::kBytes; };

  std::atomic<bool> reads{true};
  std::thread reader([&] {
    DatagramBatch batch(64, 512);
    while (reads) {
      pollfd waiting{sink.GetFd(), POLLIN, 0};
      ::poll(&waiting, 1, 100);
      static_cast<void>(sink.ReceiveMany(batch));
    }
  });
  Measure("UDP", count, send);
  reads = false;
  reader.join();
  Measure("UDP, the sink stands still", 100 * count, send);
  if (const auto drops = sink.KernelDrops()) {
    std::printf("%u datagrams were lost, and counted\n", *drops);
  }
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  const std::string how = argc == 3 ? argv[1] : "";
  const int count = argc == 3 ? ReadNumber("requests", argv[2], 1, 1'000'000) : 0;
  if (how != "tcp" && how != "udp") {
    std::cerr << "usage: metrics_cost tcp|udp REQUESTS\n";
    return 2;
  }
  how == "tcp" ? OverTcp(count) : OverUdp(count);
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "metrics_cost: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "metrics_cost: " << error.what() << '\n';
  return 1;
}
