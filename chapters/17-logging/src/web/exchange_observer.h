// Looks on while requests are answered: for an access log, or for statistics.
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
struct Request;

/// The outcome of one request, as the server knows it when it has nothing more to add. The last
/// bytes may still be on their way, and a client that leaves now is not seen here. All of it is
/// valid during the call only.
struct ExchangeRecord {
  const Connection& connection;   ///< of the request; perhaps already closed
  std::string_view request_line;  ///< as the client sent it, any bytes; without its line end
  const Request* request;         ///< nullptr: what the client sent was none
  int status = 0;                 ///< of the response; 0: the client was gone before there was one
  std::uint64_t body_bytes = 0;   ///< of the response's body, given to the connection to be sent
  bool complete = true;           ///< false: not all of the response was given to it
  /// When the request's head was whole, by the loop's clock; without a request, when its first byte
  /// was found.
  TimePoint began{};
};

/// Sees each request of one loop.
class ExchangeObserver {
 public:
  virtual ~ExchangeObserver() = default;

  /// The head of a request is whole; its handler has not been called yet.
  virtual void OnBegin(const Connection& /*connection*/) noexcept {}

  /// The response is complete, cut, or will never be. Also called, without OnBegin(), when the
  /// input was no request and has been refused.
  virtual void OnEnd(const ExchangeRecord& record) noexcept = 0;

 protected:
  ExchangeObserver() = default;
  ExchangeObserver(const ExchangeObserver&) = default;
  auto operator=(const ExchangeObserver&) -> ExchangeObserver& = default;
};

/// Makes an observer for a loop. Every loop has its own, so an observer needs no lock.
using ObserverFactory = std::function<std::unique_ptr<ExchangeObserver>(Looper&)>;

}  // namespace TURTLE_SERVER
