#include "bench/client_session.h"

namespace TURTLE_SERVER {

void ClientSession::Open() noexcept {
  reader_.Next();
  if (context_->websocket) {
    frames_.Open();
  }
  pending_ = 0;
  last_ = false;
}

void ClientSession::Ask(std::uint32_t requests, TimePoint due, TimePoint now) noexcept {
  pending_ = requests;
  due_ = due;
  sent_ = now;
  answered_ = false;
}

auto ClientSession::Take(std::string_view input, TimePoint now) -> Outcome {
  context_->measured->tally.bytes.Add(input.size());
  if (pending_ != 0 && !answered_ && !input.empty()) {
    answered_ = true;
    context_->measured->first_byte.Add(now - sent_);
  }
  while (!input.empty()) {
    if (pending_ == 0) {
      return Fail(ErrorKind::kProtocol);  // without a request
    }
    const ReadResult result = Read(input);
    if (result.state == ReplyState::kBad) {
      return Fail(ErrorKind::kProtocol);
    }
    input.remove_prefix(result.used);
    if (result.state == ReplyState::kDone) {
      Finish(now);
    }
  }
  if (pending_ != 0) {
    return Outcome::kWait;
  }
  return last_ ? Outcome::kLast : Outcome::kAnswer;
}

auto ClientSession::End(LineEnd end, TimePoint now) -> Outcome {
  if (pending_ == 0) {
    return Outcome::kClosed;  // whatever its end was like, everything was answered
  }
  const ReplyState state = context_->websocket ? ReplyState::kMore : reader_.End();
  if (end == LineEnd::kBroken || state == ReplyState::kMore) {
    return Fail(ErrorKind::kReset);
  }
  if (end == LineEnd::kCut || state == ReplyState::kBad) {
    return Fail(ErrorKind::kTruncated);
  }
  Finish(now);
  return Outcome::kClosed;
}

// A response is complete.
void ClientSession::Finish(TimePoint now) {
  if (context_->websocket) {
    FinishMessage(now);
    return;
  }
  Measurements& measured = *context_->measured;
  const ResponseHead& head = reader_.Head();
  if (head.status < 200 || head.status > 299) {
    measured.tally.Fail(ErrorKind::kStatus);
  } else if (context_->check != nullptr &&
             !context_->check->Matches({head.status, reader_.BodySize(), reader_.BodyValue()})) {
    measured.tally.Fail(ErrorKind::kMismatch);
  } else {
    ++measured.tally.requests;
    measured.latency.Record(now - due_);
  }
  --pending_;
  if (context_->one_request || !head.keep_alive) {
    last_ = true;
    pending_ = 0;  // requests pipelined after it will not be answered, and may be sent again
  }
  reader_.Next();
}

// The handshake or a message is complete.
void ClientSession::FinishMessage(TimePoint now) {
  Measurements& measured = *context_->measured;
  const bool counts = !frames_.IsHandshake() || context_->counts_handshake;
  if (!frames_.IsHandshake() && context_->check != nullptr &&
      !context_->check->Matches({101, frames_.Size(), frames_.Value()})) {
    measured.tally.Fail(ErrorKind::kMismatch);
  } else if (counts) {
    ++measured.tally.requests;
    measured.latency.Record(now - due_);
  }
  --pending_;
  frames_.Next();
}

auto ClientSession::Fail(ErrorKind kind) noexcept -> Outcome {
  context_->measured->tally.Fail(kind);
  pending_ = 0;
  return Outcome::kFail;
}

}  // namespace TURTLE_SERVER
