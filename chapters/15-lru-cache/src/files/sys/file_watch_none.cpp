// FileWatch for kernels that can't report changes in a directory's files. kqueue(2) could, with one
// open descriptor for each file; that is too expensive for a whole site.
#ifndef __linux__

#include <utility>

#include "files/file_watch.h"

namespace TURTLE_SERVER {

FileWatch::FileWatch(Looper& looper, int root, ChangeCallback on_change)
    : looper_(looper), root_(root), on_change_(std::move(on_change)) {}

FileWatch::~FileWatch() = default;

void FileWatch::SetRoot(int root) noexcept {
  root_ = root;
  on_change_("", Subject::kFolder);
}

auto FileWatch::Add(const std::string&) -> bool { return false; }

}  // namespace TURTLE_SERVER

#endif  // !__linux__
