// Pipes to and from a program, with the same results as sockets.
//
// Interface:
//  * OpenPipe() makes one; our end may be non-blocking.
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
/// have it, so the program's end must block, as programs expect.
enum class PipeMode : std::uint8_t {
  kBlocking,          ///< Neither.
  kNonBlockingRead,   ///< The end we read from: a program's output.
  kNonBlockingWrite,  ///< The end we write to: a program's input.
};

/// Opens a pipe; both ends are close-on-exec.
/// @param mode which end never blocks.
/// @param pipe its previous ends are closed, even on failure.
/// @return 0 or an errno value (EMFILE, ENFILE).
[[nodiscard]] auto OpenPipe(PipeMode mode, Pipe& pipe) noexcept -> int;

/// Makes at most one successful read(2). kEnd: all writers have closed; kWouldBlock: no data yet.
/// @param fd the reading end, or any other file.
/// @param into destination of the bytes.
/// @param room for how many bytes, more than 0.
auto ReadPipe(int fd, char* into, std::size_t room) noexcept -> IoResult;

/// Makes at most one successful write(2), possibly of fewer bytes. If the program has closed its
/// input: kError with EPIPE and never a SIGPIPE, however that is handled.
/// @param fd the writing end.
/// @param bytes to write; an empty view does nothing.
auto WritePipe(int fd, std::string_view bytes) noexcept -> IoResult;

}  // namespace TURTLE_SERVER
