// How large a head a client may send.
//
// Thread: const once a parser uses it.
#pragma once

#include <cstddef>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Limits one request's head. Each is inclusive: that much is still accepted.
struct ParserLimits {
  std::size_t max_target_bytes = 8192;     ///< Longer: 414. RFC 9112 requires 8000 or more.
  std::size_t max_head_bytes = 32 * 1024;  ///< With all line ends; longer: 431. Below 2^31.
  std::size_t max_fields = 100;            ///< More field lines: 431. At most 65,534.
};

}  // namespace TURTLE_SERVER
