#include "websocket/websocket_options.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "compress/raw_deflate.h"

namespace TURTLE_SERVER {

namespace {

void CheckTimeouts(const WebSocketOptions& options) {
  for (const auto& [name, timeout] : {std::pair("ping_interval", options.ping_interval),
                                      {"pong_timeout", options.pong_timeout},
                                      {"idle_timeout", options.idle_timeout},
                                      {"close_timeout", options.close_timeout},
                                      {"write_timeout", options.write_timeout},
                                      {"message_timeout", options.message_timeout}}) {
    if (timeout.count() < 0) {
      throw std::invalid_argument(std::string(name) + ": " + std::to_string(timeout.count()) +
                                  " ms is negative");
    }
  }
}

// The name is sent as a part of a list: RFC 6455, section 11.3.4.
void CheckProtocol(std::string_view name) {
  if (name.empty() || !std::all_of(name.begin(), name.end(), ascii::IsToken)) {
    throw std::invalid_argument("protocols: \"" + std::string(name) + "\" is not a token");
  }
}

}  // namespace

auto Checked(WebSocketOptions options) -> WebSocketOptions {
  CheckTimeouts(options);
  std::for_each(options.protocols.begin(), options.protocols.end(), CheckProtocol);
  for (const int bits : {options.deflate.server_window_bits, options.deflate.client_window_bits}) {
    if (bits < kLeastWindowBits || bits > kMostWindowBits) {
      throw std::invalid_argument("window of " + std::to_string(bits) + " bits: not 8 to 15");
    }
  }
  options.high_water = std::max(options.high_water, Connection::kHighWater);
  if (options.overflow == Overflow::kWait && options.max_unsent_bytes < options.high_water) {
    throw std::invalid_argument("max_unsent_bytes: " + std::to_string(options.max_unsent_bytes) +
                                " is less than high_water, " + std::to_string(options.high_water));
  }
  return options;
}

}  // namespace TURTLE_SERVER
