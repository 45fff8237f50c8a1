#include "files/tar_archive.h"

namespace TURTLE_SERVER {

auto TarResponse(int /*directory*/, const std::vector<std::string>& /*names*/) -> Response {
  return ErrorResponse(501);
}

}  // namespace TURTLE_SERVER
