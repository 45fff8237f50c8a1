#include "files/join_files.h"

namespace TURTLE_SERVER {

auto JoinFiles(int /*directory*/, const std::vector<std::string>& /*names*/) -> Response {
  return ErrorResponse(501);
}

}  // namespace TURTLE_SERVER
