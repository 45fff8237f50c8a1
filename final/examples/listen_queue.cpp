// Shows what happens to clients in a listener's queue when the listener is closed.
//
//   listen_queue [CLIENTS]
//
// There are two ways to have an old and a new server on one port: a socket for each, by
// SO_REUSEPORT, or one shared socket. Clients connect and send, no server accepts, and the old one
// closes; then the new one responds to as many clients as it can.
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/argument.h"
#include "core/socket.h"
#include "core/socket_calls.h"

namespace {

using TURTLE_SERVER::FdMode;
using TURTLE_SERVER::IoStatus;
using TURTLE_SERVER::NetAddress;
using TURTLE_SERVER::OpenSocket;
using TURTLE_SERVER::ReadNumber;
using TURTLE_SERVER::Socket;
using TURTLE_SERVER::UniqueFd;

auto Checked(int result, const char* what) -> int {
  if (result < 0) {
    throw std::system_error(errno, std::generic_category(), what);
  }
  return result;
}

// Socket::Bind() never sets SO_REUSEPORT, for the reason that this program shows.
auto SharingItsPort(const NetAddress& address) -> Socket {
  UniqueFd fd(Checked(OpenSocket(AF_INET, FdMode::kBlocking), "socket"));
  const int on = 1;
  Checked(::setsockopt(fd.Get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on), "SO_REUSEPORT");
  Checked(::bind(fd.Get(), address.Data(), address.Size()), "bind");
  Checked(::listen(fd.Get(), SOMAXCONN), "listen");
  return Socket(std::move(fd));
}

// @return how many of the clients get a response from `successor`, after `old` has been closed
auto Answered(Socket old, Socket successor, int count) -> int {
  const NetAddress address = old.LocalAddress();
  std::vector<Socket> clients(static_cast<std::size_t>(count));
  for (Socket& client : clients) {
    client.Connect(address);
    static_cast<void>(client.Send("?"));
  }
  old = Socket();
  successor.SetNonBlocking();
  NetAddress from;
  while (UniqueFd fd{successor.Accept(from)}) {
    static_cast<void>(Socket(std::move(fd)).Send("!"));
  }
  int answered = 0;
  for (Socket& client : clients) {
    std::array<char, 1> room{};
    answered += client.Recv(room.data(), room.size()).status == IoStatus::kBytes ? 1 : 0;
  }
  return answered;
}

void Tell(const char* what, int answered, int count) {
  std::cout << what << ": " << answered << " of " << count << " answered, " << count - answered
            << " reset\n";
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  const int count = argc > 1 ? ReadNumber("clients", argv[1], 1, 4096) : 200;
  Socket old = SharingItsPort(NetAddress("127.0.0.1", 0));
  Socket successor = SharingItsPort(old.LocalAddress());
  Tell("two sockets on one port (SO_REUSEPORT)",
       Answered(std::move(old), std::move(successor), count), count);

  Socket alone = SharingItsPort(NetAddress("127.0.0.1", 0));
  // As fork(2) would: a second descriptor of the same socket.
  Socket same(UniqueFd(Checked(::fcntl(alone.GetFd(), F_DUPFD_CLOEXEC, 0), "dup")));
  Tell("one socket, and both have it", Answered(std::move(alone), std::move(same), count), count);
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "listen_queue: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "listen_queue: " << error.what() << '\n';
  return 1;
}
