// Distinguishes the states of a file by its ETag and its time.
//
// Interface: a FileValidators made from stat(2) returns the Validators for a conditional request
// (http/conditional.h).
//
// The tag consists of the size and the time of the last change to the content, in nanoseconds:
// unsigned 64-bit numbers, in hexadecimal, with a hyphen between them. A copy that keeps its times
// (`rsync -a`, `cp -p`) has the same tag on each machine. The inode's number and change time would
// differ there. They are added only if the content's time is a placeholder, as build tools and
// archives set it: a whole second before 2007.
//
// The tag is strong, "same tag, same bytes", only if the file can't change again and keep it. A
// file that changes twice within one tick of the file system's clock has the same times after both,
// so the tag is weak until that tick must have passed. A change that keeps the size and restores
// the modification time is not detected.
//
// Thread: any.
#pragma once

#include <sys/stat.h>

#include <array>
#include <cstddef>

#include "http/conditional.h"
#include "http/http_date.h"

namespace TURTLE_SERVER {

/// Validators of one state of a file.
class FileValidators {
 public:
  /// @param status of the file, fstat(2)
  /// @param now the wall clock, clock_gettime(2) CLOCK_REALTIME
  FileValidators(const struct stat& status, const timespec& now) noexcept;

  /// Returns them for conditional requests. The views are valid until this object moves. No time is
  /// later than `now`, or clients would take their copy for newer than the file. While the file may
  /// still change within the second of its time, Validators::second_over is false.
  [[nodiscard]] auto Get() const noexcept -> Validators;

 private:
  std::array<char, 80> tag_{};
  std::size_t tag_bytes_ = 0;
  HttpTime last_modified_;
  bool strong_ = false;
  bool second_over_ = false;
};

}  // namespace TURTLE_SERVER
