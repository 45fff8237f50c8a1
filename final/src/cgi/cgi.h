// Runs the programs of a directory for dynamic pages: CGI/1.1, RFC 3875.
//
//   GET /cgi-bin/hello/path/info?query     the program `hello`, by the RFC
//   GET /cgi-bin/add&1&2                   the short form: `add` with the arguments 1 and 2
//
// The loop never waits for a program. The request's body is first spooled to a file, so
// CONTENT_LENGTH is known and a slow client does not occupy a process. Then the program runs with
// that file as its standard input, and the loop reads its output from a pipe. A client that reads
// slowly stalls the program through that pipe.
//
// A program that runs too long is killed with all its children: a 504 if nothing was sent, else the
// connection is cut; likewise after a crash. If the client closes, its program is killed.
//
// A response ends where its framing says so (RFC 9112, section 6.3): with the head if there is
// no body (HEAD, 204, 304), or with the last byte of a Content-Length. A program that runs on
// then has the rest of its time. Its further output is read and dropped, so no SIGPIPE ends it.
// It still counts as a running program, and a stopping server waits for it, within the stop
// timeout.
//
// The kernel reports how a program has ended. But a process that ignores SIGCHLD, or has inherited
// that, gets no exit status, wait(2), and a crash counts as success. Set it to SIG_DFL, as `turtle
// serve` does.
//
// Only in the short form, output without a header block becomes the body, as plain text.
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
  /// How long a program may run on after its output has ended, before the response ends without its
  /// exit status.
  static constexpr std::chrono::seconds kExitGrace = CgiPrograms::kExitGrace;

  /// Throws std::system_error, which names the directory, if it can't be opened.
  Cgi(Looper& looper, CgiOptions options);

  void Handle(Exchange& exchange) override;

 private:
  CgiPrograms programs_;
};

}  // namespace TURTLE_SERVER
