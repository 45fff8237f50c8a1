#include "files/static_files.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/looper.h"
#include "files/file_response.h"
#include "files/open_beneath.h"
#include "http/conditional.h"
#include "http/mime.h"
#include "http/request.h"
#include "web/exchange.h"
#include "web/http_server.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::string_view kAllowed = "GET, HEAD, OPTIONS";

// Returns true for a segment that begins with a dot, other than .well-known as the first one. A
// path no longer has dot segments (http/uri.h).
auto IsHidden(std::string_view path) noexcept -> bool {
  constexpr std::string_view kWellKnown = "/.well-known";
  const bool well_known = path.substr(0, kWellKnown.size()) == kWellKnown &&
                          (path.size() == kWellKnown.size() || path[kWellKnown.size()] == '/');
  return path.find("/.", well_known ? kWellKnown.size() : 0) != std::string_view::npos;
}

// Encodes a path for a Location (RFC 3986, section 3.3).
auto EncodePath(std::string_view path) -> std::string {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  constexpr std::string_view kPlain = "-._~!$&'()*+,;=:@/";
  std::string encoded;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool alphanumeric =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (alphanumeric || kPlain.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return encoded;
}

// The Location is relative to the server. It can't be "//host", because Uri has no empty segments.
auto RedirectToFolder(const Request& request) -> Response {
  std::string location = EncodePath(request.uri.Path()) + '/';
  if (request.uri.HasQuery()) {
    location.append("?").append(request.uri.Query());
  }
  return ErrorResponse(301).Set("Location", location);
}

}  // namespace

StaticFiles::StaticFiles(Looper& looper, StaticFilesOptions options)
    : looper_(looper), options_(std::move(options)), root_(options_.root, "folder") {
  if (options_.index.find('\0') != std::string::npos) {
    throw std::invalid_argument("index \"" + options_.index.substr(0, options_.index.find('\0')) +
                                "\": a NUL byte is in it");
  }
  hides_index_ = !options_.dot_files && IsHidden("/" + options_.index);
  if (options_.cache.max_bytes.value_or(0) != 0) {
    cache_ = std::make_unique<FileCache>(looper, root_.Get(), options_.cache);
  }
}

void StaticFiles::Handle(Exchange& exchange) {
  const Request& request = exchange.GetRequest();
  if (request.method == Method::kOptions) {
    exchange.Reply(Response(204).Set("Allow", kAllowed));
  } else if (request.method != Method::kGet && request.method != Method::kHead) {
    exchange.Reply(ErrorResponse(405).Set("Allow", kAllowed));
  } else {
    LookUpRoot(options_.cache.check == FileCheck::kAlways ? RootFolder::Look::kAtOnce
                                                          : RootFolder::Look::kNowAndThen);
    if (hides_index_ && IsHidden(exchange.SubPath())) {
      exchange.Reply(ErrorResponse(404));  // the cache may have it as a directory's page
    } else if (const PinTo<CachedFile> file = FindCached(exchange)) {
      AnswerCached(exchange, file);
    } else {
      Answer(exchange);
    }
  }
}

// A partial response is read from the file: few clients ask for one, and seldom for the same.
auto StaticFiles::Cacheable(const Request& request) const noexcept -> bool {
  return cache_ && !request.headers.Has(KnownField::kRange);
}

auto StaticFiles::FindCached(const Exchange& exchange) -> PinTo<CachedFile> {
  if (!Cacheable(exchange.GetRequest())) {
    return {};
  }
  return cache_->Find(FileNameOf(exchange.SubPath()));
}

// Returns the file name for a path. Valid until the next call, and as long as `path`.
auto StaticFiles::FileNameOf(std::string_view path) -> std::string_view {
  const std::string_view name = path.substr(path.empty() ? 0 : 1);
  if (path.empty() || path.back() != '/') {
    return name;
  }
  index_name_.assign(name).append(options_.index);
  return index_name_;
}

