// The content of a form with files: a multipart/form-data body (http/multipart.h), kept.
//
// The values of fields stay in memory, where they are looked up. So do small files; a larger one
// goes to a file without a name. Each of these has its own limit, because each runs out by itself:
// memory, descriptors, and the disk.
//
// Interface:
//  * Write() is given the body as it comes, Finish() says whether it was complete.
//  * Parts() are there then; Find() gives the first of a name.
//  * UploadedPart::Save() makes a file of a part, under a name that the server has chosen.
//
// Thread: one at a time. A loop that calls it waits for the disk, as it does for a program's body
// (cgi/cgi.h): usually that is the page cache.
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

/// Where an upload is kept, and how much of it. Each limit is inclusive; beyond it: 413.
struct UploadOptions {
  /// Of the body, in place of the server's own limit (BodyLimits::max_body_bytes).
  MultipartLimits limits{};
  /// Of all that has to stay in memory: the values of fields, and the names of all parts; bytes.
  std::size_t max_field_bytes = std::size_t{256} * 1024;
  /// The content of files that is kept in memory, all together; the rest goes to disk.
  std::size_t max_memory_file_bytes = std::size_t{64} * 1024;
  std::size_t max_files_on_disk = 16;  ///< a descriptor for each
  std::string folder = "/tmp";         ///< where these lie
};

/// One part of an upload, with its content.
struct UploadedPart {
  MultipartPart header;    ///< the client's names for it
  std::uint64_t size = 0;  ///< of the content, in bytes
  std::string text;        ///< the content, unless it is on disk
  SpoolFile file;          ///< the content, if it is: GetFd() can be read from its start

  /// Returns true if the content is in `file`.
  [[nodiscard]] auto IsOnDisk() const noexcept -> bool { return file.GetFd() >= 0; }

  /// Makes a new file of the content, which others than its owner can't read; waits for the disk.
  /// @param path chosen by the server, and never made of `header.filename`. An existing file is not
  ///     replaced.
  /// @return 0 or an errno value (EEXIST, ENOSPC); nothing is left behind then
  [[nodiscard]] auto Save(const std::string& path) const -> int;
};

/// An upload as it comes in.
class Upload {
 public:
  /// Stands at the start of a body. Throws std::invalid_argument if `boundary` is none.
  /// @param boundary from MultipartBoundary()
  /// @param options where it is kept
  explicit Upload(std::string_view boundary, UploadOptions options = {});

  /// Takes the next piece of the body.
  /// @return no fault; 400 or 413; 503: the disk does not take it, see FileError(). After a fault
  ///     every further call says the same. The kept content goes with this object.
  auto Write(std::string_view piece) -> HeadFault;

  /// Says whether a body that ends here is complete. @return as Write()
  auto Finish() -> HeadFault;

  /// Returns all parts in their order. They are complete when Finish() has found no fault.
  [[nodiscard]] auto Parts() const noexcept -> const std::vector<UploadedPart>& { return parts_; }

  /// Returns the first part named exactly `name`, or nullptr; valid until the next Write().
  [[nodiscard]] auto Find(std::string_view name) const -> const UploadedPart*;

  /// With 503: the errno value, for the log; else 0.
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
