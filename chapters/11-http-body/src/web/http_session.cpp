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
  running_ = true;
  served_ = 0;
  awaits_turn_ = false;
  ContinueExchange();
  if (!exchange_ && keep_alive_) {
    GoOn();
  }
  SetDeadlines();
  running_ = false;
}

// Between two requests, or within the head of one.
void HttpSession::GoOn() {
  ServeInput();  // what has come already, before more is read
  const bool exit = !exchange_ && !awaits_turn_ && connection_.Recv().exit;
  ServeInput();
  if (awaits_turn_ || connection_.Paused()) {
    return;
  }
  const bool idle = !exchange_ && connection_.Read().empty();
  const bool waits_for_input = !exchange_ || BodyIsDue();
  if ((exit && waits_for_input) || (idle && GetLooper().Stopping())) {
    Close(Closing::kAuto);
  }
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
  keep_alive_ = request.keep_alive;
  exchange->body_.emplace(request.framing, loop_.Options().body);
  exchange->body_done_ = !request.framing.HasBody();
  exchange->continue_due_ = request.expectation != Expectation::kNone;
  exchange->unconsumed_bytes_ = result.head_bytes;
  Dispatch(*exchange);
  if (exchange->Replied() && (exchange->body_done_ || !keep_alive_)) {
    connection_.Consume(result.head_bytes);
    Finish(std::move(exchange));
  } else {
    exchange->request_.Detach();  // its views look into input that is about to be consumed
    connection_.Consume(result.head_bytes);
    exchange->unconsumed_bytes_ = 0;
    exchange_ = std::move(exchange);
    DeliverBody();
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
  if (request.expectation == Expectation::kUnknown) {
    exchange.Reply(ErrorResponse(417));
    return;
  }
  if (exchange.body_->TooLarge()) {
    exchange.Reply(ErrorResponse(413, exchange.body_->LimitText()));
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
  Guard(exchange, [&] { match.handler->Handle(exchange); });
}

// The place where a handler's code is called: what it throws costs its client the answer, and
// nobody else anything.
template <typename Callback>
void HttpSession::Guard(Exchange& exchange, const Callback& callback) {
  try {
    callback();
    return;
  } catch (...) {
    LogException(exchange.GetRequest().Title("request handler").data());
  }
  exchange.Abort(500, {});
}

// The exchange that is open waits for a body, for room or for its handler.
void HttpSession::ContinueExchange() {
  if (exchange_ && !exchange_->Replied() && exchange_->on_room_ && exchange_->CanWrite()) {
    Guard(*exchange_, exchange_->on_room_);
  }
  DeliverBody();
  if (BodyIsDue()) {
    const auto [read, exit] = connection_.Recv();
    if (exit) {
      Close(Closing::kAuto);  // the rest of the body will never come
    } else if (read != 0) {
      DeliverBody();
    }
  }
}

// Has the client something to send before the exchange can go on, or end?
auto HttpSession::BodyIsDue() const noexcept -> bool {
  return exchange_ && exchange_->WantsBody() && (keep_alive_ || !exchange_->Replied());
}

// Brings what has come of the body to the handler, or out of the way.
void HttpSession::DeliverBody() {
  while (BodyIsDue() && (exchange_->body_done_ || !connection_.Read().empty())) {
    TakeBody(*exchange_);
  }
  if (BodyIsDue() && exchange_->continue_due_ && !exchange_->Begun()) {
    exchange_->continue_due_ = false;
    connection_.WriteToWriteBuffer("HTTP/1.1 100 Continue\r\n\r\n");
  }
  if (exchange_ && exchange_->Replied() && (exchange_->body_done_ || !keep_alive_)) {
    Finish(std::move(exchange_));
  }
}

void HttpSession::TakeBody(Exchange& exchange) {
  const BodyResult result = exchange.body_->Read(connection_.Read());
  if (result.state == BodyState::kBad) {
    exchange.body_done_ = true;
    keep_alive_ = false;
    exchange.Abort(result.status,
                   result.status == 413 ? exchange.body_->LimitText() : std::string(result.reason));
    return;
  }
  exchange.continue_due_ = false;  // the client did not wait for it
  exchange.body_done_ = result.state == BodyState::kDone;
  exchange.body_moved_ += result.consumed;
  exchange.unconsumed_bytes_ = result.consumed;
  if (!exchange.Replied() && (exchange.body_done_ || !result.data.empty())) {
    exchange.end_told_ = exchange.body_done_;
    Guard(exchange, [&] { exchange.on_body_(result.data, exchange.body_done_); });
  } else if (exchange.Replied()) {
    exchange.body_dropped_ += result.consumed;
    if (!exchange.body_done_ && exchange.body_dropped_ > loop_.Options().max_dropped_bytes) {
      keep_alive_ = false;  // the reply could not say so: nobody knew how long it would be
    }
  }
  connection_.Consume(result.consumed);
  exchange.unconsumed_bytes_ = 0;
}

// How much of the body was not taken yet, of what has come or is announced; nullopt: it is
// malformed or too large. A copy of the reader goes ahead, so the body can still be taken.
auto HttpSession::BodyAhead(const Exchange& exchange) const noexcept
    -> std::optional<std::uint64_t> {
  BodyReader reader = *exchange.body_;
  const std::string_view input = connection_.Read().substr(exchange.unconsumed_bytes_);
  std::size_t bytes = 0;
  BodyResult result;
  do {
    result = reader.Read(input.substr(bytes));
    bytes += result.consumed;
  } while (result.state == BodyState::kMore && bytes < input.size());
  return result.state == BodyState::kBad ? std::nullopt : std::optional(bytes + reader.Announced());
}

// May the connection be kept though the reply came before the body? If the rest is short, it is
// read and dropped; if chunks don't say how long it is, as far as that is short. But a client that
// waits for leave may send it or not: nobody knows what its next byte will be.
auto HttpSession::CanDrop(const Exchange& exchange) const noexcept -> bool {
  if (exchange.body_done_ || exchange.continue_due_) {
    return exchange.body_done_;
  }
  const Framing& framing = exchange.GetRequest().framing;
  const std::uint64_t most = loop_.Options().max_dropped_bytes;
  return framing.length <= most && BodyAhead(exchange).value_or(UINT64_MAX) <= most;
}

// Has something of a request behind this one been read? Its client was not told that the replies
// end before it, so it gets one, even if the server is to stop.
auto HttpSession::HasTakenMore(const Exchange& exchange) const noexcept -> bool {
  return connection_.Read().size() > exchange.unconsumed_bytes_ + BodyAhead(exchange).value_or(0);
}

void HttpSession::SendReply(Exchange& exchange, const Response& response) {
  const Request& request = exchange.GetRequest();
  SendHead(exchange, response, BodyEnd::kLength, response.BodySize());
  if (request.method != Method::kHead && response.HasBody()) {
    for (const BodyPiece& piece : response.Pieces()) {
      if (const auto* text = std::get_if<std::string>(&piece)) {
        connection_.WriteToWriteBuffer(*text);
      } else {
        connection_.WriteFile(std::get<FileSlice>(piece));
      }
    }
  }
  Wake();
}

void HttpSession::SendHead(Exchange& exchange, const Response& head, BodyEnd body_end,
                           std::uint64_t length) {
  keep_alive_ = keep_alive_ && body_end != BodyEnd::kClose && CanDrop(exchange) &&
                (!GetLooper().Stopping() || HasTakenMore(exchange));
  HeadContext context;
  context.date = loop_.Date();
  context.minor_version = exchange.GetRequest().minor_version;
  context.keep_alive = keep_alive_;
  context.body_end = body_end;
  context.length = length;
  std::string& text = loop_.HeadScratch();
  head.AppendHead(context, text);
  connection_.WriteToWriteBuffer(text);
}

void HttpSession::Wake() {
  if (!running_) {
    GetLooper().Schedule(&connection_);  // flush, and parse on, where that always happens
    LookAgain();                         // though not while so much is unsent that it is paused
  }
}

void HttpSession::Cut(BodyEnd body_end) {
  keep_alive_ = false;
  // Where the end of the connection is the end of the body, a FIN would be the proper one.
  Close(body_end == BodyEnd::kClose ? Closing::kReset : Closing::kAuto);
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
  const bool unread =
      !exchange->body_done_ || request.framing.HasBody() || request.method == Method::kConnect;
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
  if (exchange_ && (!BodyIsDue() || connection_.Paused())) {
    exchange_->body_deadline_ = TimePoint::max();
  } else if (exchange_ && exchange_->body_deadline_ == TimePoint::max()) {
    exchange_->body_deadline_ = GetLooper().Now() + loop_.Options().body_timeout;
    exchange_->body_moved_ = 0;
  }
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
    return exchange_->body_deadline_;
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
  if (exchange_) {
    OnBodyTimeout(*exchange_);
  } else if (in_head_) {
    Refuse(408, "The request's head did not end in time.");
  } else {
    Close(Closing::kAuto);
  }
}

// The deadline of sending a body moves by what has come of it since, and the loop has to be told:
// LookAgain(). A client that isn't read has none. Where nothing has come, the answer is 408, and if
// the answer is out already, the connection ends.
void HttpSession::OnBodyTimeout(Exchange& exchange) {
  if (connection_.Paused()) {
    exchange.body_deadline_ = TimePoint::max();  // it is not read either, so it can't move
    LookAgain();
    return;
  }
  const HttpOptions& options = loop_.Options();
  const MinRate rate{options.min_body_rate, options.body_timeout};
  const Clock::duration more = rate.TimeFor(std::exchange(exchange.body_moved_, 0));
  if (more > Clock::duration::zero()) {
    exchange.body_deadline_ = GetLooper().Now() + more;
    LookAgain();
    return;
  }
  exchange.body_deadline_ = TimePoint::max();
  keep_alive_ = false;
  if (exchange.Replied()) {
    Close(Closing::kLinger);  // it was only to be dropped
  } else {
    exchange.Abort(408, "The request's body did not end in time.");
  }
}

// What the client has sent by now is still read and answered; OnProgress() closes what is idle.
void HttpSession::OnStop() { GetLooper().Schedule(&connection_); }

}  // namespace TURTLE_SERVER
