// Waits for events, and moves bytes, for one loop.
//
// A readiness engine uses epoll(7) or kqueue(2): its poller reports that a call would not block,
// and the engine makes the call. A completion engine uses io_uring(7): when its poller reports
// bytes, they have already been read. Output, and the ends of connections, are submitted together
// with everything else of the round.
//
// Interface:
//  * Create() makes an engine; GetPoller() returns its poller.
//  * Adopt() a new connection; Expect() more input after serving it; Close() it.
//  * Receive() what has arrived, Send() what is queued; Forget() a queue before it is cleared.
//  * Listen(), Accept(), Rest(), StopAccepting(), Unlisten(): clients.
//  * Finish() before the loop ends.
//
// While handlers run, the kernel holds no memory of a connection: bytes given to Send() are read,
// and the result reported, within the poller's next Wait(). So a queue may be cleared and a
// connection destroyed at any time in between.
//
// Thread: the loop's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/unique_fd.h"
#include "core/io_result.h"
#include "core/poller.h"

namespace TURTLE_SERVER {

class NetAddress;
class OutQueue;
class Socket;

/// The system interface that an Engine uses.
enum class PollerKind : std::uint8_t {
  kAuto,     ///< as TURTLE_POLLER in the environment says, otherwise epoll or kqueue
  kEpoll,    ///< epoll(7), Linux
  kIoUring,  ///< io_uring(7), Linux 6.1 or later
  kKqueue,   ///< kqueue(2), the BSDs and macOS
};

/// How long one Engine::Expect() remains in effect.
enum class Expecting : std::uint8_t {
  kNever,    ///< it failed
  kOnce,     ///< call it again after the next service
  kForGood,  ///< the poller reports all input, the end and room from now on
};

/// The result of Engine::Receive().
struct Received {
  IoResult result;  ///< as Socket::Recv()
  /// With kBytes: the bytes, valid until the loop's next Receive().
  const char* bytes = nullptr;
  bool more = false;  ///< there may already be more to report: bytes, an end or an error
};

/// Bytes in and out, clients and closing, for one loop.
class Engine {
 public:
  /// Makes an engine of that kind. If there is none, or the kernel refuses it, the engine is the
  /// default of this system, and the log gets one line for all loops.
  /// @throws std::system_error if the kernel refuses that engine, too
  [[nodiscard]] static auto Create(PollerKind kind = PollerKind::kAuto) -> std::unique_ptr<Engine>;

  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  auto operator=(const Engine&) -> Engine& = delete;

  /// Returns the poller that the loop waits with. It also watches all descriptors that are not
  /// clients. It lives as long as this engine.
  virtual auto GetPoller() noexcept -> Poller& = 0;

  /// True when the kernel receives ahead of Receive(): then nothing else may read from a
  /// connection's descriptor.
  [[nodiscard]] virtual auto ReceivesAhead() const noexcept -> bool = 0;

  /// Makes room for a new connection. Throws std::bad_alloc.
  /// @param fd connected and non-blocking, borrowed until Close()
  /// @param token comes back in the poller's events that concern it
  virtual void Adopt(int fd, std::uint64_t token) = 0;

  /// Has the poller report input, or only a hang-up while some input has not been taken. Throws
  /// std::system_error.
  /// @param fd a connection's descriptor
  /// @param token as given to Adopt()
  [[nodiscard]] virtual auto Expect(int fd, std::uint64_t token) -> Expecting = 0;

  /// Takes what has arrived, at most 64 KiB.
  /// @param socket a connection's socket
  /// @param room ReadScratch::kSize bytes, which the engine may use
  virtual auto Receive(Socket& socket, char* room) noexcept -> Received = 0;

  /// Starts to send the queue, as OutQueue::FlushTo() does. kWouldBlock: the queue is being sent,
  /// or waits for room. The poller reports when there is more to do. It also reports when a queue
  /// that was long or `last` is empty.
  /// @param socket a connection's socket
  /// @param queue must stay in place until it is empty or Forget() is called
  /// @param last as for OutQueue::FlushTo()
  virtual auto Send(Socket& socket, OutQueue& queue, bool last) -> IoResult = 0;

  /// Sends nothing more of a connection's queue, which may then be cleared.
  virtual void Forget(int fd) noexcept = 0;

  /// Closes a connection's descriptor, at the next Wait() at the latest. The poller reports nothing
  /// more about it.
  virtual void Close(UniqueFd fd) noexcept = 0;

  /// Accepts clients from now on; the poller reports when there are some. Throws std::bad_alloc or
  /// std::system_error.
  /// @param listener listening, borrowed until Unlisten()
  /// @param token comes back in the poller's events that concern it
  virtual void Listen(int listener, std::uint64_t token) = 0;

  /// Takes one client.
  /// @param listener one that was given to Listen()
  /// @param client gets the client's address, unless it is nullptr
  /// @return a descriptor in the listener's mode, or -1 with the reason in errno: EAGAIN if no
  ///     client waits. After any other error, call Rest() for a while: the poller may keep
  ///     reporting.
  [[nodiscard]] virtual auto Accept(Socket& listener, NetAddress* client) noexcept -> int = 0;

  /// Has the poller ignore a listener's clients, or report them again. Throws
  /// std::system_error.
  virtual void Rest(int listener, bool rests) = 0;

  /// Accepts no more clients, from this call on. Accept() still returns those that were accepted
  /// before. Repeated, nothing happens.
  virtual void StopAccepting(int listener) noexcept = 0;

  /// Forgets a listener, and closes the clients that were accepted but not taken.
  virtual void Unlisten(int listener) noexcept = 0;

  /// Takes back everything that the kernel still holds, at the end of the loop. From now on Close()
  /// closes at once; no other function is called.
  virtual void Finish() noexcept = 0;

 protected:
  Engine() = default;
};

/// Makes the io_uring(7) engine for one loop; defined in uring/. Throws std::system_error that
/// names the refused call: the kernel is older than Linux 6.1, a sandbox forbids it, or the library
/// was built without io_uring (-DTURTLE_IO_URING=OFF).
[[nodiscard]] auto MakeIoUringEngine() -> std::unique_ptr<Engine>;

}  // namespace TURTLE_SERVER
