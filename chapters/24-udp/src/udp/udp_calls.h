// The calls on datagram sockets that systems spell differently: many datagrams at once, the address
// that a datagram was sent to, and what the kernel had no room for.
//
// Linux moves many datagrams by one call, recvmmsg(2) and sendmmsg(2): udp_calls_linux.cpp. The
// other systems make one call for each: udp_calls_bsd.cpp. Callers of these functions can't tell
// them apart but by the time that they take.
//
// Thread: free functions without state.
#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "udp/datagram_batch.h"

namespace TURTLE_SERVER {

/// Flag for recv(2) and its kin that has them return the length that a datagram had, even if less
/// of it fitted; 0 where there is none.
extern const int kTellLength;

/// Opens a datagram socket, non-blocking and closed on exec.
/// @param family AF_INET or AF_INET6
/// @return a descriptor owned by the caller, or -1 and errno (socket(2))
[[nodiscard]] auto OpenUdp(int family) noexcept -> int;

/// Lets several sockets bind the same port, and has the kernel spread the senders over them.
/// @return 0 or an errno value; ENOPROTOOPT where the system can't
[[nodiscard]] auto ShareUdpPort(int fd) noexcept -> int;

/// Has each datagram tell the address that it was sent to.
/// @return 0 or an errno value
[[nodiscard]] auto ReportUdpDestination(int fd, int family) noexcept -> int;

/// Has datagrams tell how many had no room before them.
/// @return 0 or an errno value; ENOPROTOOPT where the system does not count
[[nodiscard]] auto ReportUdpDrops(int fd) noexcept -> int;

/// Asks the kernel how many datagrams it has dropped until now, modulo 2^32.
/// @return nullopt where the system does not tell
[[nodiscard]] auto AskUdpDrops(int fd) noexcept -> std::optional<std::uint32_t>;

/// Refills the batch with what is there, and sets its size. Does not wait.
/// @param fd the socket
/// @param batch is emptied first
/// @param local_port of the socket, in the order of the network, for Datagram::local
/// @return how many came, or -1 and errno; EINTR is passed over
[[nodiscard]] auto ReceiveDatagrams(int fd, DatagramBatch& batch, in_port_t local_port) noexcept
    -> int;

/// Sends from the front of the batch, and leaves it as it is. Does not wait.
/// @return how many the kernel took, 0 only of an empty batch; or -1 and errno, which is of the
/// first
[[nodiscard]] auto SendDatagrams(int fd, DatagramBatch& batch) noexcept -> int;

}  // namespace TURTLE_SERVER
