#include "web/http_session.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>
#include <variant>

#include "log/log.h"

namespace TURTLE_SERVER {

namespace {

// Before one request. Whoever sends more has nothing to ask for.
constexpr int kMaxLineEnds = 8;

}  // namespace

HttpSession::HttpSession(Connection& connection, LoopHttp& loop)
    : connection_(connection), loop_(loop), parser_(loop.Options().parser) {
  quiet_since_ = GetLooper().Now();
  GetLooper().SetDeadline(&connection_, quiet_since_ + loop_.Options().idle_timeout);
}

HttpSession::~HttpSession() = default;

void HttpSession::OnProgress() {
  quiet_since_ = GetLooper().Now();
  if (connection_.Broken()) {
    Close(Closing::kAuto);  // nobody is left to answer: the exchange ends with the connection
    return;
  }
  if (exchange_ && exchange_->Replied()) {
    Finish(std::move(exchange_));  // a late reply is complete
  }
  if (exchange_) {
    return;  // what the client sends meanwhile waits in the kernel
  }
  ServeInput();  // what has come already, before more is read
  const bool exit = !exchange_ && connection_.Recv().exit;
  ServeInput();
  if (!exchange_ && !connection_.Paused()) {
    const bool idle = connection_.Read().empty();
    if (exit || (idle && GetLooper().Stopping())) {
      Close(Closing::kAuto);
      return;
    }
  }
  SetDeadlines();
}

// Line ends after a body are no part of a head: old clients send them, RFC 9112, section 2.2.
void HttpSession::SkipLineEnds() {
  while (keep_alive_ && connection_.Read().substr(0, 2) == "\r\n") {
    if (++line_ends_ > kMaxLineEnds) {
      Refuse(400, "too many empty lines before the request");
      return;
    }
    connection_.Consume(2);
    parser_.Reset();
  }
}

void HttpSession::ServeInput() {
  SkipLineEnds();
  while (!exchange_ && keep_alive_ && !connection_.Paused() && !connection_.Read().empty()) {
    if (!ServeRequest()) {
      break;
    }
    SkipLineEnds();
  }
}

// Serves the request at the front of the input. @return false: it is not there as a whole.
auto HttpSession::ServeRequest() -> bool {
  std::unique_ptr<Exchange> exchange = loop_.TakeExchange();
  exchange->Open(*this);
  const ParseResult result = parser_.Parse(connection_.Read(), exchange->request_);
  if (result.state != ParseState::kDone) {
    const Method method = exchange->request_.method;  // as far as it could be read
    loop_.GiveBack(std::move(exchange));
    if (result.state == ParseState::kBad) {
      Refuse(result.status, result.reason, method);
    }
    return false;
  }
  in_head_ = false;
  line_ends_ = 0;
  ++exchange_number_;
  const Request& request = exchange->GetRequest();
  // A body can't be read yet. It must not be taken for the next request either.
  keep_alive_ = request.keep_alive && !request.framing.HasBody() && !GetLooper().Stopping();
  handling_ = true;
  Dispatch(*exchange);
  handling_ = false;
  if (exchange->Replied()) {
    connection_.Consume(result.head_bytes);
    Finish(std::move(exchange));
  } else {
    exchange->request_.Detach();  // its views look into input that is about to be consumed
    connection_.Consume(result.head_bytes);
    exchange_ = std::move(exchange);
  }
  return true;
}

void HttpSession::Dispatch(Exchange& exchange) {
  const Request& request = exchange.GetRequest();
  if (request.method == Method::kOther || request.method == Method::kConnect) {
    exchange.Reply(ErrorResponse(501, "This server does not know the method."));
    return;
  }
  if (request.uri.Form() == TargetForm::kAsterisk) {
    exchange.Reply(Response(204).Set("Allow", "GET, HEAD, OPTIONS"));
    return;
  }
  const LoopHttp::Match match = loop_.HandlerFor(request.uri.Path());
  if (match.handler == nullptr) {
    exchange.Reply(ErrorResponse(404));
    return;
  }
  exchange.prefix_bytes_ = match.prefix_bytes;
  try {
    match.handler->Handle(exchange);
    return;
  } catch (const std::exception& error) {
    Log(LogLevel::kError, std::string("request handler threw: ") + error.what());
  } catch (...) {
    Log(LogLevel::kError, "request handler threw something that is no std::exception");
  }
  if (!exchange.Replied()) {
    exchange.Reply(ErrorResponse(500));
  }
}

void HttpSession::SendReply(Exchange& exchange, const Response& response) {
  const Request& request = exchange.GetRequest();
  keep_alive_ = keep_alive_ && !GetLooper().Stopping();
  HeadContext context;
  context.date = loop_.Date();
  context.minor_version = request.minor_version;
  context.keep_alive = keep_alive_;
  std::string& head = loop_.HeadScratch();
  response.AppendHead(context, head);
  connection_.WriteToWriteBuffer(head);
  if (request.method != Method::kHead && response.HasBody()) {
    for (const BodyPiece& piece : response.Pieces()) {
      if (const auto* text = std::get_if<std::string>(&piece)) {
        connection_.WriteToWriteBuffer(*text);
      } else {
        connection_.WriteFile(std::get<FileSlice>(piece));
      }
    }
  }
  if (!handling_) {
    GetLooper().Schedule(&connection_);  // flush, and parse on, where that always happens
  }
}

// Answers what is no request: nobody can tell where the next one would begin, so it is the last.
void HttpSession::Refuse(int status, std::string_view reason, Method method) {
  HeadContext context;
  context.date = loop_.Date();
  context.keep_alive = false;
  const Response response = ErrorResponse(status, reason);
  std::string& head = loop_.HeadScratch();
  response.AppendHead(context, head);
  connection_.WriteToWriteBuffer(head);
  if (method != Method::kHead) {
    for (const BodyPiece& piece : response.Pieces()) {
      connection_.WriteToWriteBuffer(std::get<std::string>(piece));
    }
  }
  keep_alive_ = false;
  Close(Closing::kLinger);
}

void HttpSession::Finish(std::unique_ptr<Exchange> exchange) {
  const bool unread = exchange->GetRequest().framing.HasBody();
  exchange->Close();
  loop_.GiveBack(std::move(exchange));
  if (!keep_alive_) {
    Close(unread ? Closing::kLinger : Closing::kAuto);
  }
}

void HttpSession::Close(Closing closing) {
  GetLooper().DeleteConnection(connection_.GetFd(), closing);
}

void HttpSession::SetDeadlines() {
  const HttpOptions& options = loop_.Options();
  const bool part_of_head = !exchange_ && !connection_.Read().empty() && !connection_.Paused();
  if (part_of_head) {
    if (!in_head_) {
      in_head_ = true;
      GetLooper().SetDeadline(&connection_, quiet_since_ + options.head_timeout);
    }
    return;
  }
  in_head_ = false;
  unsent_at_deadline_ = connection_.UnsentBytes();
  // Unsent means little here: the flush comes after this. So look again at whichever is earlier.
  const auto wait = unsent_at_deadline_ == 0
                        ? options.idle_timeout
                        : std::min(options.idle_timeout, options.write_timeout);
  GetLooper().SetDeadline(&connection_, quiet_since_ + wait);
}

void HttpSession::OnTimeout() {
  const HttpOptions& options = loop_.Options();
  const TimePoint now = GetLooper().Now();
  const TimePoint idle_end = quiet_since_ + options.idle_timeout;
  const std::size_t unsent = connection_.UnsentBytes();
  if (unsent != 0) {
    if (unsent == unsent_at_deadline_ && now >= quiet_since_ + options.write_timeout) {
      Close(Closing::kAuto);  // the client has not read a byte
      return;
    }
    unsent_at_deadline_ = unsent;
    GetLooper().SetDeadline(&connection_, now + options.write_timeout);
  } else if (exchange_) {
    GetLooper().SetDeadline(&connection_, now + options.idle_timeout);  // not the client's fault
  } else if (in_head_) {
    Refuse(408, "The request's head did not end in time.");
  } else if (now < idle_end) {
    GetLooper().SetDeadline(&connection_, idle_end);  // the reply was read; now it is idle
  } else {
    Close(Closing::kAuto);
  }
}

// What the client has sent by now is still read and answered; OnProgress() closes what is idle.
void HttpSession::OnStop() { GetLooper().Schedule(&connection_); }

}  // namespace TURTLE_SERVER
