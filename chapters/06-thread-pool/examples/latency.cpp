// Measures how long a small request takes while another client keeps the server busy.
//
//   latency HOST PORT [COUNT]      for slow_server; 200 requests unless given
//
// One connection requests work (`w`), again and again. Another requests next to nothing (`.`), at
// most a hundred times a second, and measures the latency.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "core/socket.h"

namespace {

using turtle::IoStatus;
using turtle::NetAddress;
using turtle::Socket;

using Clock = std::chrono::steady_clock;

auto ParseNumber(const std::string& what, std::string_view text) -> int {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1) {
    throw std::invalid_argument(what + " \"" + std::string(text) + "\": not a number above 0");
  }
  return number;
}

void Send(Socket& server, std::string_view request) {
  if (server.Send(request).status != IoStatus::kBytes) {
    throw std::runtime_error("the server has closed the connection");
  }
}

void AwaitAnswer(Socket& server) {
  char answer = 0;
  if (server.Recv(&answer, 1).status != IoStatus::kBytes) {
    throw std::runtime_error("the server has closed the connection");
  }
}

// A connection that keeps the server busy for as long as this object lives.
class BusyClient {
 public:
  explicit BusyClient(const NetAddress& address) {
    busy_.Connect(address);
    thread_ = std::thread([this] { Run(); });
  }

  BusyClient(const BusyClient&) = delete;
  auto operator=(const BusyClient&) -> BusyClient& = delete;

  ~BusyClient() {
    over_ = true;
    thread_.join();
  }

  // True if it has failed: then the numbers are worthless.
  auto Failed() const -> bool { return failed_; }

 private:
  void Run() {
    try {
      while (!over_) {
        Send(busy_, "w");
        AwaitAnswer(busy_);
      }
    } catch (const std::exception&) {
      failed_ = true;
    }
  }

  Socket busy_;
  std::atomic<bool> over_{false};
  std::atomic<bool> failed_{false};
  std::thread thread_;
};

auto Measure(const NetAddress& address, int count) -> std::vector<double> {
  constexpr std::chrono::milliseconds kPause{10};
  std::this_thread::sleep_for(2 * kPause);  // by then the server is busy
  Socket idle;
  std::vector<double> milliseconds;
  idle.Connect(address);
  while (static_cast<int>(milliseconds.size()) < count) {
    std::this_thread::sleep_for(kPause);  // or all the requests fall between two pieces of work
    const auto begin = Clock::now();
    Send(idle, ".");
    AwaitAnswer(idle);
    const std::chrono::duration<double, std::milli> taken = Clock::now() - begin;
    milliseconds.push_back(taken.count());
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  return milliseconds;
}

void Report(const std::vector<double>& milliseconds) {
  const auto percentile = [&](std::size_t p) {
    return milliseconds[(milliseconds.size() - 1) * p / 100];
  };
  std::printf("%zu requests: half of them within %.2f ms, 99 of 100 within %.2f ms\n",
              milliseconds.size(), percentile(50), percentile(99));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 3 || argc > 4) {
      throw std::invalid_argument("usage: latency HOST PORT [COUNT]");
    }
    const NetAddress address(argv[1], ParseNumber("port", argv[2]));
    const int count = argc > 3 ? ParseNumber("count", argv[3]) : 200;
    const BusyClient busy(address);
    const std::vector<double> milliseconds = Measure(address, count);
    if (busy.Failed()) {
      throw std::runtime_error("the server has closed the busy connection");
    }
    Report(milliseconds);
  } catch (const std::exception& error) {
    std::cerr << "latency: " << error.what() << '\n';
    return 1;
  }
}
