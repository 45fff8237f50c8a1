#include "web/exchange.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/looper.h"
#include "log/log.h"
#include "web/session.h"

namespace TURTLE_SERVER {

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
}

void Exchange::RefuseReply(int status) const {
  if (Begun()) {
    throw std::logic_error("a handler has replied twice to one request");
  }
  throw std::invalid_argument("reply with status " + std::to_string(status) + ": not a final one");
}

void Exchange::Reply(const Response& response) {
  Begin(response.Status());
  SendWhole(response);
  Move(ReplyState::kComplete);
  session_->Wake();
}

void Exchange::OnBody(BodyCallback callback) {
  on_body_ = std::move(callback);
  session_->Wake();
}

void Exchange::HoldBody(bool hold) {
  body_held_ = hold;
  session_->Wake();  // in both cases: there may be a piece to deliver, or a deadline to stop
}

void Exchange::BeginReply(const Response& head, std::optional<std::uint64_t> length) {
  Begin(head.Status());
  if (head.Status() == 205) {
    length = 0;  // it has no content, and says so (RFC 9110, section 15.3.6)
  }
  drops_output_ = request_.method == Method::kHead || !head.HasBody();
  has_length_ = length.has_value();
  promised_ = length.value_or(0);
  SendHead(head, length);
  session_->Wake();
}

void Exchange::Write(std::string_view bytes) {
  const std::uint64_t count = Allow(bytes.size());
  if (count == 0) {
    return;
  }
  SendPiece(bytes.substr(0, count));
  session_->Wake();
}

void Exchange::Write(FileSlice slice) {
  slice.length = Allow(slice.length);
  if (slice.length == 0) {
    return;
  }
  SendPiece(std::move(slice));
  session_->Wake();
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
  return drops_output_ ? 0 : bytes;
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
    SendEnd();
  }
  Move(ReplyState::kComplete);  // not before: if SendEnd() throws, the response must be aborted
  session_->Wake();
}

void Exchange::Abort(int status, std::string_view detail) {
  if (!Begun()) {
    try {
      Reply(ErrorResponse(status, detail));
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

void Exchange::AbortThrown() {
  LogException(request_.Title("request handler").data());
  Abort(500, {});
}

auto Exchange::CanWrite() const noexcept -> bool { return !GetConnection().Paused(); }

auto Exchange::WantsBody() const noexcept -> bool {
  return on_body_ && !body_held_ && !end_told_ && !Replied();
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
  promised_ = 0;
}

void Exchange::Close() noexcept {
  on_body_ = nullptr;
  on_room_ = nullptr;
  state_.reset();
  request_.Clear();
}

}  // namespace TURTLE_SERVER
