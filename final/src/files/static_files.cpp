#include "files/static_files.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "compress/compressible.h"
#include "compress/compression.h"
#include "core/looper.h"
#include "files/file_response.h"
#include "files/open_beneath.h"
#include "http/conditional.h"
#include "http/encode_path.h"
#include "http/mime.h"
#include "http/request.h"
#include "http/response.h"
#include "log/log.h"
#include "web/exchange.h"
#include "web/http_server.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::string_view kAllowed = "GET, HEAD, OPTIONS";

// Returns true for a segment that begins with a dot, other than .well-known as the first one. A
// path no longer has dot segments (http/uri.h).
auto HasDotFile(std::string_view path) noexcept -> bool {
  constexpr std::string_view kWellKnown = "/.well-known";
  const bool well_known = path.substr(0, kWellKnown.size()) == kWellKnown &&
                          (path.size() == kWellKnown.size() || path[kWellKnown.size()] == '/');
  return path.find("/.", well_known ? kWellKnown.size() : 0) != std::string_view::npos;
}

// Returns true for a path such as Uri::Path() returns. The others might lead out of the directory,
// or be a second spelling of a name, which FileCache would not find when the file changes.
auto IsNormal(std::string_view path) noexcept -> bool {
  if (path.empty() || path.front() != '/' || path.find('\0') != std::string_view::npos ||
      path.find("//") != std::string_view::npos) {
    return false;
  }
  for (std::size_t at = 0; (at = path.find("/.", at)) != std::string_view::npos; ++at) {
    const std::string_view segment = path.substr(at + 1, path.find('/', at + 1) - at - 1);
    if (segment == "." || segment == "..") {
      return false;
    }
  }
  return true;
}

// Not only if this client's response may be compressed: the entry serves all clients.
auto IsNegotiable(const Exchange& exchange, std::string_view type) noexcept -> bool {
  return exchange.Compresses() && IsCompressible(type);
}

