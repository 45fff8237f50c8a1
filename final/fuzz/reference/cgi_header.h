// The header block of a CGI program by the grammar: RFC 3875, section 6, and this server's
// additional rules.
//
// Thread: pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace TURTLE_SERVER::reference {

/// The header block of a program's output.
struct CgiBlock {
  char verdict = 'm';  ///< 'm'ore is needed, 'd'one, 'b'ad
  std::size_t bytes = 0;
  char kind = 'd';  ///< 'd'ocument, 'l'ocal redirect, 'c'lient redirect
  int status = 200;
  std::string reason;
  std::string location;
  std::string content_type;
  std::string content_length;  ///< decimal; "": none
  std::vector<std::pair<std::string, std::string>> fields;
};

/// Reads the block at the beginning of `output`.
auto ReadCgiBlock(std::string_view output, std::size_t max_bytes, std::size_t max_fields)
    -> CgiBlock;

}  // namespace TURTLE_SERVER::reference
