#include "web/resumable_uploads.h"

#include <fcntl.h>

#include <cerrno>
#include <system_error>

#include "http/response.h"
#include "web/exchange.h"

namespace TURTLE_SERVER {

ResumableUploads::ResumableUploads(const std::string& folder)
    : folder_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (!folder_) {
    throw std::system_error(errno, std::generic_category(), folder);
  }
}

void ResumableUploads::Handle(Exchange& exchange) {
  exchange.Reply(ErrorResponse(501));  // TODO
}

}  // namespace TURTLE_SERVER
