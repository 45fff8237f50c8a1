// A Range field by the grammar: RFC 9110, section 14, and this server's decisions.
//
// Thread: pure functions.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace TURTLE_SERVER::reference {

/// How to respond.
struct Ranges {
  char answer = 'w';  ///< 'w'hole, 'p'arts, 'u'nsatisfiable
  std::vector<std::pair<std::uint64_t, std::uint64_t>> parts;  ///< first and last byte
};

/// @param value of the field
/// @param size the size of the representation
/// @param most parts that are served
/// @param gap smaller gaps are closed
auto ReadRanges(std::string_view value, std::uint64_t size, std::size_t most, std::uint64_t gap)
    -> Ranges;

}  // namespace TURTLE_SERVER::reference
