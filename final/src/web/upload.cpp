#include "web/upload.h"

#include <cerrno>
#include <utility>

#include "web/nameless_file.h"

namespace TURTLE_SERVER {

auto UploadedPart::Save(const std::string& path) const -> int {
  if (IsOnDisk()) {
    return GiveName(file.GetFd(), path);
  }
  // Goes through a nameless file beside it, so that no process ever finds a partial file.
  const std::size_t slash = path.rfind('/');
  UniqueFd beside = OpenNameless(slash == std::string::npos ? "." : path.substr(0, slash + 1));
  if (!beside) {
    return errno;
  }
  SpoolFile written;
  written.Adopt(std::move(beside));
  int error = written.Write(text);
  if (error == 0) {
    error = written.Rewind();
  }
  return error != 0 ? error : GiveName(written.GetFd(), path);
}

Upload::Upload(std::string_view boundary, UploadOptions options)
    : options_(std::move(options)), parser_(boundary, options_.limits) {}

auto Upload::Write(std::string_view piece) -> HeadFault {
  MultipartStep step;
  do {
    if (fault_) {
      return fault_;
    }
    step = parser_.Read(piece);
    piece.remove_prefix(step.consumed);
    switch (step.event) {
      case MultipartEvent::kPart:
        fault_ = Begin();
        break;
      case MultipartEvent::kData:
        fault_ = Keep(step.data);
        break;
      case MultipartEvent::kPartEnd:
        if (parts_.back().IsOnDisk()) {
          fault_ = DiskFault(parts_.back().file.Rewind());
        }
        break;
      case MultipartEvent::kBad:
        fault_ = {step.status, step.reason};
        break;
      case MultipartEvent::kMore:
        break;
    }
  } while (step.event != MultipartEvent::kMore);
  return fault_;
}

auto Upload::Finish() -> HeadFault {
  if (!fault_) {
    fault_ = parser_.Finish();
  }
  return fault_;
}

auto Upload::Find(std::string_view name) const -> const UploadedPart* {
  for (const UploadedPart& part : parts_) {
    if (part.header.name == name) {
      return &part;
    }
  }
  return nullptr;
}

auto Upload::Begin() -> HeadFault {
  const MultipartPart& header = parser_.Part();
  const std::size_t bytes =
      header.name.size() + header.filename.size() + header.content_type.size();
  if (bytes > options_.max_field_bytes - field_bytes_) {
    return {413, "the fields of the form are too large"};
  }
  field_bytes_ += bytes;
  parts_.emplace_back();
  parts_.back().header = header;
  return {};
}

auto Upload::Keep(std::string_view content) -> HeadFault {
  UploadedPart& part = parts_.back();
  part.size += content.size();
  if (part.IsOnDisk()) {
    return DiskFault(part.file.Write(content));
  }
  const std::size_t limit =
      part.header.is_file ? options_.max_memory_file_bytes : options_.max_field_bytes;
  std::size_t& used = part.header.is_file ? memory_file_bytes_ : field_bytes_;
  if (content.size() <= limit - used) {
    used += content.size();
    part.text += content;
    return {};
  }
  if (!part.header.is_file) {
    return {413, "the fields of the form are too large"};
  }
  if (const HeadFault fault = MoveToDisk(part)) {
    return fault;
  }
  return DiskFault(part.file.Write(content));
}

// Writes the part so far.
auto Upload::MoveToDisk(UploadedPart& part) -> HeadFault {
  if (files_on_disk_ == options_.max_files_on_disk) {
    return {413, "too many files"};
  }
  UniqueFd file = OpenNameless(options_.folder);
  if (!file) {
    return DiskFault(errno);
  }
  ++files_on_disk_;
  part.file.Adopt(std::move(file));
  const int error = part.file.Write(part.text);
  memory_file_bytes_ -= part.text.size();
  std::string().swap(part.text);  // an assignment would keep its memory
  return DiskFault(error);
}

auto Upload::DiskFault(int error) -> HeadFault {
  file_error_ = error;
  return error == 0 ? HeadFault{} : HeadFault{503, "the upload can't be kept"};
}

}  // namespace TURTLE_SERVER
