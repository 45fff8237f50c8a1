// Checks that all responses are the same.
//
// A server that responds fast and wrong must not win. The first complete response of the run is the
// reference: every later one with its status must have the same length and the same digest.
//
// Interface:
//  * ReplyReference: of the whole run, shared by its workers.
//  * ReplyCheck: one worker's view of it, which asks the shared one only about a new status.
//
// Thread: ReplyReference any; ReplyCheck one at a time.
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

  /// Returns true for equal responses.
  friend auto operator==(const ReplyPrint& a, const ReplyPrint& b) noexcept -> bool {
    return a.status == b.status && a.size == b.size && a.digest == b.digest;
  }
};

/// The first response of each status in a run.
class ReplyReference {
 public:
  /// Returns the first response with the status of `print`, which is `print` if there was none.
  /// Throws std::bad_alloc.
  [[nodiscard]] auto FirstLike(const ReplyPrint& print) -> ReplyPrint;

 private:
  Mutex mutex_;
  std::vector<ReplyPrint> first_ TURTLE_GUARDED_BY(mutex_);
};

/// Compares one worker's responses with the reference.
class ReplyCheck {
 public:
  /// @param reference outlives this object
  explicit ReplyCheck(ReplyReference& reference) noexcept : reference_(reference) {}

  /// Returns true if the response equals the first one with its status. Throws std::bad_alloc.
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
