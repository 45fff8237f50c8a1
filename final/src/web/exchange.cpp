#include "web/exchange.h"

#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "base/ascii.h"
#include "compress/compression.h"
#include "core/looper.h"
#include "http/http_error.h"
#include "log/log.h"
#include "web/error_formats.h"
#include "web/server_response.h"

namespace TURTLE_SERVER {

namespace {

// Removes the fields about the body, which has been read. Unless the request was a plain read, it
// also removes conditions and ranges, since they were about the first target.
void RemoveOutdated(Request& request) {
  const bool only_asks = request.method == Method::kGet || request.method == Method::kHead;
  request.headers.RemoveIf([only_asks](const HeaderField& field) {
    switch (field.known) {
      case KnownField::kExpect:
      case KnownField::kTrailer:
      case KnownField::kTransferEncoding:
        return true;
      case KnownField::kCacheControl:
      case KnownField::kIfMatch:
      case KnownField::kIfModifiedSince:
      case KnownField::kIfNoneMatch:
      case KnownField::kIfRange:
      case KnownField::kIfUnmodifiedSince:
      case KnownField::kRange:
        return !only_asks;
      default:
        return ascii::EqualIgnoreCase(field.name.substr(0, 8), "Content-");
    }
  });
}

// Cuts the first line off `text`, which is a head or a part of one. @return without its line end
auto TakeLine(std::string_view& text) -> std::string_view {
  const std::size_t end = std::min(text.find("\r\n"), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 2, text.size()));
  return line;
}

// Adds the fields that `text` begins with, and takes them off, with the empty line after them.
void TakeFields(std::string_view& text, Response& response) {
  for (std::string_view line = TakeLine(text); !line.empty(); line = TakeLine(text)) {
    const std::size_t colon = line.find(": ");
    const std::string_view name = line.substr(0, colon);
    if (colon != std::string_view::npos && !ascii::EqualIgnoreCase(name, "Content-Length")) {
      response.Add(name, line.substr(colon + 2));
    }
  }
}

// Turns a prepared reply into a response, with a copy of its text.
auto Unready(int status, std::string_view start, const ReadyReply& reply) -> Response {
  Response response(status);
  std::string_view text = reply.text;
  TakeLine(start);  // the status line
  if (!start.empty()) {
    TakeFields(start, response);
  }
  TakeFields(text, response);
  if (reply.file >= 0) {
    response.Body(FileSlice{reply.file, 0, reply.body_bytes, reply.pin});
  } else if (!text.empty()) {
    response.Body(std::string(text));
  }
  return response;
}

}  // namespace

auto Exchange::GetClient() const -> NetAddress {
  return origin_.address ? *origin_.address : GetConnection().GetPeerAddress();
}

// A trusted proxy knows how the client has reached it; how it reaches us says nothing about that.
auto Exchange::IsSecure() const noexcept -> bool {
  return origin_.is_secure.value_or(GetConnection().IsSecure());
}

void Exchange::Move(ReplyState to) noexcept {
  assert(to == ReplyState::kBegun ? reply_ == ReplyState::kNone : reply_ <= ReplyState::kBegun);
  assert(to != ReplyState::kComplete || reply_ == ReplyState::kBegun);
  reply_ = to;
}

void Exchange::Begin(int status) {
  if (Begun() || status < 200) {
    RefuseReply(status);
  }
  Move(ReplyState::kBegun);
  status_ = status;
}

void Exchange::RefuseReply(int status) const {
  if (Begun()) {
    throw std::logic_error("a handler has replied twice to one request");
  }
  throw std::invalid_argument("reply with status " + std::to_string(status) + ": not a final one");
}

void Exchange::Reply(const Response& response) {
  const std::optional<Response> formatted = Formatted(response);
  const Response& whole = formatted ? *formatted : response;
  const bool edited = editor_ != nullptr;
  SendFiltered(whole);
  if (tap_ && edited && whole.ErrorDetail() && whole.Status() >= 400) {
    tap_->OnAbort(whole.Status());  // a kept copy would not be known for an error page
  } else if (tap_) {
    TellTap(whole);  // the handler's own: a cached response is filtered again
  }
}

