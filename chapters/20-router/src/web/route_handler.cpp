#include "web/route_handler.h"

#include <memory>
#include <utility>

#include "base/pin.h"
#include "http/http_error.h"

namespace TURTLE_SERVER {

namespace {

// Collects a body until it is complete.
struct CollectedBody : public ExchangeState {
  std::string text;
};

struct KeptBody : public Pinned {
  explicit KeptBody(std::string body) noexcept : text(std::move(body)) {}

  std::string text;
};

// Moves the body if its memory would not be reused anyway.
void Send(Exchange& exchange, ServerResponse& response) {
  if (!response.Head().Pieces().empty()) {
    exchange.Reply(response.Head());
    return;
  }
  exchange.BeginReply(response.Head(), response.Body().size());
  if (response.Body().size() > ServerResponse::kMaxKept) {
    const auto kept = MakePinned<KeptBody>(response.TakeBody());
    exchange.Write(kept->text, kept);
  } else {
    exchange.Write(response.Body());
  }
  exchange.End();
}

}  // namespace

RouteHandler::RouteHandler(const Routes& routes, const ErrorFormats& errors, MethodSet others)
    : routes_(routes) {
  for (const Routes::Route& route : routes.All()) {
    router_.Add(route.method, route.pattern);
  }
  for (std::size_t group = 0; group < routes.Groups(); ++group) {
    groups_.emplace_back(routes.Around(group), errors);
  }
  server_methods_ = router_.Methods();
  server_methods_.Add(others);
}

auto RouteHandler::TryHandle(Exchange& exchange) -> bool {
  const Request& request = exchange.GetRequest();
  RouteMatch match;
  if (request.uri.Form() == TargetForm::kAsterisk) {  // the request is for the server itself
    match.result = RouteResult::kNoMethod;
    match.allowed = server_methods_;
    around_ = &groups_[Routes::kServer];
  } else {
    match = Match(exchange);
  }
  if (match.result == RouteResult::kNoPath) {
    return false;
  }
  Answer(exchange, match);
  return true;
}

// Finds the route and its middleware. Every function here starts with it.
auto RouteHandler::Match(const Exchange& exchange) -> RouteMatch {
  const Request& request = exchange.GetRequest();
  const RouteMatch match = router_.Find(request.method, request.uri.Path());
  const bool has_route = match.result != RouteResult::kNoPath;
  around_ = &groups_[has_route ? routes_.All()[match.route].group : Routes::kServer];
  return match;
}

// Called when the head is complete. A response that does not need the body is given now, so a
// client that may not upload, or not here, learns so before it does.
void RouteHandler::Answer(Exchange& exchange, const RouteMatch& match) {
  const ServerRequest request(exchange, match.parameters, {}, fields_);
  if (const auto entered = around_->Enter(request, response_)) {
    Reply(exchange, request, response_, *entered);
    return;
  }
  if (match.result == RouteResult::kFound) {
    Begin(exchange, match, request);
  } else {
    response_.Reset();
    if (exchange.GetRequest().method == Method::kOptions) {
      response_.Status(204);
    } else {
      response_.Page(405);
    }
    response_.Set("Allow", match.allowed.AllowField());
    Reply(exchange, request, response_);
  }
}

auto RouteHandler::TryRefuse(Exchange& exchange, int status, const std::string& reason) -> bool {
  const RouteMatch match = Match(exchange);
  if (match.result == RouteResult::kNoPath) {
    return false;
  }
  const ServerRequest request(exchange, match.parameters, {}, fields_);
  ReplyNow(exchange, request, [&] { throw HttpError(status, reason); });
  return true;
}

void RouteHandler::Begin(Exchange& exchange, const RouteMatch& match,
                         const ServerRequest& request) {
  const Routes::Route& route = routes_.All()[match.route];
  if (route.options.max_body_bytes) {
    exchange.LimitBody(*route.options.max_body_bytes);
  }
  if (exchange.BodyTooLarge()) {
    ReplyNow(exchange, request, [&] { throw HttpError(413, exchange.BodyLimitText()); });
    return;
  }
  if (exchange.GetRequest().framing.HasBody()) {
    Collect(exchange);
  } else {
    Run(exchange, match, {});
  }
}

void RouteHandler::Collect(Exchange& exchange) {
  auto state = std::make_unique<CollectedBody>();
  std::string& text = state->text;
  exchange.Attach(std::move(state));
  exchange.OnBody([this, &exchange, &text](std::string_view piece, bool last) {
    text.append(piece);
    if (last) {
      Run(exchange, Match(exchange), text);  // matched again: the request has moved
    }
  });
}

void RouteHandler::Run(Exchange& exchange, const RouteMatch& match, std::string_view body) {
  const ServerRequest request(exchange, match.parameters, body, fields_);
  const Routes::Route& route = routes_.All()[match.route];
  ReplyNow(exchange, request, [&] { route.action(request, response_); });
}

template <typename Handler>
void RouteHandler::ReplyNow(Exchange& exchange, const ServerRequest& request,
                            const Handler& handler) {
  response_.Reset();
  try {
    handler();
  } catch (...) {
    around_->Catch(request, response_);
  }
  Reply(exchange, request, response_);
}

void RouteHandler::Reply(Exchange& exchange, const ServerRequest& request, ServerResponse& response,
                         std::size_t entered) {
  around_->Leave(request, response, entered);
  Send(exchange, response);
}

}  // namespace TURTLE_SERVER
