// Receives and sends datagrams on a loop.
//
//   UdpServer server(looper, NetAddress("0.0.0.0", 20080));
//   server.OnDatagram([&](const Datagram& asked) { server.Reply(asked, "so it is"); });
//   server.Start();
//
// Interface:
//  * The constructor binds, so the port is known before anything runs.
//  * OnDatagram() sets the callback for each datagram; Reply() and Send() send.
//  * Start() watches the socket; Stop() closes it. Drain() before Stop() handles the datagrams
//    that the kernel already has.
//  * Figures() counts datagrams that were received, sent and lost, and where.
//
// A round takes one batch. One call receives up to UdpOptions::batch datagrams, the callback gets
// them one after the other, and one call sends all replies. Unread datagrams keep the socket
// readable, so the next round continues with it, after the loop's other descriptors. So a sender
// that never stops can't starve them.
//
// No call here waits. Replies that the kernel does not take at once are queued, up to
// UdpOptions::queue datagrams; beyond that they are dropped and counted. A longer queue would only
// make replies later, until no client waits for them any more.
//
// One server, one loop. To serve one port on several loops, give each its own server with
// PortSharing::kBalanced. The price: the kernel assigns senders to loops by a hash, so ten senders
// may all be on two of four loops. A stalled loop loses its senders' datagrams while the others are
// idle. If one of the sockets is closed, its unread datagrams are lost and senders change their
// loop. One loop with little work per datagram is faster than most networks: count the drops before
// you share.
//
// Thread: the loop's, before or while it runs.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "core/looper.h"
#include "udp/datagram_batch.h"
#include "udp/drop_count.h"
#include "udp/udp_socket.h"

namespace TURTLE_SERVER {

/// Settings of a UdpServer.
struct UdpOptions {
  std::size_t max_payload = 2048;  ///< bytes kept of a datagram, and the most that can be sent
  std::size_t batch = 64;          ///< most datagrams received in a round
  std::size_t queue = 1024;        ///< most datagrams that wait for the kernel to take them
  /// Bytes of the kernel's buffer for unread datagrams, UdpSocket::SetReceiveBuffer(); 0: the
  /// system's default.
  std::size_t receive_buffer = 0;
  PortSharing sharing = PortSharing::kExclusive;  ///< whether others may bind the port
  /// Datagrams report the address that they were sent to, and Reply() sends from it. Needed if the
  /// server is bound to 0.0.0.0 or :: on a host with several addresses.
  bool report_destination = false;
  /// How long receiving pauses after an error that persists, such as the kernel's lack of memory.
  std::chrono::milliseconds retry{100};
};

/// The counts of datagrams so far.
struct UdpFigures {
  std::uint64_t received = 0;   ///< given to the callback
  std::uint64_t truncated = 0;  ///< those of them that were longer than max_payload
  /// Had no room in the kernel's receive buffer, or a wrong checksum (Linux).
  std::uint64_t kernel_dropped = 0;
  std::uint64_t unread = 0;      ///< received, but not delivered, as a callback called Stop()
  std::uint64_t errors = 0;      ///< of receiving, or of earlier datagrams: mostly ICMP
  std::uint64_t sent = 0;        ///< taken by the kernel
  std::uint64_t dropped = 0;     ///< by us: the queue was full, or the server stopped
  std::uint64_t failed = 0;      ///< refused by the kernel, or longer than max_payload
  std::uint64_t exceptions = 0;  ///< thrown by the callback
};

/// Called with a datagram, on the loop's thread.
using DatagramCallback = std::function<void(const Datagram&)>;

/// A UDP socket on a loop.
class UdpServer {
 public:
  /// Binds. Throws std::system_error, which names the address, if that fails.
  /// @param looper outlives the server
  /// @param local address to receive at; port 0 is any free port, see LocalAddress()
  /// @param options sizes and bounds
  UdpServer(Looper& looper, const NetAddress& local, const UdpOptions& options = {});

