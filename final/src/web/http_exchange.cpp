#include "web/http_exchange.h"

#include <stdexcept>
#include <utility>
#include <variant>

#include "base/ascii.h"
#include "core/min_rate.h"
#include "http/chunked.h"
#include "http/headers.h"

namespace TURTLE_SERVER {

namespace {

// Skips line ends before a request, which old clients send: RFC 9112, section 2.2.
auto WithoutLineEnds(std::string_view input) -> std::string_view {
  while (input.substr(0, 2) == "\r\n") {
    input.remove_prefix(2);
  }
  return input;
}

}  // namespace

void WriteBody(Connection& connection, const Response& response) {
  for (const BodyPiece& piece : response.Pieces()) {
    if (const auto* text = std::get_if<std::string>(&piece)) {
      connection.WriteToWriteBuffer(*text);
    } else {
      connection.WriteFile(std::get<FileSlice>(piece));
    }
  }
}

auto Http1Shared::HeadScratch() noexcept -> std::string& {
  head_.clear();
  return head_;
}

auto Http1Shared::ReadyStart(ReadyStatus status) -> std::string_view {
  const HttpTime now(std::time(nullptr));
  if (now != start_time_) {
    constexpr std::array<std::string_view, 2> kStarts = {"HTTP/1.1 200 OK\r\nDate: ",
                                                         "HTTP/1.1 304 Not Modified\r\nDate: "};
    const std::string_view date = http_.Date();
    for (std::size_t i = 0; i < kStarts.size(); ++i) {  // in the memory that each already has
      ready_starts_[i].assign(kStarts[i]).append(date).append("\r\n");
    }
    start_time_ = now;  // last: if memory runs out halfway, the next call starts over
  }
  return ready_starts_[static_cast<std::size_t>(status)];
}

auto HttpExchange::Open(Session& session, HttpParser& parser) -> ParseResult {
  Exchange::Open(session, loop_.Http().NextNumber());
  const ParseResult result = parser.Parse(GetConnection().Read(), RoomForRequest());
  if (result.state != ParseState::kDone) {
    return result;
  }
  const Request& request = GetRequest();
  unconsumed_bytes_ = result.head_bytes;
  // Bytes after a CONNECT may be meant for the tunnel, which the client won't get.
  keep_alive_ = request.keep_alive && request.method != Method::kConnect;
  body_done_ = !request.framing.HasBody();
  body_.reset();
  if (!body_done_) {
    body_.emplace(request.framing, loop_.Http().Options().body);
    body_dropped_ = 0;
  }
  continue_due_ = request.expectation != Expectation::kNone;
  body_end_ = BodyEnd::kLength;
  body_deadline_ = TimePoint::max();
  return result;
}

void HttpExchange::Keep() {
  RoomForRequest().Detach();
  GetConnection().Consume(std::exchange(unconsumed_bytes_, 0));
}

auto HttpExchange::HowToClose() const noexcept -> Closing {
  const Request& request = GetRequest();
  // A client that did not ask to close may have sent its next request.
  const bool unasked = request.keep_alive && loop_.Http().Draining();
  const bool may_send =
      !body_done_ || request.framing.HasBody() || request.method == Method::kConnect || unasked;
  return may_send ? Closing::kLinger : Closing::kAuto;
}

void HttpExchange::DeliverBody() {
  Connection& connection = GetConnection();
  while (WantsInput() && (body_done_ || !connection.Read().empty())) {
    TakeBody();
  }
  if (WantsInput() && continue_due_ && !Begun()) {
    continue_due_ = false;
    connection.WriteToWriteBuffer("HTTP/1.1 100 Continue\r\n\r\n");
  }
}

void HttpExchange::TakeBody() {
  Connection& connection = GetConnection();
  BodyResult result{BodyState::kDone};
  if (body_) {
    result = body_->Read(connection.Read());
  }
  if (result.state == BodyState::kBad) {
    body_done_ = true;
    keep_alive_ = false;
    loop_.Http().RefuseBody(*this, result.status,
                            result.status == 413 ? body_->LimitText() : std::string(result.reason));
    return;
  }
  continue_due_ = false;  // the client did not wait for it
  body_done_ = result.state == BodyState::kDone;
  body_moved_ += result.consumed;
  unconsumed_bytes_ = result.consumed;
  if (!Replied() && (body_done_ || !result.data.empty())) {
    loop_.Http().BringBody(*this, result.data, body_done_);
  } else if (Replied()) {
    body_dropped_ += result.consumed;
    if (!body_done_ && body_dropped_ > loop_.Http().Options().max_dropped_bytes) {
      keep_alive_ = false;  // too late to announce it: the length was unknown until now
    }
  }
  connection.Consume(std::exchange(unconsumed_bytes_, 0));
}

// Returns how much of the body, received or announced, was not taken yet; nullopt if it is
// malformed or too large. It runs a copy of the reader ahead, so the body can still be taken.
auto HttpExchange::BodyAhead() const noexcept -> std::optional<std::uint64_t> {
  if (!body_) {
    return 0;
  }
  BodyReader reader = *body_;
  const std::string_view input = GetConnection().Read().substr(unconsumed_bytes_);
  std::size_t bytes = 0;
  BodyResult result;
  do {
    result = reader.Read(input.substr(bytes));
    bytes += result.consumed;
  } while (result.state == BodyState::kMore && bytes < input.size());
  return result.state == BodyState::kBad ? std::nullopt : std::optional(bytes + reader.Announced());
}

// Returns true if the connection can be kept although the response came before the body. A short
// rest is read and dropped; a chunked one only as far as it stays short. But a client that waits
// for "100 Continue" may send the body or not, so its next byte can't be interpreted.
auto HttpExchange::CanDrop() const noexcept -> bool {
  if (body_done_ || continue_due_) {
    return body_done_;
  }
  const std::uint64_t most = loop_.Http().Options().max_dropped_bytes;
  return GetRequest().framing.length <= most && BodyAhead().value_or(UINT64_MAX) <= most;
}

// Returns true if a part of a later request has been read. Its client wasn't told that the
// connection ends, so it gets a response even if the server is about to stop.
auto HttpExchange::HasTakenMore() const noexcept -> bool {
  const std::string_view input = GetConnection().Read();
  const std::uint64_t used = unconsumed_bytes_ + BodyAhead().value_or(0);
  return used < input.size() && !WithoutLineEnds(input.substr(used)).empty();
}

void HttpExchange::DecideKeepAlive(BodyEnd body_end) noexcept {
  keep_alive_ = keep_alive_ && body_end != BodyEnd::kClose && CanDrop() &&
                (!loop_.Http().Ending() || HasTakenMore());
}

void HttpExchange::WriteHead(const Response& head, BodyEnd body_end, std::uint64_t length) {
  DecideKeepAlive(body_end);
  HeadContext context;
  context.date = loop_.Http().Date();
  context.minor_version = GetRequest().minor_version;
  context.keep_alive = keep_alive_;
  context.body_end = body_end;
  context.length = length;
  std::string& text = loop_.HeadScratch();
  head.AppendHead(context, text);
  GetConnection().WriteToWriteBuffer(text);
}

void HttpExchange::SendWhole(const Response& response) {
  WriteHead(response, BodyEnd::kLength, response.BodySize());
  if (GetRequest().method != Method::kHead && response.HasBody()) {
    WriteBody(GetConnection(), response);
  }
}

void HttpExchange::SendReady(int /*status*/, std::string_view start, const ReadyReply& reply) {
  Connection& connection = GetConnection();
  const Request& request = GetRequest();
  DecideKeepAlive(BodyEnd::kLength);
  connection.WriteToWriteBuffer(start.empty() ? loop_.ReadyStart(reply.status) : start);
  if (!keep_alive_) {
    connection.WriteToWriteBuffer("Connection: close\r\n");
  } else if (request.minor_version == 0) {
    connection.WriteToWriteBuffer("Connection: keep-alive\r\n");
  }
  if (!AddedLines().empty()) {
    connection.WriteToWriteBuffer(AddedLines());
  }
  const bool is_head = request.method == Method::kHead;
  const bool in_file = reply.file >= 0;
  std::string_view text = reply.text;
  text.remove_suffix(is_head && !in_file ? reply.body_bytes : 0);
  // One block of memory is sent by send(2), which is cheaper than two by sendmsg(2).
  constexpr std::size_t kMaxCopied = std::size_t{16} * 1024;
  if (text.size() <= kMaxCopied) {
    connection.WriteToWriteBuffer(text);
  } else {
    connection.WritePinned(text, reply.pin);
  }
  if (in_file && !is_head) {
    connection.WriteFile({reply.file, 0, reply.body_bytes, reply.pin});
  }
}

void HttpExchange::SendHead(const Response& head, std::optional<std::uint64_t> length) {
  body_end_ = length                           ? BodyEnd::kLength
              : GetRequest().minor_version > 0 ? BodyEnd::kChunked
                                               : BodyEnd::kClose;
  WriteHead(head, body_end_, length.value_or(0));
}

// Begins a chunk of `bytes`, if the body is chunked: RFC 9112, section 7.1.
void HttpExchange::BeginChunk(std::uint64_t bytes) {
  if (body_end_ == BodyEnd::kChunked) {
    GetConnection().WriteToWriteBuffer(ChunkHead(bytes).View());
  }
}

void HttpExchange::EndChunk() {
  if (body_end_ == BodyEnd::kChunked) {
    GetConnection().WriteToWriteBuffer(kChunkEnd);
  }
}

void HttpExchange::SendPiece(std::string_view bytes) {
  BeginChunk(bytes.size());
  GetConnection().WriteToWriteBuffer(bytes);
  EndChunk();
}

void HttpExchange::SendPinned(std::string_view bytes, const Pin& pin) {
  BeginChunk(bytes.size());
  GetConnection().WritePinned(bytes, pin);
  EndChunk();
}

void HttpExchange::SendPiece(FileSlice slice) {
  BeginChunk(slice.length);
  GetConnection().WriteFile(std::move(slice));
  EndChunk();
}

void HttpExchange::SendEnd() {
  if (body_end_ == BodyEnd::kChunked) {
    GetConnection().WriteToWriteBuffer(kLastChunk);
  }
}

// Resets, because a FIN would look like the proper end of a body that ends with the connection.
void HttpExchange::Cut() {
  keep_alive_ = false;
  GetLooper().DeleteConnection(GetConnection().GetFd(),
                               body_end_ == BodyEnd::kClose ? Closing::kReset : Closing::kAuto);
}

void HttpExchange::UpdateBodyDeadline() noexcept {
  if (!WantsInput() || GetConnection().Paused()) {
    body_deadline_ = TimePoint::max();
  } else if (body_deadline_ == TimePoint::max()) {
    body_deadline_ = GetLooper().Now() + loop_.Http().Options().body_timeout;
    body_moved_ = 0;
  }
}

auto HttpExchange::EarnBodyTime() noexcept -> bool {
  if (GetConnection().Paused()) {
    body_deadline_ = TimePoint::max();  // it is not read either, so the deadline can't move
    return true;
  }
  const HttpOptions& options = loop_.Http().Options();
  const MinRate rate{options.min_body_rate, options.body_timeout};
  const Clock::duration more = rate.TimeFor(std::exchange(body_moved_, 0));
  body_deadline_ = GetLooper().Now() + more;
  return more > Clock::duration::zero();
}

void HttpExchange::GiveUpBody() {
  body_deadline_ = TimePoint::max();
  keep_alive_ = false;
  if (Replied()) {
    GetLooper().DeleteConnection(GetConnection().GetFd(), Closing::kLinger);  // drops the body
  } else {
    loop_.Http().RefuseBody(*this, 408, "The request's body did not end in time.");
  }
}

// After a redirect the request has no body, though some bytes of it may be left to drop.
auto HttpExchange::BodyTooLarge() const noexcept -> bool {
  return body_ && GetRequest().framing.HasBody() && body_->TooLarge();
}

auto HttpExchange::BodyLimitText() const -> std::string {
  return body_ ? body_->LimitText() : "The request has no body.";
}

// Returns true if a list field contains this name, in any case, in any of its lines.
auto HttpExchange::Lists(std::string_view field, std::string_view name) const -> bool {
  bool found = false;
  GetRequest().headers.ForEach(field, [&](std::string_view list) {
    while (!list.empty()) {
      found = found || ascii::EqualIgnoreCase(TakeListElement(list), name);
    }
  });
  return found;
}

void HttpExchange::LimitBody(std::uint64_t most) noexcept {
  if (body_) {
    body_->SetMaxBytes(most);
  }
}

auto HttpExchange::CanUpgrade(std::string_view protocol) const -> bool {
  const Request& request = GetRequest();
  return request.minor_version > 0 && keep_alive_ && body_done_ && !Begun() &&
         !loop_.Http().Ending() && Lists("Connection", "upgrade") && Lists("Upgrade", protocol);
}

void HttpExchange::Upgrade(std::string_view protocol, const Response& fields,
                           const SessionMaker& next) {
  if (!next || !CanUpgrade(protocol)) {
    throw std::logic_error("upgrade to " + std::string(protocol) + ": the client can't have it");
  }
  Response switching(fields);
  switching.SetStatus(101);
  std::string& head = loop_.HeadScratch();
  switching.AppendHead({}, head);
  std::string lines = "Connection: upgrade\r\nUpgrade: ";
  lines.append(protocol).append("\r\n");
  head.insert(head.find('\n') + 1, lines);
  SessionMaker maker = next;  // first: everything that may throw comes before the 101
  BeginUpgrade();
  GetConnection().WriteToWriteBuffer(head);
  next_ = std::move(maker);
  EndUpgrade();
  GetSession().Wake();
}

// Many clients know only one interim response, the one that asks for the body; but every client
// must accept others (RFC 9110, section 15.2). HTTP/1.0 knows none.
auto HttpExchange::Probe() -> bool {
  if (Begun() || continue_due_ || GetRequest().minor_version == 0) {
    return false;
  }
  GetConnection().WriteToWriteBuffer("HTTP/1.1 100 Continue\r\n\r\n");
  GetSession().Wake();
  return true;
}

}  // namespace TURTLE_SERVER
