// Sends its input to a server and prints what comes back, until the server closes the connection.
//
//   echo_client HOST PORT
//
// Sending everything first and reading afterwards would deadlock on a long input: the server stops
// reading while nobody takes its responses. So this waits for three things at once: input, room to
// send, and responses.
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "core/socket.h"

namespace {

using turtle::IoResult;
using turtle::IoStatus;
using turtle::NetAddress;
using turtle::Socket;

[[noreturn]] void Fail(int error, const char* what) {
  throw std::system_error(error, std::generic_category(), what);
}

auto ParsePort(std::string_view text) -> int {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument("port \"" + std::string(text) + "\": not a number");
  }
  return port;
}

// Reads once from standard input; returns 0 at its end.
auto ReadInput(std::array<char, 65536>& into) -> std::size_t {
  for (;;) {
    const ssize_t count = ::read(STDIN_FILENO, into.data(), into.size());
    if (count >= 0) {
      return static_cast<std::size_t>(count);
    }
    if (errno != EINTR) {
      Fail(errno, "read");
    }
  }
}

void Print(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) {
      Fail(errno, "write");
    }
    bytes.remove_prefix(count < 0 ? 0 : static_cast<std::size_t>(count));
  }
}

void Copy(Socket& server) {
  std::array<char, 65536> input;
  std::array<char, 65536> reply;
  std::string_view unsent;
  bool input_open = true;
  for (;;) {
    pollfd waiting[2] = {{input_open && unsent.empty() ? STDIN_FILENO : -1, POLLIN, 0},
                         {server.GetFd(), POLLIN, 0}};
    if (!unsent.empty()) {
      waiting[1].events |= POLLOUT;
    }
    if (::poll(waiting, 2, -1) < 0 && errno != EINTR) {
      Fail(errno, "poll");
    }
    if (waiting[0].revents != 0) {
      unsent = {input.data(), ReadInput(input)};
      input_open = !unsent.empty();
      if (!input_open) {
        server.ShutdownWrite();  // no more input; the responses are still to come
      }
    }
    if ((waiting[1].revents & POLLOUT) != 0) {
      const IoResult sent = server.Send(unsent, MSG_DONTWAIT);
      if (sent.status == IoStatus::kBytes) {
        unsent.remove_prefix(sent.bytes);
      } else if (sent.status == IoStatus::kError && sent.error != EAGAIN) {
        Fail(sent.error, "send");
      }
    }
    if ((waiting[1].revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
      const IoResult received = server.Recv(reply.data(), reply.size());
      if (received.status == IoStatus::kError) {
        Fail(received.error, "recv");
      }
      if (received.status == IoStatus::kEnd) {
        return;
      }
      Print({reply.data(), received.bytes});
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 3) {
      throw std::invalid_argument("usage: echo_client HOST PORT");
    }
    Socket server;
    server.Connect(NetAddress(argv[1], ParsePort(argv[2])));
    Copy(server);
  } catch (const std::exception& error) {
    std::cerr << "echo_client: " << error.what() << '\n';
    return 1;
  }
}
