// A TCP socket: a listener, or one end of a connection.
//
// Interface:
//  * A server calls Bind(), Listen() and then Accept() for each client; a client calls Connect().
//  * Set-up throws std::system_error, whose text says what was tried, where, and why it failed:
//    "bind 127.0.0.1:80: Permission denied". After that nothing throws: Accept() returns -1,
//    Recv() and Send() return an IoResult.
//  * Every descriptor made here is closed on exec, and no write ever raises SIGPIPE.
//
// Thread: one thread at a time for each object, except that one may Recv() while another Send()s.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <string_view>
#include <utility>

#include "base/namespace.h"
#include "base/unique_fd.h"
#include "core/io_result.h"
#include "core/net_address.h"

namespace TURTLE_SERVER {

/// Owns a TCP socket. It has no descriptor until Connect() or Bind() determines the family.
class Socket {
 public:
  /// Owns no descriptor yet.
  Socket() noexcept = default;

  /// Takes over a socket made elsewhere, such as one from Accept(), after MuteSigpipe().
  explicit Socket(UniqueFd fd) noexcept;

  /// Returns the descriptor, still owned by this object; -1 when there is none.
  [[nodiscard]] auto GetFd() const noexcept -> int { return fd_.Get(); }

  /// Gives the descriptor away; this object has none afterwards.
  [[nodiscard]] auto Release() noexcept -> UniqueFd { return std::move(fd_); }

  /// Connects to `server` and waits until the connection is established or has failed. A signal
  /// does not cut the wait short.
  ///
  /// @throws std::system_error, "connect 127.0.0.1:80: Connection refused". The socket then has no
  ///     descriptor and may be used for another try.
  void Connect(const NetAddress& server);

  /// Gives the socket its own address. Port 0 means any free port: see LocalAddress(). An IPv6
  /// address, even "::", takes IPv6 clients only, so that 0.0.0.0 and :: can be bound side by side
  /// and mean the same on every system (IPV6_V6ONLY, RFC 3493, section 5.3).
  ///
  /// @param local the address to bind to.
  /// @param set_reusable sets SO_REUSEADDR, so that a server can start again while connections of
  ///     its predecessor are in TIME_WAIT. It never lets two servers share a port.
  /// @throws std::system_error, "bind 127.0.0.1:80: Address already in use". The socket then has
  ///     no descriptor and may be used for another try.
  void Bind(const NetAddress& local, bool set_reusable = true);

  /// Starts to listen; from now on the kernel completes the clients' handshakes.
  ///
  /// @param backlog how many clients may wait to be accepted; the kernel caps it (listen(2)).
  /// @throws std::system_error, "listen 127.0.0.1:80: Address already in use": if two reusable
  ///     sockets have bound the same port, the first one to listen gets it.
  void Listen(int backlog = SOMAXCONN);

  /// Returns the address of this socket, with the port that the kernel chose for port 0.
  ///
  /// @throws std::system_error when there is no descriptor.
  [[nodiscard]] auto LocalAddress() const -> NetAddress;

  /// Waits for a client and takes it. Interruptions (EINTR) and clients that left while they were
  /// waiting (ECONNABORTED) are skipped.
  ///
  /// @param client is replaced by the client's address.
  /// @return a descriptor that the caller owns, or -1 with the reason in errno, such as EMFILE.
  [[nodiscard]] auto Accept(NetAddress& client) -> int;

  /// Waits for bytes and reads those that have arrived, at least one.
  ///
  /// @param into where the bytes go.
  /// @param room how many fit, at least 1.
  /// @return kBytes, kEnd when the peer has finished sending, or kError.
  auto Recv(char* into, std::size_t room) -> IoResult;

  /// Hands bytes to the kernel, which may take fewer than given: the caller keeps the rest.
  ///
  /// @param bytes what to send.
  /// @param flags for send(2); the one against SIGPIPE is always added.
  /// @return kBytes and how many were taken, or kError: EPIPE or ECONNRESET if the peer is gone.
  auto Send(std::string_view bytes, int flags = 0) -> IoResult;

  /// Tells the peer that nothing more will be sent (FIN); receiving goes on.
  ///
  /// @return 0 or an errno value (shutdown(2)).
  auto ShutdownWrite() noexcept -> int;

 private:
  // Makes a descriptor of the address's family unless there is one already.
  void Open(const NetAddress& address);

  UniqueFd fd_;
};

}  // namespace TURTLE_SERVER
