// Requests to a server, and their responses, although datagrams may be lost, duplicated or late.
//
//   UdpAsker asker(looper, NetAddress("192.0.2.1", 20080));
//   asker.Ask("time?", [](std::optional<std::string_view> answer) { … });
//
// A request is a datagram of eight bytes, its number, and the text; its response is one of the same
// eight bytes and another text. A request without a response is sent again, with the same number,
// after a wait that doubles each time.
//
// Thread: the loop's.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

#include "core/looper.h"
#include "core/net_address.h"

namespace TURTLE_SERVER {

/// The patience of a UdpAsker.
struct AskOptions {
  std::chrono::milliseconds wait{1000};  ///< for a response, after the first sending
  int sendings = 4;                      ///< how often a request is sent at most; at least 1
  std::size_t max_open = 64;             ///< the most requests that wait for a response
};

/// Called once, with the text of the response, or with nullopt if none has arrived. The text is
/// valid until the callback returns. It may call Ask(), but must not destroy the asker. Its
/// exceptions are logged.
using AnswerCallback = std::function<void(std::optional<std::string_view>)>;

/// A client of one server.
class UdpAsker {
 public:
  /// Throws std::system_error if there is no socket.
  /// @param looper outlives the asker
  UdpAsker(Looper& looper, const NetAddress& server, const AskOptions& options = {});

  UdpAsker(const UdpAsker&) = delete;
  auto operator=(const UdpAsker&) -> UdpAsker& = delete;

  /// Forgets open requests: their callbacks are not called.
  ~UdpAsker();

  /// Sends a request. @param question may be empty
  /// @return false if too many are open already, or if it is longer than a datagram can be. Then
  ///     nothing is sent, and the callback is not called.
  [[nodiscard]] auto Ask(std::string_view question, AnswerCallback callback) -> bool;

  /// Returns how many requests wait for their responses.
  [[nodiscard]] auto Open() const noexcept -> std::size_t;
};

}  // namespace TURTLE_SERVER
