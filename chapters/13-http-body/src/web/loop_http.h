// The handlers, limits and observers that all HTTP sessions of one loop share.
//
// Every loop has its own, so nothing here needs a lock. Sessions of every protocol have their
// exchanges handled here. An exception of a handler costs its client the response, and no other
// client anything.
//
// Interface:
//  * Mount() puts a handler under a path; HandlerFor() finds the one for a path.
//  * Answer() calls the handler that is responsible for a request.
//  * BringBody(), RefuseBody() and GoOn() call the handler again while its exchange is open.
//  * Date() returns the current date as text, made once a second.
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

/// One loop's part of an HttpServer.
class LoopHttp {
 public:
  /// @param looper the loop
  /// @param options limits and timeouts, copied
  LoopHttp(Looper& looper, const HttpOptions& options)
      : looper_(looper), options_(Bounded(options)) {
    looper.SetFlushRate({options_.min_send_rate, options_.write_timeout});  // for final responses
  }

  /// Returns the loop.
  [[nodiscard]] auto GetLooper() const noexcept -> Looper& { return looper_; }

  /// Returns the limits and timeouts.
  [[nodiscard]] auto Options() const noexcept -> const HttpOptions& { return options_; }

  /// Returns true once the server takes no new requests.
  [[nodiscard]] auto Ending() const noexcept -> bool { return looper_.Stopping(); }

  /// Handles the paths under `prefix` with `handler`.
  /// @param prefix "/" or a path such as "/cgi-bin", without a slash at its end
  /// @param handler not nullptr
  void Mount(std::string prefix, std::unique_ptr<RequestHandler> handler);

  /// A handler and the length of its prefix.
  struct Match {
    RequestHandler* handler;   ///< nullptr: no handler is responsible
    std::size_t prefix_bytes;  ///< length of the prefix that selected the handler
  };

  /// Returns the handler with the longest prefix of `path`, in whole segments: "/cgi-bin" is a
  /// prefix of "/cgi-bin/add", not of "/cgi-binary".
  [[nodiscard]] auto HandlerFor(std::string_view path) const noexcept -> Match;

  /// Returns the number of a new exchange.
  auto NextNumber() noexcept -> std::uint32_t { return ++last_number_; }

  /// Calls the handler that is responsible for `exchange`; it responds now or later. An unknown
  /// method gives a 501, an expectation a 417, a body that is too long a 413, a path without a
  /// handler a 404.
  void Answer(Exchange& exchange);

  /// Gives the handler a piece of the body that it waits for.
  /// @param exchange of the body
  /// @param piece valid during the call
  /// @param last true if the body is complete
  void BringBody(Exchange& exchange, std::string_view piece, bool last);

  /// Responds in place of the handler, which can't get the body.
  /// @param exchange of the body
  /// @param status of the error page
  /// @param reason for its text
  void RefuseBody(Exchange& exchange, int status, const std::string& reason);

  /// Informs the handler of `exchange`, which is open, that there is room for output.
  void GoOn(Exchange& exchange);

  /// Returns the current time as an HTTP date. Valid until the next call.
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