// Returns true if the path names a directory. "" doesn't: it is a mount without its slash.
auto NamesFolder(std::string_view path) noexcept -> bool {
  return !path.empty() && path.back() == '/';
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
  hides_index_ = IsHidden("/" + options_.index);
  if (options_.cache.max_bytes.value_or(0) != 0) {
    cache_ = std::make_unique<FileCache>(looper, root_.Get(), options_.cache);
    coder_.emplace(looper, *cache_);
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
    } else if (const PinTo<CachedFile> file = FindCached(request, exchange.SubPath())) {
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

auto StaticFiles::FindCached(const Request& request, std::string_view path) -> PinTo<CachedFile> {
  if (!Cacheable(request)) {
    return {};
  }
  return cache_->Find(FileNameOf(path));
}

// Returns the file name for a path. Valid until the next call, and as long as `path`.
auto StaticFiles::FileNameOf(std::string_view path) -> std::string_view {
  const std::string_view name = path.substr(path.empty() ? 0 : 1);
  if (!NamesFolder(path)) {
    return name;
  }
  index_name_.assign(name).append(options_.index);
  return index_name_;
}

// Returns a file in the coding that the client likes best; empty: the file itself, for now.
auto StaticFiles::Negotiated(const Exchange& exchange, const PinTo<CachedFile>& file)
    -> PinTo<CachedFile> {
  const Compression* const compression = exchange.GetCompression();
  if (compression == nullptr || !file->IsNegotiable()) {
    return {};
  }
  const bool is_long = file->BodyBytes() >= compression->Options().min_bytes;
  CodingOrder offered;
  for (const Coding each : compression->Options().codings) {
    if (file->Variant(each) || (is_long && !file->IsUseless(each))) {
      offered.Add(each);
    }
  }
  const Coding coding = compression->CodingFor(exchange.GetRequest(), offered);
  if (coding == Coding::kIdentity) {
    return {};
  }
  const PinTo<CachedFile>& variant = file->Variant(coding);
  return variant ? variant : coder_->Code(file, coding);
}

void StaticFiles::AnswerCached(Exchange& exchange, const PinTo<CachedFile>& plain) {
  const Request& request = exchange.GetRequest();
  PinTo<CachedFile> variant;
  try {
    variant = Negotiated(exchange, plain);
  } catch (...) {
    LogException("compressing a file");
  }
  const PinTo<CachedFile>& file = variant ? variant : plain;
  ConditionResult condition;
  if (HasConditions(request.headers)) {
    condition = EvaluateConditions(request.method, request.headers, file->GetValidators(),
                                   HttpTime(std::time(nullptr)));
  }
  switch (condition.action) {
    case ConditionResult::Action::kServe:
      exchange.Reply(
          ReadyReply{ReadyStatus::kOk, file->Text(), file->BodyBytes(), file, file->GetFd(), true});
      break;
    case ConditionResult::Action::kNotModified:
      exchange.Reply(
          ReadyReply{ReadyStatus::kNotModified, file->NotModifiedText(), 0, file, -1, true});
      break;
    case ConditionResult::Action::kPreconditionFailed:
      exchange.Reply(ErrorResponse(412));
      break;
  }
}

void StaticFiles::Answer(Exchange& exchange) {
  const std::string_view path = exchange.SubPath();
  const std::string name(FileNameOf(path));
  if (IsHidden(path)) {
    exchange.Reply(ErrorResponse(404));
    return;
  }
  UniqueFd file = Open(name);
  struct stat status {};
  if (!file || fstat(file.Get(), &status) != 0) {
    AnswerFailure(exchange, name, errno);
  } else if (S_ISDIR(status.st_mode) && !NamesFolder(path)) {
    exchange.Reply(RedirectToFolder(exchange.GetRequest()));
  } else if (!S_ISREG(status.st_mode)) {
    AnswerMissing(exchange, name, 0);  // a directory without a page, a device or a pipe
  } else {
    AnswerFile(exchange, name, std::move(file), status);
  }
}

auto StaticFiles::TryFile(Exchange& exchange, std::string_view path) -> bool {
  if (!IsNormal(path) || IsHidden(path)) {
    return false;
  }
  if (const PinTo<CachedFile> cached = FindCached(exchange.GetRequest(), path)) {
    AnswerCached(exchange, cached);
    return true;
  }
  const std::string name(FileNameOf(path));
  UniqueFd file = Open(name);
  struct stat status {};
  if (!file || fstat(file.Get(), &status) != 0) {
    const int error = errno;
    if (StatusOfOpenError(error) == 404 || IsClosedFolder(name, error)) {
      return false;
    }
    exchange.Reply(ErrorResponse(StatusOfOpenError(error)));
    return true;
  }
  if (!S_ISREG(status.st_mode)) {
    return false;
  }
  AnswerFile(exchange, name, std::move(file), status);
  return true;
}

auto StaticFiles::OnMissing(Exchange& /*exchange*/, const std::string& /*name*/, int /*error*/)
    -> bool {
  return false;
}

auto StaticFiles::TypeOf(std::string_view name) const -> std::string_view { return MimeType(name); }

auto StaticFiles::IsHidden(std::string_view path) const noexcept -> bool {
  return !options_.dot_files && HasDotFile(path);
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
auto StaticFiles::IsClosedFolder(const std::string& name, int error) const noexcept -> bool {
  return error == EACCES && IsFolderBeneath(root_.Get(), name);
}

void StaticFiles::AnswerFailure(Exchange& exchange, const std::string& name, int error) {
  const bool is_folder = IsClosedFolder(name, error);
  if (is_folder && !NamesFolder(exchange.SubPath())) {
    exchange.Reply(RedirectToFolder(exchange.GetRequest()));
  } else if (is_folder || StatusOfOpenError(error) == 404) {
    AnswerMissing(exchange, name, error);
  } else {
    exchange.Reply(ErrorResponse(StatusOfOpenError(error)));
  }
}

void StaticFiles::AnswerMissing(Exchange& exchange, const std::string& name, int error) {
  if (!OnMissing(exchange, name, error)) {
    exchange.Reply(ErrorResponse(404));
  }
}

void StaticFiles::AnswerFile(Exchange& exchange, const std::string& name, UniqueFd file,
                             const struct stat& status) {
  const Request& request = exchange.GetRequest();
  const std::string_view type = TypeOf(name);
  if (const PinTo<CachedFile> cached =
          Cacheable(request) ? cache_->Load(name, file, status, type, IsNegotiable(exchange, type))
                             : PinTo<CachedFile>()) {
    AnswerCached(exchange, cached);
  } else {
    Response response(200);
    FillWithFile(request, type, std::move(file), status, options_.max_copied_bytes, response);
    exchange.Reply(response);
  }
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
