#ifdef __linux__

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <new>
#include <utility>

#include "files/file_watch.h"
#include "files/open_beneath.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::uint32_t kEvents = IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MODIFY | IN_MOVED_FROM |
                                  IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF;
constexpr std::uint32_t kFolderGone = IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT;

auto Join(const std::string& folder, const char* name) -> std::string {
  return folder.empty() ? std::string(name) : folder + '/' + name;
}

}  // namespace

FileWatch::FileWatch(Looper& looper, int root, ChangeCallback on_change)
    : looper_(looper),
      root_(root),
      on_change_(std::move(on_change)),
      queue_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
  if (queue_) {
    watch_ = looper_.Watch(queue_.Get(), Interest::kRead, [this](const PollEvent&) {
      try {
        OnEvents();
      } catch (const std::bad_alloc&) {
        ForgetAll();  // the rest of the events is lost
      }
    });
  }
}

FileWatch::~FileWatch() {
  if (queue_) {
    looper_.Unwatch(watch_);
  }
}

auto FileWatch::Add(const std::string& folder) -> bool {
  if (const auto known = folders_.find(folder); known != folders_.end()) {
    if (IsStillThere(folder, known->second)) {
      return true;
    }
    Forget(folder);
    on_change_(folder, Subject::kFolder);
  }
  if (folders_.size() >= kMaxFolders) {
    ForgetAll();
    return false;  // the directories above this one are no longer watched either
  }
  // By descriptor: this watches exactly the directory that the path means now.
  const UniqueFd opened = OpenBeneath(root_, folder);
  struct stat status {};
  if (!queue_ || !opened || fstat(opened.Get(), &status) != 0) {
    return false;
  }
  const std::string path = "/proc/self/fd/" + std::to_string(opened.Get());
  const int number = inotify_add_watch(queue_.Get(), path.c_str(), kEvents | IN_ONLYDIR);
  if (number < 0 || names_.count(number) != 0) {
    return false;  // or a directory that is known by another path already
  }
  names_[number] = folder;  // first: without it, events of the directory would be lost
  folders_[folder] = {number, status.st_dev, status.st_ino};
  return true;
}

void FileWatch::SetRoot(int root) noexcept {
  root_ = root;
  ForgetAll();
}

auto FileWatch::IsStillThere(const std::string& path, const Folder& folder) const noexcept -> bool {
  struct stat status {};
  return path.empty() ||  // the root is a descriptor, which means only one directory
         (fstatat(root_, path.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
          status.st_dev == folder.device && status.st_ino == folder.inode);
}

void FileWatch::OnEvents() {
  // Reads only what is there now: a program that writes without a pause would occupy the loop.
  int waiting = 0;
  ioctl(queue_.Get(), FIONREAD, &waiting);
  alignas(inotify_event) std::array<char, 16 * 1024> bytes;  // left uninitialised
  while (waiting > 0) {
    const ssize_t count = read(queue_.Get(), bytes.data(), bytes.size());
    if (count <= 0) {
      return;
    }
    waiting -= static_cast<int>(count);
    for (std::size_t at = 0; at < static_cast<std::size_t>(count);) {
      inotify_event event{};
      std::memcpy(&event, bytes.data() + at, sizeof event);
      const char* name = bytes.data() + at + sizeof event;
      at += sizeof event + event.len;
      if ((event.mask & IN_Q_OVERFLOW) != 0) {
        ForgetAll();  // events were lost, so anything may have changed
        continue;
      }
      const auto folder = names_.find(event.wd);
      if (folder == names_.end()) {
        continue;
      }
      if ((event.mask & kFolderGone) != 0) {
        const std::string gone = folder->second;
        Forget(gone);
        on_change_(gone, Subject::kFolder);
      } else if (event.len == 0) {
        on_change_(folder->second, Subject::kFolder);
      } else if (const std::string path = Join(folder->second, name);
                 (event.mask & IN_ISDIR) == 0) {
        on_change_(path, Subject::kFile);
      } else {
        Forget(path);  // sent although an open file may keep a removed directory alive
        on_change_(path, Subject::kFolder);
      }
    }
  }
}

// A moved directory takes its content with it, and the watches of the inner directories report
// nothing: their paths may now mean others.
void FileWatch::Forget(const std::string& folder) {
  for (auto entry = folders_.begin(); entry != folders_.end();) {
    if (IsBeneath(entry->first, folder)) {
      inotify_rm_watch(queue_.Get(), entry->second.number);
      names_.erase(entry->second.number);
      entry = folders_.erase(entry);
    } else {
      ++entry;
    }
  }
}

void FileWatch::ForgetAll() {
  Forget("");
  on_change_("", Subject::kFolder);
}

}  // namespace TURTLE_SERVER

#endif  // __linux__
