// What all HTTP sessions of one loop share.
//
// Because every loop has its own, nothing here needs a lock.
//
// Interface:
//  * Observe() adds somebody who is told of each request.
//  * Mount() puts a handler under a path, HandlerFor() finds the one for a path.
//  * TakeExchange() and GiveBack() lend the loop's exchange, so that a request allocates nothing.
//  * Date() is the text of now, ReadyStart() the first lines of a ready reply; both are made once
//    a second.
//
// Thread: the loop's.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/looper.h"
#include "http/http_date.h"
#include "web/exchange.h"
#include "web/exchange_observer.h"
#include "web/http_options.h"
#include "web/request_handler.h"

namespace TURTLE_SERVER {

/// One loop's share of an HttpServer.
class LoopHttp {
 public:
  /// @param looper the loop
  /// @param options limits and time-outs, copied
  LoopHttp(Looper& looper, const HttpOptions& options)
      : looper_(looper), options_(Bounded(options)) {
    looper.SetFlushRate({options_.min_send_rate, options_.write_timeout});  // of last words
  }

  /// The loop.
  [[nodiscard]] auto GetLooper() const noexcept -> Looper& { return looper_; }

  /// Limits and time-outs.
  [[nodiscard]] auto Options() const noexcept -> const HttpOptions& { return options_; }

  /// Answers what lies under `prefix` by `handler`.
  /// @param prefix "/" or a path such as "/cgi-bin", without a slash at its end
  /// @param handler not nullptr
  void Mount(std::string prefix, std::unique_ptr<RequestHandler> handler);

  /// A handler and where it is mounted.
  struct Match {
    RequestHandler* handler;   ///< nullptr: nobody is responsible
    std::size_t prefix_bytes;  ///< of the path, that named the handler
  };

  /// The handler with the longest prefix that `path` lies under, in whole segments: "/cgi-bin"
  /// holds "/cgi-bin/add", not "/cgi-binary".
  [[nodiscard]] auto HandlerFor(std::string_view path) const noexcept -> Match;

  /// Has `observer`, not nullptr, told of each request.
  void Observe(std::unique_ptr<ExchangeObserver> observer) {
    observers_.push_back(std::move(observer));
  }

  /// Is anybody told of each request?
  [[nodiscard]] auto IsObserved() const noexcept -> bool { return !observers_.empty(); }

  /// Calls `tell` with each observer.
  template <typename Tell>
  void ForEachObserver(const Tell& tell) const {
    for (const std::unique_ptr<ExchangeObserver>& observer : observers_) {
      tell(*observer);
    }
  }

  /// An exchange to be filled, from GiveBack() or new.
  [[nodiscard]] auto TakeExchange() -> std::unique_ptr<Exchange>;

  /// Keeps a closed exchange for the next request.
  void GiveBack(std::unique_ptr<Exchange> exchange) noexcept { spare_ = std::move(exchange); }

  /// Now, as an HTTP date. Valid until the next call.
  [[nodiscard]] auto Date() -> std::string_view;

  /// The status line and the Date line of a ready reply. Valid until the next call.
  [[nodiscard]] auto ReadyStart(ReadyStatus status) -> std::string_view;

  /// Room to write a head in, empty; its memory is used again.
  [[nodiscard]] auto HeadScratch() noexcept -> std::string&;

 private:
  struct Mounted {
    std::string prefix;  // "" for the root
    std::unique_ptr<RequestHandler> handler;
  };

  Looper& looper_;
  const HttpOptions options_;
  std::vector<Mounted> mounted_;  // longest prefix first
  std::vector<std::unique_ptr<ExchangeObserver>> observers_;
  std::unique_ptr<Exchange> spare_;
  CachedDate date_;
  HttpTime start_time_{};                    // of both ready_starts_
  std::array<std::string, 2> ready_starts_;  // by ReadyStatus
  std::string head_;
};

}  // namespace TURTLE_SERVER
