// One client's side of HTTP: its requests, and the responses to them.
//
// Interface:
//  * Open() begins with a new connection; Ask() notes that requests were sent.
//  * Take() judges the received bytes, End() the end of the connection, and TimeOut() a delay. They
//    count their findings; the caller only learns how to continue.
//
// It has no socket: a test can be the server, byte by byte.
//
// Thread: the loop's.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "bench/frame_reader.h"
#include "bench/histogram.h"
#include "bench/reply_reference.h"
#include "bench/response_reader.h"
#include "bench/tally.h"

namespace TURTLE_SERVER {

/// The choices of a TLS handshake.
struct TlsNames {
  const char* version = "";  ///< such as "TLSv1.3"; OpenSSL's
  const char* cipher = "";   ///< such as "TLS_AES_256_GCM_SHA384"; OpenSSL's
};

/// The measurements of one worker.
struct Measurements {
  Tally tally;         ///< the part that any thread may read
  Histogram latency;   ///< of the good replies, in nanoseconds; see Clients::CountWaits()
  MeanMax connect;     ///< from connect(2) until the connection is established
  MeanMax handshake;   ///< from then until TLS is established
  MeanMax first_byte;  ///< from sending a request until the first byte of its response
  TlsNames tls{};      ///< of the last handshake
};

/// How a connection has ended.
enum class LineEnd : std::uint8_t {
  kEnd,    ///< by the server
  kCut,    ///< without the end that TLS has: bytes may be missing
  kBroken  ///< by a reset or another error
};

/// How a client continues.
enum class Outcome : std::uint8_t {
  kWait,    ///< more has to come
  kAnswer,  ///< every request has its response, and the connection can take the next
  kLast,    ///< likewise, as far as possible: the server is about to close
  kClosed,  ///< as kLast, and the connection has ended
  kFail,    ///< the connection is unusable; the error has been counted
};

/// The state that the sessions of one worker share.
struct SessionContext {
  HeadMemo memo{};                   ///< the last head
  ReplyCheck* check = nullptr;       ///< nullptr: bodies may differ
  bool one_request = false;          ///< each connection is for one request
  bool websocket = false;            ///< a handshake, then messages
  bool counts_handshake = false;     ///< it is all that a held connection does
  Measurements* measured = nullptr;  ///< where to count; never nullptr
};

/// The requests and replies of one client.
class ClientSession {
 public:
  /// @param context outlives the session
  explicit ClientSession(SessionContext& context) noexcept
      : context_(&context), reader_(context.memo) {}

  /// Begins again, on a new connection.
  void Open() noexcept;

  /// Notes requests that are being sent.
  /// @param requests how many
  /// @param due start of their latency
  /// @param now when they were sent
  void Ask(std::uint32_t requests, TimePoint due, TimePoint now) noexcept;

  /// Takes received bytes. Throws std::bad_alloc.
  /// @param input all of it is used up
  /// @param now when it came
  [[nodiscard]] auto Take(std::string_view input, TimePoint now) -> Outcome;

  /// Handles the end of the connection. Throws std::bad_alloc.
  /// @param end how it has ended
  /// @param now when it ended
  /// @return kClosed or kFail
  [[nodiscard]] auto End(LineEnd end, TimePoint now) -> Outcome;

  /// Handles a timeout: counts the error.
  void TimeOut() noexcept { Fail(ErrorKind::kTimeout); }

  /// Counts how long the requests without a response have waited so far, as their latency.
  void CountWait(TimePoint now) noexcept {
    context_->measured->latency.Record(now - due_, pending_);
  }

  /// Returns how many requests have no response.
  [[nodiscard]] auto Pending() const noexcept -> std::uint32_t { return pending_; }

  /// Returns true in the middle of a response, or while the end of the connection is awaited.
  [[nodiscard]] auto ExpectsMore() const noexcept -> bool { return last_ || reader_.Begun(); }

 private:
  auto Read(std::string_view input) -> ReadResult {
    return context_->websocket ? frames_.Read(input) : reader_.Read(input);
  }
  void FinishMessage(TimePoint now);
  void Finish(TimePoint now);
  auto Fail(ErrorKind kind) noexcept -> Outcome;

  SessionContext* context_;
  ResponseReader reader_;
  FrameReader frames_;
  TimePoint due_{};
  TimePoint sent_{};
  std::uint32_t pending_ = 0;
  bool answered_ = false;  // a byte of the response to the last Ask() has come
  bool last_ = false;      // only the end may follow
};

}  // namespace TURTLE_SERVER
