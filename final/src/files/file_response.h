// Makes a response from an open file: its type, validators, conditions and ranges.
//
// Interface:
//  * FillWithFile() responds to a request with a file: 200, 206, 304, 412 or 416.
//  * StatusOfOpenError() returns the status for a file that can't be opened.
//
// Thread: any.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <string_view>

#include "base/unique_fd.h"
#include "http/request.h"
#include "http/response.h"

namespace TURTLE_SERVER {

/// Turns `response`, which is a 200, into the response to `request` with the content of `file`. An
/// error page replaces its fields; a response with a part of the file, and a 304, keep them.
/// @param request its conditions and ranges are applied
/// @param type media type of the file
/// @param file a regular file, open for reading
/// @param status of the file, fstat(2)
/// @param max_copied_bytes longer content is sent by sendfile(2), not read here
/// @param response gets status, fields and body
void FillWithFile(const Request& request, std::string_view type, UniqueFd file,
                  const struct stat& status, std::size_t max_copied_bytes, Response& response);

/// Returns the status for a file that could not be opened. A path that leads out of the directory
/// looks like one that leads nowhere.
/// @param error errno of OpenBeneath()
[[nodiscard]] auto StatusOfOpenError(int error) noexcept -> int;

}  // namespace TURTLE_SERVER
