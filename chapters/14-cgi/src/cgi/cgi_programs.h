// Finds the programs of a directory and limits how many a loop runs at once. Internal to Cgi.
//
// Interface:
//  * Find() checks whether a program with a name exists.
//  * Full() is true if no more may run; AddRunning() and AddSpooled() count.
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

/// The directory of a Cgi, and its limits.
struct CgiOptions {
  std::string directory;                           ///< no links, no subdirectories
  std::string document_root{};                     ///< for PATH_TRANSLATED; "": not set
  std::vector<std::string> inherit{"TZ", "LANG"};  ///< variables passed on besides PATH
  std::chrono::milliseconds timeout{30'000};       ///< from a program's start to its end
  std::size_t max_programs = 32;                   ///< at once, on each loop; beyond: 503
  std::uint64_t max_open_files = 256;              ///< for each program
  /// Bytes of bodies that wait for their program, on each loop together; beyond: 503. A single body
  /// may be longer: the server's own limit applies to it.
  std::uint64_t max_spooled_bytes = std::uint64_t{256} * 1024 * 1024;
};

/// Runs the programs of one loop.
class CgiPrograms {
 public:
  /// As Cgi::kExitGrace.
  static constexpr std::chrono::seconds kExitGrace{1};

  /// How often it polls for a program's exit if the kernel can't report that
  /// (ChildProcess::ExitFd()).
  static constexpr std::chrono::milliseconds kPollTime{50};

  /// Throws std::system_error, which names the directory, if it can't be opened.
  CgiPrograms(Looper& looper, CgiOptions options);

  /// Kills the programs that it has taken over and that still run.
  ~CgiPrograms();

  CgiPrograms(const CgiPrograms&) = delete;
  auto operator=(const CgiPrograms&) -> CgiPrograms& = delete;

  /// Returns the loop that watches them.
  [[nodiscard]] auto GetLooper() const noexcept -> Looper& { return looper_; }

  /// Returns their limits.
  [[nodiscard]] auto Options() const noexcept -> const CgiOptions& { return options_; }

  /// Returns the server's variables that each program gets, for CgiEnvironment::Build().
  [[nodiscard]] auto Inherited() const noexcept -> const std::vector<std::string>& {
    return inherited_;
  }

  /// Returns the open directory, until the next Find().
  [[nodiscard]] auto Directory() const noexcept -> int { return directory_.Get(); }

  /// Looks for a program.
  /// @return 200, or the status that explains why there is none
  [[nodiscard]] auto Find(const std::string& program) -> int;

  /// Returns true while CgiOptions::max_programs run.
  [[nodiscard]] auto Full() const noexcept -> bool {
    return running_ + leaving_.size() >= options_.max_programs;
  }

  /// Counts a program that begins to run for its request.
  void AddRunning() noexcept { ++running_; }

  /// Uncounts a program that no longer runs for its request.
  void RemoveRunning() noexcept { --running_; }

  /// Counts bytes of a body that waits for its program.
  /// @param bytes newly received
  /// @param before received earlier, of the same body
  /// @return false if all bodies together would exceed CgiOptions::max_spooled_bytes
  [[nodiscard]] auto AddSpooled(std::uint64_t bytes, std::uint64_t before) noexcept -> bool {
    if (spooled_bytes_ != before && spooled_bytes_ + bytes > options_.max_spooled_bytes) {
      return false;
    }
    spooled_bytes_ += bytes;
    return true;
  }

  /// Uncounts the bytes of a body that no longer waits.
  void RemoveSpooled(std::uint64_t bytes) noexcept { spooled_bytes_ -= bytes; }

  /// Takes over a program whose request is over. It counts as running until it is reaped.
  /// @param child the program
  /// @param output read and dropped to its end; may be empty
  /// @param time_left until it is killed; zero or less: at once
  void LetFinish(ChildProcess child, UniqueFd output, Clock::duration time_left) noexcept;

 private:
  // A program whose exchange is over and which has not been reaped.
  struct Leaving {
    ChildProcess child;
    UniqueFd output;       // until its end; its bytes are dropped
    WatchId watch{-1, 0};  // of the output, then of the exit; without one, polled
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
