#include "files/file_cache.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <limits>
#include <optional>
#include <utility>

#include "files/read_file.h"
#include "http/conditional.h"

namespace TURTLE_SERVER {

namespace {

#ifdef __APPLE__
auto Times(const struct stat& status) {
  return std::pair(status.st_mtimespec, status.st_ctimespec);
}
#else
auto Times(const struct stat& status) { return std::pair(status.st_mtim, status.st_ctim); }
#endif

auto SameTime(const timespec& a, const timespec& b) noexcept -> bool {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

auto SameState(const struct stat& a, const struct stat& b) noexcept -> bool {
  const auto [content_a, inode_a] = Times(a);
  const auto [content_b, inode_b] = Times(b);
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_mode == b.st_mode && SameTime(content_a, content_b) && SameTime(inode_a, inode_b);
}

// Half of the descriptors that the process may open.
auto DescriptorBound() noexcept -> int {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur / 2, std::numeric_limits<int>::max()));
}

// Returns the fields that describe the body; a 304 has none of them (RFC 9110, section 15.4.5).
auto BodyFields(const Validators& validators, std::string_view type, std::size_t size)
    -> std::string {
  std::string fields = "Content-Length: " + std::to_string(size) + "\r\nContent-Type: ";
  fields.append(type).append("\r\nAccept-Ranges: bytes\r\nLast-Modified: ");
  AppendLastModified(validators, fields);
  return fields += "\r\n";
}

// Returns true if these fields stay the same until the file changes.
auto IsSettled(const Validators& validators) noexcept -> bool {
  return validators.strong && validators.second_over;
}

auto TagField(const Validators& validators) -> std::string {
  std::string field = "ETag: ";
  AppendEtag(validators, field);
  return field += "\r\n";
}

}  // namespace

FileCache::FileCache(Looper& looper, int root, FileCacheOptions options)
    : looper_(looper),
      root_(root),
      options_(options),
      descriptor_bound_(DescriptorBound()),
      entries_(options.max_bytes.value_or(0), options.max_bytes.value_or(0)) {
  if (options.check == FileCheck::kWatch) {
    watch_.emplace(looper, root, [this](std::string_view path, FileWatch::Subject subject) {
      OnChange(path, subject);
    });
  }
}

auto FileCache::Find(std::string_view name) -> PinTo<CachedFile> {
  PinTo<CachedFile>* found = entries_.Find(name);
  if (found == nullptr) {
    return {};
  }
  PinTo<CachedFile> file = *found;
  if (!IsFresh(*file)) {
    entries_.Erase(name);
    return {};
  }
  return file;
}

auto FileCache::Load(const std::string& name, UniqueFd& file, const struct stat& status,
                     std::string_view type) -> PinTo<CachedFile> {
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const bool copied = size <= options_.max_copied_bytes;
  if (copied ? size > options_.max_bytes.value_or(0) : file.Get() >= descriptor_bound_) {
    return {};
  }
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  PinTo<CachedFile> entry = MakePinned<CachedFile>(status, now);
  const Validators validators = entry->GetValidators();
  // inotify does not report changes made through another hard link.
  const bool watched = status.st_nlink == 1 && WatchPath(name);
  if (!watched && !(copied && IsSettled(validators))) {
    // It may change again without a trace in its times, or be deleted and stay open here.
    return {};
  }
  const auto body = copied ? ReadFile(file.Get(), 0, size) : std::optional<std::string>("");
  // By its path, which also reveals changes between the open(2) and the watch.
  struct stat after {};
  if (!body || fstatat(root_, name.c_str(), &after, 0) != 0 || !SameState(status, after)) {
    return {};
  }
  entry->name_ = name;
  entry->check_always_ = !watched;
  entry->checked_ = looper_.Now();
  const std::string body_fields = BodyFields(validators, type, size);
  const std::string tag_field = TagField(validators);
  entry->tag_at_ = body_fields.size();
  entry->text_.reserve(body_fields.size() + tag_field.size() + 2 + body->size());
  entry->text_.append(body_fields).append(tag_field).append("\r\n").append(*body);
  const std::size_t weight = sizeof(CachedFile) + 2 * name.size() + entry->text_.capacity();
  if (entries_.Insert(name, entry, weight + (copied ? 0 : kOpenFileBytes)) == nullptr) {
    return {};
  }
  if (!copied) {
    entry->file_ = std::move(file);
  }
  return entry;
}

void FileCache::SetRoot(int root) noexcept {
  root_ = root;
  if (watch_) {
    watch_->SetRoot(root);  // reports everything as changed
  } else {
    OnChange("", FileWatch::Subject::kFolder);
  }
}

// A file is one entry. A directory means everything beneath it, which is rare enough to check all
// entries.
void FileCache::OnChange(std::string_view path, FileWatch::Subject subject) {
  if (subject == FileWatch::Subject::kFile) {
    entries_.Erase(path);
    return;
  }
  entries_.EraseIf([path](const std::string&, const PinTo<CachedFile>& file) {
    return IsBeneath(file->name_, path);
  });
}

// Watches every directory on the way to the file: if one is renamed, the path means another file.
// @return false if a change might be missed. A symbolic link, for example, is watched where
// it is, but its target may be anywhere.
auto FileCache::WatchPath(const std::string& name) -> bool {
  if (!watch_ || !watch_->Available() || !watch_->Add("")) {
    return false;
  }
  for (std::size_t end = name.find('/');; end = name.find('/', end + 1)) {
    const std::string part = name.substr(0, end);
    struct stat status {};
    if (fstatat(root_, part.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        S_ISLNK(status.st_mode)) {
      return false;
    }
    if (end == std::string::npos) {
      return true;
    }
    if (!watch_->Add(part)) {
      return false;
    }
  }
}

auto FileCache::IsFresh(CachedFile& file) const -> bool {
  const TimePoint now = looper_.Now();
  if (!file.check_always_ && now - file.checked_ < kTrustTime) {
    return true;
  }
  if (!IsSettled(file.GetValidators())) {
    return false;  // read it again: it is now old enough for a strong tag
  }
  struct stat status {};
  if (fstatat(root_, file.name_.c_str(), &status, 0) != 0 || !SameState(status, file.status_)) {
    return false;
  }
  file.checked_ = now;
  return true;
}

}  // namespace TURTLE_SERVER
