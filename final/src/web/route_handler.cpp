#include "web/route_handler.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>

#include "http/http_error.h"
#include "log/log.h"
#include "web/exchange.h"
#include "web/responder.h"

namespace TURTLE_SERVER {

namespace {

// A body until it is complete.
struct CollectedBody : public ExchangeState {
  std::string text;
};

}  // namespace

RouteHandler::RouteHandler(const Routes& routes, MethodSet others) : routes_(routes) {
  for (const Routes::Route& route : routes.All()) {
    router_.Add(route.method, route.pattern);
  }
  server_methods_ = router_.Methods();
  server_methods_.Add(others);
}

auto RouteHandler::TryHandle(Exchange& exchange) -> bool {
  const Request& request = exchange.GetRequest();
  RouteMatch match;
  if (request.uri.Form() == TargetForm::kAsterisk) {  // the server itself
    match.result = RouteResult::kNoMethod;
    match.allowed = server_methods_;
  } else {
    match = Match(exchange);
  }
  if (match.result == RouteResult::kNoPath) {
    return false;
  }
  Answer(exchange, match);
  return true;
}

auto RouteHandler::Match(const Exchange& exchange) const -> RouteMatch {
  const Request& request = exchange.GetRequest();
  return router_.Find(request.method, request.uri.Path());
}

// The head is there. What can be said without the body is said now: whoever may not upload, or
// not here, is told so before he does.
void RouteHandler::Answer(Exchange& exchange, const RouteMatch& match) {
  const ServerRequest request(exchange, match.parameters, {}, fields_);
  try {
    for (const Middleware& each : routes_.Around()) {
      if (auto response = each.before ? each.before(request) : std::nullopt) {
        Reply(exchange, request, *response);
        return;
      }
    }
  } catch (...) {
    MakeErrorReply(request, response_);
    Reply(exchange, request, response_);
    return;
  }
  if (match.result == RouteResult::kFound && exchange.GetRequest().framing.HasBody()) {
    Collect(exchange);
  } else if (match.result == RouteResult::kFound) {
    Run(exchange, match, {});
  } else {
    response_.Reset();
    const bool asks = exchange.GetRequest().method == Method::kOptions;
    static_cast<void>(asks ? response_.Status(204) : response_.Page(405));
    response_.Set("Allow", match.allowed.AllowField());
    Reply(exchange, request, response_);
  }
}

void RouteHandler::Collect(Exchange& exchange) {
  auto state = std::make_unique<CollectedBody>();
  std::string& text = state->text;
  exchange.Attach(std::move(state));
  exchange.OnBody([this, &exchange, &text](std::string_view piece, bool last) {
    text.append(piece);
    if (last) {
      Run(exchange, Match(exchange), text);  // anew: the request has moved
    }
  });
}

void RouteHandler::Run(Exchange& exchange, const RouteMatch& match, std::string_view body) {
  const ServerRequest request(exchange, match.parameters, body, fields_);
  const RouteAction& action = routes_.All()[match.route].action;
  if (const auto* later = std::get_if<AsyncHandler>(&action)) {
    Call(*later, request, exchange);
    return;
  }
  response_.Reset();
  try {
    std::get<SyncHandler>(action)(request, response_);
  } catch (...) {
    MakeErrorReply(request, response_);
  }
  Reply(exchange, request, response_);
}

void RouteHandler::Call(const AsyncHandler& handler, const ServerRequest& request,
                        Exchange& exchange) {
  const Responder responder(exchange, *this);
  try {
    handler(request, responder);
  } catch (...) {
    ServerResponse response;
    MakeErrorReply(request, response);
    responder.Reply(std::move(response));  // unless the handler has answered before it threw
  }
}

void RouteHandler::ReplyLate(Exchange& exchange, ServerResponse& response) noexcept {
  AnswerLate(exchange, response, [&] { response.SendTo(exchange); });
}

void RouteHandler::BeginLate(Exchange& exchange, ServerResponse& head) noexcept {
  AnswerLate(exchange, head, [&] { head.BeginAt(exchange); });
}

template <typename Send>
void RouteHandler::AnswerLate(Exchange& exchange, ServerResponse& response,
                              const Send& send) noexcept {
  try {
    const RouteMatch match = Match(exchange);  // anew: the request has moved
    CallAfter(ServerRequest(exchange, match.parameters, {}, fields_), response);
    send();
    return;
  } catch (...) {
    LogException("late reply");
  }
  try {
    exchange.Abort(500, {});
  } catch (...) {
    LogException("error page");
  }
}

void RouteHandler::Reply(Exchange& exchange, const ServerRequest& request,
                         ServerResponse& response) {
  CallAfter(request, response);
  response.SendTo(exchange);
}

void RouteHandler::CallAfter(const ServerRequest& request, ServerResponse& response) const {
  const auto& around = routes_.Around();
  for (auto each = around.rbegin(); each != around.rend(); ++each) {
    if (each->after) {
      each->after(request, response);
    }
  }
}

// Within a catch block: makes the reply for what was thrown.
void RouteHandler::MakeErrorReply(const ServerRequest& request, ServerResponse& response) {
  response.Reset();
  try {
    throw;
  } catch (const HttpError& error) {
    response.Page(error.Status(), error.what());
    TellError(request, response, error);
  } catch (const nlohmann::json::exception& error) {
    // JSON of another form than the handler takes apart: the client's doing, if it has sent any.
    const bool sent = !request.Body().empty();
    if (!sent) {
      LogException("request handler");
    }
    response.Page(sent ? 400 : 500, sent ? "The JSON is not of the form that is wanted here." : "");
    TellError(request, response, error);
  } catch (const std::exception& error) {
    LogException("request handler");
    response.Page(500);
    TellError(request, response, error);
  } catch (...) {
    LogException("request handler");
    response.Page(500);
  }
}

void RouteHandler::TellError(const ServerRequest& request, ServerResponse& response,
                             const std::exception& error) {
  for (const Middleware& each : routes_.Around()) {
    if (each.error) {
      each.error(request, response, error);
    }
  }
}

}  // namespace TURTLE_SERVER
