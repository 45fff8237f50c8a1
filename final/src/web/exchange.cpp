#include "web/exchange.h"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "core/looper.h"
#include "http/chunked.h"
#include "log/log.h"
#include "web/http_session.h"

namespace TURTLE_SERVER {

namespace {

// Removes what a request said of its body, which has been read, and, unless it only asked for
// something, of the state and the parts that it wanted: that was about the first target.
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

}  // namespace

void Exchange::Begin(int status) {
  if (begun_) {
    throw std::logic_error("a handler has replied twice to one request");
  }
  begun_ = true;
  status_ = status;
}

void Exchange::Reply(const Response& response) {
  Send(response);
  if (tap_) {
    TellTap(response);
  }
}

void Exchange::Send(const Response& whole) {
  Begin(whole.Status());
  session_->SendReply(*this, whole);
  replied_ = true;
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
  Begin(reply.status == ReadyStatus::kOk ? 200 : 304);
  session_->SendReply(*this, reply);
  replied_ = true;
}

void Exchange::Reply(int status, std::string_view start, const ReadyReply& reply) {
  Begin(status);
  session_->SendReply(*this, start, reply);
  replied_ = true;
}

void Exchange::OnBody(BodyCallback callback) {
  on_body_ = std::move(callback);
  session_->Wake();
}

void Exchange::HoldBody(bool hold) {
  body_held_ = hold;
  if (!hold) {
    session_->Wake();
  }
}

void Exchange::BeginReply(const Response& head, std::optional<std::uint64_t> length) {
  Begin(head.Status());
  if (head.Status() == 205) {
    length = 0;  // it has no content, and says so (RFC 9110, section 15.3.6)
  }
  drops_output_ = request_.method == Method::kHead || !head.HasBody();
  body_end_ = length                       ? BodyEnd::kLength
              : request_.minor_version > 0 ? BodyEnd::kChunked
                                           : BodyEnd::kClose;
  promised_ = length.value_or(0);
  session_->SendHead(*this, head, body_end_, promised_);
  session_->Wake();
  if (tap_) {
    tap_->OnHead(head);
  }
}

void Exchange::Write(std::string_view bytes) {
  const std::uint64_t count = Allow(bytes.size());
  if (count == 0) {
    return;  // an empty chunk would end the body
  }
  Connection& connection = GetConnection();
  if (body_end_ == BodyEnd::kChunked) {
    connection.WriteToWriteBuffer(ChunkHead(count).View());
  }
  connection.WriteToWriteBuffer(bytes.substr(0, count));
  if (body_end_ == BodyEnd::kChunked) {
    connection.WriteToWriteBuffer(kChunkEnd);
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
  Connection& connection = GetConnection();
  if (body_end_ == BodyEnd::kChunked) {
    connection.WriteToWriteBuffer(ChunkHead(slice.length).View());
  }
  connection.WriteFile(std::move(slice));
  if (body_end_ == BodyEnd::kChunked) {
    connection.WriteToWriteBuffer(kChunkEnd);
  }
  session_->Wake();
  if (tap_) {
    tap_->OnFile();
  }
}

// How many of `bytes` are sent: no more than was promised, or the client would take the rest for
// the next reply.
auto Exchange::Allow(std::uint64_t bytes) noexcept -> std::uint64_t {
  if (!begun_ || replied_) {
    return 0;
  }
  if (body_end_ == BodyEnd::kLength) {
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
  if (!begun_ || replied_) {
    return;
  }
  if (promised_ != 0 && !drops_output_) {
    Log(LogLevel::kError, "a reply ended " + std::to_string(promised_) + " bytes early");
    Abort(500, {});
    return;
  }
  if (body_end_ == BodyEnd::kChunked && !drops_output_) {
    GetConnection().WriteToWriteBuffer(kLastChunk);
  }
  replied_ = true;  // not before: without memory for the last chunk the reply is to be aborted
  session_->Wake();
  if (tap_) {
    tap_->OnEnd();
  }
}

void Exchange::Abort(int status, std::string_view detail) {
  if (!begun_) {
    try {
      Send(ErrorResponse(status, detail));
      if (tap_) {
        tap_->OnAbort(status);
      }
      return;
    } catch (const std::bad_alloc&) {
      LogException("error page");
      begun_ = true;
    }
  }
  if (!replied_) {
    replied_ = true;
    cut_ = true;
    session_->Cut(body_end_);
  }
}

void Exchange::ReplyFrom(std::string target) {
  if (begun_) {
    throw std::logic_error("ReplyFrom() after a reply has begun");
  }
  new_target_ = std::move(target);
  // Later, since the caller may be what is attached here; and also if the session is running now,
  // for within Handle() it would wait for the client's next byte.
  GetLooper().Schedule(&GetConnection());
}

// Turns the request into the one that ReplyFrom() wants. @return false: it can't be.
auto Exchange::Redirect() -> bool {
  constexpr int kMaxRedirects = 5;  // of programs that point at each other
  on_body_ = nullptr;
  on_room_ = nullptr;
  end_told_ = false;
  tap_.reset();
  state_.reset();
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
  // A head that is parsed has no such characters, and this text has not been parsed.
  const bool is_text = std::none_of(target_text_.begin(), target_text_.end(),
                                    [](char c) { return ascii::IsControl(c) || c == ' '; });
  return is_text && !request_.uri.Parse(target_text_, request_.method);
}

auto Exchange::CanWrite() const noexcept -> bool { return !GetConnection().Paused(); }

// A body that its handler has asked for, or one that is only in the way.
auto Exchange::WantsBody() const noexcept -> bool {
  return replied_ ? !body_done_ : on_body_ && !body_held_ && !end_told_;
}

auto Exchange::Id() const noexcept -> ExchangeId { return session_->CurrentId(); }

auto Exchange::GetConnection() const noexcept -> Connection& { return session_->GetConnection(); }

auto Exchange::GetLooper() const noexcept -> Looper& { return *GetConnection().GetLooper(); }

void Exchange::Open(HttpSession& session) {
  session_ = &session;
  prefix_bytes_ = 0;
  began_at_ = session.GetConnection().GetLooper()->Now();
  body_bytes_ = 0;
  status_ = 0;
  cut_ = false;
  begun_ = false;
  replied_ = false;
  body_held_ = false;
  body_done_ = true;
  end_told_ = false;
  continue_due_ = false;
  drops_output_ = false;
  body_end_ = BodyEnd::kLength;
  promised_ = 0;
  body_dropped_ = 0;
  body_deadline_ = TimePoint::max();
  new_target_.reset();
  redirects_ = 0;
}

void Exchange::Close() noexcept {
  on_body_ = nullptr;
  on_room_ = nullptr;
  tap_.reset();
  state_.reset();
  body_.reset();
  request_.Clear();
}

}  // namespace TURTLE_SERVER
