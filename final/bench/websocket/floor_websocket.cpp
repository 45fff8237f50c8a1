// The floor of an echo over WebSocket, on epoll: the cost of a server that only unmasks and moves
// bytes.
//
//   floor_websocket --port 20080 --root DIR [--deferred] [--threads N]
//
// It answers each head with the same 101, whatever the client has asked for, and checks nothing in
// a frame. It has no deadlines, no limits and no control frames. The rest is system calls, as few
// as epoll allows:
//  * all clients are read into the same memory, where the echo is made and sent from. Only what is
//    not complete, or what the kernel doesn't take, is copied into the client's own;
//  * a read that leaves room in that memory took everything, so none is made just to get EAGAIN;
//  * a whole message is sent by one call.
//
// The options are those of the other floors. DIR has their pages, which it doesn't send.
//
// Not a model for a server: a client whose frames arrive in pieces has 256 KiB.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/namespace.h"
#include "base/unique_fd.h"
#include "echo_in_place.h"
#include "floor_main.h"
#include "floor_options.h"
#include "replies.h"

namespace {

using turtle::EchoInPlace;
using turtle::FloorOptions;
using turtle::FrameEcho;
using turtle::Replies;
using turtle::UniqueFd;

constexpr std::size_t kInputSize = std::size_t{256} << 10;  // a longer frame ends the connection
constexpr int kEventsPerWait = 512;
constexpr int kAcceptsPerEvent = 256;

// The response to the key of RFC 6455, section 1.3, which turtle-bench sends.
constexpr std::string_view kSwitch =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

struct Client {
  std::unique_ptr<char[]> rest;  // of the input, while `end` isn't 0
  std::size_t begin = 0;         // of what isn't used yet
  std::size_t end = 0;           // of what was read
  std::size_t owed = 0;          // bytes of the echo before `begin` that are not sent yet
  bool is_open = false;          // the 101 is sent
};

enum class Progress { kDone, kBlocked, kBroken };

class FloorLoop {
 public:
  explicit FloorLoop(int listener) : listener_(listener), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    Register(listener_, EPOLLIN);
  }

  [[noreturn]] void Run() {
    std::array<epoll_event, kEventsPerWait> events{};
    while (true) {
      const int count = ::epoll_wait(epoll_.Get(), events.data(), kEventsPerWait, -1);
      for (int i = 0; i < count; ++i) {
        const epoll_event& event = events[static_cast<std::size_t>(i)];
        if (event.data.fd == listener_) {
          AcceptAll();
        } else {
          HandleEvent(event.data.fd, event.events);
        }
      }
    }
  }

 private:
  void Register(int fd, std::uint32_t what) {
    epoll_event event{};
    event.events = what;
    event.data.fd = fd;
    if (::epoll_ctl(epoll_.Get(), EPOLL_CTL_ADD, fd, &event) < 0) {
      throw std::system_error(errno, std::system_category(), "epoll_ctl");
    }
  }

  void AcceptAll() {
    for (int i = 0; i < kAcceptsPerEvent; ++i) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) {
        return;
      }
      if (static_cast<std::size_t>(fd) >= clients_.size()) {
        clients_.resize(static_cast<std::size_t>(fd) + 1);
      }
      clients_[static_cast<std::size_t>(fd)] = Client();
      Register(fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
    }
  }

  void HandleEvent(int fd, std::uint32_t what) {
    Client& client = clients_[static_cast<std::size_t>(fd)];
    const bool is_broken = (what & (EPOLLERR | EPOLLHUP)) != 0;
    if (is_broken || Serve(fd, client) == Progress::kBroken) {
      client = Client();
      ::close(fd);
    }
  }

  auto Serve(int fd, Client& client) -> Progress {
    const bool has_rest = client.end != 0;
    char* const input = has_rest ? client.rest.get() : input_.data();
    const Progress progress = ReadAndRespond(fd, client, input);
    if (client.end != 0 && !has_rest) {
      if (!client.rest) {
        client.rest.reset(new char[kInputSize]);  // not zeroed: most of it may never be used
      }
      std::memcpy(client.rest.get(), input, client.end);
    }
    return progress;
  }

  // Sends what is owed, then reads and responds until there is no input.
  static auto ReadAndRespond(int fd, Client& client, char* input) -> Progress {
    while (true) {
      const Progress progress = Respond(fd, client, input);
      if (progress != Progress::kDone) {
        return progress;
      }
      const std::size_t room = kInputSize - client.end;
      if (room == 0) {
        return Progress::kBroken;
      }
      const ssize_t count = ::recv(fd, input + client.end, room, 0);
      if (count <= 0) {
        return count < 0 && errno == EAGAIN ? Progress::kDone : Progress::kBroken;
      }
      client.end += static_cast<std::size_t>(count);
      if (static_cast<std::size_t>(count) < room) {
        return Respond(fd, client, input);
      }
    }
  }

  // Sends the echo of each complete frame, and moves the rest to the front.
  static auto Respond(int fd, Client& client, char* input) -> Progress {
    Progress progress = Progress::kDone;
    do {
      while (client.owed != 0 && progress == Progress::kDone) {
        const char* const echo = input + client.begin - client.owed;
        const ssize_t count = ::send(fd, echo, client.owed, MSG_NOSIGNAL);
        if (count < 0) {
          progress = errno == EAGAIN ? Progress::kBlocked : Progress::kBroken;
        } else {
          client.owed -= static_cast<std::size_t>(count);
        }
      }
    } while (progress == Progress::kDone && TakeNext(fd, client, input));
    const std::size_t done = client.begin - client.owed;
    std::memmove(input, input + done, client.end - done);
    client.begin -= done;
    client.end -= done;
    return progress;
  }

  // False: the head or the frame goes on.
  static auto TakeNext(int fd, Client& client, char* input) -> bool {
    const std::size_t size = client.end - client.begin;
    if (client.is_open) {
      const FrameEcho echo = EchoInPlace(input + client.begin, size);
      client.begin += echo.used;
      client.owed = echo.size;  // the echo ends where the frame does
      return echo.used != 0;
    }
    constexpr std::string_view kBlankLine = "\r\n\r\n";
    const std::size_t end = std::string_view(input + client.begin, size).find(kBlankLine);
    if (end == std::string_view::npos) {
      return false;
    }
    client.is_open = true;
    client.begin += end + kBlankLine.size();
    // It is the first that is sent, so there is room for it.
    return ::send(fd, kSwitch.data(), kSwitch.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(kSwitch.size());
  }

  int listener_;
  UniqueFd epoll_;
  std::vector<Client> clients_;  // by descriptor
  std::vector<char> input_ = std::vector<char>(kInputSize);
};

void Serve(const FloorOptions& /*options*/, const Replies& /*replies*/, int listener) {
  FloorLoop(listener).Run();
}

}  // namespace

auto main(int argc, char** argv) -> int {
  return turtle::RunFloor(argc, argv, "floor_websocket", SOCK_NONBLOCK, Serve);
}
