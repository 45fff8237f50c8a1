// A chunked body by the grammar: RFC 9112, section 7.1.
//
// Thread: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace TURTLE_SERVER::reference {

/// Limits how much a body may contain.
struct ChunkedLimits {
  std::uint64_t body_bytes;
  std::uint64_t extension_bytes;
  std::uint64_t trailer_bytes;
};

/// The result for the body at the beginning of some input.
struct ChunkedBody {
  int status = 0;         ///< 0: complete; -1: valid so far, more is needed; otherwise a refusal's
  std::size_t bytes = 0;  ///< with status 0, of the body as sent
  std::string content;    ///< as far as it goes
};

/// Reads the body at the beginning of `input`.
auto ReadChunked(std::string_view input, const ChunkedLimits& limits) -> ChunkedBody;

}  // namespace TURTLE_SERVER::reference
