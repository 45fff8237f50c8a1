#include "files/file_cache.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <limits>
#include <optional>
#include <utility>

#include "files/open_beneath.h"
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
auto BodyFields(const CachedFile& file, std::string_view type, Coding coding) -> std::string {
  std::string fields = "Content-Length: " + std::to_string(file.BodyBytes()) + "\r\nContent-Type: ";
  fields.append(type).append("\r\n");
  if (coding == Coding::kIdentity) {
    fields += "Accept-Ranges: bytes\r\n";
  } else {
    fields.append("Content-Encoding: ").append(NameOf(coding)).append("\r\n");
  }
  fields += "Last-Modified: ";
  AppendLastModified(file.GetValidators(), fields);
  return fields += "\r\n";
}

// Returns the tag of a variant: "5a-17c-gz" for "5a-17c".
auto TagOf(std::string_view plain_tag, Coding coding) -> std::string {
  std::string tag(plain_tag.substr(0, plain_tag.size() - 1));
  return tag.append("-").append(SuffixOf(coding).substr(1)).append("\"");
}

// Returns true if these fields stay the same until the file changes.
auto IsSettled(const Validators& validators) noexcept -> bool {
  return validators.strong && validators.second_over;
}

// Returns the fields that a 304 has as well.
auto StateFields(const CachedFile& file) -> std::string {
  std::string fields = file.IsNegotiable() ? "Vary: Accept-Encoding\r\nETag: " : "ETag: ";
  AppendEtag(file.GetValidators(), fields);
  return fields += "\r\n";
}

// Returns whether a file is as new as another one. brotli(1) copies the time without its fraction.
auto IsNotOlder(const struct stat& file, const struct stat& other) noexcept -> bool {
  const timespec mine = Times(file).first;
  const timespec others = Times(other).first;
  const bool has_fraction = mine.tv_nsec != 0;
  return std::pair(mine.tv_sec, mine.tv_nsec) >=
         std::pair(others.tv_sec, has_fraction ? others.tv_nsec : 0);
}

}  // namespace

auto CachedFile::GetValidators() const noexcept -> Validators {
  Validators validators = validators_.Get();
  if (!tag_.empty()) {
    validators.opaque_tag = tag_;
    validators.strong = validators.strong && !is_made_;  // another zlib makes other bytes
  }
  return validators;
}

void CachedFile::Fill(Coding coding, std::string_view body) {
  const std::string body_fields = BodyFields(*this, type_, coding);
  const std::string state_fields = StateFields(*this);
  tag_at_ = body_fields.size();
  text_.reserve(body_fields.size() + state_fields.size() + 2 + body.size());
  text_.append(body_fields).append(state_fields).append("\r\n").append(body);
  weight_ = sizeof(CachedFile) + 2 * name_.size() + type_.size() + text_.capacity() +
            (file_ ? FileCache::kOpenFileBytes : 0);
}

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
                     std::string_view type, bool negotiable) -> PinTo<CachedFile> {
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const bool copied = IsCopied(status);
  if (copied ? size > options_.max_bytes.value_or(0) : file.Get() >= descriptor_bound_) {
    return {};
  }
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  PinTo<CachedFile> entry = MakePinned<CachedFile>(status, now);
  // inotify does not report changes made through another hard link.
  const bool watched = status.st_nlink == 1 && WatchPath(name);
  if (!watched && !(copied && IsSettled(entry->GetValidators()))) {
    // It may change again without a trace in its times, or be deleted and stay open here.
    return {};
  }
  const auto body = copied ? ReadFile(file.Get(), 0, size) : std::optional<std::string>("");
  entry->name_ = name;
  entry->type_ = type;
  // By its path, which also reveals changes between the open(2) and the watch.
  if (!body || !IsUnchanged(*entry)) {
    return {};
  }
  entry->check_always_ = !watched;
  entry->checked_ = looper_.Now();
  entry->negotiable_ = negotiable;
  entry->body_bytes_ = size;
  if (!copied) {
    entry->file_ = std::move(file);
  }
  entry->Fill(Coding::kIdentity, *body);
  for (std::size_t i = 1; negotiable && i < kCodingCount; ++i) {
    LoadSidecar(*entry, static_cast<Coding>(i));
  }
  if (Store(entry)) {
    return entry;
  }
  if (!copied) {
    file = std::move(entry->file_);  // the caller sends it
  }
  return {};
}

