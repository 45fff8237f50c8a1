#include "base/checked_mutex.h"

#include <chrono>
#include <stdexcept>

namespace TURTLE_SERVER {

// TODO: fail before the wait, and every time.
void CheckedMutex::Lock() {
  if (!mutex_.try_lock_for(std::chrono::seconds(1))) {
    throw std::runtime_error('"' + name_ + "\" can't be had: a deadlock?");
  }
}

auto CheckedMutex::TryLock() -> bool { return mutex_.try_lock(); }  // TODO

void CheckedMutex::Unlock() { mutex_.unlock(); }  // TODO

}  // namespace TURTLE_SERVER
