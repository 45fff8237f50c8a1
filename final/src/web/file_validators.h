// What tells one state of a file from another: its ETag and its time.
//
// Interface: a FileValidators made from stat(2) gives the Validators that a conditional request is
// compared with (http/conditional.h).
//
// The tag is made of what the kernel knows: inode, size, and the times of the last change to the
// content and to the inode, in nanoseconds: unsigned numbers of 64 bits, in hexadecimal, with
// hyphens between them. It is strong, "same tag, same bytes", only when that is certain: a file
// that changes twice within one tick of the file system's clock has the same times after both, so
// as long as that tick may last, the tag is weak.
//
// Thread: any.
#pragma once

#include <sys/stat.h>

#include <array>
#include <cstddef>

#include "http/conditional.h"
#include "http/http_date.h"

namespace TURTLE_SERVER {

/// The validators of one state of a file.
class FileValidators {
 public:
  /// @param status of the file, fstat(2)
  /// @param now the wall clock, clock_gettime(2) CLOCK_REALTIME
  FileValidators(const struct stat& status, const timespec& now) noexcept;

  /// As conditional requests want them. The views last as long as this object stays where it is.
  /// No time is later than `now`: clients would take their copy for newer than the file.
  [[nodiscard]] auto Get() const noexcept -> Validators;

 private:
  std::array<char, 80> tag_{};
  std::size_t tag_bytes_ = 0;
  HttpTime last_modified_;
  bool strong_ = false;
};

}  // namespace TURTLE_SERVER
