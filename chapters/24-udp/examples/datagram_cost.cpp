// Measures a datagram's price in processor time: sent and received one by one, and in batches.
//
//   datagram_cost [BYTES [ROUNDS]]
//
// By default 32 bytes and 2000 rounds. Each round sends 64 datagrams to a socket of this program
// and receives them again, in both ways in turn, so any other load on the machine affects both. It
// measures this thread's processor time, not wall time.
#include <time.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

#include "base/argument.h"
#include "udp/datagram_batch.h"
#include "udp/udp_socket.h"

using namespace turtle;

namespace {

constexpr std::size_t kBatch = 64;

auto ProcessorTime() -> std::chrono::nanoseconds {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// Adds up the time that `action` takes.
template <typename Action>
void Add(std::chrono::nanoseconds& sum, const Action& action) {
  const std::chrono::nanoseconds before = ProcessorTime();
  action();
  sum += ProcessorTime() - before;
}

void Require(bool moved) {
  if (!moved) {
    throw std::runtime_error("loopback has lost a datagram: is the receive buffer too small?");
  }
}

void Print(const char* what, std::chrono::nanoseconds one, std::chrono::nanoseconds many,
           int rounds) {
  const double count = static_cast<double>(kBatch) * rounds;
  const double each = static_cast<double>(one.count()) / count;
  const double batched = static_cast<double>(many.count()) / count;
  std::printf("%-8s %6.0f ns one by one, %6.0f ns by 64: %.2f times\n", what, each, batched,
              each / batched);
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  const int bytes = argc > 1 ? ReadNumber("bytes", argv[1], 0, 1400) : 32;
  const int rounds = argc > 2 ? ReadNumber("rounds", argv[2], 1, 1'000'000) : 2000;
  UdpSocket receiver;
  receiver.Bind(NetAddress("127.0.0.1", 0));
  const NetAddress there = receiver.LocalAddress();
  UdpSocket sender;
  sender.Bind(NetAddress("127.0.0.1", 0));
  const std::string payload(static_cast<std::size_t>(bytes), 'x');
  DatagramBatch in(kBatch, 2048);
  DatagramBatch out(kBatch, 2048);
  std::array<char, 2048> room;
  NetAddress peer;

  std::chrono::nanoseconds send_one{0};
  std::chrono::nanoseconds send_many{0};
  std::chrono::nanoseconds receive_one{0};
  std::chrono::nanoseconds receive_many{0};
  for (int round = 0; round < rounds; ++round) {
    Add(send_one, [&] {
      for (std::size_t i = 0; i < kBatch; ++i) {
        Require(sender.Send(payload, there).status == IoStatus::kBytes);
      }
    });
    Add(receive_many, [&] { Require(receiver.ReceiveMany(in).count == kBatch); });
    Add(send_many, [&] {
      for (std::size_t i = 0; i < kBatch; ++i) {
        Require(out.Add(payload, there));
      }
      Require(sender.SendMany(out).count == kBatch);
    });
    Add(receive_one, [&] {
      for (std::size_t i = 0; i < kBatch; ++i) {
        Require(receiver.Receive(room.data(), room.size(), peer).status == IoStatus::kBytes);
      }
    });
  }
  Print("send", send_one, send_many, rounds);
  Print("receive", receive_one, receive_many, rounds);
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "datagram_cost: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "datagram_cost: " << error.what() << '\n';
  return 1;
}
