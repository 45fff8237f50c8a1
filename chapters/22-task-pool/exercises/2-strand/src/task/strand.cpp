#include "task/strand.h"

namespace TURTLE_SERVER {

Strand::Strand(TaskPool& /*pool*/, Priority /*priority*/, std::size_t /*max_queued*/) {}

Strand::~Strand() = default;

auto Strand::Submit(Work /*work*/) -> SubmitResult {
  return SubmitResult::kStopped;  // TODO: run it on the pool, after the earlier work
}

}  // namespace TURTLE_SERVER
