// Measures a short connection's cost, depending on which thread accepts it.
//
//   accept_cost [LOOPS [CONNECTIONS [CLIENTS]]]
//
// Clients, each in its own process, connect, send a byte, get it back and close, one connection
// after the other. Each way is measured in turn, five times; each number is the median.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/argument.h"
#include "core/turtle_server.h"

namespace {

using TURTLE_SERVER::Accepting;
using TURTLE_SERVER::Connection;
using TURTLE_SERVER::NetAddress;
using TURTLE_SERVER::ReadNumber;
using TURTLE_SERVER::ServerOptions;
using TURTLE_SERVER::Socket;
using TURTLE_SERVER::TurtleServer;

constexpr int kRounds = 5;

struct Load {
  std::size_t loops = 2;
  int connections = 10'000;
  int clients = 16;
};

struct Cost {
  double per_second;
  double cpu_us;               // of the server, for each connection
  double waits;                // of its threads, for each connection
  std::vector<double> shares;  // of the connections, by loop
};

struct Way {
  const char* name;
  Accepting accept;
  bool pinned;  // each loop stays on its own CPU
  std::vector<Cost> costs;
};

void Echo(Connection* client) {
  const auto [read, exit] = client->Recv();
  if (exit) {
    client->GetLooper()->DeleteConnection(client->GetFd());
    return;
  }
  client->WriteToWriteBuffer(client->Read());
  client->ClearReadBuffer();
}

// Runs in the child. It has the server's descriptors, too, and does not use them.
[[noreturn]] void BeClient(const NetAddress& server, int connections) {
  int code = 0;
  try {
    for (int i = 0; i < connections; ++i) {
      Socket socket;
      socket.Connect(server);
      std::array<char, 1> byte{'?'};
      static_cast<void>(socket.Send({byte.data(), 1}));
      code |= socket.Recv(byte.data(), 1).bytes == 1 ? 0 : 1;
    }
  } catch (const std::exception&) {
    code = 1;
  }
  ::_exit(code);
}

auto MicrosecondsOf(const timeval& time) -> double {
  return 1e6 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec);
}

auto Measure(const Load& load, const Way& way) -> Cost {
  ServerOptions options;
  options.threads = load.loops;
  options.accept = way.accept;
  options.cpu_affinity = way.pinned;
  TurtleServer server(NetAddress("127.0.0.1", 0), options);
  server.OnHandle(Echo);
  rusage before{};
  ::getrusage(RUSAGE_SELF, &before);
  const auto begin = std::chrono::steady_clock::now();
  std::vector<pid_t> clients;
  while (clients.size() < static_cast<std::size_t>(load.clients)) {
    clients.push_back(::fork());  // before there are threads
    if (clients.back() == 0) {
      BeClient(server.LocalAddress(), load.connections / load.clients);
    }
  }
  std::thread serving([&server] { server.Begin(); });
  bool failed = false;
  for (const pid_t client : clients) {
    int status = 1;
    failed = client < 0 || ::waitpid(client, &status, 0) < 0 || status != 0 || failed;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  server.Stop();
  serving.join();
  if (failed) {
    throw std::runtime_error("a client has got no response");
  }
  rusage after{};
  ::getrusage(RUSAGE_SELF, &after);
  const int of_each = load.connections / load.clients;
  const double count = of_each * load.clients;
  Cost cost{};
  cost.per_second = count / took.count();
  cost.cpu_us = (MicrosecondsOf(after.ru_utime) - MicrosecondsOf(before.ru_utime) +
                 MicrosecondsOf(after.ru_stime) - MicrosecondsOf(before.ru_stime)) /
                count;
  cost.waits = static_cast<double>(after.ru_nvcsw - before.ru_nvcsw) / count;
  for (const auto* looper : server.Loopers()) {
    cost.shares.push_back(static_cast<double>(looper->AddedCount()) / count);
  }
  return cost;
}

template <typename Number>
auto Median(std::vector<Cost>& costs, Number number) -> double {
  std::sort(costs.begin(), costs.end(),
            [&](const Cost& a, const Cost& b) { return number(a) < number(b); });
  return number(costs[costs.size() / 2]);
}

void Tell(Way& way, std::size_t loops) {
  std::printf("%-17s %9.0f %8.1f %6.2f   ", way.name,
              Median(way.costs, [](const Cost& cost) { return cost.per_second; }),
              Median(way.costs, [](const Cost& cost) { return cost.cpu_us; }),
              Median(way.costs, [](const Cost& cost) { return cost.waits; }));
  for (std::size_t i = 0; i < loops; ++i) {
    std::printf(" %3.0f %%",
                100 * Median(way.costs, [i](const Cost& cost) { return cost.shares[i]; }));
  }
  std::printf("\n");
}

auto NumberAt(int index, int argc, char** argv, int otherwise) -> int {
  return argc > index ? ReadNumber("number", argv[index], 1, 1'000'000) : otherwise;
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  Load load;
  load.loops = static_cast<std::size_t>(NumberAt(1, argc, argv, 2));
  load.connections = NumberAt(2, argc, argv, load.connections);
  load.clients = NumberAt(3, argc, argv, load.clients);
  std::vector<Way> ways{{"shared", Accepting::kShared, false, {}},
                        {"shared, pinned", Accepting::kShared, true, {}},
                        {"per-loop", Accepting::kPerLoop, false, {}},
                        {"per-loop, pinned", Accepting::kPerLoop, true, {}},
                        {"per-cpu", Accepting::kPerCpu, true, {}}};
  for (int round = 0; round < kRounds; ++round) {
    for (Way& way : ways) {
      way.costs.push_back(Measure(load, way));
    }
  }
  std::printf("%-17s %9s %8s %6s    by loop\n", "", "a second", "CPU, us", "waits");
  for (Way& way : ways) {
    Tell(way, load.loops);
  }
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "accept_cost: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "accept_cost: " << error.what() << '\n';
  return 1;
}
