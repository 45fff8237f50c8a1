// Prepares one datagram for recvmsg(2) and sendmsg(2): the memory of its payload, of its address,
// and of the control messages that come with it, cmsg(3).
//
// Interface:
//  * PrepareReceive() and FinishReceive() surround a call that receives.
//  * PrepareSend() precedes a call that sends.
//
// Thread: free functions without state.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

#include "udp/datagram_batch.h"

namespace TURTLE_SERVER {

/// The memory that a msghdr points to.
struct DatagramParts {
  /// Room for the largest address of both families, and for a count.
  static constexpr std::size_t kControlRoom = 128;

  iovec payload;                                ///< the memory of the bytes
  alignas(cmsghdr) char control[kControlRoom];  ///< uninitialised: a call may use many of these
};

/// Makes `header` receive into the slot of `batch` at `index`, after its present datagrams.
void PrepareReceive(msghdr& header, DatagramParts& parts, DatagramBatch& batch,
                    std::size_t index) noexcept;

/// Notes the received datagram in the slot, and in the batch.
/// @param header of PrepareReceive(), filled by the call
/// @param batch with the filled slot
/// @param index of the slot
/// @param bytes result of the call: the real length if MSG_TRUNC reports it
/// @param local_port of the socket, in network order, for Datagram::local
void FinishReceive(const msghdr& header, std::size_t bytes, DatagramBatch& batch, std::size_t index,
                   in_port_t local_port) noexcept;

/// Makes `header` send the datagram of `batch` at `index`.
void PrepareSend(msghdr& header, DatagramParts& parts, DatagramBatch& batch,
                 std::size_t index) noexcept;

/// Reads a control message of this system, if it is the destination of an IPv4 datagram or a count
/// of drops. In udp_calls_linux.cpp and udp_calls_bsd.cpp.
void ReadSystemControl(const cmsghdr& control, DatagramBatch& batch, NetAddress& local) noexcept;

/// Writes the control message that sets the source of an IPv4 datagram. In the same files.
/// @return its length, or 0 if there is none
[[nodiscard]] auto WriteIpv4Source(cmsghdr& control, const in_addr& source) noexcept -> std::size_t;

}  // namespace TURTLE_SERVER
