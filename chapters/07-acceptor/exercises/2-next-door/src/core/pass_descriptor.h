// Hands over a descriptor to another process, through a socket of the family AF_UNIX.
//
// The receiver gets its own number for the same open file, so a client that is handed over keeps
// its connection. unix(7), SCM_RIGHTS.
//
// Thread: any; one at a time for each end of a channel.
#pragma once

#include "base/unique_fd.h"

namespace TURTLE_SERVER {

/// The result of ReceiveDescriptor().
struct ReceivedDescriptor {
  UniqueFd fd;    ///< none, with error 0, if the other side has closed the channel
  int error = 0;  ///< an errno value
};

/// Sends `fd`, with one byte. It remains the caller's, which may close it at once.
///
/// @return 0, or an errno value: EBADF if there is no such descriptor, EPIPE if the other side has
///     closed the channel, EAGAIN if the channel is non-blocking and full
[[nodiscard]] auto SendDescriptor(int channel, int fd) noexcept -> int;

/// Receives a descriptor. It is closed on exec.
///
/// @return error EAGAIN: the channel is non-blocking, and nothing has arrived. EMFILE: one has
///     arrived, but this process may have no more; it is lost. EPROTO: a message with no descriptor
///     or with several, which have been closed.
[[nodiscard]] auto ReceiveDescriptor(int channel) noexcept -> ReceivedDescriptor;

}  // namespace TURTLE_SERVER
