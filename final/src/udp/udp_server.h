// Answers datagrams on a loop.
//
//   UdpServer server(looper, NetAddress("0.0.0.0", 20080));
//   server.OnDatagram([&](const Datagram& asked) { server.Reply(asked, "so it is"); });
//   server.Start();
//
// Interface:
//  * The constructor binds, so that the port is known before anything runs.
//  * OnDatagram() is called with each datagram; Reply() and Send() send some.
//  * Start() watches the socket, Stop() lets go of it and closes it. Drain() before Stop() takes
//    what the kernel has already.
//  * Figures() counts datagrams that came, that left, and that were lost, where.
//
// A round takes one batch: one call receives up to UdpOptions::batch datagrams, the callback gets
// one after the other, and one call sends all replies. Unread datagrams keep the socket readable,
// so the next round goes on with it, after the neighbours on the loop have had their turn. Somebody
// who sends without end can't starve them.
//
// Nothing here waits. Replies that the kernel does not take at once are kept in a queue, of
// UdpOptions::queue datagrams, until it does; those that find it full are dropped, and counted. To
// keep more would only make replies later, until nobody waits for them any more.
//
// One server, one loop. To serve one port on several loops, each gets its own server, with
// PortSharing::kBalanced. The price: the kernel binds a sender to a loop by a hash, so ten senders
// on four loops may all be on two of them. A loop that is stalled loses what its own senders send
// while the others have nothing to do. If one of the sockets is closed, its unread datagrams are
// lost and senders change their loop. One loop that does little for a datagram is faster than most
// networks: count the drops before you share.
//
// Thread: the loop's, before it runs or in it.
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
  std::size_t max_payload = 2048;  ///< bytes kept of a datagram, and the longest that can be sent
  std::size_t batch = 64;          ///< datagrams received in a round, at most
  std::size_t queue = 1024;        ///< datagrams that wait for the kernel to take them, at most
  /// Bytes in the kernel for datagrams that have not been read, UdpSocket::SetReceiveBuffer(); 0:
  /// as the system has it.
  std::size_t receive_buffer = 0;
  PortSharing sharing = PortSharing::kExclusive;  ///< whether others may bind the port
  /// Datagrams tell the address that they were sent to, and Reply() answers from it. Needed where
  /// the server is bound to 0.0.0.0 or :: on a host of several addresses.
  bool report_destination = false;
  /// How long receiving rests after an error that does not pass: the kernel is out of memory, say.
  std::chrono::milliseconds retry{100};
};

/// The counts of datagrams so far.
struct UdpFigures {
  std::uint64_t received = 0;   ///< given to the callback
  std::uint64_t truncated = 0;  ///< of them, those that were longer than max_payload
  /// Found no room in the kernel's receive buffer, or had a wrong checksum (Linux).
  std::uint64_t kernel_dropped = 0;
  std::uint64_t unread = 0;      ///< received when Stop() came from a callback, and not given
  std::uint64_t errors = 0;      ///< of receiving, or of what was sent earlier: ICMP, mostly
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
  /// Binds. Throws std::system_error, which names the address, when that is not possible.
  /// @param looper outlives the server
  /// @param local where to receive; port 0 is any free port, see LocalAddress()
  /// @param options sizes and bounds
  UdpServer(Looper& looper, const NetAddress& local, const UdpOptions& options = {});

  /// Serves a socket that was made elsewhere, and is bound or connected.
  UdpServer(Looper& looper, UdpSocket socket, const UdpOptions& options = {});

  /// Stop(). Not from within the callback.
  ~UdpServer();

  UdpServer(const UdpServer&) = delete;
  auto operator=(const UdpServer&) -> UdpServer& = delete;

  /// Sets what is done with each datagram. It may Send(), Reply() and Stop(). An exception from it
  /// is counted, and logged in a line a second at most; the next datagram is none the worse for it.
  auto OnDatagram(DatagramCallback callback) -> UdpServer&;

  /// Begins to receive. Throws std::logic_error without OnDatagram() or after Stop(), and
  /// std::system_error if the poller can't watch the socket. Repeated, nothing happens.
  void Start();

  /// Gives the callback what the kernel holds by now, and sends all replies. For the end of a
  /// program: who stops without it loses what was accepted and not yet read.
  /// @param most about so many datagrams, rounded up to whole batches: somebody who sends without
  ///     end must not keep the program from ending
  /// @return how many there were; 0 after Stop(), and in the callback
  auto Drain(std::size_t most) -> std::size_t;

  /// Receives no more and closes the socket. The queue is offered to the kernel once more, and
  /// dropped if it does not take it. Repeated, nothing happens.
  void Stop();

  /// Sends a datagram to the sender of `asked`, and from the address that it was sent to, if that
  /// is known. As Send().
  auto Reply(const Datagram& asked, std::string_view payload) -> bool {
    return Send(payload, asked.peer, asked.local);
  }

  /// Puts a copy of a datagram on its way. It leaves at the end of the round.
  /// @param payload at most UdpOptions::max_payload bytes
  /// @param peer who is to get it; empty: the peer of a connected socket
  /// @param local the address that it is to come from; empty: the kernel chooses
  /// @return false: it will not be sent, and has been counted as dropped or failed. True is no
  ///     promise: the network makes none.
  auto Send(std::string_view payload, const NetAddress& peer,
            const NetAddress& local = NetAddress()) -> bool;

  /// Datagrams that are to leave at the end of the round, or wait for the kernel.
  [[nodiscard]] auto Queued() const noexcept -> std::size_t { return out_.Size(); }

  /// Returns the address that the server is bound to, with the port that the kernel chose for port
  /// 0. Valid after Stop(), too.
  [[nodiscard]] auto LocalAddress() const -> NetAddress { return local_; }

  /// Returns the bytes that the kernel keeps for datagrams nobody has read, as it says; 0 if
  /// UdpOptions::receive_buffer is.
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
  UdpFigures figures_;  // but for kernel_dropped
  DropCount drops_;
  std::optional<WatchId> watch_;
  Interest interest_ = Interest::kRead;  // of the watch
  std::optional<TimerId> retry_;
  std::optional<TimerId> flush_;
  std::optional<TimePoint> logged_;  // the last exception
  std::optional<TimePoint> rest_logged_;
  bool stopped_ = false;
  bool in_round_ = false;     // replies are sent at its end
  bool room_wanted_ = false;  // the kernel has taken no more: wait until it does
};

}  // namespace TURTLE_SERVER
