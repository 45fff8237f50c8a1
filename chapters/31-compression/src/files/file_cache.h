// Keeps files ready to be sent: the fields of the head followed by the body or, if the file is
// large, the open file itself. Up to some size a copy in memory is the cheapest. Beyond it,
// sendfile(2) is, and it needs no open(2) then.
//
// An entry is never stale, and never sent with a wrong length. The kernel reports changes
// before the round's requests are served (files/file_watch.h). It does not report all of them,
// so an entry is also compared with a fresh stat(2) once a second. It is compared at every
// request if the kernel can't report changes, if a symbolic link is on the way, if the file has
// a second name, or by choice. A file read into memory must have the same times before and
// after.
//
// A file that is worth compressing may have variants beside it: a file with the same name and the
// suffix of a coding, encoded in advance, or bytes that were encoded here (files/file_coder.h).
// They go when the file goes.
//
// Interface:
//  * Find() returns an entry that is fresh, or none.
//  * Load() stores a file that has just been opened.
//  * AddVariant() stores another coding of an entry.
//
// Each loop has its own cache, with its share of the memory: a hit takes no lock, and touches
// nothing that another core writes.
//
// Thread: the loop's.
#pragma once

#include <sys/stat.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/lru_cache.h"
#include "base/pin.h"
#include "base/unique_fd.h"
#include "compress/coding.h"
#include "core/looper.h"
#include "files/file_validators.h"
#include "files/file_watch.h"
#include "files/root_folder.h"

namespace TURTLE_SERVER {

/// When entries are compared with the file system.
enum class FileCheck : std::uint8_t {
  kWatch,   ///< when the kernel reports a change, and once a second
  kAlways,  ///< at every request
};

/// How much a FileCache keeps.
struct FileCacheOptions {
  /// Bytes of all entries with their bookkeeping. 0: no cache. nullopt: the default of the user of
  /// this class; a StaticFiles then has no cache.
  std::optional<std::size_t> max_bytes{};
  std::size_t max_copied_bytes = 32 * 1024;  ///< a larger file is kept open instead of in memory
  FileCheck check = FileCheck::kWatch;       ///< when to compare
};

/// One file. Responses pin it while they are on their way, even if it leaves the cache.
class CachedFile : public Pinned {
 public:
  /// Returns the response without status line, Date and Connection: "Name: value\r\n" for each
  /// field, an empty line, and the content, unless the file is kept open.
  [[nodiscard]] auto Text() const noexcept -> std::string_view { return text_; }

  /// Returns the part of Text() for a response with status 304: Vary, the tag and the empty line.
  [[nodiscard]] auto NotModifiedText() const noexcept -> std::string_view {
    return Text().substr(tag_at_, text_.size() - (file_ ? 0 : BodyBytes()) - tag_at_);
  }

  /// Returns the open file, borrowed; -1 if the content is a part of Text().
  [[nodiscard]] auto GetFd() const noexcept -> int { return file_.Get(); }

  /// Returns the length of the body.
  [[nodiscard]] auto BodyBytes() const noexcept -> std::size_t { return body_bytes_; }

  /// Returns the content; "" if the file is kept open.
  [[nodiscard]] auto Content() const noexcept -> std::string_view {
    return file_ ? std::string_view() : Text().substr(text_.size() - body_bytes_);
  }

  /// Returns the validators for conditional requests.
  [[nodiscard]] auto GetValidators() const noexcept -> Validators;

  /// Returns true if the file may be sent in another coding, and says so in Vary.
  [[nodiscard]] auto IsNegotiable() const noexcept -> bool { return negotiable_; }

  /// Returns the file in another coding; empty if there is none yet.
  [[nodiscard]] auto Variant(Coding coding) const noexcept -> const PinTo<CachedFile>& {
    return variants_[static_cast<std::size_t>(coding)];
  }

  /// Notes that a coding of this file is not worth another attempt.
  void SetUseless(Coding coding) noexcept { useless_[static_cast<std::size_t>(coding)] = true; }

  /// Returns true after SetUseless().
  [[nodiscard]] auto IsUseless(Coding coding) const noexcept -> bool {
    return useless_[static_cast<std::size_t>(coding)];
  }

