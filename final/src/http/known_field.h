// The header fields that this server looks for, as small numbers.
//
// A name is recognised once, when the field is parsed; after that, "is there a Range?" is an array
// access instead of a search with string comparisons.
//
// Thread: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// A field name that is often looked up. kNone is every other name.
enum class KnownField : std::uint8_t {
  kNone,
  kAccept,
  kAcceptEncoding,
  kAcceptLanguage,
  kAuthorization,
  kCacheControl,
  kConnection,
  kContentEncoding,
  kContentLength,
  kContentType,
  kCookie,
  kExpect,
  kForwarded,
  kHost,
  kIfMatch,
  kIfModifiedSince,
  kIfNoneMatch,
  kIfRange,
  kIfUnmodifiedSince,
  kOrigin,
  kProxy,
  kRange,
  kReferer,
  kTe,
  kTrailer,
  kTransferEncoding,
  kUpgrade,
  kUserAgent,
  kXForwardedFor,
};

/// The number of values of KnownField, including kNone.
inline constexpr std::size_t kKnownFieldCount =
    static_cast<std::size_t>(KnownField::kXForwardedFor) + 1;

/// Returns the known field named `name` in any case, or KnownField::kNone.
[[nodiscard]] auto KnownFieldOf(std::string_view name) -> KnownField;

/// Returns the name in lower case; "" for KnownField::kNone.
[[nodiscard]] auto NameOf(KnownField field) -> std::string_view;

}  // namespace TURTLE_SERVER
