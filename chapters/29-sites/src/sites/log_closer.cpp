#include "sites/log_closer.h"

#include "log/log.h"

namespace TURTLE_SERVER {

auto LogCloser::Share(const LogWriterOptions& options) -> std::shared_ptr<LogWriter> {
  if (!started_) {
    pool_.Start();
    started_ = true;
  }
  auto writer = std::make_unique<LogWriter>(options);
  return {writer.release(), [closer = shared_from_this()](LogWriter* last) { closer->End(last); }};
}

void LogCloser::End(LogWriter* writer) noexcept {
  try {
    if (pool_.Submit([writer] { delete writer; })) {
      return;
    }
  } catch (...) {
    LogException("ending a log");
  }
  delete writer;  // out of memory: the caller waits
}

}  // namespace TURTLE_SERVER
