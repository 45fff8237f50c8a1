// The failure of a fuzz target: it prints the fault and aborts, so that libFuzzer keeps the input.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace TURTLE_SERVER::fuzz {

/// Returns an input as text.
inline auto TextOf(const std::uint8_t* data, std::size_t size) -> std::string_view {
  return {reinterpret_cast<const char*>(data), size};
}

/// Prints it and aborts.
[[noreturn]] inline void Fail(const std::string& what) {
  std::fprintf(stderr, "fuzz: %s\n", what.c_str());
  std::abort();
}

/// Does nothing if the library and the reference agree on `what`.
template <typename Library, typename Reference>
void Same(const char* what, const Library& library, const Reference& reference) {
  if (!(library == reference)) {
    if constexpr (std::is_arithmetic_v<Library>) {
      Fail(std::string(what) + ": the library says " + std::to_string(library) +
           ", the reference " + std::to_string(reference));
    } else {
      Fail(std::string(what) + ": the library says \"" + std::string(library) +
           "\", the reference \"" + std::string(reference) + "\"");
    }
  }
}

}  // namespace TURTLE_SERVER::fuzz
