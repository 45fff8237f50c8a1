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

#include "cgi/cgi_programs.h"
#include "core/looper.h"
#include "web/request_handler.h"

namespace TURTLE_SERVER {

/// Runs the programs of a directory.
class Cgi : public RequestHandler {
 public:
  /// How long a program may live on after its output has ended, before the response ends without
  /// knowing how the program did.
  static constexpr std::chrono::seconds kExitGrace = CgiPrograms::kExitGrace;

  /// Throws std::system_error, which names the directory, when it can't be opened.
  Cgi(Looper& looper, CgiOptions options);

  void Handle(Exchange& exchange) override;

 private:
  CgiPrograms programs_;
};

}  // namespace TURTLE_SERVER
