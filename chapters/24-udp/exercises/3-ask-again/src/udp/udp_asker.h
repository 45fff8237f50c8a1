// Questions to a server, and their responses, where datagrams may be lost, come twice or come late.
//
//   UdpAsker asker(looper, NetAddress("192.0.2.1", 20080));
//   asker.Ask("time?", [](std::optional<std::string_view> answer) { … });
//
// A question is a datagram of eight bytes, its number, and the text; its response is one of the
// same eight bytes and another text. A question without a response is sent again, by the same
// number, after a wait that doubles each time.
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

/// How patient a UdpAsker is.
struct AskOptions {
  std::chrono::milliseconds wait{1000};  ///< for a response, after a question was sent first
  int sendings = 4;                      ///< how often a question is sent, at most; at least 1
  std::size_t max_open = 64;             ///< questions that wait for a response, at most
};

/// Called once, with the text of the response, or with nullopt when none has come. The text is
/// valid until the callback returns. It may Ask(); the asker does not go within it. An exception
/// from it is logged.
using AnswerCallback = std::function<void(std::optional<std::string_view>)>;

/// A client of one server.
class UdpAsker {
 public:
  /// Throws std::system_error if there is no socket.
  /// @param looper outlives the asker
  UdpAsker(Looper& looper, const NetAddress& server, const AskOptions& options = {});

  UdpAsker(const UdpAsker&) = delete;
  auto operator=(const UdpAsker&) -> UdpAsker& = delete;

  /// Open questions are forgotten: their callbacks are not called.
  ~UdpAsker();

  /// Asks. @param question may be empty
  /// @return false: so many are open already, or it is longer than a datagram can be. Then nothing
  ///     is sent, and the callback is not called.
  [[nodiscard]] auto Ask(std::string_view question, AnswerCallback callback) -> bool;

  /// How many questions wait for their responses.
  [[nodiscard]] auto Open() const noexcept -> std::size_t;
};

}  // namespace TURTLE_SERVER
