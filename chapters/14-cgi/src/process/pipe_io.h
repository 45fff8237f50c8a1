// Pipes to and from a program, with the results of a socket.
//
// Interface:
//  * OpenPipe() makes one; the end that stays with us may be non-blocking.
//  * ReadPipe() and WritePipe() move bytes and report as Socket::Recv() and Socket::Send() do.
//
// Thread: any; a pipe end is used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/unique_fd.h"
#include "core/io_result.h"

namespace TURTLE_SERVER {

/// Both ends of a pipe(7).
struct Pipe {
  UniqueFd read_end;   ///< Bytes come out here.
  UniqueFd write_end;  ///< Bytes go in here.
};

/// Which end never blocks. The mode belongs to the open end itself, shared by all processes that
/// hold it, so the end that a program gets must block as programs expect.
enum class PipeMode : std::uint8_t {
  kBlocking,          ///< Neither.
  kNonBlockingRead,   ///< The end we read from: a program's output.
  kNonBlockingWrite,  ///< The end we write to: a program's input.
};

/// Opens a pipe; both ends are close-on-exec.
/// @param mode which end never blocks.
/// @param pipe what it held before is closed, on failure too.
/// @return 0 or an errno value (EMFILE, ENFILE).
[[nodiscard]] auto OpenPipe(PipeMode mode, Pipe& pipe) noexcept -> int;

/// At most one successful read(2). kEnd: all writers have closed; kWouldBlock: nothing there yet.
/// @param fd the reading end, or any other file.
/// @param into where the bytes go.
/// @param room how many there may be, more than 0.
auto ReadPipe(int fd, char* into, std::size_t room) noexcept -> IoResult;

/// At most one successful write(2), possibly of fewer bytes than given. A program that has closed
/// its input is kError with EPIPE and never a SIGPIPE, whatever the process does with that signal.
/// @param fd the writing end.
/// @param bytes what to write; nothing is done for an empty view.
auto WritePipe(int fd, std::string_view bytes) noexcept -> IoResult;

}  // namespace TURTLE_SERVER
