// Socket calls for datagrams that differ between systems: many datagrams at once, the address that
// a datagram was sent to, and the number of dropped ones.
//
// Linux moves many datagrams with one call, recvmmsg(2) and sendmmsg(2): udp_calls_linux.cpp. The
// other systems make one call for each: udp_calls_bsd.cpp. For callers of these functions, only the
// time differs.
//
// Thread: free functions without state.
#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "udp/datagram_batch.h"

namespace TURTLE_SERVER {

/// Flag that makes recv(2) and similar calls return the length that a datagram had, even if not all
/// of it fitted; 0 if there is none.
extern const int kTellLength;

/// Opens a datagram socket, non-blocking and closed on exec.
/// @param family AF_INET or AF_INET6
/// @return a descriptor owned by the caller, or -1 and errno (socket(2))
[[nodiscard]] auto OpenUdp(int family) noexcept -> int;

/// Lets several sockets bind the same port; the kernel spreads the senders over them.
/// @return 0 or an errno value; ENOPROTOOPT if the system can't
[[nodiscard]] auto ShareUdpPort(int fd) noexcept -> int;

/// Makes each received datagram report the address that it was sent to.
/// @return 0 or an errno value
[[nodiscard]] auto ReportUdpDestination(int fd, int family) noexcept -> int;

/// Makes received datagrams report how many were dropped before them.
/// @return 0 or an errno value; ENOPROTOOPT if the system does not count
[[nodiscard]] auto ReportUdpDrops(int fd) noexcept -> int;

/// Asks the kernel how many datagrams it has dropped until now, modulo 2^32.
/// @return nullopt if the system does not report it
[[nodiscard]] auto AskUdpDrops(int fd) noexcept -> std::optional<std::uint32_t>;

/// Refills the batch with the datagrams that are there, and sets its size. Does not wait.
/// @param fd the socket
/// @param batch emptied first
/// @param local_port of the socket, in network order, for Datagram::local
/// @return how many were received, or -1 and errno; EINTR is retried
[[nodiscard]] auto ReceiveDatagrams(int fd, DatagramBatch& batch, in_port_t local_port) noexcept
    -> int;

/// Sends from the front of the batch, and leaves it as it is. Does not wait.
/// @return how many the kernel took, 0 only for an empty batch; or -1 and errno, which concerns the
///     first
[[nodiscard]] auto SendDatagrams(int fd, DatagramBatch& batch) noexcept -> int;

}  // namespace TURTLE_SERVER
