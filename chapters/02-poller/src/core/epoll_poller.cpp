#include "core/epoll_poller.h"

#ifdef __linux__

#include <algorithm>
#include <cerrno>
#include <climits>
#include <memory>
#include <new>
#include <string>
#include <system_error>

namespace TURTLE_SERVER {

namespace {

constexpr std::size_t kFirstBatch = 64;

auto ToEpoll(Interest interest) -> std::uint32_t {
  std::uint32_t bits = 0;
  if (Has(interest, Interest::kRead)) {
    // In edge-triggered mode, a FIN that arrives with the last bytes is announced with them and
    // never again. With RDHUP, a reader that stops after a short read still learns of it.
    bits |= EPOLLIN | EPOLLRDHUP;
  }
  if (Has(interest, Interest::kWrite)) {
    bits |= EPOLLOUT;
  }
  // epoll always reports HUP and ERR. In edge-triggered mode, a paused watch gets each only once.
  if (Has(interest, Interest::kEdge) || interest == Interest::kNone) {
    bits |= EPOLLET;
  }
  return bits;
}

auto FromEpoll(const epoll_event& event) -> PollEvent {
  const std::uint32_t bits = event.events;
  PollEvent result;
  result.token = event.data.u64;
  // HUP and ERR come unasked and often alone. The next read or write finds out what they mean, so
  // they must wake readers and writers.
  result.readable = (bits & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  result.writable = (bits & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0;
  result.peer_closed = (bits & (EPOLLRDHUP | EPOLLHUP)) != 0;
  result.error = (bits & EPOLLERR) != 0;
  return result;
}

// For epoll_wait, -1 means forever: a deadline that has just passed must not become -1.
auto ToEpoll(std::optional<std::chrono::milliseconds> timeout) -> int {
  if (!timeout) {
    return -1;
  }
  return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(timeout->count(), 0, INT_MAX));
}

}  // namespace

auto Poller::Create() -> std::unique_ptr<Poller> { return std::make_unique<EpollPoller>(); }

EpollPoller::EpollPoller() : epoll_(::epoll_create1(EPOLL_CLOEXEC)), ready_(kFirstBatch) {
  if (!epoll_) {
    throw std::system_error(errno, std::generic_category(), "epoll_create1");
  }
  events_.reserve(kFirstBatch);
}

void EpollPoller::Add(int fd, Interest interest, std::uint64_t token) {
  Control(EPOLL_CTL_ADD, "add", fd, interest, token);
}

void EpollPoller::Change(int fd, Interest interest, std::uint64_t token) {
  Control(EPOLL_CTL_MOD, "change", fd, interest, token);
}

void EpollPoller::Remove(int fd) {
  // The only errors are that it isn't there or isn't open, and then there is nothing to stop.
  static_cast<void>(::epoll_ctl(epoll_.Get(), EPOLL_CTL_DEL, fd, nullptr));
}

void EpollPoller::Control(int operation, const char* what, int fd, Interest interest,
                          std::uint64_t token) {
  epoll_event event{};
  event.events = ToEpoll(interest);
  event.data.u64 = token;
  if (::epoll_ctl(epoll_.Get(), operation, fd, &event) != 0) {
    throw std::system_error(errno, std::generic_category(),
                            std::string("epoll ") + what + " " + std::to_string(fd));
  }
}

auto EpollPoller::Wait(std::optional<std::chrono::milliseconds> timeout)
    -> const std::vector<PollEvent>& {
  events_.clear();
  const auto room = static_cast<int>(ready_.size());
  const int count = ::epoll_wait(epoll_.Get(), ready_.data(), room, ToEpoll(timeout));
  if (count < 0 && errno != EINTR) {
    throw std::system_error(errno, std::generic_category(), "epoll_wait");
  }
  for (int i = 0; i < count; ++i) {
    events_.push_back(FromEpoll(ready_[static_cast<std::size_t>(i)]));
  }
  if (count == room) {
    FetchMore();
  }
  return events_;
}

// There may be more events than fit. The kernel returns them in turn, so none starves, but each
// round costs a system call.
void EpollPoller::FetchMore() noexcept {
  const std::size_t room = ready_.size() * 2;
  try {
    events_.reserve(room);  // first, so that fetched events can always be reported
    ready_.resize(room);
  } catch (const std::bad_alloc&) {
    // The size stays. A fetched edge is reported only once, so no exception may lose it.
  }
}

}  // namespace TURTLE_SERVER

#endif  // __linux__
