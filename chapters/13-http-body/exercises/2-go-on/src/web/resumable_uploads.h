// Uploads that may break off and go on: what has come is kept, and the client can ask how much.
//
//   HEAD  /name                        204, Upload-Offset: how many bytes are there
//   PATCH /name  Upload-Offset: 5      the body goes on where five bytes are
//
// Interface: to be mounted like any other handler.
//
// Thread: the loop's. Several loops must not share a directory.
#pragma once

#include <string>

#include "base/unique_fd.h"
#include "web/request_handler.h"

namespace TURTLE_SERVER {

/// Takes files, in as many requests as it takes.
class ResumableUploads : public RequestHandler {
 public:
  /// @param folder the directory of the files
  /// @throws std::system_error that names the directory when it can't be opened
  explicit ResumableUploads(const std::string& folder);

  void Handle(Exchange& exchange) override;

 private:
  const UniqueFd folder_;
};

}  // namespace TURTLE_SERVER
