#include "core/poller.h"

#ifdef __linux__
#include "core/epoll_poller.h"
#else
#include "core/kqueue_poller.h"
#endif

namespace TURTLE_SERVER {

namespace {

#ifdef __linux__
using NativePoller = EpollPoller;
#else
using NativePoller = KqueuePoller;
#endif

}  // namespace

auto Poller::Create() -> std::unique_ptr<Poller> { return std::make_unique<NativePoller>(); }

}  // namespace TURTLE_SERVER
