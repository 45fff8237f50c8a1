#include "web/route_handler.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/pin.h"
#include "compress/coding.h"
#include "compress/compression.h"
#include "http/headers.h"
#include "http/http_error.h"
#include "http/multipart.h"
#include "log/log.h"
#include "web/responder.h"

namespace TURTLE_SERVER {

namespace {

// Collects a body until it is complete.
struct CollectedBody : public ExchangeState {
  std::string text;
};

// Collects a form with files.
struct ReceivedUpload : public ExchangeState {
  ReceivedUpload(std::string_view boundary, const UploadOptions& options)
      : upload(boundary, options) {}

  Upload upload;
};

// Logs the failure, which is not the client's fault.
void RequireKept(const HeadFault& fault, const Upload& upload, const UploadOptions& options) {
  if (upload.FileError() != 0) {
    Log(LogLevel::kError,
        "upload to " + options.folder + ": " +
            std::error_code(upload.FileError(), std::generic_category()).message());
  }
  Require(fault);
}

// Returns the coding of a body; nullopt if it is unknown, or has several.
auto CodingOfBody(const Headers& fields) -> std::optional<Coding> {
  std::optional<Coding> coding = Coding::kIdentity;
  fields.ForEach(KnownField::kContentEncoding, [&coding](std::string_view list) {
    while (!list.empty()) {
      const std::string_view name = TakeListElement(list);
      if (!name.empty()) {
        coding = coding == Coding::kIdentity ? CodingOf(name) : std::nullopt;
      }
    }
  });
  return coding;
}

struct KeptBody : public Pinned {
  explicit KeptBody(std::string body) noexcept : text(std::move(body)) {}

