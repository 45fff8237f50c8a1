// Reports the end of stdin: the process that started this program is done with it.
//
// Thread: the loop's.
#pragma once

#include <optional>

#include "core/looper.h"

namespace TURTLE_SERVER {

/// Reads stdin and drops the bytes, until its end.
class InputEnd {
 public:
  /// A plain file and /dev/null can't be waited for: then the task never runs.
  /// @param looper outlives this object
  /// @param task runs once
  InputEnd(Looper& looper, Task task);

  InputEnd(const InputEnd&) = delete;
  auto operator=(const InputEnd&) -> InputEnd& = delete;
  ~InputEnd();

 private:
  void Read();

  Looper& looper_;
  const Task task_;
  std::optional<WatchId> watch_;
};

}  // namespace TURTLE_SERVER
