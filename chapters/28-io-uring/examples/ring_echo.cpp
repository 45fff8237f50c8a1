// An echo server on io_uring(7), using only its three system calls.
//
//   ring_echo PORT
//
// Each client has one request under way at any time: a receive or a send. A call of
// io_uring_enter(2) submits all that are prepared, and waits for completions.
#include <exception>
#include <iostream>

#if __has_include(<linux/io_uring.h>)

#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <system_error>
#include <utility>

#include "base/unique_fd.h"
#include "core/net_address.h"
#include "core/socket.h"

namespace {

using turtle::NetAddress;
using turtle::Socket;
using turtle::UniqueFd;

constexpr unsigned kEntries = 256;  // requests that can wait for submission: a power of two

constexpr unsigned kRoom = 4096;

struct Client {
  explicit Client(int number) : fd(number) {}
  UniqueFd fd;
  std::array<char, kRoom> bytes{};
  unsigned filled = 0;  // bytes to send; 0: it is receiving
  unsigned sent = 0;
};

auto Check(std::int64_t result, const char* what) -> std::int64_t {
  if (result < 0) {
    throw std::system_error(errno, std::generic_category(), what);
  }
  return result;
}

[[noreturn]] void Serve(const Socket& listener) {
  io_uring_params params{};  // returns the offsets of everything
  const UniqueFd ring(
      static_cast<int>(Check(::syscall(SYS_io_uring_setup, kEntries, &params), "io_uring_setup")));
  const auto map = [&ring](std::size_t size, std::uint64_t what) {
    void* const start = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring.Get(),
                               static_cast<off_t>(what));
    Check(start == MAP_FAILED ? -1 : 0, "mmap of a ring");
    return static_cast<char*>(start);
  };
  char* const queues =
      map(std::max<std::size_t>(params.sq_off.array + params.sq_entries * sizeof(unsigned),
                                params.cq_off.cqes + params.cq_entries * sizeof(io_uring_cqe)),
          IORING_OFF_SQ_RING);
  const auto at = [queues](unsigned offset) {
    return reinterpret_cast<unsigned*>(queues + offset);
  };
  auto* const submissions = reinterpret_cast<io_uring_sqe*>(
      map(params.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES));
  auto* const completions = reinterpret_cast<io_uring_cqe*>(queues + params.cq_off.cqes);
  unsigned* const tail = at(params.sq_off.tail);       // we write it, the kernel reads it
  unsigned* const head = at(params.cq_off.head);       // here, too
  unsigned* const completed = at(params.cq_off.tail);  // the kernel writes it
  unsigned waiting = 0;

  const auto enter = [&](unsigned wait_for) {
    const std::int64_t taken = ::syscall(SYS_io_uring_enter, ring.Get(), waiting, wait_for,
                                         IORING_ENTER_GETEVENTS, nullptr, 0);
    waiting -=
        static_cast<unsigned>(taken < 0 && errno == EINTR ? 0 : Check(taken, "io_uring_enter"));
  };
  const auto submit = [&](std::uint8_t operation, int fd, const void* bytes, unsigned size,
                          Client* by) {
    while (waiting == kEntries) {
      enter(0);
    }
    const unsigned index = *tail & (kEntries - 1);
    submissions[index] = io_uring_sqe{};
    submissions[index].opcode = operation;
    submissions[index].fd = fd;
    submissions[index].addr = reinterpret_cast<std::uintptr_t>(bytes);
    submissions[index].len = size;
    submissions[index].user_data = reinterpret_cast<std::uintptr_t>(by);  // the completion has it
    at(params.sq_off.array)[index] = index;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
    ++waiting;
  };

  submit(IORING_OP_ACCEPT, listener.GetFd(), nullptr, 0, nullptr);
  while (true) {
    enter(1);
    while (*head != __atomic_load_n(completed, __ATOMIC_ACQUIRE)) {
      const io_uring_cqe done = completions[*head & (params.cq_entries - 1)];
      __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
      auto* const by = reinterpret_cast<Client*>(done.user_data);  // NOLINT: as it was submitted
      std::unique_ptr<Client> client(by);
      if (!client) {
        submit(IORING_OP_ACCEPT, listener.GetFd(), nullptr, 0, nullptr);
        client = std::make_unique<Client>(done.res);
      } else if (done.res > 0) {
        (client->filled == 0 ? client->filled : client->sent) += static_cast<unsigned>(done.res);
      }
      if (done.res < 0 || (done.res == 0 && client->filled == 0 && by != nullptr)) {
        continue;  // it is gone: its descriptor is closed here
      }
      if (client->sent == client->filled) {
        client->sent = client->filled = 0;
        submit(IORING_OP_RECV, client->fd.Get(), client->bytes.data(), kRoom, client.get());
      } else {
        submit(IORING_OP_SEND, client->fd.Get(), client->bytes.data() + client->sent,
               client->filled - client->sent, client.get());
      }
      static_cast<void>(client.release());  // the kernel uses its memory until the next completion
    }
  }
}

}  // namespace

auto main(int argc, char** argv) -> int {
  try {
    if (argc != 2) {
      std::cerr << "usage: ring_echo PORT\n";
      return 2;
    }
    Socket listener;
    listener.Bind(NetAddress("127.0.0.1", static_cast<std::uint16_t>(std::atoi(argv[1]))));
    listener.Listen();
    std::cout << "listening on " << listener.LocalAddress().ToString() << std::endl;
    Serve(listener);
  } catch (const std::exception& error) {
    std::cerr << "ring_echo: " << error.what() << '\n';
    return 1;
  }
}

#else

auto main() -> int {
  std::cerr << "ring_echo: this system has no io_uring\n";
  return 1;
}

#endif
