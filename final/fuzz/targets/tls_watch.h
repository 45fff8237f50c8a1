// The server's side of the target `tls`: a channel, and what must hold in each of its calls.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

#include "core/buffer.h"
#include "core/out_queue.h"
#include "targets/check.h"
#include "targets/tls_shared.h"
#include "tls/handshake_turns.h"
#include "tls/tls_channel.h"

namespace TURTLE_SERVER::fuzz {

/// A channel that is watched.
class TlsWatch {
 public:
  TlsWatch(HandshakeTurns& turns, ConnectionId id)
      : channel_(TlsShared::Get().Server(), turns, id, counts_,
                 [this](const char* /*reason*/) { ++reasons_; }) {}

  /// True if a connection would open bytes now.
  [[nodiscard]] auto MayOpen() const -> bool {
    return status_ == ChannelStatus::kOpen && !is_ended_ && channel_.Kept() != KeptInput::kWaits;
  }

  /// Opens bytes, in a block that ends with them.
  /// @param sent what the client has written, from its first byte
  /// @return the wire bytes for the client
  auto Open(std::string_view wire, std::string_view sent) -> std::string {
    const auto block = std::make_unique<char[]>(wire.size());
    wire.copy(block.get(), wire.size());
    const bool could_seal = channel_.CanSeal();
    Buffer plain;
    OutQueue reply;
    try {
      status_ = channel_.Open({block.get(), wire.size()}, plain, reply);
    } catch (const std::exception& error) {
      Fail(std::string("Open() throws ") + error.what());
    }
    if (sent.substr(std::min(opened_, sent.size()), plain.Size()) != plain.View()) {
      Fail("plain bytes that the client has not sent: " + std::string(plain.View()));
    }
    opened_ += plain.Size();
    replied_ += reply.Size();
    CheckState(could_seal, plain.Empty() && reply.Empty());
    return TakeAll(reply);
  }

  /// Seals bytes, and keeps them for a comparison. @return the wire bytes
  auto Seal(std::string_view plain) -> std::string {
    constexpr std::size_t kShortest = 512;  // plain bytes of a record, if the client wishes so
    constexpr std::size_t kAround = 64;     // with a message about new keys
    OutQueue wire;
    try {
      channel_.Seal(plain, wire);
    } catch (const std::exception& error) {
      Fail(std::string("Seal() throws ") + error.what());
    }
    if (wire.Size() > plain.size() + (plain.size() / kShortest + 2) * kAround) {
      Fail(std::to_string(plain.size()) + " bytes are sealed in " + std::to_string(wire.Size()));
    }
    sealed_ += plain;
    return TakeAll(wire);
  }

  /// True if there may be output now.
  [[nodiscard]] auto MaySeal() const -> bool {
    return channel_.CanSeal() && status_ != ChannelStatus::kBroken && !is_ended_;
  }

  /// Seals the end, unless it is sealed or the channel is broken. @return the wire bytes
  auto SealEnd() -> std::string {
    constexpr std::size_t kMost = 64;
    OutQueue wire;
    if (status_ != ChannelStatus::kBroken && !is_ended_) {
      is_ended_ = true;
      try {
        channel_.SealEnd(wire);
      } catch (const std::exception& error) {
        Fail(std::string("SealEnd() throws ") + error.what());
      }
      if (wire.Empty() == channel_.CanSeal() || wire.Size() > kMost) {
        Fail("the end takes " + std::to_string(wire.Size()) + " bytes");
      }
    }
    return TakeAll(wire);
  }

  [[nodiscard]] auto Get() const -> const TlsChannel& { return channel_; }
  [[nodiscard]] auto Status() const -> ChannelStatus { return status_; }
  [[nodiscard]] auto IsEnded() const -> bool { return is_ended_; }
  [[nodiscard]] auto Opened() const -> std::size_t { return opened_; }
  [[nodiscard]] auto Sealed() const -> const std::string& { return sealed_; }
  [[nodiscard]] auto IsResumed() const -> bool { return counts_.resumed != 0; }

 private:
  // The whole handshake with its tickets, then alerts and messages about keys.
  static constexpr std::size_t kMostReply = 8192;

  // After Open().
  void CheckState(bool could_seal, bool is_nothing) const {
    const bool can_seal = channel_.CanSeal();
    const bool is_broken = status_ == ChannelStatus::kBroken;
    const KeptInput kept = channel_.Kept();
    if (could_seal && !can_seal) {
      Fail("the handshake is complete no more");
    }
    if (!can_seal && (opened_ != 0 || status_ == ChannelStatus::kEnded)) {
      Fail("input before the end of the handshake");
    }
    if (kept == KeptInput::kReady || (kept == KeptInput::kWaits && (can_seal || !is_nothing))) {
      Fail("what is kept is opened");
    }
    if (kept == KeptInput::kWaits && status_ != ChannelStatus::kOpen) {
      Fail("a broken channel waits");
    }
    Same("complete handshakes", counts_.full + counts_.resumed, can_seal ? 1UL : 0UL);
    Same("failed handshakes", counts_.failed.load(), is_broken && !can_seal ? 1UL : 0UL);
    Same("reasons", reasons_, counts_.failed.load());
    if (replied_ > kMostReply + opened_ / TlsChannel::kBytesPerMessage * 64) {
      Fail("a flood of " + std::to_string(replied_) + " bytes");
    }
  }

  static auto TakeAll(OutQueue& queue) -> std::string {
    std::string bytes(queue.Size(), '\0');
    if (!bytes.empty()) {
      bytes.resize(queue.Copy(bytes.data(), bytes.size()).bytes);
      queue.Consume(bytes.size());
    }
    return bytes;
  }

  TlsCounts counts_;
  std::uint64_t reasons_ = 0;
  ChannelStatus status_ = ChannelStatus::kOpen;
  bool is_ended_ = false;    // its own direction
  std::size_t opened_ = 0;   // plain bytes
  std::size_t replied_ = 0;  // wire bytes
  std::string sealed_;       // plain bytes
  TlsChannel channel_;
};

}  // namespace TURTLE_SERVER::fuzz
