#include "core/signal_watch.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace TURTLE_SERVER {

namespace {

// The handler's data for one signal. A handler has no argument for it, so this is global.
struct Slot {
  std::atomic<Wakeup*> wakeup{nullptr};  // nullptr: nobody watches this signal
  std::atomic<bool> pending{false};
};

std::array<Slot, NSIG> slots;
std::atomic<int> handlers_running{0};

static_assert(std::atomic<Wakeup*>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a lock in a signal handler can wait for the very thread it interrupted");

extern "C" void NoteSignal(int number) {
  Slot& slot = slots[static_cast<std::size_t>(number)];
  ++handlers_running;
  if (Wakeup* wakeup = slot.wakeup.load()) {
    slot.pending.store(true);  // before the wake-up, so that the loop finds it
    wakeup->Signal();
  }
  --handlers_running;
}

}  // namespace

SignalWatch::SignalWatch(Looper& looper, const std::vector<int>& signals, SignalCallback callback)
    : looper_(looper), callback_(std::make_shared<const SignalCallback>(std::move(callback))) {
  taken_.reserve(signals.size());
  try {
    for (const int number : signals) {
      Take(number);
    }
    watch_ = looper_.Watch(wakeup_.Fd(), Interest::kRead, [this](const PollEvent&) { Deliver(); });
  } catch (...) {
    GiveBack();
    throw;
  }
}

SignalWatch::~SignalWatch() {
  GiveBack();
  looper_.Unwatch(watch_);
}

void SignalWatch::Take(int number) {
  const std::string name = "signal " + std::to_string(number);
  if (number <= 0 || number >= NSIG) {
    throw std::system_error(EINVAL, std::generic_category(), name);
  }
  Slot& slot = slots[static_cast<std::size_t>(number)];
  Wakeup* nobody = nullptr;
  if (!slot.wakeup.compare_exchange_strong(nobody, &wakeup_)) {
    throw std::logic_error(name + " has another SignalWatch");
  }
  slot.pending.store(false);
  struct sigaction action {};
  action.sa_handler = NoteSignal;
  action.sa_flags = SA_RESTART;  // other threads' calls continue; a descriptor wakes the loop
  sigemptyset(&action.sa_mask);  // no :: here, since it may be a macro
  Taken taken{number, {}};
  if (::sigaction(number, &action, &taken.before) != 0) {
    const int error = errno;
    slot.wakeup.store(nullptr);
    throw std::system_error(error, std::generic_category(), name);
  }
  taken_.push_back(taken);
}

void SignalWatch::GiveBack() noexcept {
  for (const Taken& taken : taken_) {
    ::sigaction(taken.number, &taken.before, nullptr);
    slots[static_cast<std::size_t>(taken.number)].wakeup.store(nullptr);
  }
  // Another thread may be in the handler right now, holding a pointer to our wake-up. It leaves
  // within a few instructions.
  while (handlers_running.load() != 0) {
    std::this_thread::yield();
  }
}

// Delivers one signal at a time, since the callback may destroy this object or throw; the next
// round checks for another.
void SignalWatch::Deliver() {
  wakeup_.Clear();  // first: a later signal wakes the loop again
  for (const Taken& taken : taken_) {
    const int number = taken.number;
    if (slots[static_cast<std::size_t>(number)].pending.exchange(false)) {
      wakeup_.Signal();
      const std::shared_ptr<const SignalCallback> callback = callback_;
      (*callback)(number);
      return;
    }
  }
}

}  // namespace TURTLE_SERVER
