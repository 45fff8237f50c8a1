// OpenSSL is not instrumented, so libFuzzer doesn't see where it goes. The states that both sides
// show are noted instead, in counters that libFuzzer takes for a part of the coverage.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER::fuzz {

/// Notes a state of both sides.
/// @param states numbers of any kind
/// @param wire the server's last bytes: the type of its first record counts, and an alert's code
/// @param reason of the client's failure
inline void NoteNovelty(std::initializer_list<int> states, std::string_view wire,
                        std::string_view reason) {
  constexpr std::size_t kCounters = 4096;
  constexpr std::size_t kAlert = 7;  // not sealed
  __attribute__((section("__libfuzzer_extra_counters"))) static unsigned char counters[kCounters];
  std::size_t hash = 17;
  const auto add = [&hash](std::size_t number) { hash = (hash ^ number) * 1099511628211U; };
  for (const int each : states) {
    add(static_cast<std::size_t>(each));
  }
  add(wire.empty() ? 0 : static_cast<unsigned char>(wire.front()));
  add(wire.size() == kAlert ? static_cast<unsigned char>(wire.back()) : 0);
  for (const char each : reason) {
    add(static_cast<unsigned char>(each));
  }
  counters[(hash >> 32) % kCounters] = 1;
}

}  // namespace TURTLE_SERVER::fuzz