auto Exchange::Formatted(const Response& response) const noexcept -> std::optional<Response> {
  return error_formats_ != nullptr ? error_formats_->Formatted(request_.uri.Path(), response)
                                   : std::nullopt;
}

auto Exchange::Filtered(Response response) -> Response {
  ServerResponse seen(std::move(response));
  TakeFilter().OnReply(*this, seen);
  return seen.Whole();
}

void Exchange::SendFiltered(const Response& whole) {
  if (HasFilter()) {
    Send(Filtered(whole));
  } else {
    Send(whole);
  }
}

// Edits a copy: the handler's own response may be kept, and edited again for the next client.
void Exchange::Send(const Response& whole) {
  if (ReplyEditor* const editor = Begun() ? nullptr : std::exchange(editor_, nullptr)) {
    Response edited(whole);
    editor->Edit(*this, edited, Edited::kWhole);
    SendEdited(edited);
  } else {
    SendEdited(whole);
  }
}

void Exchange::SendEdited(const Response& whole) {
  const std::optional<Response> coded =
      GetCompression() != nullptr && !Begun() ? compression_->Whole(request_, whole) : std::nullopt;
  SendFinal(coded ? *coded : whole);
}

void Exchange::SendFinal(const Response& whole) {
  Begin(whole.Status());
  SendWhole(whole);
  body_bytes_ = request_.method != Method::kHead && whole.HasBody() ? whole.BodySize() : 0;
  Move(ReplyState::kComplete);
  session_->Wake();
}

void Exchange::TellTap(const Response& whole) noexcept {
  tap_->OnHead(whole);
  for (const BodyPiece& piece : whole.Pieces()) {
    if (const auto* text = std::get_if<std::string>(&piece)) {
      tap_->OnBody(*text);
    } else {
      tap_->OnFile();
    }
  }
  tap_->OnEnd();
}

void Exchange::Reply(const ReadyReply& reply) {
  Reply(reply.status == ReadyStatus::kOk ? 200 : 304, {}, reply);
}

void Exchange::Reply(int status, std::string_view start, const ReadyReply& reply) {
  if (Begun() || has_filter_ || status < 200) {
    ReplyUnusually(status, start, reply);
  } else if (IsToBeCoded(status, reply)) {
    Send(Unready(status, start, reply));
  } else if (editor_ != nullptr) {
    SendReadyEdited(status, start, reply);
  } else {
    FinishReady(status, start, reply);
  }
}

// Adds lines to the prepared text, if that will do.
void Exchange::SendReadyEdited(int status, std::string_view start, const ReadyReply& reply) {
  const auto lines = editor_->LinesFor(*this, start, reply.text);
  if (!lines) {
    Send(Unready(status, start, reply));
    return;
  }
  editor_ = nullptr;
  added_lines_ = *lines;
  FinishReady(status, start, reply);
  added_lines_ = {};
}

void Exchange::FinishReady(int status, std::string_view start, const ReadyReply& reply) {
  Move(ReplyState::kBegun);
  status_ = status;
  SendReady(status, start, reply);
  body_bytes_ = request_.method == Method::kHead ? 0 : reply.body_bytes;
  Move(ReplyState::kComplete);
  session_->Wake();
}

void Exchange::ReplyUnusually(int status, std::string_view start, const ReadyReply& reply) {
  if (!HasFilter()) {
    RefuseReply(status);
  }
  Send(Filtered(Unready(status, start, reply)));
}

auto Exchange::TakeFilter() noexcept -> ReplyFilter& {
  has_filter_ = false;
  return *rare_->filter;
}

// Serves protocols that have no use for the text of HTTP/1.1.
void Exchange::SendReady(int status, std::string_view start, const ReadyReply& reply) {
  Response response = Unready(status, start, reply);
  std::string_view lines = added_lines_;
  TakeFields(lines, response);
  SendWhole(response);
}

void Exchange::OnBody(BodyCallback callback) {
  on_body_ = std::move(callback);
  session_->Wake();
}

// The decoder is made when there is something to decode: until then, a client that has sent only
// a head costs no window.
void Exchange::DecodeBody(Coding coding, std::optional<std::uint64_t> most) {
  Rare& rare = RareParts();
  rare.body_coding = coding;
  rare.max_plain = most;
  has_decoder_ = true;
}

