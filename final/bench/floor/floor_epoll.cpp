// The floor on epoll: the cost of a server that only moves bytes.
//
//   floor_epoll --port 20080 --root DIR [--deferred] [--fin] [--sendfile] [--threads N]
//
// It counts blank lines and sends prepared responses: no parsing, no files, no deadlines, no
// limits. The rest is system calls, as few as epoll allows:
//  * a client is read right after accept(), and registered only if it stays;
//  * a read that leaves room in the buffer took everything, so none is made just to get EAGAIN;
//  * all requests in one read get their responses by one write.
//
// Not a model for a server: the bytes owed to a client that does not read have no bound.
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

#include "base/namespace.h"
#include "floor_main.h"
#include "floor_options.h"
#include "replies.h"
#include "request_count.h"

namespace {

using turtle::CannedReply;
using turtle::FloorOptions;
using turtle::Replies;
using turtle::RequestCount;
using turtle::UniqueFd;

constexpr std::size_t kReadSize = 65536;
constexpr int kEventsPerWait = 512;
constexpr int kAcceptsPerEvent = 256;

struct Client {
  const CannedReply* reply = nullptr;
  std::size_t owed = 0;  // bytes of responses that are not sent yet
  RequestCount requests;
  bool closing = false;
  bool registered = false;
};

enum class Sending { kDone, kBlocked, kBroken };

class FloorLoop {
 public:
  FloorLoop(const FloorOptions& options, const Replies& replies, int listener)
      : options_(options),
        replies_(replies),
        listener_(listener),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
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
      ReadAndReply(fd);
    }
  }

  void HandleEvent(int fd, std::uint32_t what) {
    Client& client = clients_[static_cast<std::size_t>(fd)];
    if ((what & (EPOLLERR | EPOLLHUP)) != 0) {
      ::close(fd);
      return;
    }
    if (client.owed != 0) {
      const Sending sending = Send(fd, client);
      if (sending == Sending::kBlocked) {
        return;
      }
      if (sending == Sending::kBroken || client.closing) {
        ::close(fd);
        return;
      }
    }
    if ((what & (EPOLLIN | EPOLLRDHUP)) != 0) {
      ReadAndReply(fd);
    }
  }

  void ReadAndReply(int fd) {
    Client& client = clients_[static_cast<std::size_t>(fd)];
    while (true) {
      const ssize_t count = ::recv(fd, input_.data(), input_.size(), 0);
      if (count < 0 && errno == EAGAIN) {
        break;
      }
      if (count <= 0) {
        ::close(fd);
        return;
      }
      const std::string_view piece(input_.data(), static_cast<std::size_t>(count));
      if (!Reply(fd, client, piece)) {
        ::close(fd);
        return;
      }
      if (piece.size() < input_.size()) {
        break;
      }
    }
    if (!client.registered) {
      client.registered = true;
      Register(fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
    }
  }

  // False: the connection is over.
  auto Reply(int fd, Client& client, std::string_view piece) -> bool {
    const std::size_t requests = client.requests.Feed(piece);
    if (requests == 0) {
      return true;
    }
    constexpr std::string_view kClose = ": close";
    if (memmem(piece.data(), piece.size(), kClose.data(), kClose.size()) != nullptr) {
      client.closing = true;
      client.reply = &replies_.LastForRequest(piece);
      client.owed = client.reply->size;
    } else {
      client.reply = &replies_.ForRequest(piece);
      client.owed += client.reply->size * requests;
    }
    const Sending sending = Send(fd, client);
    return sending == Sending::kBlocked || (sending == Sending::kDone && !client.closing);
  }

  auto Send(int fd, Client& client) -> Sending {
    // With MSG_MORE the kernel holds the response back, and the close() that follows sends it
    // together with the FIN: one packet less. Bytes that it does not take at once are sent later,
    // as usual.
    const int flags = MSG_NOSIGNAL | (client.closing && options_.fin ? MSG_MORE : 0);
    const bool from_file = options_.sendfile && replies_.IsInFile(*client.reply);
    while (client.owed != 0) {
      const std::string_view rest = client.reply->Rest(client.owed);
      auto offset = static_cast<off_t>(client.reply->size - rest.size());
      const ssize_t count = from_file ? ::sendfile(fd, replies_.BigFile(), &offset, rest.size())
                                      : ::send(fd, rest.data(), rest.size(), flags);
      if (count < 0) {
        return errno == EAGAIN ? Sending::kBlocked : Sending::kBroken;
      }
      client.owed -= static_cast<std::size_t>(count);
    }
    return Sending::kDone;
  }

  const FloorOptions& options_;
  const Replies& replies_;
  int listener_;
  UniqueFd epoll_;
  std::vector<Client> clients_;  // by descriptor
  std::vector<char> input_ = std::vector<char>(kReadSize);
};

void Serve(const FloorOptions& options, const Replies& replies, int listener) {
  FloorLoop(options, replies, listener).Run();
}

}  // namespace

auto main(int argc, char** argv) -> int {
  return turtle::RunFloor(argc, argv, "floor_epoll", SOCK_NONBLOCK, Serve);
}
