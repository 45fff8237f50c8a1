// The content codings that this server knows: ways to write the same bytes in fewer.
//
// Interface:
//  * NameOf() and CodingOf() translate to and from Content-Encoding and Accept-Encoding.
//  * SuffixOf() is the end of the name of a file that was encoded in advance.
//
// "deflate" is not among them: servers and clients have never agreed about what it means, and every
// client that has it has gzip as well.
//
// Thread: pure functions.
// Source: RFC 9110, section 8.4.1; RFC 1952 (gzip); RFC 7932 (br); RFC 8878 (zstd)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/ascii.h"
#include "base/namespace.h"

namespace TURTLE_SERVER {

/// A content coding.
enum class Coding : std::uint8_t {
  kIdentity,  ///< none: the bytes as they are
  kGzip,
  kBrotli,
  kZstd
};

/// The number of codings, including kIdentity.
inline constexpr std::size_t kCodingCount = 4;

/// Returns the name in a field: "gzip".
[[nodiscard]] constexpr auto NameOf(Coding coding) noexcept -> std::string_view {
  constexpr std::array<std::string_view, kCodingCount> kNames = {"identity", "gzip", "br", "zstd"};
  return kNames[static_cast<std::size_t>(coding)];
}

/// Returns the usual end of a file's name, with its dot: ".gz"; "" for kIdentity.
[[nodiscard]] constexpr auto SuffixOf(Coding coding) noexcept -> std::string_view {
  constexpr std::array<std::string_view, kCodingCount> kSuffixes = {"", ".gz", ".br", ".zst"};
  return kSuffixes[static_cast<std::size_t>(coding)];
}

/// Returns the coding with a name, in any case; nullopt: none that is known here.
[[nodiscard]] inline auto CodingOf(std::string_view name) noexcept -> std::optional<Coding> {
  if (ascii::EqualIgnoreCase(name, "x-gzip")) {  // RFC 9110, section 8.4.1.3
    return Coding::kGzip;
  }
  for (std::size_t i = 0; i < kCodingCount; ++i) {
    const auto coding = static_cast<Coding>(i);
    if (ascii::EqualIgnoreCase(name, NameOf(coding))) {
      return coding;
    }
  }
  return std::nullopt;
}

}  // namespace TURTLE_SERVER
