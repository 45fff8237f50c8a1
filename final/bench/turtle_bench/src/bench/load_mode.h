// The use of a connection.
#pragma once

#include <cstdint>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// How requests are spread over connections.
enum class LoadMode : std::uint8_t {
  kKeepAlive,  ///< one request after the other on each connection
  kClose,      ///< a connection for each request
  kPipeline,   ///< several requests at once, then their responses
  kIdle,       ///< one request, then the connection is held
};

/// Returns the name of a mode for a report and for JSON.
constexpr auto NameOf(LoadMode mode) noexcept -> const char* {
  switch (mode) {
    case LoadMode::kClose:
      return "close";
    case LoadMode::kPipeline:
      return "pipeline";
    case LoadMode::kIdle:
      return "idle";
    case LoadMode::kKeepAlive:
      break;
  }
  return "keep-alive";
}

}  // namespace TURTLE_SERVER
