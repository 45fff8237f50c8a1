// Finds the first byte that ends a name, a value or a target: here a parser spends its time.
//
// With SSE2, which every x86-64 has, sixteen bytes are checked at once; elsewhere a loop does the
// same byte by byte. With SSE2 both are compiled, so that a test can compare them.
//
// Interface: each function returns the first byte of [at, end) that it does not accept, or `end`.
//  * SkipToken(): a method or a field name.
//  * SkipFieldText(): a field value: anything but control characters other than tab.
//  * SkipTargetText(): a request target: visible ASCII.
//
// Thread: pure functions. They never read outside [at, end).
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/ascii.h"

namespace TURTLE_SERVER::scan {

/// The portable versions, which are the reference for the others.
namespace portable {

/// Returns the first byte that is not a token character.
inline auto SkipToken(const char* at, const char* end) -> const char* {
  while (at != end && ascii::IsToken(*at)) {
    ++at;
  }
  return at;
}

/// Returns the first control character other than tab.
inline auto SkipFieldText(const char* at, const char* end) -> const char* {
  while (at != end && (!ascii::IsControl(*at) || *at == '\t')) {
    ++at;
  }
  return at;
}

/// Returns the first byte outside 0x21 to 0x7E.
inline auto SkipTargetText(const char* at, const char* end) -> const char* {
  while (at != end && *at > ' ' && *at < '\x7f') {
    ++at;
  }
  return at;
}

}  // namespace portable

#if defined(__SSE2__)

namespace detail {

inline auto Load(const char* at) -> __m128i {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

/// Returns one bit for each byte of `flags` whose top bit is set; bit 0 is the first byte.
inline auto Bits(__m128i flags) -> unsigned {
  return static_cast<unsigned>(_mm_movemask_epi8(flags));
}

}  // namespace detail

/// Returns the first byte that is not a token character.
inline auto SkipToken(const char* at, const char* end) -> const char* {
  while (end - at >= 16) {
    const __m128i bytes = detail::Load(at);
    const __m128i lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    const __m128i letter = _mm_and_si128(_mm_cmpgt_epi8(lower, _mm_set1_epi8('a' - 1)),
                                         _mm_cmplt_epi8(lower, _mm_set1_epi8('z' + 1)));
    const __m128i plain = _mm_or_si128(letter, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('-')));
    const unsigned other = ~detail::Bits(plain) & 0xffffU;
    if (other == 0) {
      at += 16;
      continue;
    }
    // Nearly every name consists of letters and hyphens, so this byte is nearly always the colon.
    at += __builtin_ctz(other);
    if (!ascii::IsToken(*at)) {
      return at;
    }
    ++at;
  }
  return portable::SkipToken(at, end);
}

/// Returns the first control character other than tab.
inline auto SkipFieldText(const char* at, const char* end) -> const char* {
  while (end - at >= 16) {
    const __m128i bytes = detail::Load(at);
    // This is an unsigned "at most 0x1F": SSE2 compares signed, and bytes from 0x80 on are allowed.
    const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
    const __m128i tab = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t'));
    const __m128i del = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f));
    const unsigned stop = detail::Bits(_mm_or_si128(_mm_andnot_si128(tab, low), del));
    if (stop != 0) {
      return at + __builtin_ctz(stop);
    }
    at += 16;
  }
  return portable::SkipFieldText(at, end);
}

/// Returns the first byte outside 0x21 to 0x7E.
inline auto SkipTargetText(const char* at, const char* end) -> const char* {
  while (end - at >= 16) {
    const __m128i bytes = detail::Load(at);
    // As signed numbers, bytes from 0x80 on are negative: one comparison stops at them, too.
    const __m128i low = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x21));
    const __m128i del = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f));
    const unsigned stop = detail::Bits(_mm_or_si128(low, del));
    if (stop != 0) {
      return at + __builtin_ctz(stop);
    }
    at += 16;
  }
  return portable::SkipTargetText(at, end);
}

#else

using portable::SkipFieldText;
using portable::SkipTargetText;
using portable::SkipToken;

#endif

}  // namespace TURTLE_SERVER::scan
