#include "bench/reply_reference.h"

namespace TURTLE_SERVER {

auto ReplyReference::FirstLike(const ReplyPrint& print) -> ReplyPrint {
  const MutexLock lock(mutex_);
  for (const ReplyPrint& first : first_) {
    if (first.status == print.status) {
      return first;
    }
  }
  first_.push_back(print);
  return print;
}

}  // namespace TURTLE_SERVER
