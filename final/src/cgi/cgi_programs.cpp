#include "cgi/cgi_programs.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <utility>

#include "cgi/cgi_environment.h"
#include "log/log.h"
#include "process/pipe_io.h"

namespace TURTLE_SERVER {

namespace {

// How many bytes of dropped output one read(2) takes.
constexpr std::size_t kDrainBytes = std::size_t{16} * 1024;

// Returns 200 if there is a program with this name, else the status that explains why not. A
// symbolic link does not count: its target may be outside the directory.
auto LookFor(int folder, const std::string& name) -> int {
  struct stat status {};
  if (fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
    return S_ISREG(status.st_mode) ? 200 : 404;
  }
  switch (errno) {
    case ENOMEM:
      return 503;
    case EACCES:  // the directory may not be searched
      return 403;
    case EIO:
    case EOVERFLOW:
      return 500;
    default:
      return 404;
  }
}

}  // namespace

CgiPrograms::CgiPrograms(Looper& looper, CgiOptions options)
    : looper_(looper),
      options_(std::move(options)),
      directory_(options_.directory, "CGI directory"),
      inherited_(InheritVariables(options_.inherit)) {}

CgiPrograms::~CgiPrograms() {
  for (Leaving& leaving : leaving_) {
    Forget(leaving);
  }
}

// A program whose request is over may still be working. It gets `time_left` for that, but none if
// memory for the wait is lacking. While `output` is open, a process of its group may be writing, so
// the program is not reaped yet: Kill() needs its number.
void CgiPrograms::LetFinish(ChildProcess child, UniqueFd output,
                            Clock::duration time_left) noexcept {
  if (time_left <= Clock::duration::zero()) {
    child.Kill();
    output.Reset();
  }
  if (!output && child.TryReap()) {
    return;
  }
  auto leaving = leaving_.end();
  try {
    leaving = leaving_.emplace(leaving_.end());
    looper_.Hold();  // a program may still have data to save after its response
    leaving->child = std::move(child);
    leaving->output = std::move(output);
    AwaitEnd(leaving, time_left);
  } catch (...) {
    LogException("waiting for a program's end");
    if (leaving != leaving_.end()) {
      Erase(leaving);
    }
  }
}

void CgiPrograms::AwaitEnd(std::list<Leaving>::iterator leaving, Clock::duration time_left) {
  if (time_left > Clock::duration::zero()) {
    leaving->deadline = looper_.RunAfter(time_left, [this, leaving] { EndTime(leaving); });
  }
  if (leaving->output) {
    leaving->watch = looper_.Watch(leaving->output.Get(), Interest::kRead,
                                   [this, leaving](const PollEvent&) { Drain(leaving); });
  } else {
    AwaitExit(leaving);
  }
}

// Reads and drops output, one piece in each round of the loop.
void CgiPrograms::Drain(std::list<Leaving>::iterator leaving) {
  std::array<char, kDrainBytes> bytes;  // left uninitialised
  const IoStatus status = ReadPipe(leaving->output.Get(), bytes.data(), bytes.size()).status;
  if (status == IoStatus::kEnd || status == IoStatus::kError) {
    AwaitExit(leaving);
  }
}

void CgiPrograms::EndTime(std::list<Leaving>::iterator leaving) {
  leaving->child.Kill();
  if (leaving->output) {
    AwaitExit(leaving);
  }
}

// Out of memory for the wait: the program's time is over.
void CgiPrograms::AwaitExit(std::list<Leaving>::iterator leaving) {
  Unwatch(*leaving);
  leaving->output.Reset();
  try {
    WatchExit(leaving);
  } catch (...) {
    LogException("waiting for a program's end");
    Erase(leaving);
  }
}

void CgiPrograms::WatchExit(std::list<Leaving>::iterator leaving) {
  const int exit_fd = leaving->child.ExitFd();
  if (exit_fd >= 0) {
    leaving->watch = looper_.Watch(exit_fd, Interest::kRead,
                                   [this, leaving](const PollEvent&) { Reap(leaving); });
  } else {
    Poll(leaving);
  }
}

void CgiPrograms::Reap(std::list<Leaving>::iterator leaving) {
  if (leaving->child.TryReap()) {
    Erase(leaving);
  } else if (leaving->watch.fd < 0) {
    Poll(leaving);
  }
}

void CgiPrograms::Poll(std::list<Leaving>::iterator leaving) {
  leaving->poll = looper_.RunAfter(kPollTime, [this, leaving] { Reap(leaving); });
}

void CgiPrograms::Unwatch(Leaving& leaving) {
  if (leaving.watch.fd >= 0) {
    looper_.Unwatch(std::exchange(leaving.watch, WatchId{-1, 0}));
  }
}

// A program missing in the old directory may be in the one that has replaced it meanwhile.
auto CgiPrograms::Find(const std::string& program) -> int {
  directory_.Refresh(looper_.Now(), RootFolder::Look::kNowAndThen);
  const int found = LookFor(directory_.Get(), program);
  const bool another = found == 404 && directory_.Refresh(looper_.Now(), RootFolder::Look::kAtOnce);
  return another ? LookFor(directory_.Get(), program) : found;
}

void CgiPrograms::Erase(std::list<Leaving>::iterator leaving) {
  Forget(*leaving);
  leaving_.erase(leaving);
}

// Cancels everything that could call back for it.
void CgiPrograms::Forget(Leaving& leaving) {
  looper_.Cancel(leaving.deadline);
  looper_.Cancel(leaving.poll);
  Unwatch(leaving);
  looper_.Release();
}

}  // namespace TURTLE_SERVER
