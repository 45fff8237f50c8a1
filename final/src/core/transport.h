// How the connections of one loop move their bytes, where that isn't by a system call for each.
//
// A Poller tells that a call would not block, and Connection makes the call. A poller that stands
// on a queue of requests is a Transport too: what arrives is there when it tells, what goes out is
// handed over with everything else of the round, and so are clients and the ends of connections.
//
// Interface:
//  * Adopt() a connection when it is new; Expect() more input whenever it was served; Close() it.
//  * Receive() what has arrived, Send() what is queued; Forget() a queue that is to be cleared.
//  * Listen(), Accept(), Unlisten(): clients.
//  * Finish() before the loop ends.
//
// No memory of a connection is in the kernel's hands while handlers run: what Send() was given is
// looked at, and told of, within the poller's next Wait(). So a queue may be cleared and a
// connection destroyed at any time in between.
//
// Thread: the loop's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/unique_fd.h"
#include "core/io_result.h"

namespace TURTLE_SERVER {

class OutQueue;
class Socket;

/// What Transport::Receive() brought.
struct Received {
  IoResult result;  ///< as Socket::Recv()
  const char* bytes =
      nullptr;        ///< with kBytes: where they are, until the next Receive() of the loop
  bool more = false;  ///< there may be more to tell of already: bytes, an end or an error
};

/// Bytes in and out, clients and closing, for one loop.
class Transport {
 public:
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  auto operator=(const Transport&) -> Transport& = delete;

  /// Makes room for a new connection; throws std::bad_alloc.
  /// @param fd connected and non-blocking, borrowed until Close()
  /// @param token comes back in the poller's events that concern it
  virtual void Adopt(int fd, std::uint64_t token) = 0;

  /// Sees to it that the poller tells of input; while some has not been taken, of the line's end.
  /// @return false: it can't, and never will
  [[nodiscard]] virtual auto Expect(int fd) noexcept -> bool = 0;

  /// Takes what has arrived, 64 KiB at most.
  /// @param fd a connection's
  /// @param room ReadScratch::kSize bytes, which may be used, or not
  virtual auto Receive(int fd, char* room) noexcept -> Received = 0;

  /// Gets the queue on its way, as OutQueue::FlushTo() does. kWouldBlock: it is on its way, or
  /// waits for room. The poller tells when there is more to do, or when it is empty and was long or
  /// `last`.
  /// @param socket a connection's
  /// @param queue stays where it is until it is empty or Forget() is called
  /// @param last nothing follows soon: what is short need not wait for more
  virtual auto Send(Socket& socket, OutQueue& queue, bool last) -> IoResult = 0;

  /// Sends nothing more of the queue that Send() was given; it may be cleared.
  virtual void Forget(int fd) noexcept = 0;

  /// Closes a connection's descriptor, at the next Wait() at the latest; nothing is told of it any
  /// more.
  virtual void Close(UniqueFd fd) noexcept = 0;

  /// Has clients accepted from now on; the poller tells when there are some. Throws std::bad_alloc.
  /// @param listener listening, borrowed until Unlisten()
  /// @param token comes back in the poller's events that concern it
  virtual void Listen(int listener, std::uint64_t token) = 0;

  /// A client who was accepted, or -1 with the reason in errno: EAGAIN when there is nobody. After
  /// any other, accepting rests until the next Accept(). Also after Unlisten().
  [[nodiscard]] virtual auto Accept(int listener) noexcept -> int = 0;

  /// Whether the poller is to keep silent about clients there.
  virtual void Rest(int listener, bool rests) noexcept = 0;

  /// Accepts nobody any more, from this call on. Repeated, it forgets the listener and whoever was
  /// not taken. @return false: nobody listens there
  virtual auto Unlisten(int listener) noexcept -> bool = 0;

  /// Lets go of everything. From now on Close() closes at once, and the rest does nothing.
  virtual void Finish() noexcept = 0;

 protected:
  Transport() = default;
};

}  // namespace TURTLE_SERVER
