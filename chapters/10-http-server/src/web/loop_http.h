// The handlers, limits and observers that all HTTP sessions of one loop share.
//
// Because every loop has its own, nothing here needs a lock. A session of any protocol has its
// exchanges answered here. An exception of a handler costs its client the response, and no other
// client anything.
//
// Interface:
//  * Mount() puts a handler under a path, HandlerFor() finds the one for a path.
//  * Answer() has the responsible handler answer.
//  * Date() is the text of now, made once a second.
//
// Thread: the loop's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/looper.h"
#include "http/http_date.h"
#include "web/exchange.h"
#include "web/http_options.h"
#include "web/request_handler.h"

namespace TURTLE_SERVER {

/// One loop's share of an HttpServer.
class LoopHttp {
 public:
  /// @param looper the loop
  /// @param options limits and timeouts, copied
  LoopHttp(Looper& looper, const HttpOptions& options)
      : looper_(looper), options_(Bounded(options)) {
    looper.SetFlushRate({options_.min_send_rate, options_.write_timeout});  // of last words
  }

  /// Returns the loop.
  [[nodiscard]] auto GetLooper() const noexcept -> Looper& { return looper_; }

  /// Limits and timeouts.
  [[nodiscard]] auto Options() const noexcept -> const HttpOptions& { return options_; }

  /// Returns true once the server takes no new requests.
  [[nodiscard]] auto Ending() const noexcept -> bool { return looper_.Stopping(); }

  /// Answers the paths under `prefix` by `handler`.
  /// @param prefix "/" or a path such as "/cgi-bin", without a slash at its end
  /// @param handler not nullptr
  void Mount(std::string prefix, std::unique_ptr<RequestHandler> handler);

  /// A handler and where it is mounted.
  struct Match {
    RequestHandler* handler;   ///< nullptr: nobody is responsible
    std::size_t prefix_bytes;  ///< of the path, that named the handler
  };

  /// Returns the handler with the longest prefix of `path`, in whole segments: "/cgi-bin" is a
  /// prefix of "/cgi-bin/add", not of "/cgi-binary".
  [[nodiscard]] auto HandlerFor(std::string_view path) const noexcept -> Match;

  /// Returns the number of a new exchange.
  auto NextNumber() noexcept -> std::uint32_t { return ++last_number_; }

  /// Has the handler that is responsible answer `exchange`, now or later. A method that the server
  /// doesn't know is answered by 501, a path without a handler by 404.
  void Answer(Exchange& exchange);

  /// Now, as an HTTP date. Valid until the next call.
  [[nodiscard]] auto Date() -> std::string_view;

 private:
  struct Mounted {
    std::string prefix;  // "" for the root
    std::unique_ptr<RequestHandler> handler;
  };

  void FindHandler(Exchange& exchange);
  template <typename Callback>
  void Guard(Exchange& exchange, const Callback& callback);

  Looper& looper_;
  const HttpOptions options_;
  std::vector<Mounted> mounted_;  // longest prefix first
  std::uint32_t last_number_ = 0;
  CachedDate date_;
};

}  // namespace TURTLE_SERVER
