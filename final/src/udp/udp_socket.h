// A UDP socket: messages to and from any peer, without a connection (RFC 768, udp(7)).
//
// Unlike TCP, UDP promises nothing: a datagram may be lost, duplicated or overtaken by a later one.
// It arrives completely or not at all, and its sender never waits.
//
// Interface:
//  * A server calls Bind(), a client Connect(), or neither: the first Send() picks a free port.
//  * Receive() and Send() move one datagram; ReceiveMany() and SendMany() move a batch in one call.
//  * Setup throws std::system_error, whose text says what failed, at which address, and why:
//    "bind 127.0.0.1:80: Permission denied". After that nothing throws.
//  * The descriptor is closed on exec and never blocks.
//
// An error is seldom fatal. ICMP informs a connected socket about an earlier datagram, and the next
// call reports it: ECONNREFUSED means that no socket has that port. The report clears the error,
// and the socket remains usable: call again. If an error is reported twice, this call has caused
// it.
//
// Thread: one thread at a time for each object.
#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/namespace.h"
#include "base/unique_fd.h"
#include "core/io_result.h"
#include "core/net_address.h"
#include "udp/datagram_batch.h"

namespace TURTLE_SERVER {

/// Which sockets may bind the same address and port.
enum class PortSharing : std::uint8_t {
  kExclusive,  ///< no other: a second server fails to start
  /// All sockets of this user with this option. The kernel spreads the senders over them, by a
  /// hash of both addresses, so one sender's datagrams go to one socket (SO_REUSEPORT, Linux;
  /// SO_REUSEPORT_LB, FreeBSD).
  kBalanced,
};

/// The outcome of a call for one datagram.
struct [[nodiscard]] ReceiveResult {
  IoStatus status = IoStatus::kError;  ///< never kEnd: without a connection there is no end
  std::size_t bytes = 0;               ///< with kBytes: how many were written; 0 is possible, too
  std::size_t size = 0;                ///< its real length, if the system reports it (Linux)
  bool truncated = false;              ///< the rest of it did not fit, and is lost
  int error = 0;                       ///< with kError: an errno value
};

/// The outcome of a call for many datagrams.
struct [[nodiscard]] BatchResult {
  IoStatus status = IoStatus::kError;  ///< kBytes: `count` datagrams were moved; never kEnd
  std::size_t count = 0;               ///< with kBytes
  int error = 0;                       ///< with kError: an errno value
};

/// Owner of a UDP socket. It has no descriptor until the family is known from Bind(), Connect() or
/// Send().
class UdpSocket {
 public:
  /// Has no descriptor yet.
  UdpSocket() noexcept = default;

  /// Takes over a datagram socket made elsewhere, such as one of socketpair(2), or one bound by a
  /// supervisor.
  explicit UdpSocket(UniqueFd fd) noexcept;

  /// Returns the descriptor, still owned by this object; -1 if there is none.
  [[nodiscard]] auto GetFd() const noexcept -> int { return fd_.Get(); }

  /// Gives the socket its own address. Port 0 means any free one: see LocalAddress(). An IPv6
  /// address receives only IPv6 datagrams, even "::", as with Socket::Bind() (IPV6_V6ONLY): bind
  /// 0.0.0.0 and :: side by side, on two sockets.
  ///
  /// SO_REUSEADDR is never set. A TCP server needs it to restart while old connections are in
  /// TIME_WAIT; UDP has no such state. On Linux the option lets a second socket that sets it
  /// silently take over the port, and all datagrams sent to it.
  ///
  /// @param local the address to bind to
  /// @param sharing which other sockets may bind it
  /// @throws std::system_error, "bind 127.0.0.1:80: Address already in use". The socket then has
  ///     no descriptor and may be used for another try.
  void Bind(const NetAddress& local, PortSharing sharing = PortSharing::kExclusive);

  /// From now on, receives only from `peer`, and sends to it by default. This sends nothing,
  /// and the peer need not exist. Only a connected socket learns by ECONNREFUSED that it
  /// doesn't.
  /// @throws std::system_error, "connect 10.0.0.1:80: Network is unreachable"
  void Connect(const NetAddress& peer);

  /// Returns the address this socket is bound to, with the port that the kernel chose for port 0.
  /// @throws std::system_error if there is no descriptor
  [[nodiscard]] auto LocalAddress() const -> NetAddress;

  /// Requests a kernel buffer for unread datagrams. A datagram that finds no room is dropped.
  /// @param bytes wanted. Linux accepts at most net.core.rmem_max, and doubles the value,
  ///     because it counts its own bookkeeping: a datagram of one byte takes 768
  ///     (socket(7)).
  /// @return the actual size, as the kernel reports it
  /// @throws std::system_error if there is no descriptor
  auto SetReceiveBuffer(std::size_t bytes) -> std::size_t;

  /// Makes each datagram report the address that it was sent to, Datagram::local. A host has
  /// several, and a client accepts replies only from the address that it has sent to.
  /// @return false if the system can't
  auto ReportDestination() noexcept -> bool;

  /// Makes datagrams report how many were dropped before them, DatagramBatch::KernelDrops().
  /// @return false if the system does not count (only Linux does)
  auto ReportDrops() noexcept -> bool;

  /// Returns how many datagrams the kernel has dropped so far for lack of room, modulo 2^32. Unlike
  /// DatagramBatch::KernelDrops() it costs a call, and does not wait for the next datagram.
  /// @return nullopt if the system does not report it
  [[nodiscard]] auto KernelDrops() const noexcept -> std::optional<std::uint32_t>;

  /// Takes the oldest datagram.
  /// @param into destination of the payload
  /// @param room how many bytes fit; the rest of the datagram is lost
  /// @param peer replaced by the sender's address
  /// @return kBytes, kWouldBlock, or kError, perhaps for a datagram sent earlier
  auto Receive(char* into, std::size_t room, NetAddress& peer) noexcept -> ReceiveResult;

  /// Sends one datagram. Opens the socket if it has no descriptor.
  /// @param payload may be empty
  /// @param peer the receiver; empty: the connected peer
  /// @return kBytes: the kernel has taken it, which says nothing about the peer. Or kWouldBlock. Or
  ///     kError: EMSGSIZE for a payload that is too long, ECONNREFUSED for an earlier datagram
  ///     (this one was not sent: send it again).
  auto Send(std::string_view payload, const NetAddress& peer = NetAddress()) noexcept -> IoResult;

  /// Refills `batch` with the oldest datagrams, as many as there are and fit.
  /// @return kBytes and their number, kWouldBlock, or kError, perhaps for a datagram sent earlier.
  ///     `batch` is empty unless
  ///     kBytes.
  auto ReceiveMany(DatagramBatch& batch) noexcept -> BatchResult;

  /// Sends from the front of `batch`, and removes the datagrams that the kernel has taken. May send
  /// only some of them: call again until the batch is empty, or the result is not kBytes.
  /// @param batch not empty
  /// @return kBytes and their number; kWouldBlock; or kError, for the first datagram in the batch,
  ///     or for one sent earlier. It is still there.
  auto SendMany(DatagramBatch& batch) noexcept -> BatchResult;

 private:
  void Open(const NetAddress& address);

  UniqueFd fd_;
  in_port_t port_ = 0;  // in network order
};

}  // namespace TURTLE_SERVER
