#include "core/engine.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/net_address.h"
#include "core/out_queue.h"
#include "core/read_scratch.h"
#include "core/socket.h"
#include "log/log.h"

namespace TURTLE_SERVER {

namespace {

#ifdef __linux__
constexpr PollerKind kNative = PollerKind::kEpoll;
#else
constexpr PollerKind kNative = PollerKind::kKqueue;
#endif

// Makes each call itself when this system's poller reports that it would not block.
class ReadinessEngine final : public Engine {
 public:
  auto GetPoller() noexcept -> Poller& override { return *poller_; }
  [[nodiscard]] auto ReceivesAhead() const noexcept -> bool override { return false; }

  void Adopt(int /*fd*/, std::uint64_t /*token*/) override {}

  auto Expect(int fd, std::uint64_t token) -> Expecting override {
    poller_->Add(fd, Interest::kRead | Interest::kWrite | Interest::kEdge, token);
    return Expecting::kForGood;
  }

  // A short read has emptied the socket: the next bytes raise a new event.
  auto Receive(Socket& socket, char* room) noexcept -> Received override {
    Received received{socket.Recv(room, ReadScratch::kSize), room, false};
    received.more = received.result.bytes == ReadScratch::kSize;
    return received;
  }

  auto Send(Socket& socket, OutQueue& queue, bool last) -> IoResult override {
    return queue.FlushTo(socket, last);
  }

  void Forget(int /*fd*/) noexcept override {}

  // Closing also takes the descriptor out of the poller.
  void Close(UniqueFd fd) noexcept override { fd.Reset(); }

  void Listen(int listener, std::uint64_t token) override {
    accepting_.push_back({listener, token});
    try {
      poller_->Add(listener, Interest::kRead, token);
    } catch (...) {
      accepting_.pop_back();
      throw;
    }
  }

  auto Accept(Socket& listener, NetAddress* client) noexcept -> int override {
    if (Find(listener.GetFd()) == accepting_.end()) {
      errno = EAGAIN;
      return -1;
    }
    NetAddress unused;
    return listener.Accept(client == nullptr ? unused : *client);
  }

  void Rest(int listener, bool rests) override {
    const auto found = Find(listener);
    if (found != accepting_.end()) {
      poller_->Change(listener, rests ? Interest::kNone : Interest::kRead, found->token);
    }
  }

  // Clients stay in the kernel's queue until Accept(), so none has to be kept here.
  void StopAccepting(int listener) noexcept override {
    const auto found = Find(listener);
    if (found != accepting_.end()) {
      accepting_.erase(found);
      poller_->Remove(listener);
    }
  }

  void Unlisten(int listener) noexcept override { StopAccepting(listener); }

  void Finish() noexcept override {}

 private:
  struct Listener {
    int fd;
    std::uint64_t token;
  };

  auto Find(int listener) noexcept -> std::vector<Listener>::iterator {
    return std::find_if(accepting_.begin(), accepting_.end(),
                        [listener](const Listener& each) { return each.fd == listener; });
  }

  const std::unique_ptr<Poller> poller_ = Poller::Create();
  std::vector<Listener> accepting_;
};

// Logs why the engine is not the requested one; the first of many loops does so for all of them.
void TellOnce(const std::string& reason) {
  static std::atomic<bool> told{false};
  if (!told.exchange(true)) {
    Log(LogLevel::kWarning, reason + "; the loops use " +
                                (kNative == PollerKind::kEpoll ? "epoll" : "kqueue") + " instead");
  }
}

auto FromEnvironment() -> PollerKind {
  const char* const name = std::getenv("TURTLE_POLLER");
  const std::string_view wanted = name == nullptr ? "" : name;
  return wanted == "io_uring" ? PollerKind::kIoUring : kNative;
}

}  // namespace

auto Engine::Create(PollerKind kind) -> std::unique_ptr<Engine> {
  const PollerKind wanted = kind == PollerKind::kAuto ? FromEnvironment() : kind;
  if (wanted == PollerKind::kIoUring) {
    try {
      return MakeIoUringEngine();
    } catch (const std::system_error& refused) {
      TellOnce(refused.what());
    }
  } else if (wanted != kNative) {
    TellOnce("this system has no such poller");
  }
  return std::make_unique<ReadinessEngine>();
}

}  // namespace TURTLE_SERVER
