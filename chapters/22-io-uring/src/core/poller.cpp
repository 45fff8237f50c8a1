#include "core/poller.h"

#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

#include "core/io_uring.h"
#include "log/log.h"

#ifdef __linux__
#include "core/epoll_poller.h"
#else
#include "core/kqueue_poller.h"
#endif

namespace TURTLE_SERVER {

namespace {

#ifdef __linux__
using NativePoller = EpollPoller;
constexpr PollerKind kNative = PollerKind::kEpoll;
#else
using NativePoller = KqueuePoller;
constexpr PollerKind kNative = PollerKind::kKqueue;
#endif

// Why it is not the one that was wanted; the first of many loops says it for all of them.
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

auto Poller::Create(PollerKind kind) -> std::unique_ptr<Poller> {
  const PollerKind wanted = kind == PollerKind::kAuto ? FromEnvironment() : kind;
  if (wanted == PollerKind::kIoUring) {
    try {
      return MakeIoUringPoller();
    } catch (const std::system_error& refused) {
      TellOnce(refused.what());
    }
  } else if (wanted != kNative) {
    TellOnce("this system has no such poller");
  }
  return std::make_unique<NativePoller>();
}

}  // namespace TURTLE_SERVER
