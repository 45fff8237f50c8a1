// Random bytes for OpenSSL that are the same in each run. So an input always means the same: only
// the times in tickets differ, at the same places.
#pragma once

#include <openssl/rand.h>

#include <cstdint>

#include "base/namespace.h"

namespace TURTLE_SERVER::fuzz {

/// The source of OpenSSL's random bytes, those of keys too.
class TlsRandom {
 public:
  /// Begins the sequence again; the first call replaces OpenSSL's own source.
  static void Begin() {
    static const bool is_used = Use();
    State() = is_used ? 1 : 0;
  }

 private:
  // A provider of such bytes comes only with later versions of OpenSSL.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
  static auto Use() -> bool {
    static const RAND_METHOD method = {nullptr, Fill, nullptr, nullptr, Fill, [] { return 1; }};
    return RAND_set_rand_method(&method) == 1;
  }
#pragma clang diagnostic pop

  static auto Fill(unsigned char* into, int count) -> int {
    for (int i = 0; i < count; ++i) {
      State() = State() * 6364136223846793005U + 1442695040888963407U;
      into[i] = static_cast<unsigned char>(State() >> 56);
    }
    return 1;
  }

  static auto State() -> std::uint64_t& {
    static std::uint64_t state = 0;
    return state;
  }
};

}  // namespace TURTLE_SERVER::fuzz
