#include "core/kqueue_poller.h"

#ifndef __linux__

#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>
#include <memory>
#include <new>
#include <string>
#include <system_error>

namespace TURTLE_SERVER {

namespace {

constexpr std::size_t kFirstBatch = 64;

static_assert(sizeof(void*) >= sizeof(std::uint64_t), "udata has to hold a token");

auto FromKqueue(const struct kevent& event) -> PollEvent {
  PollEvent result;
  result.token = reinterpret_cast<std::uintptr_t>(event.udata);
  const bool end = (event.flags & EV_EOF) != 0;
  if (event.filter == EVFILT_READ) {
    result.readable = true;
    result.peer_closed = end;
  } else {
    result.writable = true;  // EV_EOF here: nobody reads any more, and a write returns EPIPE
  }
  // With EV_EOF, fflags holds the socket's error (kqueue(2), EVFILT_READ).
  result.error = (event.flags & EV_ERROR) != 0 || (end && event.fflags != 0);
  return result;
}

}  // namespace

auto Poller::Create() -> std::unique_ptr<Poller> { return std::make_unique<KqueuePoller>(); }

KqueuePoller::KqueuePoller() : kqueue_(::kqueue()), ready_(kFirstBatch) {
  // No CLOEXEC: a kqueue isn't inherited by fork(2), so exec can't leak it.
  if (!kqueue_) {
    throw std::system_error(errno, std::generic_category(), "kqueue");
  }
  events_.reserve(kFirstBatch);
}

void KqueuePoller::Add(int fd, Interest interest, std::uint64_t token) {
  AddFilters("add", fd, interest, token);
}

void KqueuePoller::Change(int fd, Interest interest, std::uint64_t token) {
  // Adding a filter again would keep its EV_CLEAR, so changing from level to edge needs a deletion.
  // Nothing is lost in between: adding reports what is ready.
  Remove(fd);
  AddFilters("change", fd, interest, token);
}

void KqueuePoller::Remove(int fd) {
  for (const int filter : {EVFILT_READ, EVFILT_WRITE}) {
    struct kevent change {};
    EV_SET(&change, static_cast<std::uintptr_t>(fd), static_cast<short>(filter), EV_DELETE, 0, 0,
           nullptr);
    // The only errors are that it isn't there or isn't open, and then there is nothing to stop.
    static_cast<void>(::kevent(kqueue_.Get(), &change, 1, nullptr, 0, nullptr));
  }
}

void KqueuePoller::AddFilters(const char* what, int fd, Interest interest, std::uint64_t token) {
  const auto flags =
      static_cast<unsigned short>(EV_ADD | (Has(interest, Interest::kEdge) ? EV_CLEAR : 0));
  void* const udata = reinterpret_cast<void*>(static_cast<std::uintptr_t>(token));
  struct kevent changes[2];
  int count = 0;
  if (Has(interest, Interest::kRead)) {
    EV_SET(&changes[count], static_cast<std::uintptr_t>(fd), EVFILT_READ, flags, 0, 0, udata);
    ++count;
  }
  if (Has(interest, Interest::kWrite)) {
    EV_SET(&changes[count], static_cast<std::uintptr_t>(fd), EVFILT_WRITE, flags, 0, 0, udata);
    ++count;
  }
  if (::kevent(kqueue_.Get(), changes, count, nullptr, 0, nullptr) != 0) {
    throw std::system_error(errno, std::generic_category(),
                            std::string("kqueue ") + what + " " + std::to_string(fd));
  }
}

auto KqueuePoller::Wait(std::optional<std::chrono::milliseconds> timeout)
    -> const std::vector<PollEvent>& {
  events_.clear();
  timespec limit{};
  if (timeout) {
    const auto wait =
        std::clamp(*timeout, std::chrono::milliseconds(0), std::chrono::milliseconds(INT_MAX));
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(wait);
    limit.tv_sec = static_cast<time_t>(seconds.count());
    limit.tv_nsec = static_cast<long>(std::chrono::nanoseconds(wait - seconds).count());
  }
  const auto room = static_cast<int>(ready_.size());
  const int count =
      ::kevent(kqueue_.Get(), nullptr, 0, ready_.data(), room, timeout ? &limit : nullptr);
  if (count < 0 && errno != EINTR) {
    throw std::system_error(errno, std::generic_category(), "kevent");
  }
  for (int i = 0; i < count; ++i) {
    events_.push_back(FromKqueue(ready_[static_cast<std::size_t>(i)]));
  }
  if (count == room) {
    FetchMore();
  }
  return events_;
}

// Saves system calls the next time.
void KqueuePoller::FetchMore() noexcept {
  const std::size_t room = ready_.size() * 2;
  try {
    events_.reserve(room);  // first, so that fetched events can always be reported
    ready_.resize(room);
  } catch (const std::bad_alloc&) {
    // The size stays. A fetched edge is reported only once, so no exception may lose it.
  }
}

}  // namespace TURTLE_SERVER

#endif  // not __linux__
