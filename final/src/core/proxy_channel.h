// The channel of a connection that comes through a proxy: it takes the PROXY header off.
//
// Until the header is complete the connection has no input, and none of its output leaves. A stream
// that does not begin with one breaks the connection, and nothing is sent: a proxy that is trusted
// always sends it. The bytes that follow may be encrypted: another channel opens and seals them.
//
// Thread: the loop's.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/buffer.h"
#include "core/channel.h"
#include "core/net_address.h"
#include "core/out_queue.h"

namespace TURTLE_SERVER {

/// Reads the header, then passes all bytes. A file is then copied, not sent by sendfile(2).
class ProxyChannel final : public Channel {
 public:
  /// Called at most once, with the reason why the header is refused. Must not throw.
  using OnRefused = std::function<void(const char* reason)>;

  /// @param inner the channel of the bytes that follow the header; nullptr: they are plain
  /// @param on_refused may be empty
  explicit ProxyChannel(std::unique_ptr<Channel> inner = nullptr, OnRefused on_refused = {});

  auto Open(std::string_view wire, Buffer& plain, OutQueue& reply) -> ChannelStatus override;
  [[nodiscard]] auto Kept() const noexcept -> KeptInput override;
  [[nodiscard]] auto CanSeal() const noexcept -> bool override;
  void Seal(std::string_view plain, OutQueue& wire) override;
  void SealEnd(OutQueue& wire) override;
  [[nodiscard]] auto IsSecure() const noexcept -> bool override;
  [[nodiscard]] auto PeerSubject() const noexcept -> std::string_view override;
  [[nodiscard]] auto Protocol() const noexcept -> std::string_view override;

  /// Returns the client's address, once the header has named one.
  [[nodiscard]] auto PeerAddress() const noexcept -> const NetAddress* override;

 private:
  auto OpenInner(std::string_view wire, Buffer& plain, OutQueue& reply) -> ChannelStatus;

  std::unique_ptr<Channel> inner_;
  OnRefused on_refused_;
  bool is_open_ = false;  // the header is complete
  std::string header_;    // the bytes so far
  NetAddress source_;
};

}  // namespace TURTLE_SERVER
