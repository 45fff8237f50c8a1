// Uploads that can be resumed: received bytes are kept, and the client can ask how many there are.
//
//   HEAD  /name                        204, Upload-Offset: how many bytes there are
//   PATCH /name  Upload-Offset: 5      the body continues after five bytes
//
// Interface: mount it like any other handler.
//
// Thread: the loop's. Several loops must not share a directory.
#pragma once

#include <string>

#include "base/unique_fd.h"
#include "web/request_handler.h"

namespace TURTLE_SERVER {

/// Receives files, each in any number of requests.
class ResumableUploads : public RequestHandler {
 public:
  /// @param folder the directory of the files
  /// @throws std::system_error that names the directory if it can't be opened
  explicit ResumableUploads(const std::string& folder);

  void Handle(Exchange& exchange) override;

 private:
  const UniqueFd folder_;
};

}  // namespace TURTLE_SERVER
