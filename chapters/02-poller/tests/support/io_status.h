// Lets GoogleTest print an IoStatus by its name.
#pragma once

#include <ostream>

#include "core/io_result.h"

namespace TURTLE_SERVER {

/// For GoogleTest, which finds it by this name.
inline void PrintTo(IoStatus status, std::ostream* out) {
  switch (status) {
    case IoStatus::kBytes:
      *out << "kBytes";
      break;
    case IoStatus::kEnd:
      *out << "kEnd";
      break;
    case IoStatus::kWouldBlock:
      *out << "kWouldBlock";
      break;
    case IoStatus::kError:
      *out << "kError";
      break;
  }
}

}  // namespace TURTLE_SERVER
