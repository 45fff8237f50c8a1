#include "files/encode_ahead.h"

namespace TURTLE_SERVER {

auto EncodeAhead(const std::string& /*root*/, const EncodeAheadOptions& /*options*/)
    -> EncodeAheadResult {
  return {};  // TODO: lock the root, walk through its directories, encode
}

}  // namespace TURTLE_SERVER
