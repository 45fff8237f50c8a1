#include "files/static_files.h"

#include <sys/stat.h>

#include <cerrno>
#include <ctime>
#include <stdexcept>
#include <utility>

#include "core/looper.h"
#include "files/file_validators.h"
#include "files/open_beneath.h"
#include "files/read_file.h"
#include "http/conditional.h"
#include "http/mime.h"
#include "http/range.h"
#include "http/request.h"
#include "web/exchange.h"

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

// A client must not learn what exists outside the directory: a path that leads out of it looks like
// one that leads nowhere.
auto StatusOf(int error) noexcept -> int {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
    case EMLINK:  // for a link that is not followed, on FreeBSD
    case EXDEV:
    case ENAMETOOLONG:
    case ENXIO:
      return 404;
    case EACCES:
    case EPERM:
      return 403;
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return 503;
    default:
      return 500;
  }
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

auto ChangedFile() -> Response {
  return ErrorResponse(500, "The file has changed while it was read.");
}

auto LengthOf(const RangeSet& ranges) -> std::uint64_t {
  std::uint64_t length = 0;
  for (const ByteRange& range : ranges) {
    length += range.length;
  }
  return length;
}

// Adds a part of `file` to a body, either its bytes or the promise of them.
// @return false if the file no longer has that part
auto AddPart(const FileSlice& file, const ByteRange& range, bool copied, Response& response)
    -> bool {
  if (!copied) {
    response.AddBody(FileSlice{file.fd, range.offset, range.length, file.pin});
    return true;
  }
  auto bytes = ReadFile(file.fd, range.offset, range.length);
  if (bytes) {
    response.AddBody(std::move(*bytes));
  }
  return bytes.has_value();
}

auto PartialResponse(const RangeSet& ranges, const FileSlice& file, std::string_view type,
                     bool copied) -> Response {
  Response response(206);
  std::string text;
  if (ranges.Size() == 1) {
    AppendContentRange(ranges[0], file.length, text);
    response.Set("Content-Range", text).Set("Content-Type", type);
    return AddPart(file, ranges[0], copied, response) ? std::move(response) : ChangedFile();
  }
  // No file can have been given this boundary for this response: it is made of the time.
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::string boundary =
      "turtle-" + std::to_string(now.tv_sec) + '-' + std::to_string(now.tv_nsec);
  response.Set("Content-Type", "multipart/byteranges; boundary=" + boundary);
  for (const ByteRange& range : ranges) {
    text.clear();
    AppendPartHead(boundary, type, range, file.length, text);
    response.AddBody(text);
    if (!AddPart(file, range, copied, response)) {
      return ChangedFile();
    }
  }
  text.clear();
  AppendPartsEnd(boundary, text);
  response.AddBody(text);
  return response;
}

void SetValidators(const Validators& validators, Response& response) {
  std::string text;
  AppendEtag(validators, text);
  response.Set("ETag", text);
  text.clear();
  AppendLastModified(validators, text);
  response.Set("Last-Modified", text);
}

// With a tag, no other fact about the file is needed, and none that could be wrong about the
// client's copy (RFC 9110, section 15.4.5).
auto NotModified(const Validators& validators) -> Response {
  std::string tag;
  AppendEtag(validators, tag);
  Response response(304);
  response.Set("ETag", tag);
  return response;
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
  if (!file && StatusOf(errno) == 404) {
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
    exchange.Reply(ErrorResponse(StatusOf(error)));
  }
}

auto StaticFiles::AnswerFile(const Request& request, std::string_view type, UniqueFd file,
                             const struct stat& status) const -> Response {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const FileValidators file_validators(status, now);
  const Validators validators = file_validators.Get();
  const auto size = static_cast<std::uint64_t>(status.st_size);

  const ConditionResult condition =
      EvaluateConditions(request.method, request.headers, validators, HttpTime(now.tv_sec));
  if (condition.action == ConditionResult::Action::kPreconditionFailed) {
    return ErrorResponse(412);
  }
  if (condition.action == ConditionResult::Action::kNotModified) {
    return NotModified(validators);
  }

  const auto range_field = request.headers.Find(KnownField::kRange);
  const bool ranged = request.method == Method::kGet && condition.range_applies && range_field &&
                      !request.headers.IsRepeated(KnownField::kRange);
  const RangeSet ranges = ranged ? ParseRange(*range_field, size) : RangeSet();
  if (ranges.GetState() == RangeSet::State::kUnsatisfiable) {
    std::string text;
    AppendUnsatisfiedRange(size, text);
    return ErrorResponse(416).Set("Content-Range", text);
  }

  Response response(200);
  const int fd = file.Get();
  if (ranges.GetState() == RangeSet::State::kParts) {
    const bool copied = LengthOf(ranges) <= options_.max_copied_bytes;
    response = PartialResponse(ranges, OwnFileSlice(std::move(file), 0, size), type, copied);
    if (response.Status() != 206) {
      return response;
    }
  } else {
    response.Set("Content-Type", type);
    if (size > options_.max_copied_bytes || request.method == Method::kHead) {
      response.Body(OwnFileSlice(std::move(file), 0, size));
    } else if (auto bytes = ReadFile(fd, 0, size)) {
      response.Body(std::move(*bytes));
    } else {
      return ChangedFile();
    }
  }
  response.Set("Accept-Ranges", "bytes");
  SetValidators(validators, response);
  return response;
}

}  // namespace TURTLE_SERVER
