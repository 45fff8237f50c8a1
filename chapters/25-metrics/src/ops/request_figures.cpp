#include "ops/request_figures.h"

#include <algorithm>
#include <utility>

namespace TURTLE_SERVER {

namespace {

class RequestCounter : public ExchangeObserver {
 public:
  RequestCounter(RequestFigures& figures, ClockSource clock)
      : figures_(figures), clock_(std::move(clock)) {}

  void OnBegin(const Connection& /*connection*/) noexcept override { figures_.Begin(); }
  void OnEnd(const ExchangeRecord& record) noexcept override { figures_.End(record, clock_()); }

 private:
  RequestFigures& figures_;
  const ClockSource clock_;
};

}  // namespace

void RequestFigures::End(const ExchangeRecord& record, TimePoint now) noexcept {
  const auto took = std::max(now - record.began, Clock::duration::zero());
  if (record.request != nullptr) {  // else it was refused before it began
    ended_.Add(1);
  }
  if (record.status == 0) {
    unanswered_.Add(1);
  } else {
    const auto index = static_cast<std::size_t>(record.status - kFirstStatus);  // huge below 100
    statuses_[std::min(index, kStatuses)].Add(1);
    if (!record.complete) {
      cut_.Add(1);
    }
  }
  body_bytes_.Add(record.body_bytes);
  // From the front, since most requests are quick.
  std::size_t bucket = 0;
  while (bucket < kBounds.size() && took > kBounds[bucket]) {
    ++bucket;
  }
  took_[bucket].Add(1);
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(took).count();
  nanoseconds_.Add(static_cast<std::uint64_t>(nanoseconds));
}

auto RequestFigures::Read() const -> RequestTotals {
  RequestTotals totals;
  const std::uint64_t ended = ended_;  // first, or `open` might become negative
  const std::uint64_t begun = begun_;
  totals.open = begun - std::min(begun, ended);
  for (std::size_t i = 0; i <= kStatuses; ++i) {
    if (const std::uint64_t count = statuses_[i]) {
      const int status = i < kStatuses ? kFirstStatus + static_cast<int>(i) : 0;
      totals.statuses.push_back({status, count});
    }
  }
  totals.unanswered = unanswered_;
  totals.cut = cut_;
  totals.body_bytes = body_bytes_;
  totals.took.assign(took_.begin(), took_.end());
  totals.seconds = static_cast<double>(nanoseconds_.Get()) / 1e9;
  return totals;
}

auto CountRequests(RequestFigures& figures, ClockSource clock)
    -> std::unique_ptr<ExchangeObserver> {
  return std::make_unique<RequestCounter>(figures, std::move(clock));
}

}  // namespace TURTLE_SERVER