  /// Serves a socket made elsewhere, which is bound or connected.
  UdpServer(Looper& looper, UdpSocket socket, const UdpOptions& options = {});

  /// Calls Stop(). Must not run within the callback.
  ~UdpServer();

  UdpServer(const UdpServer&) = delete;
  auto operator=(const UdpServer&) -> UdpServer& = delete;

  /// Sets the callback for each datagram. It may call Send(), Reply() and Stop(). Its exceptions
  /// are counted, and logged at most once a second; they don't affect the next datagram.
  auto OnDatagram(DatagramCallback callback) -> UdpServer&;

  /// Begins to receive. Throws std::logic_error without OnDatagram() or after Stop(), and
  /// std::system_error if the poller can't watch the socket. A second call does nothing.
  void Start();

  /// Gives the callback the datagrams that the kernel has by now, and sends all replies. For the
  /// end of a program, which otherwise loses accepted but unread datagrams.
  /// @param most about how many datagrams, rounded up to whole batches: a sender that never stops
  ///     must not keep the program from ending
  /// @return how many there were; 0 after Stop(), and in the callback
  auto Drain(std::size_t most) -> std::size_t;

  /// Stops receiving and closes the socket. The queue is offered to the kernel once more, and
  /// dropped if it does not take it. A second call does nothing.
  void Stop();

  /// Sends a datagram to the sender of `asked`, from the address that it was sent to, if that is
  /// known. Otherwise as Send().
  auto Reply(const Datagram& asked, std::string_view payload) -> bool {
    return Send(payload, asked.peer, asked.local);
  }

  /// Queues a copy of a datagram, to be sent at the end of the round.
  /// @param payload at most UdpOptions::max_payload bytes
  /// @param peer the receiver; empty: the peer of a connected socket
  /// @param local the address to send from; empty: the kernel chooses
  /// @return false if it will not be sent, and has been counted as dropped or failed. True is no
  ///     promise: the network makes none.
  auto Send(std::string_view payload, const NetAddress& peer,
            const NetAddress& local = NetAddress()) -> bool;

  /// Returns how many datagrams leave at the end of the round, or wait for the kernel.
  [[nodiscard]] auto Queued() const noexcept -> std::size_t { return out_.Size(); }

  /// Returns the address that the server is bound to, with the port that the kernel chose for port
  /// 0. Valid after Stop(), too.
  [[nodiscard]] auto LocalAddress() const -> NetAddress { return local_; }

  /// Returns the size of the kernel's buffer for unread datagrams, as reported; 0 if
  /// UdpOptions::receive_buffer is 0.
  [[nodiscard]] auto ReceiveBuffer() const noexcept -> std::size_t { return receive_buffer_; }

  /// Returns the counts so far.
  [[nodiscard]] auto Figures() noexcept -> UdpFigures;

 private:
  void OnReady(const PollEvent& event);
  [[nodiscard]] auto ReceiveBatch() -> bool;
  void Deliver(const Datagram& datagram);
  void TellOfException();
  void Flush();
  void FlushSoon();
  void SetInterest();
  void AskForDrops() noexcept;
  void Rest(int error);

  Looper& looper_;
  const UdpOptions options_;
  UdpSocket socket_;
  NetAddress local_;
  std::size_t receive_buffer_ = 0;
  DatagramCallback on_datagram_;
  DatagramBatch in_;
  DatagramBatch out_;
  UdpFigures figures_;  // except kernel_dropped
  DropCount drops_;
  std::optional<WatchId> watch_;
  Interest interest_ = Interest::kRead;  // of the watch
  std::optional<TimerId> retry_;
  std::optional<TimerId> flush_;
  std::optional<TimePoint> logged_;  // the last exception
  std::optional<TimePoint> rest_logged_;
  bool stopped_ = false;
  bool in_round_ = false;     // replies are sent at its end
  bool room_wanted_ = false;  // the kernel's buffer is full: wait for room
};

}  // namespace TURTLE_SERVER
