#include "base/checked_mutex.h"

namespace TURTLE_SERVER {

void CheckedMutex::Lock() { mutex_.lock(); }  // TODO

auto CheckedMutex::TryLock() -> bool { return mutex_.try_lock(); }  // TODO

void CheckedMutex::Unlock() { mutex_.unlock(); }  // TODO

}  // namespace TURTLE_SERVER
