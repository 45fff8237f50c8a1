// Sends news to waiting clients: a request gets its response when there is something to report
// ("long polling").
//
//   GET /?after=7
//
// Interface:
//  * News::Publish() informs the waiting clients of all loops.
//  * NewsHandler responds with everything newer than what the client knows, at once or as soon as
//    there is something.
//
// Thread: News: any. NewsHandler: the loop's; it is made and destroyed while the loop doesn't run,
// or on its thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

#include "web/request_handler.h"

namespace TURTLE_SERVER {

/// The published news, numbered from 1 on. It outlives the handlers that serve it.
class News {
 public:
  /// How many are kept; older ones are forgotten.
  static constexpr std::size_t kKept = 1000;

  /// Adds one and informs waiting clients. Throws std::invalid_argument, and adds nothing, if
  /// `text` has a control character.
  void Publish(std::string_view text);
};

/// Sends news on one loop.
class NewsHandler : public RequestHandler {
 public:
  /// @param looper the loop
  /// @param news to be sent
  /// @param patience a client that has waited for so long gets a 204, and asks again
  NewsHandler(Looper& looper, News& news, std::chrono::milliseconds patience);
  ~NewsHandler() override;

  NewsHandler(const NewsHandler&) = delete;
  auto operator=(const NewsHandler&) -> NewsHandler& = delete;

  void Handle(Exchange& exchange) override;

  /// Returns how many exchanges wait.
  [[nodiscard]] auto Waiting() const -> std::size_t;
};

}  // namespace TURTLE_SERVER
