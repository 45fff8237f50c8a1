#include "web/http_session.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/min_rate.h"
#include "core/tcp.h"

namespace TURTLE_SERVER {

namespace {

// Line ends that are skipped before one request. A client that sends more is up to no good.
constexpr int kMaxLineEnds = 8;

// Written by hand: it runs for each request, so it must not become a call of memcmp(3).
auto BeginsWithLineEnd(std::string_view input) -> bool {
  return input.size() >= 2 && input[0] == '\r' && input[1] == '\n';
}

}  // namespace

HttpSession::HttpSession(Connection& connection, Http1Shared& loop)
    : Session(connection), loop_(loop), parser_(loop.Http().Options().parser) {
  reading_ = connection.IsOpening() ? Reading::kChannel : Reading::kNothing;
  reading_since_ = GetLooper().Now();
  LookAgain();
}

HttpSession::~HttpSession() {
  if (exchange_) {
    loop_.Http().TellEnd(*exchange_);  // the client is gone, or must go
  }
}

void HttpSession::OnProgress() {
  if (GetConnection().Broken()) {
    Close(Closing::kAuto);  // no client to respond to: the exchange ends with the connection
    return;
  }
  if (GetConnection().UnsentBytes() == 0 && write_deadline_ != TimePoint::max()) {
    write_deadline_ = TimePoint::max();
    reading_since_ = reading_ == Reading::kNothing ? GetLooper().Now() : reading_since_;
  }
  SetRunning(true);
  served_ = 0;
  awaits_turn_ = false;
  if (exchange_) {
    ContinueExchange();
  }
  if (!exchange_ && keep_alive_) {
    GoOn();
  }
  if (exchange_ && exchange_->HasNext()) {
    HandOver();  // and this session no longer exists
    return;
  }
  SetDeadlines();
  SetRunning(false);
}

// Continues the open exchange, which waits for a body, for room or for its handler.
void HttpSession::ContinueExchange() {
  loop_.Http().GoOn(*exchange_);
  exchange_->DeliverBody();
  if (exchange_->WantsInput()) {
    const auto [read, exit] = GetConnection().Recv();
    if (exit) {
      Close(Closing::kAuto);  // the rest of the body will never come
    } else if (read != 0) {
      exchange_->DeliverBody();
    }
  }
  if (exchange_->IsComplete()) {
    Finish();
  }
}

// Continues between two requests, or within the head of one.
void HttpSession::GoOn() {
  ServeInput();  // handles the input that is there before it reads more
  const bool exit = !exchange_ && !awaits_turn_ && GetConnection().Recv().exit;
  ServeInput();
  if (awaits_turn_ || GetConnection().Paused()) {
    return;
  }
  const bool idle = !exchange_ && GetConnection().Read().empty();
  const bool waits_for_input = !exchange_ || exchange_->WantsInput();
  if ((exit && waits_for_input) || (idle && GetLooper().Stopping())) {
    Close(Closing::kAuto);
  }
}

// Skips line ends after a body, which old clients send: RFC 9112, section 2.2. While an exchange is
// open, they may be a part of its body.
void HttpSession::SkipLineEnds() {
  while (!exchange_ && keep_alive_ && BeginsWithLineEnd(GetConnection().Read())) {
    if (++line_ends_ > kMaxLineEnds) {
      Refuse(400, "too many empty lines before the request");
      return;
    }
    GetConnection().Consume(2);
    parser_.Reset();
  }
}

void HttpSession::ServeInput() {
  SkipLineEnds();
  while (!exchange_ && keep_alive_ && !GetConnection().Paused() &&
         !GetConnection().Read().empty()) {
    if (served_ == kMaxRequestsPerCall) {
      awaits_turn_ = true;
      GetLooper().Schedule(&GetConnection());  // in the next round, after its neighbours
      break;
    }
    if (!ServeRequest()) {
      break;
    }
    ++served_;
    SkipLineEnds();
  }
}

// Serves the request at the front of the input. @return false if it is not complete.
auto HttpSession::ServeRequest() -> bool {
  std::unique_ptr<HttpExchange> exchange = loop_.TakeExchange();
  const ParseResult result = exchange->Open(*this, parser_);
  if (result.state != ParseState::kDone) {
    const Method method = exchange->GetRequest().method;  // as far as it could be read
    loop_.GiveBack(std::move(exchange));
    if (result.state == ParseState::kBad) {
      Refuse(result.status, result.reason, method);
    }
    return false;
  }
  reading_ = Reading::kNothing;
  line_ends_ = 0;
  exchange_ = std::move(exchange);
  loop_.Http().TellBegin(*exchange_);
  loop_.Http().Answer(*exchange_);
  if (!exchange_->IsComplete()) {
    KeepExchange();
    exchange_->DeliverBody();
    if (!exchange_->IsComplete()) {
      return true;
    }
  }
  Finish();
  return true;
}

// Keeps the request. Out of memory, the exchange ends here, while its views are valid.
void HttpSession::KeepExchange() {
  try {
    exchange_->Keep();
  } catch (...) {
    loop_.Http().TellEnd(*exchange_);
    exchange_.reset();
    throw;
  }
}

auto HttpSession::FindOpen(std::uint32_t number) noexcept -> Exchange* {
  const bool open = exchange_ && exchange_->Id().number == number && !exchange_->Replied();
  return open ? exchange_.get() : nullptr;
}

void HttpSession::SendLast(Connection& connection, Http1Shared& loop, const Response& response,
                           Method method) {
  HeadContext context;
  context.date = loop.Http().Date();
  context.keep_alive = false;
  std::string& head = loop.HeadScratch();
  response.AppendHead(context, head);
  connection.WriteToWriteBuffer(head);
  if (method != Method::kHead) {
    WriteBody(connection, response);
  }
}

// Refuses malformed input and closes: the start of the next request can't be known.
void HttpSession::Refuse(int status, std::string_view reason, Method method) {
  const Response response =
      loop_.Http().Formatted(GetConnection().Read(), ErrorResponse(status, reason));
  SendLast(GetConnection(), loop_, response, method);
  ExchangeRecord record{GetConnection(), FirstLine(GetConnection().Read()), nullptr};
  record.status = status;
  record.began = reading_ == Reading::kHead ? reading_since_
                                            : GetLooper().Now();  // it may have been idle before
  record.body_bytes = method == Method::kHead ? 0 : response.BodySize();
  loop_.Http().TellEnd(record);
  keep_alive_ = false;
  Close(Closing::kLinger);
}

void HttpSession::Finish() {
  if (exchange_->HasNext()) {
    return;  // until OnProgress() ends
  }
  loop_.Http().TellEnd(*exchange_);  // while its views are still valid
  keep_alive_ = exchange_->KeepsConnection();
  const Closing closing = keep_alive_ ? Closing::kAuto : exchange_->HowToClose();
  exchange_->Finish();
  loop_.GiveBack(std::move(exchange_));
  reading_since_ = GetLooper().Now();
  if (!keep_alive_) {
    Close(closing);
  }
}

// The next session gets the client's further bytes and sets its own deadlines.
void HttpSession::HandOver() {
  Connection& connection = GetConnection();
  Looper& looper = GetLooper();
  const SessionMaker make = exchange_->TakeNext();
  Finish();
  looper.SetDeadline(&connection, TimePoint::max());
  std::unique_ptr<Session> next = make(connection);
  if (next == nullptr) {
    throw std::logic_error("upgrade: no session was made");
  }
  Session& session = *next;
  connection.SetState(std::move(next));
  looper.Schedule(&connection);
  if (looper.Stopping()) {
    session.OnStop();
  }
}

void HttpSession::Close(Closing closing) {
  GetLooper().DeleteConnection(GetConnection().GetFd(), closing);
}

void HttpSession::SetDeadlines() {
  const Connection& connection = GetConnection();
  const bool part_of_head =
      !exchange_ && !awaits_turn_ && !connection.Read().empty() && !connection.Paused();
  const Reading now = connection.IsOpening() ? Reading::kChannel
                      : part_of_head         ? Reading::kHead
                                             : Reading::kNothing;
  const bool reads_response = now == Reading::kNothing && connection.UnsentBytes() != 0;
  if (now != reading_ || reads_response) {
    reading_since_ = GetLooper().Now();  // only the first byte of a handshake or a head counts
  }
  reading_ = now;
  if (exchange_) {
    exchange_->UpdateBodyDeadline();
  }
  LookAgain();
}

// Schedules OnTimeout() for the earliest time at which there may be work. Unsent bytes alone prove
// little, since the flush comes later; OnTimeout() finds out what is due.
void HttpSession::LookAgain() {
  if (GetConnection().UnsentBytes() != 0 && write_deadline_ == TimePoint::max()) {
    write_deadline_ = GetLooper().Now() + Options().write_timeout;  // input does not extend it
  }
  GetLooper().SetDeadline(&GetConnection(), std::min(write_deadline_, ReadDeadline()));
}

// Returns the deadline of the client's next bytes; never if it is not its turn.
auto HttpSession::ReadDeadline() const -> TimePoint {
  if (exchange_) {
    return exchange_->BodyDeadline();
  }
  if (awaits_turn_) {
    return TimePoint::max();  // it waits for the server
  }
  return reading_since_ +
         (reading_ == Reading::kNothing ? Options().idle_timeout : Options().head_timeout);
}

void HttpSession::OnTimeout() {
  const TimePoint now = GetLooper().Now();
  if (GetConnection().UnsentBytes() == 0) {
    write_deadline_ = TimePoint::max();
  } else if (now >= write_deadline_ && !EarnWriteTime()) {
    Close(Closing::kReset);  // else the kernel would keep the unread bytes for minutes
    return;
  } else if (reading_ == Reading::kNothing) {
    reading_since_ = now;  // it still has a response to read, so it is not idle
  }
  if (now >= ReadDeadline()) {
    OnReadTimeout();
  } else {
    LookAgain();
  }
}

// Extends the deadline by the time earned by bytes that the client's kernel has acknowledged.
auto HttpSession::EarnWriteTime() -> bool {
  const HttpOptions& options = Options();
  const MinRate rate{options.min_send_rate, options.write_timeout};
  const Clock::duration more =
      rate.TimeFor(AcknowledgedSince(GetConnection().GetFd(), acknowledged_));
  write_deadline_ = GetLooper().Now() + more;
  return more > Clock::duration::zero();
}

void HttpSession::OnReadTimeout() {
  if (exchange_ && exchange_->EarnBodyTime()) {
    LookAgain();
  } else if (exchange_) {
    exchange_->GiveUpBody();
  } else if (reading_ == Reading::kChannel) {
    Close(Closing::kReset);  // a response could not be sealed
  } else if (reading_ == Reading::kHead) {
    Refuse(408, "The request's head did not end in time.");
  } else {
    Close(Closing::kAuto);
  }
}

// Requests that the client has sent by now are still served; OnProgress() closes an idle
// connection.
void HttpSession::OnStop() { GetLooper().Schedule(&GetConnection()); }

}  // namespace TURTLE_SERVER
