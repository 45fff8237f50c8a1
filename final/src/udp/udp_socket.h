// A UDP socket: messages to and from anybody, without a connection (RFC 768, udp(7)).
//
// Unlike TCP, UDP promises nothing: a datagram may be lost, come twice, or come before one that was
// sent earlier. It comes whole or not at all, and its sender never waits.
//
// Interface:
//  * A server calls Bind(), a client Connect(), or neither: the first Send() picks a free port.
//  * Receive() and Send() move one datagram, ReceiveMany() and SendMany() a batch by one call.
//  * Set-up throws std::system_error, whose text says what was tried, where, and why it failed:
//    "bind 127.0.0.1:80: Permission denied". After that nothing throws.
//  * The descriptor is closed on exec and never blocks.
//
// An error is seldom the end. ICMP tells a connected socket what became of a datagram that it sent
// earlier, and the next call says so: ECONNREFUSED, nobody has that port. By being told, the error
// is taken from the socket, which is as good as before: call again. An error that is reported twice
// is of this call.
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
  kExclusive,  ///< nobody else: a second server fails to start
  /// All sockets of this user that say the same. The kernel spreads the senders over them, by a
  /// hash of both addresses, so one sender's datagrams go to one socket (SO_REUSEPORT, Linux;
  /// SO_REUSEPORT_LB, FreeBSD).
  kBalanced,
};

/// The outcome of a call for one datagram.
struct [[nodiscard]] ReceiveResult {
  IoStatus status = IoStatus::kError;  ///< never kEnd: nobody can end what has no connection
  std::size_t bytes = 0;               ///< with kBytes: how many were written; 0 is a datagram, too
  std::size_t size = 0;                ///< its real length, where the system tells it (Linux)
  bool truncated = false;              ///< the rest of it did not fit, and is lost
  int error = 0;                       ///< with kError: an errno value
};

/// The outcome of a call for many datagrams.
struct [[nodiscard]] BatchResult {
  IoStatus status = IoStatus::kError;  ///< kBytes: `count` datagrams were moved; never kEnd
  std::size_t count = 0;               ///< with kBytes
  int error = 0;                       ///< with kError: an errno value
};

/// Owner of a UDP socket. It has no descriptor until Bind(), Connect() or Send() tells it the
/// family.
class UdpSocket {
 public:
  /// No descriptor yet.
  UdpSocket() noexcept = default;

  /// Takes over a datagram socket that was made elsewhere, such as one of socketpair(2) or one that
  /// a supervisor has bound.
  explicit UdpSocket(UniqueFd fd) noexcept;

  /// Returns the descriptor, still owned by this object; -1 when there is none.
  [[nodiscard]] auto GetFd() const noexcept -> int { return fd_.Get(); }

  /// Gives the socket its own address. Port 0 means any free one: see LocalAddress(). An IPv6
  /// address takes IPv6 datagrams only, also "::", as Socket::Bind() (IPV6_V6ONLY): bind 0.0.0.0
  /// and :: side by side, on two sockets.
  ///
  /// SO_REUSEADDR is never set. A TCP server needs it to start again while old connections are in
  /// TIME_WAIT; UDP has no such state. On Linux the option lets a second socket that sets it take
  /// over the port, and all that is sent to it, without a word.
  ///
  /// @param local the address to bind to
  /// @param sharing who else may bind it
  /// @throws std::system_error, "bind 127.0.0.1:80: Address already in use". The socket then has
  ///     no descriptor and may be used for another try.
  void Bind(const NetAddress& local, PortSharing sharing = PortSharing::kExclusive);

  /// From now on, receives from `peer` alone, and sends to it without being told. Nothing is sent
  /// for that, and nobody need be there. Only a connected socket hears by ECONNREFUSED that nobody
  /// is.
  /// @throws std::system_error, "connect 10.0.0.1:80: Network is unreachable"
  void Connect(const NetAddress& peer);

  /// Returns the address this socket is bound to, with the port that the kernel chose for port 0.
  /// @throws std::system_error when there is no descriptor
  [[nodiscard]] auto LocalAddress() const -> NetAddress;

  /// Asks for room in the kernel for datagrams that nobody has read yet. A datagram that finds none
  /// is dropped.
  /// @param bytes wanted. Linux takes at most net.core.rmem_max, and doubles what it takes, because
  ///     it counts its own book-keeping: a datagram of one byte takes 768 (socket(7)).
  /// @return what the kernel says there is now
  /// @throws std::system_error when there is no descriptor
  auto SetReceiveBuffer(std::size_t bytes) -> std::size_t;

  /// Has each datagram tell the address that it was sent to, Datagram::local. A host has several,
  /// and a client takes replies only from the one that it has asked.
  /// @return false: the system can't
  auto ReportDestination() noexcept -> bool;

  /// Has datagrams tell how many were dropped before them, DatagramBatch::KernelDrops().
  /// @return false: the system does not count (only Linux does)
  auto ReportDrops() noexcept -> bool;

  /// Returns how many datagrams the kernel has dropped for want of room until now, modulo 2^32.
  /// Unlike DatagramBatch::KernelDrops() it costs a call, and does not wait for the next datagram.
  /// @return nullopt where the system does not tell
  [[nodiscard]] auto KernelDrops() const noexcept -> std::optional<std::uint32_t>;

  /// Takes the oldest datagram.
  /// @param into where the payload goes
  /// @param room how many bytes fit; the rest of the datagram is lost
  /// @param peer is replaced by the sender's address
  /// @return kBytes, kWouldBlock, or kError, perhaps of a datagram sent earlier
  auto Receive(char* into, std::size_t room, NetAddress& peer) noexcept -> ReceiveResult;

  /// Sends one datagram. Opens the socket if it has no descriptor.
  /// @param payload may be empty
  /// @param peer the receiver; empty: the connected peer
  /// @return kBytes: the kernel has taken it, which says nothing about the peer. Or kWouldBlock. Or
  ///     kError: EMSGSIZE for a payload that is too long, ECONNREFUSED of an earlier datagram (this
  ///     one has not left: send it again).
  auto Send(std::string_view payload, const NetAddress& peer = NetAddress()) noexcept -> IoResult;

  /// Refills `batch` with the oldest datagrams, as many as there are and fit.
  /// @return kBytes and how many, kWouldBlock, or kError, perhaps of a datagram sent earlier.
  /// `batch`
  ///     is empty unless kBytes.
  auto ReceiveMany(DatagramBatch& batch) noexcept -> BatchResult;

  /// Sends from the front of `batch`, and drops from it what the kernel has taken. May take fewer
  /// than there are: call again until the batch is empty, or the result is not kBytes.
  /// @param batch not empty
  /// @return kBytes and how many; kWouldBlock; or kError, which is of the first datagram in the
  ///     batch, or of one sent earlier. It is still there.
  auto SendMany(DatagramBatch& batch) noexcept -> BatchResult;

 private:
  void Open(const NetAddress& address);

  UniqueFd fd_;
  in_port_t port_ = 0;  // in the order of the network
};

}  // namespace TURTLE_SERVER
