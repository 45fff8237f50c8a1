#include "bench/worker.h"

#include <chrono>
#include <utility>

namespace TURTLE_SERVER {

Worker::Worker(WorkerPlan plan, SharedRun& shared, WorkerEvents events)
    : plan_(std::move(plan)),
      events_(std::move(events)),
      check_(shared.reference),
      context_(MakeContext()),
      clients_(looper_, plan_, shared, events_, context_) {
  looper_.SetStopTimeout(std::chrono::milliseconds(0));
  looper_.AtStop([this] {
    end_time_ = Clock::now();
    clients_.CountWaits(end_time_);
  });
}

void Worker::Begin() {
  const bool posted = looper_.Post([this] { clients_.Begin(); });
  static_cast<void>(posted);  // if the loop has ended there is nothing to start
}

auto Worker::MakeContext() noexcept -> SessionContext {
  SessionContext context;
  context.memo.to_head = plan_.to_head;
  context.check = plan_.any_body ? nullptr : &check_;
  context.one_request = plan_.mode == LoadMode::kClose;
  context.websocket = !plan_.handshake.empty();
  context.counts_handshake = plan_.mode == LoadMode::kIdle;
  context.measured = &measured_;
  return context;
}

}  // namespace TURTLE_SERVER
