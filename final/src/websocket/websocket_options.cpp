#include "websocket/websocket_options.h"

#include <algorithm>
#include <stdexcept>

#include "compress/raw_deflate.h"

namespace TURTLE_SERVER {

auto Checked(WebSocketOptions options) -> WebSocketOptions {
  for (const int bits : {options.deflate.server_window_bits, options.deflate.client_window_bits}) {
    if (bits < kLeastWindowBits || bits > kMostWindowBits) {
      throw std::invalid_argument("window of " + std::to_string(bits) + " bits: not 8 to 15");
    }
  }
  options.high_water = std::max(options.high_water, Connection::kHighWater);
  return options;
}

}  // namespace TURTLE_SERVER
