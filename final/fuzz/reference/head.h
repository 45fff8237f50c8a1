// A request's head by the grammar: RFC 9112, sections 2 to 6.
//
// Thread: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/uri.h"

namespace TURTLE_SERVER::reference {

/// Limits how large a head may be.
struct HeadLimits {
  std::size_t target_bytes;
  std::size_t head_bytes;
  std::size_t fields;
};

/// The result for the head at the beginning of some input.
struct Head {
  /// 0: a valid head. -1: no empty line yet, so there is no verdict. Otherwise the status of the
  /// refusal.
  int status = -1;
  std::size_t bytes = 0;  ///< with empty lines before it
  std::string method;
  std::string target;
  Target uri;
  int minor = 1;
  std::string host;
  std::vector<std::pair<std::string, std::string>> fields;
  char framing = 'n';  ///< 'n'one, 'l'ength, 'c'hunked
  std::string length;  ///< with 'l', decimal
  bool keep_alive = true;
  char expectation = 'n';  ///< 'n'one, 'c'ontinue, 'u'nknown
};

/// Reads the head at the beginning of `input`.
auto ReadHead(std::string_view input, const HeadLimits& limits) -> Head;

}  // namespace TURTLE_SERVER::reference
