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

// Appends a part of `file` to a body.
// @return false if the file no longer has that part
auto AppendPart(int file, const ByteRange& range, std::string& body) -> bool {
  const auto bytes = ReadFile(file, range.offset, range.length);
  if (bytes) {
    body += *bytes;
  }
  return bytes.has_value();
}

auto PartialResponse(const RangeSet& ranges, int file, std::uint64_t size, std::string_view type)
    -> Response {
  Response response(206);
  std::string text;
  if (ranges.Size() == 1) {
    AppendContentRange(ranges[0], size, text);
    response.Set("Content-Range", text).Set("Content-Type", type);
    text.clear();
    return AppendPart(file, ranges[0], text) ? std::move(response.Body(std::move(text)))
                                             : ChangedFile();
  }
  // No file can have been given this boundary for this response: it is made of the time.
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::string boundary =
      "turtle-" + std::to_string(now.tv_sec) + '-' + std::to_string(now.tv_nsec);
  response.Set("Content-Type", "multipart/byteranges; boundary=" + boundary);
  for (const ByteRange& range : ranges) {
    AppendPartHead(boundary, type, range, size, text);
    if (!AppendPart(file, range, text)) {
      return ChangedFile();
    }
  }
  AppendPartsEnd(boundary, text);
  response.Body(std::move(text));
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

StaticFiles::StaticFiles(StaticFilesOptions options)
    : options_(std::move(options)), root_(options_.root, "folder") {
  if (options_.index.find('\0') != std::string::npos) {
    throw std::invalid_argument("index \"" + options_.index.substr(0, options_.index.find('\0')) +
                                "\": a NUL byte is in it");
  }
}

void StaticFiles::Handle(Exchange& exchange) {
  const Request& request = exchange.GetRequest();
  if (request.method == Method::kOptions) {
    exchange.Reply(Response(204).Set("Allow", kAllowed));
  } else if (request.method != Method::kGet && request.method != Method::kHead) {
    exchange.Reply(ErrorResponse(405).Set("Allow", kAllowed));
  } else {
    Answer(exchange);
  }
}

void StaticFiles::Answer(Exchange& exchange) {
  const Request& request = exchange.GetRequest();
  const std::string_view path = exchange.SubPath();
  const bool folder_named = !path.empty() && path.back() == '/';  // "": mounted under a name
  std::string name(path.substr(path.empty() ? 0 : 1));
  if (folder_named) {
    name += options_.index;
  }
  if (!options_.dot_files && IsHidden(path)) {
    exchange.Reply(ErrorResponse(404));
    return;
  }
  UniqueFd file = Open(exchange, name);
  struct stat status {};
  if (!file || fstat(file.Get(), &status) != 0) {
    AnswerFailure(exchange, name, errno);
  } else if (S_ISDIR(status.st_mode) && !folder_named) {
    exchange.Reply(RedirectToFolder(request));
  } else if (!S_ISREG(status.st_mode)) {
    exchange.Reply(ErrorResponse(404));  // a directory without a page, a device or a pipe
  } else {
    exchange.Reply(AnswerFile(request, MimeType(name), file.Get(), status));
  }
}

// A name missing in the old directory may be in the one that has replaced it meanwhile.
auto StaticFiles::Open(Exchange& exchange, const std::string& name) -> UniqueFd {
  const TimePoint now = exchange.GetLooper().Now();
  root_.Refresh(now, RootFolder::Look::kNowAndThen);
  UniqueFd file = OpenBeneath(root_.Get(), name);
  if (!file && StatusOf(errno) == 404) {
    const int error = errno;
    const bool another = root_.Refresh(now, RootFolder::Look::kAtOnce);
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

auto StaticFiles::AnswerFile(const Request& request, std::string_view type, int file,
                             const struct stat& status) -> Response {
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
  if (ranges.GetState() == RangeSet::State::kParts) {
    response = PartialResponse(ranges, file, size, type);
    if (response.Status() != 206) {
      return response;
    }
  } else if (auto bytes = ReadFile(file, 0, size)) {
    response.Set("Content-Type", type).Body(std::move(*bytes));
  } else {
    return ChangedFile();
  }
  response.Set("Accept-Ranges", "bytes");
  SetValidators(validators, response);
  return response;
}

}  // namespace TURTLE_SERVER
