// The programs of a directory, and how many of them a loop runs at once. Internal to Cgi.
//
// Interface:
//  * Find() says whether there is a program of a name.
//  * Full() says whether one more may run; AddRunning() and AddSpooled() count.
//  * LetFinish() takes over a program whose request is over, and reaps it when it has ended.
//
// Thread: the loop's.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "core/looper.h"
#include "files/root_folder.h"
#include "process/child_process.h"

namespace TURTLE_SERVER {

/// The programs of a Cgi, and their limits.
struct CgiOptions {
  std::string directory;                           ///< the files that run; no links, no subfolders
  std::string document_root{};                     ///< for PATH_TRANSLATED; "": not set
  std::vector<std::string> inherit{"TZ", "LANG"};  ///< variables passed on, beside PATH
  std::chrono::milliseconds timeout{30'000};       ///< from a program's start to its end
  std::size_t max_programs = 32;                   ///< at once, on each loop; beyond: 503
  std::uint64_t max_open_files = 256;              ///< for each program
  /// Of bodies that wait for their program, on each loop together; beyond: 503. A body that waits
  /// alone may be longer: the server has its own limit for that.
  std::uint64_t max_spooled_bytes = std::uint64_t{256} * 1024 * 1024;
};

/// The programs of one loop.
class CgiPrograms {
 public:
  /// As Cgi::kExitGrace.
  static constexpr std::chrono::seconds kExitGrace{1};

  /// How often a program is asked whether it has ended, where the kernel doesn't report that
  /// (ChildProcess::ExitFd()).
  static constexpr std::chrono::milliseconds kPollTime{50};

  /// Throws std::system_error, which names the directory, when it can't be opened.
  CgiPrograms(Looper& looper, CgiOptions options);

  /// Kills the programs that it has taken over.
  ~CgiPrograms();

  CgiPrograms(const CgiPrograms&) = delete;
  auto operator=(const CgiPrograms&) -> CgiPrograms& = delete;

  /// Returns the loop on which they are watched.
  [[nodiscard]] auto GetLooper() const noexcept -> Looper& { return looper_; }

  /// Their limits.
  [[nodiscard]] auto Options() const noexcept -> const CgiOptions& { return options_; }

  /// Returns the variables of the server that each of them gets, for CgiEnvironment::Build().
  [[nodiscard]] auto Inherited() const noexcept -> const std::vector<std::string>& {
    return inherited_;
  }

  /// Returns the open directory, until the next Find().
  [[nodiscard]] auto Directory() const noexcept -> int { return directory_.Get(); }

  /// Looks for a program.
  /// @return 200, or the status that says why there is none
  [[nodiscard]] auto Find(const std::string& program) -> int;

  /// Returns true while CgiOptions::max_programs run.
  [[nodiscard]] auto Full() const noexcept -> bool {
    return running_ + leaving_.size() >= options_.max_programs;
  }

  /// A program begins to run for its request.
  void AddRunning() noexcept { ++running_; }

  /// A program no longer runs for its request.
  void RemoveRunning() noexcept { --running_; }

  /// Counts bytes of a body that waits for its program.
  /// @param bytes that have come
  /// @param before of the same body
  /// @return false: with others, there would be more than CgiOptions::max_spooled_bytes
  [[nodiscard]] auto AddSpooled(std::uint64_t bytes, std::uint64_t before) noexcept -> bool {
    if (spooled_bytes_ != before && spooled_bytes_ + bytes > options_.max_spooled_bytes) {
      return false;
    }
    spooled_bytes_ += bytes;
    return true;
  }

  /// The bytes of a body no longer wait.
  void RemoveSpooled(std::uint64_t bytes) noexcept { spooled_bytes_ -= bytes; }

  /// Takes over a program whose request is over. It counts among those that run until it is reaped.
  /// @param child the program
  /// @param output read and dropped to its end; may be empty
  /// @param time_left when it is killed; zero or less: at once
  void LetFinish(ChildProcess child, UniqueFd output, Clock::duration time_left) noexcept;

 private:
  // A program whose exchange is over, until it can be reaped.
  struct Leaving {
    ChildProcess child;
    UniqueFd output;       // until its end: what comes there is dropped
    WatchId watch{-1, 0};  // of the output, then of its end; without one, polled
    TimerId deadline{};
    TimerId poll{};
  };

  void AwaitEnd(std::list<Leaving>::iterator leaving, Clock::duration time_left);
  void Drain(std::list<Leaving>::iterator leaving);
  void EndTime(std::list<Leaving>::iterator leaving);
  void AwaitExit(std::list<Leaving>::iterator leaving);
  void WatchExit(std::list<Leaving>::iterator leaving);
  void Unwatch(Leaving& leaving);
  void Erase(std::list<Leaving>::iterator leaving);
  void Forget(Leaving& leaving);
  void Reap(std::list<Leaving>::iterator leaving);
  void Poll(std::list<Leaving>::iterator leaving);

  Looper& looper_;
  const CgiOptions options_;
  RootFolder directory_;
  const std::vector<std::string> inherited_;
  std::size_t running_ = 0;
  std::uint64_t spooled_bytes_ = 0;
  std::list<Leaving> leaving_;
};

}  // namespace TURTLE_SERVER
