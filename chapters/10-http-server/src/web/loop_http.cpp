#include "web/loop_http.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "log/log.h"

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
    const bool whole_segments =
        path.size() == prefix.size() || (path.size() > prefix.size() && path[prefix.size()] == '/');
    const bool under =
        prefix.empty() || (whole_segments && path.substr(0, prefix.size()) == prefix);
    if (under) {
      return {mounted.handler.get(), prefix.size()};
    }
  }
  return {nullptr, 0};
}

void LoopHttp::Answer(Exchange& exchange) {
  const Request& request = exchange.GetRequest();
  if (request.method == Method::kOther || request.method == Method::kConnect) {
    exchange.Reply(ErrorResponse(501, "This server does not know the method."));
    return;
  }
  Guard(exchange, [&] { FindHandler(exchange); });
}

void LoopHttp::FindHandler(Exchange& exchange) {
  const Uri& uri = exchange.GetRequest().uri;
  if (uri.Form() == TargetForm::kAsterisk) {
    exchange.Reply(Response(204).Set("Allow", "GET, HEAD, OPTIONS"));
    return;
  }
  const Match match = HandlerFor(uri.Path());
  if (match.handler == nullptr) {
    exchange.Reply(ErrorResponse(404));
    return;
  }
  exchange.prefix_bytes_ = match.prefix_bytes;
  match.handler->Handle(exchange);
}

// Calls a handler's code; every call of one passes through here.
template <typename Callback>
void LoopHttp::Guard(Exchange& exchange, const Callback& callback) {
  try {
    callback();
    return;
  } catch (...) {
    LogException(exchange.GetRequest().Title("request handler").data());
  }
  if (!exchange.Replied()) {
    exchange.Reply(ErrorResponse(500));
  }
}

auto LoopHttp::Date() -> std::string_view { return date_.At(HttpTime(std::time(nullptr))); }

}  // namespace TURTLE_SERVER
