// Makes a gzip body longer, without a change to the text in it.
//
//   std::uniform_int_distribution<std::size_t> length(0, 63);
//   response.Body(PaddedGzip(EncodeAll(Coding::kGzip, Effort::kLow, page), length(random)));
//
// A page that has a secret and repeats a part of its request tells the secret by its length: a good
// guess repeats the secret, so it compresses better. That is the attack BREACH. Random padding
// hides the differences. A patient attacker measures each guess many times and takes the average,
// so padding makes the attack slow, not impossible.
//
// A gzip body may have the name of its file, and decoders skip it:
//
//     | 1f 8b | method | flags | time, 4 bytes | 2 bytes | fields | compressed data | 8 bytes |
//
// The bits of `flags` tell which fields there are. They are in this order: the extra field (bit 2),
// the name (bit 3), the comment (bit 4), and a checksum of the header (bit 1). Bit 0 has no field.
//
// Thread: a pure function.
// Source: RFC 1952, section 2.3; https://www.breachattack.com
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Returns a body that is longer by `count` bytes and decodes to the same text. Its header gets the
/// name of a file: `count - 1` letters 'a', and the byte 0 that ends a name.
///
/// A body is returned unchanged if a bit of `flags` other than bit 0 is set, or if it does not
/// begin with 1f 8b 08 (8 is the method deflate). The same holds if it has less than the 10 bytes
/// of a header. The data after the header is not looked at.
///
/// @param gzip such as EncodeAll() returns it for Coding::kGzip
/// @param count of bytes; 0: nothing is changed
/// @throws std::bad_alloc
[[nodiscard]] auto PaddedGzip(std::string_view gzip, std::size_t count) -> std::string;

}  // namespace TURTLE_SERVER