  std::string text;
};

// Moves the body if its memory would not be reused anyway. A body that may be compressed is sent as
// a whole, so that the client learns its length.
void Send(Exchange& exchange, ServerResponse& response) {
  constexpr int kNotModified = 304;  // its tag may have to be that of the compressed bytes
  if (exchange.GetCompression() != nullptr &&
      (response.Head().Status() == kNotModified || Compression::IsNegotiable(response.Head()))) {
    exchange.Reply(response.Whole());
    return;
  }
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

// Begins a response; its body is the first piece. Files are long: they are not encoded on the loop.
void SendBeginning(Exchange& exchange, const ServerResponse& response) {
  const auto is_file = [](const BodyPiece& piece) {
    return std::holds_alternative<FileSlice>(piece);
  };
  const std::vector<BodyPiece>& pieces = response.Head().Pieces();
  if (std::any_of(pieces.begin(), pieces.end(), is_file)) {
    exchange.KeepPlain();
  }
  exchange.BeginReply(response.Head());
  if (response.Head().Pieces().empty()) {
    exchange.Write(response.Body());
  }
  for (const BodyPiece& piece : response.Head().Pieces()) {
    std::visit([&exchange](const auto& part) { exchange.Write(part); }, piece);
  }
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
  const ServerRequest request(exchange, match.parameters, nullptr, fields_);
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
  const ServerRequest request(exchange, match.parameters, nullptr, fields_);
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
  if (exchange.GetRequest().headers.Has(KnownField::kContentEncoding) &&
      !Decode(exchange, route.options, request)) {
    return;
  }
  if (const auto* streaming = std::get_if<StreamingHandler>(&route.action)) {
    ReplyLater(exchange, request, route.options, [&](const Responder& responder) {
      (*streaming)(request, RequestBody(exchange, *this), responder);
    });
  } else if (const auto* upload = std::get_if<UploadAction>(&route.action)) {
    Receive(exchange, request, *upload);
  } else if (exchange.GetRequest().framing.HasBody()) {
    Collect(exchange);
  } else {
    Run(exchange, match, nullptr);
  }
}

// Has the body decoded if it is coded. @return false: it can't be, and the client has its response
auto RouteHandler::Decode(Exchange& exchange, const RouteOptions& options,
                          const ServerRequest& request) -> bool {
  if (!exchange.DecodesRequests() || !exchange.GetRequest().framing.HasBody()) {
    return true;
  }
  const auto coding = CodingOfBody(exchange.GetRequest().headers);
  if (!coding) {
    try {
      throw HttpError(415, "The body's Content-Encoding is none that is accepted here.");
    } catch (const HttpError&) {
      around_->Catch(request, response_);
    }
    response_.Set("Accept-Encoding", "gzip, br, zstd");  // RFC 9110, section 15.5.16
    Reply(exchange, request, response_);
    return false;
  }
  if (*coding != Coding::kIdentity) {
    exchange.DecodeBody(*coding, options.max_body_bytes);
  }
  return true;
}

void RouteHandler::BringBody(Exchange& exchange, BodyCallback callback) {
  exchange.OnBody(
      [this, &exchange, callback = std::move(callback)](std::string_view piece, bool last) {
        try {
          callback(piece, last);
        } catch (...) {
          if (exchange.Begun()) {
            throw;  // nothing can be sent any more: the session cuts it
          }
          const RouteMatch match = Match(exchange);
          const ServerRequest request(exchange, match.parameters, nullptr, fields_);
          around_->Catch(request, response_);
          Reply(exchange, request, response_);
        }
      });
}

void RouteHandler::Collect(Exchange& exchange) {
  auto state = std::make_unique<CollectedBody>();
  std::string& text = state->text;
  exchange.Attach(std::move(state));
  BringBody(exchange, [this, &exchange, &text](std::string_view piece, bool last) {
    text.append(piece);
    if (last) {
      Run(exchange, Match(exchange), &text);  // matched again: the request has moved
    }
  });
}

void RouteHandler::Receive(Exchange& exchange, const ServerRequest& request,
                           const UploadAction& action) {
  std::string boundary;
  const std::string_view type = request.Header("Content-Type").value_or("");
  if (const HeadFault fault = MultipartBoundary(type, boundary)) {
    ReplyNow(exchange, request, [&] { Require(fault); });
    return;
  }
  auto state = std::make_unique<ReceivedUpload>(boundary, action.options);
  Upload& upload = state->upload;
  exchange.Attach(std::move(state));
  BringBody(exchange, [this, &exchange, &action, &upload](std::string_view piece, bool last) {
    RequireKept(upload.Write(piece), upload, action.options);
    if (last) {
      Require(upload.Finish());
      const RouteMatch match = Match(exchange);
      const ServerRequest again(exchange, match.parameters, nullptr, fields_);
      ReplyNow(exchange, again, [&] { action.handler(again, upload, response_); });
    }
  });
}

void RouteHandler::Run(Exchange& exchange, const RouteMatch& match, std::string* body) {
  const ServerRequest request(exchange, match.parameters, body, fields_);
  const Routes::Route& route = routes_.All()[match.route];
  if (const auto* later = std::get_if<AsyncHandler>(&route.action)) {
    ReplyLater(exchange, request, route.options,
               [&](const Responder& responder) { (*later)(request, responder); });
  } else {
    ReplyNow(exchange, request, [&] { std::get<SyncHandler>(route.action)(request, response_); });
  }
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

template <typename Handler>
void RouteHandler::ReplyLater(Exchange& exchange, const ServerRequest& request,
                              const RouteOptions& options, const Handler& handler) {
  const Responder responder(exchange, *this);
  if (options.response_timeout) {
    exchange.OnLate(Bounded(*options.response_timeout),
                    [this, &exchange] { TryRefuse(exchange, 503, "The response took too long."); });
  }
  try {
    handler(responder);
  } catch (...) {
    ServerResponse response;
    around_->Catch(request, response);
    responder.Reply(std::move(response));  // unless the handler has responded before it threw
  }
}

void RouteHandler::ReplyLate(Exchange& exchange, ServerResponse& response) noexcept {
  AnswerLate(
      exchange, response, [](const ServerRequest&) {}, [&](bool) { Send(exchange, response); });
}

void RouteHandler::FailLate(Exchange& exchange, const std::exception_ptr& thrown) noexcept {
  const auto make = [&](const ServerRequest& request) {
    try {
      std::rethrow_exception(thrown);
    } catch (...) {
      around_->Catch(request, response_);
    }
  };
  AnswerLate(exchange, response_, make, [&](bool) { Send(exchange, response_); });
}

void RouteHandler::BeginLate(Exchange& exchange, ServerResponse& head) noexcept {
  AnswerLate(
      exchange, head, [](const ServerRequest&) {},
      [&](bool is_given) {
        if (is_given) {
          SendBeginning(exchange, head);
        } else {
          Send(exchange, head);  // sends an error page, not a stream
        }
      });
}

template <typename Make, typename Send>
void RouteHandler::AnswerLate(Exchange& exchange, ServerResponse& response, const Make& make,
                              const Send& send) noexcept {
  try {
    const RouteMatch match = Match(exchange);  // matched again: the request has moved
    const ServerRequest request(exchange, match.parameters, nullptr, fields_);
    make(request);
    send(around_->Leave(request, response));
    return;
  } catch (...) {
    LogException("late response");
  }
  try {
    exchange.Abort(500, {});
  } catch (...) {
    LogException("error page");
  }
}

void RouteHandler::Reply(Exchange& exchange, const ServerRequest& request, ServerResponse& response,
                         std::size_t entered) {
  around_->Leave(request, response, entered);
  Send(exchange, response);
}

}  // namespace TURTLE_SERVER
