// Stores the content of a form with files: a multipart/form-data body (http/multipart.h).
//
// The values of fields stay in memory, where they are looked up. So do small files; a larger one
// goes to a file without a name. Memory, descriptors and the disk run out independently, so each of
// them has its own limit.
//
// Interface:
//  * Write() takes the body in pieces; Finish() returns whether it was complete.
//  * Parts() returns all parts after that; Find() returns the first with a name.
//  * UploadedPart::Save() stores a part as a file, under a name that the server has chosen.
//
// Thread: one at a time. A loop that calls it waits for the disk, as it does for a program's body
// (cgi/cgi.h): usually that is only the page cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/head_fault.h"
#include "http/multipart.h"
#include "web/spool_file.h"

namespace TURTLE_SERVER {

/// Limits of an upload and the place of its files. Each limit is inclusive; beyond it: 413.
struct UploadOptions {
  /// Limits of the body, in place of the server's own (BodyLimits::max_body_bytes).
  MultipartLimits limits{};
  /// Bytes that have to stay in memory: the values of fields and the names of all parts together.
  std::size_t max_field_bytes = std::size_t{256} * 1024;
  /// Bytes of file content kept in memory, for all files together; the rest goes to disk.
  std::size_t max_memory_file_bytes = std::size_t{64} * 1024;
  std::size_t max_files_on_disk = 16;  ///< each takes a descriptor
  std::string folder = "/tmp";         ///< the directory for these files
};

/// One part of an upload, with its content.
struct UploadedPart {
  MultipartPart header;    ///< the client's names for it
  std::uint64_t size = 0;  ///< of the content, in bytes
  std::string text;        ///< the content, unless it is on disk
  SpoolFile file;          ///< the content, if on disk: GetFd() is read from its start

  /// Returns true if the content is in `file`.
  [[nodiscard]] auto IsOnDisk() const noexcept -> bool { return file.GetFd() >= 0; }

  /// Makes a new file of the content, which only its owner can read; waits for the disk.
  /// @param path chosen by the server, never made from `header.filename`. An existing file is not
  ///     replaced.
  /// @return 0 or an errno value (EEXIST, ENOSPC); nothing is left behind in that case
  [[nodiscard]] auto Save(const std::string& path) const -> int;
};

/// Receives an upload.
class Upload {
 public:
  /// Starts at the beginning of a body. Throws std::invalid_argument for an invalid `boundary`.
  /// @param boundary from MultipartBoundary()
  /// @param options limits and place of the files
  explicit Upload(std::string_view boundary, UploadOptions options = {});

  /// Takes the next piece of the body.
  /// @return no fault; 400 or 413; 503 if the disk fails, see FileError(). After a fault every
  ///     further call returns the same. The stored content is removed with this object.
  auto Write(std::string_view piece) -> HeadFault;

  /// Checks that a body that ends here is complete. @return as Write()
  auto Finish() -> HeadFault;

  /// Returns all parts in order. They are complete if Finish() has found no fault.
  [[nodiscard]] auto Parts() const noexcept -> const std::vector<UploadedPart>& { return parts_; }

  /// Returns the first part named exactly `name`, or nullptr; valid until the next Write().
  [[nodiscard]] auto Find(std::string_view name) const -> const UploadedPart*;

  /// Returns the errno value of a 503, for the log; else 0.
  [[nodiscard]] auto FileError() const noexcept -> int { return file_error_; }

 private:
  auto Begin() -> HeadFault;
  auto Keep(std::string_view content) -> HeadFault;
  auto MoveToDisk(UploadedPart& part) -> HeadFault;
  auto DiskFault(int error) -> HeadFault;

  UploadOptions options_;
  MultipartParser parser_;
  std::vector<UploadedPart> parts_;
  std::size_t field_bytes_ = 0;
  std::size_t memory_file_bytes_ = 0;
  std::size_t files_on_disk_ = 0;
  int file_error_ = 0;
  HeadFault fault_;
};

}  // namespace TURTLE_SERVER
