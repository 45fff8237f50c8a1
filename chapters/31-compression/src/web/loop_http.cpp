#include "web/loop_http.h"

#include <algorithm>
#include <ctime>
#include <utility>

namespace TURTLE_SERVER {

auto LoopHttp::HandlerFor(std::string_view path) const noexcept -> Match {
  const auto found = mounted_.Find(path);
  return {found.value != nullptr ? found.value->get() : nullptr, found.prefix_bytes};
}

auto LoopHttp::Formatted(std::string_view head, const Response& page) const -> Response {
  if (error_formats_ == nullptr) {
    return page;
  }
  std::string_view target = FirstLine(head);
  target.remove_prefix(std::min(target.find(' ') + 1, target.size()));
  target = target.substr(0, target.find(' '));
  Uri uri;
  const bool is_path = !target.empty() && !uri.Parse(target, Method::kGet);
  // Even a malformed path shows which part of the site the client meant.
  const std::string_view path = is_path ? uri.Path() : target.substr(0, target.find('?'));
  return error_formats_->Formatted(path, page).value_or(page);
}

void LoopHttp::Answer(Exchange& exchange) {
  exchange.error_formats_ = error_formats_;
  exchange.compression_ = options_.compression.get();
  // If memory runs out, the proxy's address must not pass for the client's: the response is a 500.
  Guard(exchange, [&] {
    if (options_.trusted_proxies != nullptr) {
      FindClient(exchange);
    }
    const Request& request = exchange.GetRequest();
    if (request.method == Method::kOther || request.method == Method::kConnect) {
      exchange.Abort(501, "This server does not know the method.");
    } else if (request.expectation == Expectation::kUnknown) {
      exchange.Abort(417, {});
    } else {
      FindHandler(exchange);
    }
  });
}

void LoopHttp::FindClient(Exchange& exchange) {
  const CidrSet& trusted = *options_.trusted_proxies;
  if (trusted.Contains(ends_.SourceOf(exchange.GetConnection()))) {
    exchange.origin_ = OriginOf(exchange.GetRequest().headers, trusted);
  }
}

// Tries the routes first, then the mounted handlers.
void LoopHttp::FindHandler(Exchange& exchange) {
  if (routes_ != nullptr && routes_->TryHandle(exchange)) {
    return;
  }
  if (exchange.BodyTooLarge()) {
    exchange.Reply(ErrorResponse(413, exchange.BodyLimitText()));
    return;
  }
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
  } catch (...) {
    exchange.AbortThrown();
  }
}

void LoopHttp::BringBody(Exchange& exchange, std::string_view piece, bool last) {
  if (exchange.has_decoder_) {
    Guard(exchange, [&] { AddCoded(exchange, piece, last); });
    BringDecoded(exchange);
    return;
  }
  exchange.end_told_ = last;
  Guard(exchange, [&] { exchange.on_body_(piece, last); });
}

void LoopHttp::AddCoded(Exchange& exchange, std::string_view piece, bool last) {
  Exchange::Rare& rare = *exchange.rare_;
  if (!rare.decoder) {
    const DecodeLimits limits = {rare.max_plain.value_or(options_.body.max_body_bytes),
                                 exchange.compression_->Options().max_ratio};
    rare.decoder = std::make_unique<BodyDecoder>(rare.body_coding, limits);
  }
  rare.decoder->Add(piece, last);
}

// Decodes while the handler takes it. A read may become many megabytes: the loop's other clients
// have their turn in between.
void LoopHttp::BringDecoded(Exchange& exchange) {
  constexpr int kMostPieces = 4;
  for (int pieces = 0; exchange.TakesBody() && exchange.HasUndecoded(); ++pieces) {
    if (pieces == kMostPieces) {
      GetLooper().Schedule(&exchange.GetConnection());
      return;
    }
    DecodedPiece next;
    Guard(exchange, [&] {
      next = exchange.rare_->decoder->Next();
      if (next.status == 0 && (next.last || !next.plain.empty())) {
        exchange.end_told_ = next.last;
        exchange.on_body_(next.plain, next.last);
      }
    });
    if (next.status != 0) {
      RefuseBody(exchange, next.status, next.reason);
    }
  }
}

// Lets the route respond if one was found, with all middleware around it.
void LoopHttp::RefuseBody(Exchange& exchange, int status, const std::string& reason) {
  bool refused = false;
  if (routes_ != nullptr && !exchange.Begun()) {
    Guard(exchange, [&] { refused = routes_->TryRefuse(exchange, status, reason); });
  }
  if (!refused) {
    exchange.Abort(status, reason);
  }
}

void LoopHttp::GoOn(Exchange& exchange) {
  if (exchange.new_target_ && !exchange.Begun()) {
    if (exchange.Redirect()) {
      Answer(exchange);
    } else {
      exchange.Abort(502, "The program's local redirect leads nowhere.");
    }
  }
  if (!exchange.Replied() && exchange.on_room_ && exchange.CanWrite()) {
    Guard(exchange, exchange.on_room_);
  }
  if (exchange.has_decoder_) {
    BringDecoded(exchange);
  }
  exchange.AskWhetherGone();
  if (exchange.redirects_ != 0 && exchange.WantsBody()) {
    BringBody(exchange, {}, true);  // the rest of the body was for the first handler
  }
}

auto LoopHttp::RecordOf(const Exchange& exchange) noexcept -> ExchangeRecord {
  const Request& request = exchange.GetRequest();
  ExchangeRecord record{exchange.GetConnection(), FirstLine(request.head), &request};
  record.status = exchange.status_;
  record.body_bytes = exchange.body_bytes_;
  record.complete = exchange.reply_ == ReplyState::kComplete;
  record.began = exchange.began_at_;
  record.client = exchange.NamedClient();
  record.user = exchange.User();
  return record;
}

void LoopHttp::TellEnd(const ExchangeRecord& record) const noexcept {
  for (const std::unique_ptr<ExchangeObserver>& each : observers_) {
    each->OnEnd(record);
  }
}

auto FirstLine(std::string_view head) noexcept -> std::string_view {
  constexpr std::size_t kMaxShown = 8192;
  const std::string_view line = head.substr(0, std::min(head.find('\n'), kMaxShown));
  return !line.empty() && line.back() == '\r' ? line.substr(0, line.size() - 1) : line;
}

auto LoopHttp::Date() -> std::string_view { return date_.At(HttpTime(std::time(nullptr))); }

}  // namespace TURTLE_SERVER