auto Exchange::DecodesRequests() const noexcept -> bool {
  return compression_ != nullptr && compression_->Options().decode_requests;
}

void Exchange::HoldBody(bool hold) {
  body_held_ = hold;
  session_->Wake();  // in both cases: there may be a piece to deliver, or a deadline to stop
}

// Shows the tap the handler's own head, as Reply() does.
void Exchange::BeginFiltered(const Response& head, std::optional<std::uint64_t> length) {
  ServerResponse seen(head);
  static_cast<void>(seen.WithoutBody());
  TakeFilter().OnReply(*this, seen);
  std::unique_ptr<ReplyTap> tap = std::move(tap_);
  if (!seen.Head().Pieces().empty() || !seen.Body().empty()) {
    Reply(seen.Whole());  // the handler's output is dropped, and the tap sees nothing
    return;
  }
  BeginReply(seen.Head(), length);
  tap_ = std::move(tap);
  if (tap_) {
    tap_->OnHead(head);
  }
}

void Exchange::BeginReply(const Response& head, std::optional<std::uint64_t> length) {
  if (HasFilter()) {
    BeginFiltered(head, length);
    return;
  }
  if (ReplyEditor* const editor = Begun() ? nullptr : std::exchange(editor_, nullptr)) {
    Response edited(head);
    editor->Edit(*this, edited, Edited::kHead);
    SendBegin(edited, length);
  } else {
    SendBegin(head, length);
  }
  if (tap_) {
    tap_->OnHead(head);  // the handler's own, as in Reply()
  }
}

void Exchange::SendBegin(const Response& head, std::optional<std::uint64_t> length) {
  if (GetCompression() == nullptr || Begun()) {
    BeginBody(head, length);
    return;
  }
  Response coded(head);
  auto encoder = compression_->Begin(request_, coded, length);
  has_encoder_ = encoder != nullptr;
  if (has_encoder_) {
    RareParts().encoder = std::move(encoder);
  }
  BeginBody(coded, length);
}

void Exchange::BeginBody(const Response& head, std::optional<std::uint64_t> length) {
  Begin(head.Status());
  if (head.Status() == 205) {
    length = 0;  // it has no content, and says so (RFC 9110, section 15.3.6)
  }
  drops_output_ = request_.method == Method::kHead || !head.HasBody();
  has_length_ = length.has_value();
  promised_ = length.value_or(0);
  SendHead(head, has_encoder_ ? std::nullopt : length);
  session_->Wake();
}

// The coded bytes are those that count as sent.
void Exchange::SendCoded(std::string_view plain, Flush flush) {
  std::string& coded = rare_->coded;
  coded.clear();
  rare_->encoder->Encode(plain, flush, coded);
  body_bytes_ += coded.size() - plain.size();
  if (!coded.empty()) {
    SendPiece(coded);
  }
}

// Reads a part of a file, and encodes it. If the file has become shorter, the response is cut.
void Exchange::SendCoded(const FileSlice& slice) {
  constexpr std::uint64_t kStep = std::uint64_t{64} * 1024;
  std::string plain;
  for (std::uint64_t done = 0; done != slice.length; done += plain.size()) {
    plain.resize(std::min(kStep, slice.length - done));
    const ssize_t count =
        ::pread(slice.fd, plain.data(), plain.size(), static_cast<off_t>(slice.offset + done));
    if (count <= 0) {
      Log(LogLevel::kError, "a file has become shorter while it was sent");
      Abort(500, {});
      return;
    }
    plain.resize(static_cast<std::size_t>(count));
    SendCoded(plain, Flush::kNone);
  }
  SendCoded({}, Flush::kPiece);
}

void Exchange::Write(std::string_view bytes) {
  const std::uint64_t count = Allow(bytes.size());
  if (count == 0) {
    return;
  }
  if (has_encoder_) {
    SendCoded(bytes.substr(0, count), Flush::kPiece);
  } else {
    SendPiece(bytes.substr(0, count));
  }
  session_->Wake();
  if (tap_) {
    tap_->OnBody(bytes.substr(0, count));
  }
}

