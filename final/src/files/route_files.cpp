#include "files/route_files.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <string_view>
#include <system_error>
#include <utility>

#include "files/file_response.h"
#include "files/open_beneath.h"
#include "http/http_error.h"
#include "http/mime.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::size_t kMaxCopiedBytes = std::size_t{32} * 1024;

// Returns true for a segment that begins with a dot, such as "..", or a NUL, which ends a C string.
auto IsRefused(std::string_view path) noexcept -> bool {
  return path.substr(0, 1) == "." || path.find("/.") != std::string_view::npos ||
         path.find('\0') != std::string_view::npos;
}

}  // namespace

RouteFiles::RouteFiles(const std::string& directory) : directory_(OpenFolder(directory)) {
  if (!directory_) {
    throw std::system_error(errno, std::generic_category(), "directory " + directory);
  }
}

void RouteFiles::Send(const ServerRequest& request, ServerResponse& response,
                      const std::string& path) const {
  if (IsRefused(path)) {
    throw HttpError(404);
  }
  UniqueFd file = OpenBeneath(directory_.Get(), path);
  struct stat status {};
  if (!file || fstat(file.Get(), &status) != 0) {
    throw HttpError(StatusOfOpenError(errno));
  }
  if (!S_ISREG(status.st_mode)) {
    throw HttpError(404);
  }
  FillWithFile(request.Head(), MimeType(path), std::move(file), status, kMaxCopiedBytes,
               response.Status(200).WithoutBody());
}

}  // namespace TURTLE_SERVER
