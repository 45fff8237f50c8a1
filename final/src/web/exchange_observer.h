// Observes requests as they are served: for an access log, or for statistics.
//
// Thread: the loop's, for which the observer was made.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "base/clock.h"

namespace TURTLE_SERVER {

class Connection;
class Looper;
class NetAddress;
struct Request;

/// The outcome of one request, as known when the server has nothing more to send. The last bytes
/// may still be on their way, and a client that closes now is not noticed. All of it is valid only
/// during the call.
struct ExchangeRecord {
  const Connection& connection;   ///< of the request; perhaps already closed
  std::string_view request_line;  ///< as the client sent it, any bytes; without its line end
  const Request* request;         ///< nullptr if the input was not a request
  int status = 0;                 ///< of the response; 0 if the client was gone before it
  std::uint64_t body_bytes = 0;   ///< of the response's body, given to the connection to be sent
  bool complete = true;           ///< false if the connection did not get the whole response
  /// When the request's head was complete, by the loop's clock. Without a request: when its first
  /// byte was found.
  TimePoint began{};
  /// The client's address, if trusted proxies name it; nullptr: the connection's.
  const NetAddress* client = nullptr;
  std::string_view user{};  ///< the name with which a password let it in, any bytes; "": none
};

/// Sees each request of one loop.
class ExchangeObserver {
 public:
  virtual ~ExchangeObserver() = default;

  /// Called when the head of a request is complete, before its handler.
  virtual void OnBegin(const Connection& /*connection*/) noexcept {}

  /// Called when the response is complete, cut, or will never come. Also called, without OnBegin(),
  /// when the input was not a request and has been refused.
  virtual void OnEnd(const ExchangeRecord& record) noexcept = 0;

 protected:
  ExchangeObserver() = default;
  ExchangeObserver(const ExchangeObserver&) = default;
  auto operator=(const ExchangeObserver&) -> ExchangeObserver& = default;
};

/// Makes an observer for a loop. Every loop has its own, so an observer needs no lock.
using ObserverFactory = std::function<std::unique_ptr<ExchangeObserver>(Looper&)>;

}  // namespace TURTLE_SERVER
