// The result of reading a piece of a request's body.
//
// Thread: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Where the reading of a body stands.
enum class BodyState : std::uint8_t {
  kMore,  ///< go on with what follows the consumed bytes, now or when it has arrived
  kDone,  ///< the body is complete: what follows belongs to the next request
  kBad,   ///< answer with `status` and close: where the next request begins is unknown
};

/// One step. Unless kBad, and unless the input was empty, a step consumes something.
struct [[nodiscard]] BodyResult {
  BodyState state = BodyState::kMore;  ///< how to go on
  std::size_t consumed = 0;            ///< bytes of the input that are used up
  std::string_view data{};  ///< content: a view into the input; may be empty, also with kMore
  int status = 0;           ///< with kBad: 400, 413 or 431
  const char* reason = "";  ///< with kBad: what is wrong, for a person; a literal
};

/// How much of a body is accepted.
struct BodyLimits {
  std::uint64_t max_body_bytes = std::uint64_t{1024} * 1024;  ///< of content; beyond it: 413
  /// Of chunk extensions beyond the size of the content before them; beyond it: 400. Some clients
  /// sign every chunk; nobody needs extensions that are larger than the content.
  std::size_t max_extension_bytes = std::size_t{16} * 1024;
  /// Of all trailer fields, each up to the CR at its end; beyond it: 431.
  std::size_t max_trailer_bytes = std::size_t{8} * 1024;
};

}  // namespace TURTLE_SERVER
