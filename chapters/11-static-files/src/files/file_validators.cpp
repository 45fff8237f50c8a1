#include "files/file_validators.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

namespace TURTLE_SERVER {

namespace {

constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;

#ifdef __APPLE__
auto ContentTime(const struct stat& status) noexcept -> timespec { return status.st_mtimespec; }
auto InodeTime(const struct stat& status) noexcept -> timespec { return status.st_ctimespec; }
#else
auto ContentTime(const struct stat& status) noexcept -> timespec { return status.st_mtim; }
auto InodeTime(const struct stat& status) noexcept -> timespec { return status.st_ctim; }
#endif

// Modulo 2^64: a file system can store any time, and 64 bits hold 584 years.
auto Nanoseconds(const timespec& time) noexcept -> std::uint64_t {
  return static_cast<std::uint64_t>(time.tv_sec) * kNanosecondsPerSecond +
         static_cast<std::uint64_t>(time.tv_nsec);
}

auto IsBefore(const timespec& a, const timespec& b) noexcept -> bool {
  return std::pair(a.tv_sec, a.tv_nsec) < std::pair(b.tv_sec, b.tv_nsec);
}

constexpr std::int64_t kTick = kNanosecondsPerSecond / 50;

// Returns how long the file system's clock may stand still. Kernels that store nanoseconds take
// them from the timer tick, at least 100 a second. A time of whole seconds may come from a file
// system that stores multiples of two (FAT).
auto ClockGrain(const timespec& time) noexcept -> std::int64_t {
  return time.tv_nsec == 0 ? 2 * kNanosecondsPerSecond : kTick;
}

// In nanoseconds; times long ago or far in the future are only approximate.
auto Age(const timespec& time, const timespec& now) noexcept -> std::int64_t {
  constexpr std::int64_t kSeconds = 4;  // longer than any age that is compared
  const std::int64_t second =
      std::clamp<std::int64_t>(time.tv_sec, now.tv_sec - kSeconds, now.tv_sec + kSeconds);
  return (now.tv_sec - second) * kNanosecondsPerSecond + now.tv_nsec - time.tv_nsec;
}

auto IsSettled(const timespec& time, const timespec& now) noexcept -> bool {
  return Age(time, now) > ClockGrain(time);
}

// Returns true if no later write can get a time in the same second.
auto IsSecondOver(const timespec& time, const timespec& now) noexcept -> bool {
  const std::int64_t seconds = time.tv_nsec == 0 ? 2 : 1;
  return Age({time.tv_sec, 0}, now) > seconds * kNanosecondsPerSecond + kTick;
}

// Returns true if the time is a placeholder given to all files alike. Reproducible builds and
// archives set one: the epoch, the first time of a ZIP (1980), npm's (1985), rules_pkg's (2000),
// cargo's (2006). A file that is really that old only gets other tags.
auto IsPlaceholder(const timespec& time) noexcept -> bool {
  constexpr std::time_t kYear2007 = 1'167'609'600;
  return time.tv_nsec == 0 && time.tv_sec < kYear2007;
}

}  // namespace

FileValidators::FileValidators(const struct stat& status, const timespec& now) noexcept {
  const timespec content = ContentTime(status);
  const timespec inode = InodeTime(status);
  const std::array<std::uint64_t, 4> parts = {
      static_cast<std::uint64_t>(status.st_size), Nanoseconds(content),
      static_cast<std::uint64_t>(status.st_ino), Nanoseconds(inode)};
  const std::size_t count = IsPlaceholder(content) ? parts.size() : 2;
  char* end = tag_.data();
  for (std::size_t i = 0; i < count; ++i) {
    *end++ = i == 0 ? '"' : '-';
    end = std::to_chars(end, tag_.data() + tag_.size(), parts[i], 16).ptr;
  }
  *end++ = '"';
  tag_bytes_ = static_cast<std::size_t>(end - tag_.data());

  // A time in the future was set by hand: the next write sets an earlier one.
  strong_ = IsSettled(IsBefore(content, inode) || IsBefore(now, content) ? inode : content, now);
  second_over_ = IsSecondOver(content, now);
  // With a time in the future, clients would take their copy for newer than the file.
  last_modified_ = HttpTime(std::min<std::int64_t>(content.tv_sec, now.tv_sec));
}

auto FileValidators::Get() const noexcept -> Validators {
  Validators validators;
  validators.opaque_tag = std::string_view(tag_.data(), tag_bytes_);
  validators.strong = strong_;
  validators.last_modified = last_modified_;
  validators.second_over = second_over_;
  return validators;
}

}  // namespace TURTLE_SERVER
