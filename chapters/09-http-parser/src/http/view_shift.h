// Moves views from one copy of a text to another: how a Request survives its buffer.
//
// Thread: a value.
#pragma once

#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Turns a view into the text at `from` into the same view into the copy at `to`.
struct ViewShift {
  const char* from;  ///< First byte of the text that the views look at.
  const char* to;    ///< First byte of its copy.

  /// Shifts `view`, which must be within the text at `from`; an unset view stays unset.
  void operator()(std::string_view& view) const {
    if (view.data() != nullptr) {
      view = {to + (view.data() - from), view.size()};
    }
  }
};

}  // namespace TURTLE_SERVER
