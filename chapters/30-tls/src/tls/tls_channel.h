// TLS between a connection and its socket.
//
// Until the handshake is complete, the connection has no input, and its output waits. The deadline
// of the handshake is that of a head (web/http_session.h).
//
// Our end is marked with close_notify, so the client never takes a cut stream for a complete one
// (RFC 8446, section 6.1). A client's FIN without that mark is an end as well, since many clients
// send none: a protocol whose messages end with the stream must tell their length.
//
// The client can read a record only when it is complete. So a response begins with short records,
// each of which fits into one TCP segment: the client sees the first bytes without waiting for the
// rest. The rest goes in long ones, which cost less.
//
// Thread: the loop's.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/channel.h"
#include "core/connection.h"
#include "tls/handshake_turns.h"
#include "tls/openssl.h"
#include "tls/tls_context.h"
#include "tls/tls_wire.h"

namespace TURTLE_SERVER {

/// The handshakes of a server, so far. Any thread.
struct TlsCounts {
  std::atomic<std::uint64_t> full{0};     ///< handshakes with a certificate
  std::atomic<std::uint64_t> resumed{0};  ///< handshakes with a ticket
  std::atomic<std::uint64_t> failed{0};   ///< handshakes that were refused, or never completed
};

/// The server's side of one TLS session.
class TlsChannel final : public Channel {
 public:
  /// The plain bytes of a short record: with TLS, TCP and IP around them, 1,500 bytes at most.
  static constexpr std::size_t kShortRecord = 1370;
  /// The plain bytes of a long record, RFC 8446, section 5.1.
  static constexpr std::size_t kLongRecord = std::size_t{16} * 1024;
  /// The plain bytes after some input that go in short records: TCP sends ten segments before the
  /// client has acknowledged any (RFC 6928).
  static constexpr std::size_t kShortBytes = 10 * kShortRecord;
  /// The messages of a handshake that a client may send after it, beyond one for each
  /// kBytesPerMessage that it sends. They ask for new keys or, in TLS 1.2, for another handshake,
  /// and each costs us more than it costs the client.
  static constexpr std::size_t kFreeMessages = 32;
  static constexpr std::size_t kBytesPerMessage = std::size_t{64} * 1024;  ///< See kFreeMessages.

  /// Called at most once, with the reason why the handshake has failed. Must not throw.
  using OnRefused = std::function<void(const char* reason)>;

  /// Throws std::bad_alloc.
  /// @param context of the session
  /// @param turns of the loop; they outlive the connection
  /// @param id the connection, whose handshake may have to wait
  /// @param counts outlive the connection
  /// @param on_refused may be empty
  TlsChannel(std::shared_ptr<const TlsContext> context, HandshakeTurns& turns, ConnectionId id,
             TlsCounts& counts, OnRefused on_refused = {});

  /// Counts a handshake that has begun and was never completed.
  ~TlsChannel() override;
  TlsChannel(const TlsChannel&) = delete;
  auto operator=(const TlsChannel&) -> TlsChannel& = delete;

  auto Open(std::string_view wire, Buffer& plain, OutQueue& reply) -> ChannelStatus override;
  [[nodiscard]] auto Kept() const noexcept -> KeptInput override;
  [[nodiscard]] auto CanSeal() const noexcept -> bool override;
  void Seal(std::string_view plain, OutQueue& wire) override;
  void SealEnd(OutQueue& wire) override;
  [[nodiscard]] auto IsSecure() const noexcept -> bool override { return true; }
  [[nodiscard]] auto PeerSubject() const noexcept -> std::string_view override { return subject_; }
  [[nodiscard]] auto Protocol() const noexcept -> std::string_view override;

 private:
  static void OnMessage(int is_ours, int version, int type, const void* bytes, std::size_t size,
                        SSL* session, void* channel) noexcept;
  auto HasTurn(std::string_view wire) -> bool;
  auto GoOn(Buffer& plain) -> ChannelStatus;
  auto Shake() -> ChannelStatus;
  auto Fail() -> ChannelStatus;
  auto ReadRecords(Buffer& plain) -> ChannelStatus;
  [[nodiscard]] auto AsksTooMuch() const noexcept -> bool {
    return messages_ > kFreeMessages + opened_ / kBytesPerMessage;
  }
  [[nodiscard]] auto RecordSize() const noexcept -> std::size_t;

  std::shared_ptr<const TlsContext> context_;  // shared with the server, which may replace its own
  HandshakeTurns& turns_;
  TlsCounts& counts_;
  const OnRefused on_refused_;
  TlsWire wire_;
  SslPtr session_;
  const ConnectionId id_;
  std::string subject_;         // of the client's certificate
  std::string kept_;            // arrived before its turn
  bool awaits_ = false;         // its turn
  bool has_turn_ = false;       // the turn that it last asked for has come
  bool has_begun_ = false;      // the client has sent a byte
  bool is_open_ = false;        // the handshake is complete
  bool has_failed_ = false;     // it was refused
  std::size_t sealed_ = 0;      // plain bytes since the last input
  std::uint64_t opened_ = 0;    // plain bytes
  std::uint64_t messages_ = 0;  // of a handshake, after ours
};

}  // namespace TURTLE_SERVER
