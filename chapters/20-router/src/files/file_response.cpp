#include "files/file_response.h"

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <string>
#include <utility>

#include "base/file_slice.h"
#include "files/file_validators.h"
#include "files/read_file.h"
#include "http/conditional.h"
#include "http/http_date.h"
#include "http/range.h"

namespace TURTLE_SERVER {

namespace {

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

void FillWithParts(const RangeSet& ranges, const FileSlice& file, std::string_view type,
                   bool copied, Response& response) {
  response.SetStatus(206);
  std::string text;
  if (ranges.Size() == 1) {
    AppendContentRange(ranges[0], file.length, text);
    response.Set("Content-Range", text).Set("Content-Type", type);
    if (!AddPart(file, ranges[0], copied, response)) {
      response = ChangedFile();
    }
    return;
  }
  // No file can have been given this content for this response: it is made of the time.
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
      response = ChangedFile();
      return;
    }
  }
  text.clear();
  AppendPartsEnd(boundary, text);
  response.AddBody(text);
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
void FillNotModified(const Validators& validators, Response& response) {
  std::string tag;
  AppendEtag(validators, tag);
  response.SetStatus(304);
  response.Set("ETag", tag);
}

}  // namespace

// A client must not learn what exists outside the directory: a path that leads out of it looks like
// one that leads nowhere.
auto StatusOfOpenError(int error) noexcept -> int {
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

void FillWithFile(const Request& request, std::string_view type, UniqueFd file,
                  const struct stat& status, std::size_t max_copied_bytes, Response& response) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const FileValidators file_validators(status, now);
  const Validators validators = file_validators.Get();
  const auto size = static_cast<std::uint64_t>(status.st_size);

  const ConditionResult condition =
      EvaluateConditions(request.method, request.headers, validators, HttpTime(now.tv_sec));
  if (condition.action == ConditionResult::Action::kPreconditionFailed) {
    response = ErrorResponse(412);
    return;
  }
  if (condition.action == ConditionResult::Action::kNotModified) {
    FillNotModified(validators, response);
    return;
  }

  const auto range_field = request.headers.Find(KnownField::kRange);
  const bool ranged = request.method == Method::kGet && condition.range_applies && range_field &&
                      !request.headers.IsRepeated(KnownField::kRange);
  const RangeSet ranges = ranged ? ParseRange(*range_field, size) : RangeSet();
  if (ranges.GetState() == RangeSet::State::kUnsatisfiable) {
    std::string text;
    AppendUnsatisfiedRange(size, text);
    response = ErrorResponse(416);
    response.Set("Content-Range", text);
    return;
  }

  const int fd = file.Get();
  if (ranges.GetState() == RangeSet::State::kParts) {
    const bool copied = LengthOf(ranges) <= max_copied_bytes;
    FillWithParts(ranges, OwnFileSlice(std::move(file), 0, size), type, copied, response);
    if (response.Status() != 206) {
      return;
    }
  } else {
    response.Set("Content-Type", type);
    if (size > max_copied_bytes) {
      response.Body(OwnFileSlice(std::move(file), 0, size));
    } else if (auto bytes = ReadFile(fd, 0, size)) {
      response.Body(std::move(*bytes));
    } else {
      response = ChangedFile();
      return;
    }
  }
  response.Set("Accept-Ranges", "bytes");
  SetValidators(validators, response);
}

}  // namespace TURTLE_SERVER
