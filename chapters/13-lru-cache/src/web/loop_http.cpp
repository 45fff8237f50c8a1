#include "web/loop_http.h"

#include <algorithm>
#include <ctime>
#include <utility>

namespace TURTLE_SERVER {

void LoopHttp::Mount(std::string prefix, std::unique_ptr<RequestHandler> handler) {
  if (prefix == "/") {
    prefix.clear();
  }
  mounted_.push_back({std::move(prefix), std::move(handler)});
  std::stable_sort(mounted_.begin(), mounted_.end(), [](const Mounted& a, const Mounted& b) {
    return a.prefix.size() > b.prefix.size();
  });
}

auto LoopHttp::HandlerFor(std::string_view path) const noexcept -> Match {
  for (const Mounted& mounted : mounted_) {
    const std::string_view prefix = mounted.prefix;
    const bool under = path.substr(0, prefix.size()) == prefix &&
                       (path.size() == prefix.size() || path[prefix.size()] == '/');
    if (under) {
      return {mounted.handler.get(), prefix.size()};
    }
  }
  return {nullptr, 0};
}

auto LoopHttp::TakeExchange() -> std::unique_ptr<Exchange> {
  return spare_ ? std::move(spare_) : std::make_unique<Exchange>();
}

auto LoopHttp::Date() -> std::string_view { return date_.At(HttpTime(std::time(nullptr))); }

auto LoopHttp::ReadyStart(ReadyStatus status) -> std::string_view {
  const HttpTime now(std::time(nullptr));
  if (now != start_time_) {
    constexpr std::array<std::string_view, 2> kStarts = {"HTTP/1.1 200 OK\r\nDate: ",
                                                         "HTTP/1.1 304 Not Modified\r\nDate: "};
    for (std::size_t i = 0; i < kStarts.size(); ++i) {  // in the memory that each has already
      ready_starts_[i].assign(kStarts[i]).append(date_.At(now)).append("\r\n");
    }
    start_time_ = now;  // last: what was only begun for want of memory is made anew
  }
  return ready_starts_[static_cast<std::size_t>(status)];
}

auto LoopHttp::HeadScratch() noexcept -> std::string& {
  head_.clear();
  return head_;
}

}  // namespace TURTLE_SERVER
