#include "db/job_queue.h"

namespace TURTLE_SERVER {

JobQueue::JobQueue(const JobQueueOptions& /*options*/) {}

void JobQueue::MakeTable(DbConnection& /*connection*/) const {}  // TODO

auto JobQueue::Put(DbConnection& /*connection*/, std::string_view /*work*/) const -> std::int64_t {
  return 0;  // TODO
}

auto JobQueue::Take(DbConnection& /*connection*/, TimePoint /*now*/) const -> std::optional<Job> {
  return std::nullopt;  // TODO
}

auto JobQueue::Finish(DbConnection& /*connection*/, const Job& /*job*/) const -> bool {
  return false;  // TODO
}

auto JobQueue::Extend(DbConnection& /*connection*/, const Job& /*job*/, TimePoint /*now*/) const
    -> bool {
  return false;  // TODO
}

auto JobQueue::GiveBack(DbConnection& /*connection*/, const Job& /*job*/, TimePoint /*later*/) const
    -> bool {
  return false;  // TODO
}

auto JobQueue::Dead(DbConnection& /*connection*/, TimePoint /*now*/) const -> std::size_t {
  return 0;  // TODO
}

}  // namespace TURTLE_SERVER
