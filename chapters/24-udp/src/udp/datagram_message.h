// One datagram as recvmsg(2) and sendmsg(2) want it: where the payload lies, where the address, and
// where the control messages that come with it, cmsg(3).
//
// Interface:
//  * PrepareReceive() and FinishReceive() stand around a call that receives.
//  * PrepareSend() stands before a call that sends.
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

  iovec payload;                                ///< where the bytes lie
  alignas(cmsghdr) char control[kControlRoom];  ///< not filled: many of these are made for a call
};

/// Has `header` receive into the slot of `batch` at `index`, after those that it holds.
void PrepareReceive(msghdr& header, DatagramParts& parts, DatagramBatch& batch,
                    std::size_t index) noexcept;

/// Notes in the slot, and in the batch, what has come.
/// @param header as PrepareReceive() has made it, filled by the call
/// @param batch whose slot was filled
/// @param index of the slot
/// @param bytes what the call has returned: the real length where MSG_TRUNC gives it
/// @param local_port of the socket, in the order of the network, for Datagram::local
void FinishReceive(const msghdr& header, std::size_t bytes, DatagramBatch& batch, std::size_t index,
                   in_port_t local_port) noexcept;

/// Has `header` send the datagram of `batch` at `index`.
void PrepareSend(msghdr& header, DatagramParts& parts, DatagramBatch& batch,
                 std::size_t index) noexcept;

/// Reads a control message of this system, if it is the destination of an IPv4 datagram or a count
/// of drops. In udp_calls_linux.cpp and udp_calls_bsd.cpp.
void ReadSystemControl(const cmsghdr& control, DatagramBatch& batch, NetAddress& local) noexcept;

/// Writes the control message that sets the source of an IPv4 datagram. In the same files.
/// @return its length, 0 where there is none
[[nodiscard]] auto WriteIpv4Source(cmsghdr& control, const in_addr& source) noexcept -> std::size_t;

}  // namespace TURTLE_SERVER