 private:
  friend class FileCache;
  CachedFile(const struct stat& status, const timespec& now)
      : status_(status), validators_(status, now) {}

  // Makes the text, when all else is set.
  void Fill(Coding coding, std::string_view body);

  std::string name_;    // relative to the root
  struct stat status_;  // of the file that has the content, or from which it was made
  FileValidators validators_;
  std::string tag_;  // of a variant; "": that of validators_
  std::string type_;
  std::string text_;
  UniqueFd file_;
  std::size_t body_bytes_ = 0;
  std::size_t tag_at_ = 0;  // where in text_ the fields begin that a 304 also has
  std::size_t weight_ = 0;
  bool negotiable_ = false;
  bool check_always_ = false;
  bool is_made_ = false;         // a variant that was encoded here
  bool awaits_sidecar_ = false;  // one that has just changed
  TimePoint checked_{};
  std::array<PinTo<CachedFile>, kCodingCount> variants_;
  std::array<bool, kCodingCount> useless_{};

  template <class T, class... Arguments>
  friend auto MakePinned(Arguments&&... arguments) -> PinTo<T>;
};

/// Caches the files of one root, for one loop.
class FileCache {
 public:
  /// How long an entry is trusted without a report of a change.
  static constexpr std::chrono::seconds kTrustTime = RootFolder::kTrustTime;

  /// The charge for an open file of any size, because descriptors are scarce, too.
  static constexpr std::size_t kOpenFileBytes = std::size_t{128} * 1024;

  /// @param looper outlives this object
  /// @param root the open root directory, borrowed for as long as this object lives
  /// @param options how much is kept
  FileCache(Looper& looper, int root, FileCacheOptions options);

  /// Returns the fresh entry of the file `name`, relative to the root, or an empty pin.
  [[nodiscard]] auto Find(std::string_view name) -> PinTo<CachedFile>;

  /// Stores a file: in memory, or open if it is large.
  /// @param name of the file, relative to the root
  /// @param file open; taken over if it is kept open
  /// @param status of the file, taken after it was opened
  /// @param type its Content-Type
  /// @param negotiable true if other codings of it may be sent: those beside it are stored, too
  /// @return the entry; an empty pin if there is no room for it, or if it is just changing
  auto Load(const std::string& name, UniqueFd& file, const struct stat& status,
            std::string_view type, bool negotiable = false) -> PinTo<CachedFile>;

  /// Stores an entry in another coding.
  /// @param file the entry, as Find() returned it a moment ago
  /// @param coding not kIdentity
  /// @param coded the encoded content
  /// @return the variant; an empty pin if there is no room for it, or if the file has changed
  auto AddVariant(const PinTo<CachedFile>& file, Coding coding, std::string_view coded)
      -> PinTo<CachedFile>;

  /// Switches to another root directory, and forgets everything.
  /// @param root as for the constructor
  void SetRoot(int root) noexcept;

  /// Returns hits, misses and sizes.
  [[nodiscard]] auto Stats() const noexcept -> const LruStats& { return entries_.Stats(); }

  /// Returns the same for other threads.
  [[nodiscard]] auto SharedStats() const -> std::shared_ptr<const LruStats> {
    return entries_.SharedStats();
  }

 private:
  void OnChange(std::string_view path, FileWatch::Subject subject);
  auto WatchPath(const std::string& name) -> bool;
  auto IsFresh(CachedFile& file) const -> bool;
  auto IsUnchanged(const CachedFile& file) const -> bool;
  auto Store(const PinTo<CachedFile>& file) -> bool;
  void LoadSidecar(CachedFile& plain, Coding coding);
  [[nodiscard]] auto IsCopied(const struct stat& status) const noexcept -> bool {
    return static_cast<std::uint64_t>(status.st_size) <= options_.max_copied_bytes;
  }

  Looper& looper_;
  int root_;
  const FileCacheOptions options_;
  const int descriptor_bound_;  // the remaining descriptors are for clients
  LruCache<std::string, PinTo<CachedFile>> entries_;
  std::optional<FileWatch> watch_;  // set for FileCheck::kWatch
};

}  // namespace TURTLE_SERVER
