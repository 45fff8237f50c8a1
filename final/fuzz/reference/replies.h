// A server's output, response by response: RFC 9112, sections 4 and 6.
//
// Thread: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace TURTLE_SERVER::reference {

/// One response, even an interim one (1xx).
struct Reply {
  int status = 0;
  std::string body;
  bool is_complete = true;  ///< only the last may be incomplete
};

/// All responses.
struct Replies {
  std::vector<Reply> all;
  std::string fault;  ///< the fault in the grammar; "" for none
};

/// Reads everything that came until the end of a connection.
/// @param bytes the bytes from the first on
/// @param may_be_head one of the requests may have been HEAD: then a body that its fields announce
///     may be missing
auto ReadReplies(std::string_view bytes, bool may_be_head) -> Replies;

}  // namespace TURTLE_SERVER::reference
