#include "http/reply_parser.h"

namespace TURTLE_SERVER {

auto ParseReply(std::string_view /*input*/, Method /*method*/, const ParserLimits& /*limits*/,
                Reply& /*out*/) -> ReplyResult {
  return {};  // TODO
}

}  // namespace TURTLE_SERVER
