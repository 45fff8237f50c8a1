// Sends each datagram back to its sender, until SIGINT or SIGTERM; then it prints its statistics.
//
//   udp_echo [PORT [ADDRESS [LOOPS]]]
//
// Defaults: 20080, 127.0.0.1 and 1; port 0: any free one. With more than one loop the kernel
// spreads the senders over them.
//
// Two programs that respond to every datagram would talk forever once a stranger has sent one of
// them a datagram with the other's address as its sender. So this one does not respond to ports of
// such programs: those below 1024 (echo is 7, chargen 19), and its own.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/argument.h"
#include "core/looper.h"
#include "core/signal_watch.h"
#include "udp/udp_server.h"

using namespace turtle;

namespace {

// A loop and its socket.
struct EchoLoop {
  EchoLoop(const NetAddress& local, const UdpOptions& options) : server(looper, local, options) {
    server.OnDatagram([this](const Datagram& asked) {
      if (asked.peer.Port() < 1024 || asked.peer.Port() == server.LocalAddress().Port()) {
        ++unanswered;
      } else {
        server.Reply(asked, asked.payload);
      }
    });
    server.Start();
  }

  Looper looper;
  UdpServer server;
  std::uint64_t unanswered = 0;
};

void Tell(const UdpFigures& figures, std::uint64_t unanswered) {
  std::cout << "received " << figures.received << ", truncated " << figures.truncated
            << ", dropped by the kernel " << figures.kernel_dropped << ", sent " << figures.sent
            << ", dropped " << figures.dropped << ", failed " << figures.failed << ", not answered "
            << unanswered << std::endl;
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  const int port = argc > 1 ? ReadPort(argv[1]) : 20080;
  const int wanted = argc > 3 ? ReadNumber("loops", argv[3], 1, 64) : 1;
  UdpOptions options;
  options.max_payload = kMaxUdpPayload;  // unused pages cost nothing
  options.report_destination = true;
  options.sharing = wanted > 1 ? PortSharing::kBalanced : PortSharing::kExclusive;

  std::vector<std::unique_ptr<EchoLoop>> loops;
  NetAddress local(argc > 2 ? argv[2] : "127.0.0.1", port);
  for (int i = 0; i < std::clamp(wanted, 1, 64); ++i) {
    loops.push_back(std::make_unique<EchoLoop>(local, options));
    local = loops.front()->server.LocalAddress();  // the others use the port of the first
  }
  const SignalWatch signals(loops.front()->looper, {SIGINT, SIGTERM}, [&loops](int) {
    for (const auto& loop : loops) {
      loop->looper.Stop();
    }
  });
  std::cout << "listening on " << local.ToString() << std::endl;
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < loops.size(); ++i) {
    threads.emplace_back([&loop = loops[i]->looper] { loop.Loop(); });
  }
  loops.front()->looper.Loop();
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const auto& loop : loops) {
    loop->server.Stop();
    Tell(loop->server.Figures(), loop->unanswered);
  }
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "udp_echo: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "udp_echo: " << error.what() << '\n';
  return 1;
}
