// Ends log writers on another thread, because their last lines may wait for a disk.
//
// Thread: Share() that of the owner; a writer may be let go of on any thread.
#pragma once

#include <memory>

#include "log/log_writer.h"
#include "task/thread_pool.h"

namespace TURTLE_SERVER {

/// The place where writers end.
class LogCloser : public std::enable_shared_from_this<LogCloser> {
 public:
  /// Makes a writer that ends on this object's thread when nobody shares it any more. It keeps this
  /// object, which waits for its writers to end.
  /// @throws std::system_error if the file can't be opened, or there is no thread
  [[nodiscard]] auto Share(const LogWriterOptions& options) -> std::shared_ptr<LogWriter>;

 private:
  void End(LogWriter* writer) noexcept;

  ThreadPool pool_{1};
  bool started_ = false;
};

}  // namespace TURTLE_SERVER