void Exchange::Write(std::string_view bytes, const Pin& pin) {
  const std::uint64_t count = Allow(bytes.size());
  if (count == 0) {
    return;
  }
  if (has_encoder_) {
    SendCoded(bytes.substr(0, count), Flush::kPiece);
  } else {
    SendPinned(bytes.substr(0, count), pin);
  }
  session_->Wake();
  if (tap_) {
    tap_->OnBody(bytes.substr(0, count));
  }
}

void Exchange::Write(FileSlice slice) {
  slice.length = Allow(slice.length);
  if (slice.length == 0) {
    return;
  }
  if (has_encoder_) {
    SendCoded(slice);
  } else {
    SendPiece(std::move(slice));
  }
  session_->Wake();
  if (tap_) {
    tap_->OnFile();
  }
}

// Returns how many of `bytes` may be sent: no more than was promised, or the client would take the
// rest for the next response.
auto Exchange::Allow(std::uint64_t bytes) noexcept -> std::uint64_t {
  if (reply_ != ReplyState::kBegun) {
    return 0;
  }
  if (has_length_) {
    bytes = std::min(bytes, promised_);
    promised_ -= bytes;
  }
  if (drops_output_) {
    return 0;
  }
  body_bytes_ += bytes;
  return bytes;
}

void Exchange::End() {
  if (reply_ != ReplyState::kBegun) {
    return;
  }
  if (promised_ != 0 && !drops_output_) {
    Log(LogLevel::kError, "a response ended " + std::to_string(promised_) + " bytes early");
    Abort(500, {});
    return;
  }
  if (!drops_output_) {
    if (has_encoder_) {
      SendCoded({}, Flush::kEnd);
    }
    SendEnd();
  }
  Move(ReplyState::kComplete);  // not before: if SendEnd() throws, the response must be aborted
  session_->Wake();
  if (tap_) {
    tap_->OnEnd();
  }
}

void Exchange::Abort(int status, std::string_view detail) {
  if (!Begun()) {
    try {
      Abort(ErrorResponse(status, detail));
      return;
    } catch (const std::bad_alloc&) {
      LogException("error page");
    }
  }
  if (!Replied()) {
    Move(ReplyState::kCut);
    Cut();
  }
}

void Exchange::Abort(const Response& page) {
  const std::optional<Response> formatted = Formatted(page);
  SendFiltered(formatted ? *formatted : page);
  if (tap_) {
    tap_->OnAbort(page.Status());
  }
}

void Exchange::AbortThrown() {
  try {
    throw;
  } catch (const HttpError& error) {
    if (!Begun()) {
      Abort(error.Status(), error.what());
      return;
    }
    LogException(request_.Title("request handler").data());
  } catch (...) {
    LogException(request_.Title("request handler").data());
  }
  Abort(500, {});
}

void Exchange::ReplyFrom(std::string target) {
  if (Begun()) {
    throw std::logic_error("ReplyFrom() after a response has begun");
  }
  new_target_ = std::move(target);
  // Runs later, since the caller may be the attached state itself. It is needed even if the session
  // is running: within Handle() that would wait for the client's next byte.
  GetLooper().Schedule(&GetConnection());
}

// Turns the request into that of ReplyFrom(). @return false if that is impossible.
auto Exchange::Redirect() -> bool {
  constexpr int kMaxRedirects = 5;  // of programs that point at each other
  on_body_ = nullptr;
  on_room_ = nullptr;
  body_held_ = false;
  end_told_ = false;
  prefix_bytes_ = 0;
  StopLateTimer();
  has_filter_ = false;
  has_decoder_ = false;
  rare_.reset();
  tap_.reset();
  state_.reset();
  user_.clear();
  if (++redirects_ > kMaxRedirects) {
    return false;
  }
  request_.Detach();
  RemoveOutdated(request_);
  target_text_ = std::exchange(new_target_, std::nullopt).value_or("");
  const bool head = request_.method == Method::kHead;
  request_.method = head ? Method::kHead : Method::kGet;
  request_.method_text = head ? "HEAD" : "GET";
  request_.target = target_text_;
  request_.framing = Framing();
  // A parsed head has no such characters, but this text has not been parsed.
  const bool is_text = std::none_of(target_text_.begin(), target_text_.end(),
                                    [](char c) { return ascii::IsControl(c) || c == ' '; });
  if (!is_text || request_.uri.Parse(target_text_, request_.method)) {
    return false;  // the editor still has the error page to see, and may need its context
  }
  editor_ = nullptr;
  context_.Clear();
  keeps_plain_ = false;
  return true;
}

