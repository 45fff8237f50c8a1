// The handlers, limits and observers that all HTTP sessions of one loop share.
//
// Every loop has its own, so nothing here needs a lock. Sessions of every protocol have their
// exchanges handled here. An exception of a handler costs its client the response, and no other
// client anything.
//
// Interface:
//  * Observe() adds an observer of all requests.
//  * SetRoutes() sets routes that are tried before the mounts.
//  * SetErrorFormats() sets the format of error responses.
//  * Mount() puts a handler under a path; HandlerFor() finds the one for a path.
//  * Answer() calls the handler that is responsible for a request.
//  * BringBody(), RefuseBody() and GoOn() call the handler again while its exchange is open.
//  * TellBegin() and TellEnd() inform the observers.
//  * DrainWith() sets the flag that makes each response the last of its connection.
//  * Date() returns the current date as text, made once a second.
//
// Thread: the loop's.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/looper.h"
#include "http/http_date.h"
#include "web/connection_ends.h"
#include "web/error_formats.h"
#include "web/exchange.h"
#include "web/exchange_observer.h"
#include "web/http_options.h"
#include "web/prefix_map.h"
#include "web/request_handler.h"
#include "web/route_handler.h"

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

  /// Sets new limits and timeouts, also for pending requests. The compression stays: responses
  /// under way use it.
  void SetOptions(const HttpOptions& options) noexcept {
    std::shared_ptr<const Compression> compression = std::move(options_.compression);
    options_ = Bounded(options);
    options_.compression = std::move(compression);
    looper_.SetFlushRate({options_.min_send_rate, options_.write_timeout});
  }

  /// While `draining` is true, each response announces that it is the last of its connection,
  /// unless the client has already sent more.
  /// @param draining outlives this object; written once, so no loop waits for another
  void DrainWith(const std::atomic<bool>& draining) noexcept { draining_ = &draining; }

  /// Returns true if a response is the last of its connection.
  [[nodiscard]] auto Draining() const noexcept -> bool {
    return draining_->load(std::memory_order_relaxed);
  }

  /// Returns true once the server takes no new requests.
  [[nodiscard]] auto Ending() const noexcept -> bool { return Draining() || looper_.Stopping(); }

  /// Sets `routes`, which are tried first.
  void SetRoutes(std::unique_ptr<RouteHandler> routes) { routes_ = std::move(routes); }

  /// Handles the paths under `prefix` with `handler`.
  /// @param prefix "/" or a path such as "/cgi-bin", without a slash at its end
  /// @param handler not nullptr
  void Mount(std::string prefix, std::unique_ptr<RequestHandler> handler) {
    mounted_.Add(std::move(prefix), std::move(handler));
  }

  /// Gives error pages the format of their path.
  /// @param formats outlive this object
  void SetErrorFormats(const ErrorFormats& formats) noexcept {
    error_formats_ = formats.Empty() ? nullptr : &formats;
  }

  /// Formats a response to malformed input for the path that it seems to be for.
  /// @param head as received, or the beginning of one
  /// @param page an error page
  [[nodiscard]] auto Formatted(std::string_view head, const Response& page) const -> Response;

  /// A handler and the length of its prefix.
  struct Match {
    RequestHandler* handler;   ///< nullptr: no handler is responsible
    std::size_t prefix_bytes;  ///< length of the prefix that selected the handler
  };

  /// Returns the handler with the longest prefix of `path`, in whole segments: "/cgi-bin" is a
  /// prefix of "/cgi-bin/add", not of "/cgi-binary".
  [[nodiscard]] auto HandlerFor(std::string_view path) const noexcept -> Match;

  /// Shows each request to `observer`, which is not nullptr.
  void Observe(std::unique_ptr<ExchangeObserver> observer) {
    observers_.push_back(std::move(observer));
  }

  /// Returns the number of a new exchange.
  auto NextNumber() noexcept -> std::uint32_t { return ++last_number_; }

  /// Calls the handler that is responsible for `exchange`; it responds now or later. An unknown
  /// method gives a 501, an expectation a 417, a body that is too long a 413, a path without a
  /// handler a 404. Before that, the client of a trusted proxy is found.
  void Answer(Exchange& exchange);

  /// Gives the handler a piece of the body that it waits for, or the pieces that are decoded from
  /// it. If the handler can't take all of those, GoOn() gives it the rest later.
  /// @param exchange of the body
  /// @param piece valid during the call
  /// @param last true if the body is complete
  void BringBody(Exchange& exchange, std::string_view piece, bool last);

  /// Responds in place of the handler, which can't get the body.
  /// @param exchange of the body
  /// @param status of the error page
  /// @param reason for its text
  void RefuseBody(Exchange& exchange, int status, const std::string& reason);

  /// Calls the handler of `exchange`, which is open, again: another handler after
  /// ReplyFrom(), or the same one because there is room for output. Sessions call it after
  /// every event.
  void GoOn(Exchange& exchange);

  /// Informs the observers that the head of a request is complete. TellEnd() follows each call.
  void TellBegin(const Exchange& exchange) const noexcept {
    for (const std::unique_ptr<ExchangeObserver>& each : observers_) {
      each->OnBegin(exchange.GetConnection());
    }
  }

  /// Informs the observers that the exchange is over, before its request is destroyed.
  void TellEnd(const Exchange& exchange) const noexcept {
    if (!observers_.empty()) {
      TellEnd(RecordOf(exchange));
    }
  }

  /// Informs the observers that malformed input was refused.
  void TellEnd(const ExchangeRecord& record) const noexcept;

  /// Returns the current time as an HTTP date. Valid until the next call.
  [[nodiscard]] auto Date() -> std::string_view;

 private:
  static inline const std::atomic<bool> kNever{false};

  void AddCoded(Exchange& exchange, std::string_view piece, bool last);
  void BringDecoded(Exchange& exchange);
  void FindHandler(Exchange& exchange);
  // Kept out of the path of requests that no proxy has sent.
  [[gnu::noinline]] void FindClient(Exchange& exchange);
  static auto RecordOf(const Exchange& exchange) noexcept -> ExchangeRecord;
  template <typename Callback>
  void Guard(Exchange& exchange, const Callback& callback);

  Looper& looper_;
  HttpOptions options_;
  const std::atomic<bool>* draining_ = &kNever;
  std::unique_ptr<RouteHandler> routes_;
  const ErrorFormats* error_formats_ = nullptr;  // if there are any
  PrefixMap<std::unique_ptr<RequestHandler>> mounted_;
  std::vector<std::unique_ptr<ExchangeObserver>> observers_;
  ConnectionEndsTable ends_;  // asked only if there are trusted proxies
  std::uint32_t last_number_ = 0;
  CachedDate date_;
};

/// Returns the first line of a head as it was sent, or the start of the bytes sent instead.
[[nodiscard]] auto FirstLine(std::string_view head) noexcept -> std::string_view;

}  // namespace TURTLE_SERVER
