#include "bench/worker_plan.h"

namespace TURTLE_SERVER {

auto MakePlan(const BenchOptions& options, const NetAddress& server, const TlsClientContext* tls,
              std::size_t number, std::size_t spare) -> WorkerPlan {
  const std::size_t threads = options.threads;
  WorkerPlan plan;
  plan.server = server;
  plan.tls = tls;
  plan.mode = options.mode;
  plan.connections = options.connections / threads + (number < options.connections % threads);
  for (std::uint32_t i = 0; i < options.depth; ++i) {
    plan.requests += RequestText(options);
  }
  plan.handshake = options.websocket ? HandshakeText(options) : "";
  plan.depth = options.depth;
  plan.to_head = options.to_head;
  plan.any_body = options.any_body;
  if (options.rate > 0) {
    // The workers take turns.
    const std::chrono::duration<double> after(static_cast<double>(number) / options.rate);
    plan.rate = options.rate / static_cast<double>(threads);
    plan.first_due = std::chrono::duration_cast<Clock::duration>(after);
  }
  plan.spare = spare;
  plan.read_size = options.read_size;
  plan.timeout = options.timeout;
  return plan;
}

}  // namespace TURTLE_SERVER