// Stores a file that was encoded in advance. One that is older than the plain file was made from
// something else, one that is not shorter is of no use, and an empty one is no encoding at all.
void FileCache::LoadSidecar(CachedFile& plain, Coding coding) {
  const std::string name = plain.name_ + std::string(SuffixOf(coding));
  UniqueFd file = OpenBeneath(root_, name);
  struct stat status {};
  if (!file || fstat(file.Get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      !IsNotOlder(status, plain.status_) || status.st_size == 0 ||
      status.st_size >= plain.status_.st_size) {
    return;
  }
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  PinTo<CachedFile> variant = MakePinned<CachedFile>(status, now);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const bool copied = IsCopied(status);
  const auto body = copied ? ReadFile(file.Get(), 0, size) : std::optional<std::string>("");
  if (!IsSettled(variant->GetValidators()) || !body) {
    plain.awaits_sidecar_ = true;  // it may be half written
    return;
  }
  const bool watched = status.st_nlink == 1 && WatchPath(name);
  if (!copied && (!watched || file.Get() >= descriptor_bound_)) {
    return;
  }
  plain.check_always_ = plain.check_always_ || !watched;
  variant->name_ = name;
  variant->type_ = plain.type_;
  variant->negotiable_ = true;
  variant->body_bytes_ = size;
  variant->tag_ = TagOf(variant->validators_.Get().opaque_tag, coding);
  if (!copied) {
    variant->file_ = std::move(file);
  }
  variant->Fill(coding, *body);
  plain.variants_[static_cast<std::size_t>(coding)] = variant;
}

auto FileCache::AddVariant(const PinTo<CachedFile>& file, Coding coding, std::string_view coded)
    -> PinTo<CachedFile> {
  const PinTo<CachedFile>* const present = entries_.Find(file->name_);
  if (present == nullptr || &**present != &*file || !IsUnchanged(*file)) {
    return {};
  }
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  PinTo<CachedFile> variant = MakePinned<CachedFile>(file->status_, now);
  variant->name_ = file->name_;
  variant->type_ = file->type_;
  variant->negotiable_ = true;
  variant->is_made_ = true;
  variant->body_bytes_ = coded.size();
  variant->tag_ = TagOf(variant->validators_.Get().opaque_tag, coding);
  variant->Fill(coding, coded);
  PinTo<CachedFile>& place = file->variants_[static_cast<std::size_t>(coding)];
  place = variant;
  if (!Store(file)) {
    place = {};
    Store(file);
    return {};
  }
  return variant;
}

// Takes the entry in, or in again with what has been added to it.
auto FileCache::Store(const PinTo<CachedFile>& file) -> bool {
  std::size_t weight = file->weight_;
  for (const PinTo<CachedFile>& variant : file->variants_) {
    weight += variant ? variant->weight_ : 0;
  }
  return entries_.Insert(file->name_, file, weight) != nullptr;
}

auto FileCache::IsUnchanged(const CachedFile& file) const -> bool {
  struct stat status {};
  return fstatat(root_, file.name_.c_str(), &status, 0) == 0 && SameState(status, file.status_);
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
    for (const std::string_view suffix :
         {SuffixOf(Coding::kGzip), SuffixOf(Coding::kBrotli), SuffixOf(Coding::kZstd)}) {
      if (path.size() > suffix.size() && path.substr(path.size() - suffix.size()) == suffix) {
        entries_.Erase(path.substr(0, path.size() - suffix.size()));
      }
    }
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
  if (!IsSettled(file.GetValidators()) || file.awaits_sidecar_) {
    return false;  // read it again: it is now old enough for a strong tag
  }
  const bool same = IsUnchanged(file) && std::all_of(file.variants_.begin(), file.variants_.end(),
                                                     [this](const PinTo<CachedFile>& variant) {
                                                       return !variant || variant->is_made_ ||
                                                              IsUnchanged(*variant);
                                                     });
  if (!same) {
    return false;
  }
  file.checked_ = now;
  return true;
}

}  // namespace TURTLE_SERVER
