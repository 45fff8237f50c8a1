#include "web/http_session.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "core/acknowledged.h"
#include "core/min_rate.h"
#include "log/log.h"

namespace TURTLE_SERVER {

namespace {

// Before one request. Whoever sends more has nothing to ask for.
constexpr int kMaxLineEnds = 8;

// Asked for each request, so it is not to become a call of memcmp(3).
auto BeginsWithLineEnd(std::string_view input) -> bool {
  return input.size() >= 2 && input[0] == '\r' && input[1] == '\n';
}

}  // namespace

HttpSession::HttpSession(Connection& connection, LoopHttp& loop)
    : connection_(connection), loop_(loop), parser_(loop.Options().parser) {
  reading_since_ = GetLooper().Now();
  LookAgain();
}

HttpSession::~HttpSession() = default;

void HttpSession::OnProgress() {
  if (connection_.Broken()) {
    Close(Closing::kAuto);  // nobody is left to answer: the exchange ends with the connection
    return;
  }
  if (connection_.UnsentBytes() == 0) {
    write_deadline_ = TimePoint::max();
  }
  served_ = 0;
  awaits_turn_ = false;
  if (exchange_ && exchange_->Replied()) {
    Finish(std::move(exchange_));  // a late reply is complete
  }
  if (exchange_) {
    return;  // what the client sends meanwhile waits in the kernel
  }
  ServeInput();  // what has come already, before more is read
  const bool exit = !exchange_ && !awaits_turn_ && connection_.Recv().exit;
  ServeInput();
  if (!exchange_ && !awaits_turn_ && !connection_.Paused()) {
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
  while (keep_alive_ && BeginsWithLineEnd(connection_.Read())) {
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
    if (served_ == kMaxRequestsPerCall) {
      awaits_turn_ = true;
      GetLooper().Schedule(&connection_);  // in the next round, after its neighbours
      break;
    }
    if (!ServeRequest()) {
      break;
    }
    ++served_;
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
  keep_alive_ = request.keep_alive && !request.framing.HasBody();
  exchange->unconsumed_bytes_ = result.head_bytes;
  handling_ = true;
  Dispatch(*exchange);
  handling_ = false;
  if (exchange->Replied()) {
    connection_.Consume(result.head_bytes);
    Finish(std::move(exchange));
  } else {
    exchange->request_.Detach();  // its views look into input that is about to be consumed
    connection_.Consume(result.head_bytes);
    exchange->unconsumed_bytes_ = 0;
    exchange_ = std::move(exchange);
  }
  return true;
}

void HttpSession::Dispatch(Exchange& exchange) {
  const Request& request = exchange.GetRequest();
  if (request.method == Method::kConnect) {
    keep_alive_ = false;  // what follows may be meant for the tunnel that it won't get
  }
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
  } catch (...) {
    LogException(exchange.GetRequest().Title("request handler").data());
  }
  if (!exchange.Replied()) {
    exchange.Reply(ErrorResponse(500));
  }
}

void HttpSession::SendReply(Exchange& exchange, const Response& response) {
  const Request& request = exchange.GetRequest();
  keep_alive_ = keep_alive_ && (!GetLooper().Stopping() || HasTakenMore(exchange));
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
    LookAgain();                         // though not while so much is unsent that it is paused
  }
}

// Has something of a request behind this one been read? Its client was not told that the replies
// end before it, so it gets one, even if the server is to stop.
auto HttpSession::HasTakenMore(const Exchange& exchange) const noexcept -> bool {
  return connection_.Read().size() > exchange.unconsumed_bytes_;
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
  const Request& request = exchange->GetRequest();
  const bool unread = request.framing.HasBody() || request.method == Method::kConnect;
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
  const bool part_of_head =
      !exchange_ && !awaits_turn_ && !connection_.Read().empty() && !connection_.Paused();
  if (!part_of_head || !in_head_) {
    reading_since_ = GetLooper().Now();  // a head's first byte counts, and no other
  }
  in_head_ = part_of_head;
  LookAgain();
}

// Has the loop call OnTimeout() at the earliest time at which there may be something to do. Unsent
// means little: the flush comes later. So what is due is only found out then.
void HttpSession::LookAgain() {
  const HttpOptions& options = loop_.Options();
  if (connection_.UnsentBytes() != 0 && write_deadline_ == TimePoint::max()) {
    write_deadline_ = GetLooper().Now() + options.write_timeout;  // and no input moves it
  }
  GetLooper().SetDeadline(&connection_, std::min(write_deadline_, ReadDeadline()));
}

// When the client must have sent something; never while it is not its turn.
auto HttpSession::ReadDeadline() const -> TimePoint {
  const HttpOptions& options = loop_.Options();
  if (exchange_) {
    return TimePoint::max();
  }
  if (awaits_turn_) {
    return TimePoint::max();  // it waits for the server
  }
  return reading_since_ + (in_head_ ? options.head_timeout : options.idle_timeout);
}

void HttpSession::OnTimeout() {
  const TimePoint now = GetLooper().Now();
  if (connection_.UnsentBytes() == 0) {
    write_deadline_ = TimePoint::max();
  } else if (now >= write_deadline_ && !EarnWriteTime()) {
    Close(Closing::kReset);  // or the kernel would keep for minutes what nobody reads
    return;
  } else if (!in_head_) {
    reading_since_ = now;  // it has a reply to read yet, so it is not idle
  }
  if (now >= ReadDeadline()) {
    OnReadTimeout();
  } else {
    LookAgain();
  }
}

// The deadline of reading a reply moves by what the client's kernel has acknowledged since.
auto HttpSession::EarnWriteTime() -> bool {
  const HttpOptions& options = loop_.Options();
  const std::uint32_t before = std::exchange(acknowledged_, AcknowledgedBytes(connection_.GetFd()));
  const MinRate rate{options.min_send_rate, options.write_timeout};
  const Clock::duration more = rate.TimeFor(acknowledged_ - before);
  write_deadline_ = GetLooper().Now() + more;
  return more > Clock::duration::zero();
}

void HttpSession::OnReadTimeout() {
  if (in_head_) {
    Refuse(408, "The request's head did not end in time.");
  } else {
    Close(Closing::kAuto);
  }
}

// What the client has sent by now is still read and answered; OnProgress() closes what is idle.
void HttpSession::OnStop() { GetLooper().Schedule(&connection_); }

}  // namespace TURTLE_SERVER
