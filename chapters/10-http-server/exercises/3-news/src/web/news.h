// News for those who wait for them: a request that is answered when there is something to say
// ("long polling").
//
//   GET /?after=7
//
// Interface:
//  * News::Publish() tells everybody, on whichever loop.
//  * NewsHandler answers with all that is newer than what the client knows, at once or as soon as
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
  /// So many are kept; older ones are forgotten.
  static constexpr std::size_t kKept = 1000;

  /// Adds one and tells those who wait. Throws std::invalid_argument, and adds nothing, when `text`
  /// has a control character.
  void Publish(std::string_view text);
};

/// Tells news on one loop.
class NewsHandler : public RequestHandler {
 public:
  /// @param looper the loop
  /// @param news what is told
  /// @param patience who has waited for so long gets 204, and asks again
  NewsHandler(Looper& looper, News& news, std::chrono::milliseconds patience);
  ~NewsHandler() override;

  NewsHandler(const NewsHandler&) = delete;
  auto operator=(const NewsHandler&) -> NewsHandler& = delete;

  void Handle(Exchange& exchange) override;

  /// How many exchanges wait.
  [[nodiscard]] auto Waiting() const -> std::size_t;
};

}  // namespace TURTLE_SERVER
