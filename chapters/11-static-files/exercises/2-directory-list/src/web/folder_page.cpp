#include "web/folder_page.h"

namespace TURTLE_SERVER {

auto FolderPage(int /*folder*/, std::string_view /*path*/) -> Response {
  return ErrorResponse(404);  // TODO
}

}  // namespace TURTLE_SERVER
