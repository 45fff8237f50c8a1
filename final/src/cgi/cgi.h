// Programs of a directory, as dynamic pages: CGI/1.1, RFC 3875.
//
//   GET /cgi-bin/hello/path/info?query     the program `hello`, by the RFC
//   GET /cgi-bin/add&1&2                   the short form: `add` with the arguments 1 and 2
//
// The loop never waits for a program. The request's body is spooled to a file first, so that
// CONTENT_LENGTH is true and a slow client does not hold a process. Then the program runs with that
// file as its standard input, and its output comes through a pipe that the loop watches. A client
// that reads slowly makes the program wait, by the pipe.
//
// A program that does not end in time is killed with all its children: 504 while nothing was sent,
// else the connection is cut. So is one that crashes. When the client goes, the program goes.
//
// A response ends where its framing says so (RFC 9112, section 6.3): with the head, where there is
// no body (HEAD, 204, 304), or with the last byte of a Content-Length. A program that runs on then
// has the rest of its time. Its further output is read and dropped, so that no SIGPIPE ends it. It
// counts among the programs that run, and a server that stops waits for it, within the stop
// timeout.
//
// How a program ended is asked of the kernel. A process that ignores SIGCHLD, or has inherited
// that, learns no exit status, wait(2), and a crash counts as success: set it to SIG_DFL, as
// `turtle serve` does.
//
// In the short form alone, output that has no header block is the body, as plain text.
//
// Thread: the loop's.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "cgi/child_process.h"
#include "core/looper.h"
#include "files/root_folder.h"
#include "web/request_handler.h"

namespace TURTLE_SERVER {

/// The programs of a Cgi, and their limits.
struct CgiOptions {
  std::string directory;                           ///< the files that run; no links, no subfolders
  std::string document_root{};                     ///< for PATH_TRANSLATED; "": not set
  std::vector<std::string> inherit{"TZ", "LANG"};  ///< variables passed on, beside PATH
  std::chrono::milliseconds timeout{30'000};       ///< from a program's start to its end
  std::size_t max_programs = 32;                   ///< at once, on each loop; beyond: 503
  std::uint64_t max_open_files = 256;              ///< for each program
  /// Of bodies that wait for their program, on each loop together; beyond: 503.
  std::uint64_t max_spooled_bytes = std::uint64_t{256} * 1024 * 1024;
};

/// Runs the programs of a directory.
class Cgi : public RequestHandler {
 public:
  /// How long a program may live on after its output has ended, before the response ends without
  /// knowing how the program did.
  static constexpr std::chrono::seconds kExitGrace{1};

  /// Throws std::system_error, which names the directory, when it can't be opened.
  Cgi(Looper& looper, CgiOptions options);
  ~Cgi() override;

  Cgi(const Cgi&) = delete;
  auto operator=(const Cgi&) -> Cgi& = delete;

  void Handle(Exchange& exchange) override;

 private:
  friend class CgiRun;

  auto Full() const noexcept -> bool { return running_ + leaving_.size() >= options_.max_programs; }

  // A program whose exchange is over, until it can be reaped.
  struct Leaving {
    ChildProcess child;
    UniqueFd output;       // until its end: what comes there is dropped
    WatchId watch{-1, 0};  // of the output, then of its end; without one, polled
    TimerId deadline{};
    TimerId poll{};
  };

  void TakeLeave(ChildProcess child, UniqueFd output, Clock::duration time_left) noexcept;
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
  auto Find(const std::string& program) -> int;

  Looper& looper_;
  const CgiOptions options_;
  RootFolder directory_;
  const std::vector<std::string> inherited_;
  std::size_t running_ = 0;
  std::uint64_t spooled_bytes_ = 0;
  std::list<Leaving> leaving_;
};

}  // namespace TURTLE_SERVER
