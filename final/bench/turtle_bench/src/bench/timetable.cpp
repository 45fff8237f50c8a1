#include "bench/timetable.h"

#include <algorithm>
#include <utility>

namespace TURTLE_SERVER {

Timetable::Timetable(Looper& looper, std::size_t clients, double per_second, Start start)
    : per_second_(per_second),
      start_(std::move(start)),
      alarm_(looper,
             [this] {
               alarm_time_ = TimePoint();
               Run();
             }),
      is_offered_(clients) {}

void Timetable::Begin(TimePoint first) {
  pace_.emplace(first, per_second_);
  Run();
}

void Timetable::Offer(std::uint32_t client) {
  if (std::exchange(is_offered_[client], char{1}) == 0) {
    offered_.push_back(client);
  }
}

void Timetable::Run() {
  if (!pace_) {
    return;
  }
  const TimePoint now = Clock::now();
  while (!offered_.empty() && pace_->Next() <= now) {
    const std::uint32_t client = offered_.front();
    offered_.pop_front();
    is_offered_[client] = 0;
    if (start_(client, pace_->Next())) {
      pace_->Take();
    }
  }
  // Without a free client there is no need to wake up: Run() is called when there is one.
  if (!offered_.empty() && alarm_time_ != pace_->Next()) {
    alarm_time_ = pace_->Next();
    alarm_.Set(alarm_time_);
  }
}

// In steps, since they may be many.
void Timetable::CountWaits(TimePoint now, Histogram& latency) const noexcept {
  constexpr std::uint64_t kStepsMost = 100'000;
  const std::uint64_t count = Overdue(now);
  const std::uint64_t steps = std::min(count, kStepsMost);
  for (std::uint64_t step = 0; step < steps; ++step) {
    const std::uint64_t from = count * step / steps;
    const std::uint64_t to = count * (step + 1) / steps;
    latency.Record(now - pace_->DueOf(from), to - from);
  }
}

}  // namespace TURTLE_SERVER
