// A fault in a request's head: the status to respond with, and a reason for people.
//
// Thread: a value.
#pragma once

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// A fault, or none.
struct [[nodiscard]] HeadFault {
  int status = 0;           ///< Status code of the response (400, 414, …); 0: no fault.
  const char* reason = "";  ///< One short sentence without a full stop; valid forever.

  /// True if there is a fault.
  explicit operator bool() const { return status != 0; }
};

}  // namespace TURTLE_SERVER
