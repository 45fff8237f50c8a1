// Are all replies the same?
//
// A server that answers fast and wrong must not win. The first complete reply of the run is the
// reference: every later one with its status must have the same length and the same digest.
//
// Interface:
//  * ReplyReference: of the whole run, shared by its workers.
//  * ReplyCheck: one worker's view of it, which asks the shared one only about a new status.
//
// Thread: ReplyReference any; ReplyCheck one.
#pragma once

#include <cstdint>
#include <vector>

#include "base/mutex.h"
#include "base/namespace.h"

namespace TURTLE_SERVER {

/// The parts of a response that are compared.
struct ReplyPrint {
  int status;            ///< each status has its own reference
  std::uint64_t size;    ///< of the body in bytes
  std::uint64_t digest;  ///< of the body

  /// The same reply?
  friend auto operator==(const ReplyPrint& a, const ReplyPrint& b) noexcept -> bool {
    return a.status == b.status && a.size == b.size && a.digest == b.digest;
  }
};

/// The first reply of each status in a run.
class ReplyReference {
 public:
  /// The first reply with the status of `print`, which is `print` if there was none. Throws
  /// std::bad_alloc.
  [[nodiscard]] auto FirstLike(const ReplyPrint& print) -> ReplyPrint;

 private:
  Mutex mutex_;
  std::vector<ReplyPrint> first_ TURTLE_GUARDED_BY(mutex_);
};

/// Compares one worker's replies with the reference.
class ReplyCheck {
 public:
  /// @param reference outlives this object
  explicit ReplyCheck(ReplyReference& reference) noexcept : reference_(reference) {}

  /// True if the response is the same as the first one with its status. Throws std::bad_alloc.
  [[nodiscard]] auto Matches(const ReplyPrint& print) -> bool {
    for (const ReplyPrint& known : known_) {
      if (known.status == print.status) {
        return known == print;
      }
    }
    known_.push_back(reference_.FirstLike(print));
    return known_.back() == print;
  }

 private:
  ReplyReference& reference_;
  std::vector<ReplyPrint> known_;
};

}  // namespace TURTLE_SERVER
