// Handlers that respond in every way: at once, later, in pieces, with a body, cut off.
//
//    /late      after a second             /collect   the body, when all of it is there
//    /large     more than a socket takes   /echo      the body, piece by piece
//    /pieces    a chunked response          /cut       half of the promised bytes
//    /empty     204                        others     a short text
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "core/looper.h"
#include "web/exchange.h"
#include "web/request_handler.h"

namespace TURTLE_SERVER::fuzz {

/// Handles everything.
class FuzzHandler : public RequestHandler {
 public:
  void Handle(Exchange& exchange) override {
    const std::string_view path = exchange.GetRequest().uri.Path();
    if (path == "/late") {
      exchange.Attach(std::make_unique<Later>(exchange));
    } else if (path == "/large") {
      exchange.Reply(TextResponse(200, std::string(100'000, 'x')));
    } else if (path == "/pieces") {
      exchange.BeginReply(Response(200));
      exchange.Write("one,");
      exchange.Write("two");
      exchange.End();
    } else if (path == "/empty") {
      exchange.Reply(Response(204));
    } else if (path == "/collect") {
      Collect(exchange);
    } else if (path == "/echo") {
      Echo(exchange);
    } else if (path == "/cut") {
      exchange.BeginReply(Response(200), 10);
      exchange.Write("half");
      exchange.Abort(500, "cut");
    } else {
      exchange.Reply(TextResponse(200, "text\n"));
    }
  }

 private:
  class Later : public ExchangeState {
   public:
    explicit Later(Exchange& exchange)
        : looper_(exchange.GetLooper()),
          timer_(looper_.RunAfter(std::chrono::seconds(1),
                                  [&exchange] { exchange.Reply(TextResponse(200, "late\n")); })) {}
    Later(const Later&) = delete;
    auto operator=(const Later&) -> Later& = delete;
    ~Later() override { looper_.Cancel(timer_); }

   private:
    Looper& looper_;
    const TimerId timer_;
  };

  static void Collect(Exchange& exchange) {
    exchange.OnBody(
        [&exchange, body = std::string("got ")](std::string_view piece, bool last) mutable {
          body += piece;
          if (last) {
            exchange.Reply(TextResponse(200, body));
          }
        });
  }

  static void Echo(Exchange& exchange) {
    exchange.BeginReply(Response(200));
    exchange.OnRoom([&exchange] { exchange.HoldBody(false); });
    exchange.OnBody([&exchange](std::string_view piece, bool last) {
      exchange.Write(piece);
      if (last) {
        exchange.End();
      } else if (!exchange.CanWrite()) {
        exchange.HoldBody(true);
      }
    });
  }
};

}  // namespace TURTLE_SERVER::fuzz
