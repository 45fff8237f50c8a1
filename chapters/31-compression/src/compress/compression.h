// Compresses the responses of handlers, and decides which of them.
//
// A response is compressed if its type is worth it, if its length is, and if the client accepts a
// coding. Each response that might be compressed says so in Vary, even to a client that accepts no
// coding: caches on the way must not give one client's bytes to another.
//
// Interface:
//  * Whole() compresses a response whose body is complete.
//  * Begin() makes the encoder of a response whose body follows in pieces.
//  * CodingFor() chooses among codings for a request.
//  * IsNegotiable() and Encode() are for responses that are kept in several codings.
//
// These are left as they are:
//  * a body that has a Content-Encoding already, a part of one (206, Content-Range), a file, and a
//    response with `Cache-Control: no-transform` (RFC 9111, section 5.2.2.6);
//  * a body that would become longer.
//
// A compressed response has another ETag than the plain one: the same with W/ before it. The bytes
// are not the same, but their meaning is (RFC 9110, section 8.8.1). The next If-None-Match still
// finds it, and an If-Range never does, so parts of the two are never mixed. An If-Match never
// does, either: a handler whose clients change a resource by If-Match calls Exchange::KeepPlain().
//
// Thread: constant once it is made; any.
// Source: RFC 9110, sections 8.4, 12.5.3 and 12.5.5
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "compress/accept_encoding.h"
#include "compress/coding.h"
#include "compress/encoder.h"
#include "http/request.h"
#include "http/response.h"

namespace TURTLE_SERVER {

/// The settings of compression.
struct CompressionOptions {
  /// The codings that are offered; if a client likes several as much, it gets the first of these.
  CodingOrder codings = CodingOrder::All();
  /// A shorter body is not compressed, in bytes: with its head, it fits into one packet anyway.
  std::size_t min_bytes = 1000;
  /// A longer body is not compressed, in bytes, if its length is known: a handler may give all of
  /// it at once, and a MiB holds up the loop for some 16 ms.
  std::size_t max_bytes = std::size_t{1024} * 1024;
  /// Routes get the bodies of requests decoded, whatever `codings` are offered for responses. A
  /// body in an unknown coding gets a 415. If false, routes get the bytes as they were sent, as
  /// mounted handlers do in any case.
  bool decode_requests = true;
  /// How many plain bytes each byte of a request's body may stand for, after the first MiB; beyond
  /// it, a 413. Text seldom reaches 20, and a body made to exhaust the server 1000.
  std::size_t max_ratio = 200;
};

/// A server's compression.
class Compression {
 public:
  /// @param options the settings, copied
  explicit Compression(const CompressionOptions& options = {}) noexcept : options_(options) {}

  /// Returns the settings.
  [[nodiscard]] auto Options() const noexcept -> const CompressionOptions& { return options_; }

  /// Compresses a response.
  /// @param request of the client
  /// @param plain the response, with all of its body
  /// @return the response to be sent in its place; nullopt: `plain` itself, even if memory runs out
  [[nodiscard]] auto Whole(const Request& request, const Response& plain) const noexcept
      -> std::optional<Response>;

  /// Decides about a response whose body follows.
  /// @param request of the client
  /// @param head gets the fields of the compressed response
  /// @param length of the plain body in bytes, if it is known
  /// @return the encoder for the body; nullptr: it is sent as it is. Throws std::bad_alloc.
  [[nodiscard]] auto Begin(const Request& request, Response& head,
                           std::optional<std::uint64_t> length) const -> std::unique_ptr<Encoder>;

  /// Returns true if another client may get the body of a response in another coding. Vary has to
  /// say so then.
  /// @param response its body is not looked at
  [[nodiscard]] static auto IsNegotiable(const Response& response) -> bool;

  /// Encodes the body of a response.
  /// @param coding not kIdentity
  /// @param effort how hard it tries
  /// @param response one that is negotiable; gets the fields and the body of the encoded one
  /// @return false: it has stayed as it was. It is a part or a file, its length is beyond the
  ///     limits, or it would not become shorter. Throws std::bad_alloc.
  auto Encode(Coding coding, Effort effort, Response& response) const -> bool;

  /// Returns the coding that a client likes best.
  /// @param request of the client
  /// @param offered the codings that there are; those that the options lack don't count
  [[nodiscard]] auto CodingFor(const Request& request, const CodingOrder& offered) const noexcept
      -> Coding;

 private:
  [[nodiscard]] auto WholeOrThrow(const Request& request, const Response& plain) const
      -> std::optional<Response>;
  [[nodiscard]] auto IsWorthIt(std::uint64_t size) const noexcept -> bool {
    return size >= options_.min_bytes && size <= options_.max_bytes;
  }
  [[nodiscard]] auto CodingForStream(const Request& request) const noexcept -> Coding;

  const CompressionOptions options_;
};

}  // namespace TURTLE_SERVER