auto Exchange::CanWrite() const noexcept -> bool { return !GetConnection().Paused(); }

// While coded bytes wait, the client isn't read, so they can't become more.
auto Exchange::WantsBody() const noexcept -> bool {
  return TakesBody() && !(has_decoder_ && HasUndecoded());
}

auto Exchange::TakesBody() const noexcept -> bool {
  return on_body_ && !body_held_ && !end_told_ && !new_target_ && !Replied();
}

auto Exchange::CanUpgrade(std::string_view /*protocol*/) const -> bool { return false; }

void Exchange::Upgrade(std::string_view protocol, const Response& /*fields*/,
                       const SessionMaker& /*next*/) {
  throw std::logic_error("upgrade to " + std::string(protocol) + ": the client can't have it");
}

auto Exchange::Id() const noexcept -> ExchangeId { return {GetConnection().Id(), number_}; }

auto Exchange::GetConnection() const noexcept -> Connection& { return session_->GetConnection(); }

auto Exchange::GetLooper() const noexcept -> Looper& { return session_->GetLooper(); }

void Exchange::Open(Session& session, std::uint32_t number) {
  session_ = &session;
  prefix_bytes_ = 0;
  number_ = number;
  reply_ = ReplyState::kNone;
  body_held_ = false;
  end_told_ = false;
  drops_output_ = false;
  has_length_ = false;
  has_encoder_ = false;
  has_decoder_ = false;
  keeps_plain_ = false;
  compression_ = nullptr;
  status_ = 0;
  body_bytes_ = 0;
  began_at_ = GetLooper().Now();
  promised_ = 0;
  new_target_.reset();
  redirects_ = 0;
  marks_.owner = nullptr;
  origin_.address.reset();
  origin_.is_secure.reset();
  user_.clear();
}

auto Exchange::RareParts() -> Rare& {
  if (!rare_) {
    rare_ = std::make_unique<Rare>();
  }
  return *rare_;
}

// The timer is destroyed before the exchange, so it may hold a pointer to it.
void Exchange::OnLate(Clock::duration limit, std::function<void()> callback) {
  StopLateTimer();
  RareParts().late_timer = GetLooper().RunAfter(limit, [this, callback = std::move(callback)] {
    rare_->late_timer.reset();
    const bool is_there = GetLooper().Find(GetConnection().Id()) != nullptr;
    if (Begun() || new_target_ || !is_there) {
      return;
    }
    try {
      callback();
    } catch (...) {
      AbortThrown();
    }
    if (rare_) {
      TellEnd();
    }
  });
}

void Exchange::StopLateTimer() noexcept {
  if (rare_ && rare_->late_timer) {
    GetLooper().Cancel(*rare_->late_timer);
    rare_->late_timer.reset();
  }
}

void Exchange::OnEnd(EndCallback callback) {
  RareParts().on_end.push_back(std::move(callback));
  session_->Wake();  // the client may be gone already
}

// Probes, since a client that closed only its sending side looks like one that is gone.
void Exchange::AskWhetherGone() {
  if (rare_ && !rare_->on_end.empty() && !rare_->probed && GetConnection().PeerFinished()) {
    rare_->probed = Probe();
  }
}

void Exchange::TellEnd() noexcept {
  for (const EndCallback& callback : std::exchange(rare_->on_end, {})) {
    try {
      callback(reply_);
    } catch (...) {
      LogException("OnEnd()");
    }
  }
}

void Exchange::CloseRareParts() noexcept {
  StopLateTimer();
  TellEnd();
  has_filter_ = false;
  has_encoder_ = false;
  has_decoder_ = false;
  rare_.reset();
}

void Exchange::Close() noexcept {
  if (rare_) {
    CloseRareParts();
  }
  on_body_ = nullptr;
  on_room_ = nullptr;
  tap_.reset();
  editor_ = nullptr;
  added_lines_ = {};
  state_.reset();
  context_.Clear();
  request_.Clear();
}

}  // namespace TURTLE_SERVER