void StaticFiles::AnswerCached(Exchange& exchange, const PinTo<CachedFile>& file) {
  const Request& request = exchange.GetRequest();
  ConditionResult condition;
  if (HasConditions(request.headers)) {
    condition = EvaluateConditions(request.method, request.headers, file->GetValidators(),
                                   HttpTime(std::time(nullptr)));
  }
  switch (condition.action) {
    case ConditionResult::Action::kServe:
      exchange.Reply(
          ReadyReply{ReadyStatus::kOk, file->Text(), file->BodyBytes(), file, file->GetFd()});
      break;
    case ConditionResult::Action::kNotModified:
      exchange.Reply(ReadyReply{ReadyStatus::kNotModified, file->NotModifiedText(), 0, file});
      break;
    case ConditionResult::Action::kPreconditionFailed:
      exchange.Reply(ErrorResponse(412));
      break;
  }
}

void StaticFiles::Answer(Exchange& exchange) {
  const Request& request = exchange.GetRequest();
  const std::string_view path = exchange.SubPath();
  const bool folder_named = !path.empty() && path.back() == '/';  // "": mounted under a name
  const std::string name(FileNameOf(path));
  if (!options_.dot_files && IsHidden(path)) {
    exchange.Reply(ErrorResponse(404));
    return;
  }
  UniqueFd file = Open(name);
  struct stat status {};
  if (!file || fstat(file.Get(), &status) != 0) {
    AnswerFailure(exchange, name, errno);
  } else if (S_ISDIR(status.st_mode) && !folder_named) {
    exchange.Reply(RedirectToFolder(request));
  } else if (!S_ISREG(status.st_mode)) {
    exchange.Reply(ErrorResponse(404));  // a directory without a page, a device or a pipe
  } else if (const PinTo<CachedFile> cached = Cacheable(request)
                                                  ? cache_->Load(name, file, status, MimeType(name))
                                                  : PinTo<CachedFile>()) {
    AnswerCached(exchange, cached);
  } else {
    exchange.Reply(AnswerFile(request, MimeType(name), std::move(file), status));
  }
}

// @return true if it is now another directory
auto StaticFiles::LookUpRoot(RootFolder::Look look) -> bool {
  const bool another = root_.Refresh(looper_.Now(), look);
  if (another && cache_) {
    cache_->SetRoot(root_.Get());
  }
  return another;
}

// A name missing in the old directory may be in the one that has replaced it meanwhile.
auto StaticFiles::Open(const std::string& name) -> UniqueFd {
  UniqueFd file = OpenBeneath(root_.Get(), name);
  if (!file && StatusOfOpenError(errno) == 404) {
    const int error = errno;
    const bool another = LookUpRoot(RootFolder::Look::kAtOnce);
    errno = error;
    return another ? OpenBeneath(root_.Get(), name) : UniqueFd();
  }
  return file;
}

// A directory that may only be searched can't be opened for reading, but it exists.
void StaticFiles::AnswerFailure(Exchange& exchange, const std::string& name, int error) const {
  if (error == EACCES && IsFolderBeneath(root_.Get(), name)) {
    const std::string_view path = exchange.SubPath();
    exchange.Reply(!path.empty() && path.back() == '/' ? ErrorResponse(404)
                                                       : RedirectToFolder(exchange.GetRequest()));
  } else {
    exchange.Reply(ErrorResponse(StatusOfOpenError(error)));
  }
}

auto StaticFiles::AnswerFile(const Request& request, std::string_view type, UniqueFd file,
                             const struct stat& status) const -> Response {
  Response response(200);
  FillWithFile(request, type, std::move(file), status, options_.max_copied_bytes, response);
  return response;
}

// A member of the server, because users look for it there. It is implemented in this file, because
// `web` knows nothing of files.
auto HttpServer::Files(std::string prefix, std::string directory) -> HttpServer& {
  StaticFilesOptions options;
  options.root = std::move(directory);
  return Files(std::move(prefix), options);
}

auto HttpServer::Files(std::string prefix, const StaticFilesOptions& options) -> HttpServer& {
  constexpr std::size_t kCacheBytes = std::size_t{64} << 20;
  StaticFilesOptions share = options;
  share.cache.max_bytes = options.cache.max_bytes.value_or(kCacheBytes) / Loopers().size();
  return Mount(std::move(prefix), [share = std::move(share)](Looper& looper) {
    return std::make_unique<StaticFiles>(looper, share);
  });
}

}  // namespace TURTLE_SERVER
