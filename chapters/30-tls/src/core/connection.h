// A client's socket, its input and its unsent output.
//
// Interface:
//  * Recv() reads what has arrived, by one recv(2); Read() returns it, Consume() drops used bytes.
//  * Write() queues bytes, Send() sends as much as the kernel takes. The loop sends the rest as
//    soon as there is room, and flushes once after every handler. A timer, a
//    watch or a posted task calls Send() itself.
//  * WritePinned() and WriteFile() queue memory and parts of files without a copy.
//  * Above the high-water mark of unsent bytes, or of unsent parts of files, the connection is
//    Paused(). Its handler is not called, and Recv() takes nothing more, until the client has read
//    the queue down to the low-water mark. So a client that sends and never reads costs a bounded
//    amount of memory and a few descriptors, and TCP makes it wait.
//  * SetState() attaches a user's object to the connection, which lives as long as it does.
//  * SetChannel() puts a transform, such as encryption, between the connection and its socket.
//
// The socket is non-blocking, so no call here ever waits. After Looper::DeleteConnection() every
// call is harmless and does nothing.
//
// Thread: the loop's. Other threads use Looper::Post() with the ConnectionId.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/file_slice.h"
#include "base/pin.h"
#include "core/buffer.h"
#include "core/channel.h"
#include "core/io_result.h"
#include "core/net_address.h"
#include "core/out_queue.h"
#include "core/poller.h"
#include "core/socket.h"

namespace TURTLE_SERVER {

class Looper;
struct ConnectionCallbacks;

/// The result of one Recv().
struct RecvResult {
  std::size_t read;  ///< new bytes, to be seen by Connection::Read()
  bool exit;         ///< nothing more will come: the client has finished, or the line is broken
};

/// Identifies a connection of one loop: a reused descriptor has another generation.
struct ConnectionId {
  int fd;                    ///< the number by which the loop knows the connection
  std::uint32_t generation;  ///< which of the connections that had this number

  /// True for the same connection.
  friend auto operator==(ConnectionId a, ConnectionId b) noexcept -> bool {
    return a.fd == b.fd && a.generation == b.generation;
  }
};

/// Base of an object that a user attaches to a connection: a session, a name, a game.
class ConnectionState {
 public:
  virtual ~ConnectionState() = default;

 protected:
  ConnectionState() = default;
  ConnectionState(const ConnectionState&) = default;
  auto operator=(const ConnectionState&) -> ConnectionState& = default;
};

/// How a deleted connection is closed once all its bytes are sent.
enum class Closing : std::uint8_t {
  kAuto,    ///< at once, unless the client is seen still sending
  kLinger,  ///< only after the client's FIN or a few seconds: it may be about to send
  kReset,   ///< at once and by a reset: the client must not take a part for the whole
};

/// The traffic that a connection's line still carries. It never moves back:
///
///     from \\ to        kEnded   kChannelBroken   kBroken
///     kOpen              yes          yes           yes
///     kEnded              -            -            yes
///     kChannelBroken     yes           -            yes
///     kBroken             -            -             -
enum class LineState : std::uint8_t {
  kOpen,           ///< bytes go both ways
  kEnded,          ///< the client's FIN has been read; output still goes
  kChannelBroken,  ///< nothing goes in or out but the channel's own last bytes
  kBroken,         ///< a reset or another error: nothing goes in or out any more
};

/// True if a line may move from `from` to `to`. Any thread.
constexpr auto MayMove(LineState from, LineState to) noexcept -> bool {
  switch (from) {
    case LineState::kOpen:
      return to != LineState::kOpen;
    case LineState::kEnded:
      return to == LineState::kBroken;
    case LineState::kChannelBroken:  // a connection that is closed reads on, to see the client's
                                     // FIN
      return to == LineState::kEnded || to == LineState::kBroken;
    case LineState::kBroken:
      break;
  }
  return false;
}

/// The life of a connection. From kDeleted on it may be destroyed:
///
///     kOpen <──> kPaused
///       └───────────┴──────> kDeleted ──> kParting ──> kHalfClosed
enum class ConnectionPhase : std::uint8_t {
  kOpen,        ///< its handler is called when there is work to do
  kPaused,      ///< too much is unsent: no handler is called, and Recv() takes nothing
  kDeleted,     ///< by Looper::DeleteConnection(), in this round
  kParting,     ///< deleted in an earlier round, sending its last bytes
  kHalfClosed,  ///< all of them and a FIN were sent; waits for the client's FIN
};

/// True if a connection may move from `from` to `to`. Any thread.
constexpr auto MayMove(ConnectionPhase from, ConnectionPhase to) noexcept -> bool {
  switch (from) {
    case ConnectionPhase::kOpen:
      return to == ConnectionPhase::kPaused || to == ConnectionPhase::kDeleted;
    case ConnectionPhase::kPaused:
      return to == ConnectionPhase::kOpen || to == ConnectionPhase::kDeleted;
    case ConnectionPhase::kDeleted:
      return to == ConnectionPhase::kParting;
    case ConnectionPhase::kParting:
      return to == ConnectionPhase::kHalfClosed;
    case ConnectionPhase::kHalfClosed:
      break;
  }
  return false;
}

/// One client's connection: bytes in, bytes out. Owned by its Looper.
class Connection {
 public:
  /// The unsent bytes above which the connection is paused.
  static constexpr std::size_t kHighWater = std::size_t{256} * 1024;
  /// The unsent bytes at which a paused connection resumes.
  static constexpr std::size_t kLowWater = std::size_t{64} * 1024;
  /// The unsent parts of files, however short, above which the connection is paused: each may hold
  /// a descriptor.
  static constexpr std::size_t kHighFiles = 4;
  /// The unsent parts of files at which a paused connection resumes.
  static constexpr std::size_t kLowFiles = 1;
  /// The bytes that a handler may leave in Read(): above them, Recv() takes nothing until some are
  /// consumed. A protocol with larger messages must take them in parts.
  static constexpr std::size_t kInputLimit = std::size_t{1024} * 1024;
  /// The most bytes that one Channel::Seal() gets.
  static constexpr std::size_t kSealStep = std::size_t{16} * 1024;
  /// The sealed bytes that may wait for the socket; above them, no more output is sealed. A ring
  /// sends as much per call, and so learns at once when there is room for more.
  static constexpr std::size_t kSealAhead = std::size_t{64} * 1024;

  /// For Looper::AddConnection(). Takes over `socket`, which must be connected and non-blocking.
  Connection(Socket socket, Looper& looper, const ConnectionCallbacks& callbacks,
             std::uint32_t generation) noexcept;

  /// Gives up the loop's read buffer, ReadScratch, if its bytes are this connection's.
  ~Connection();
  Connection(const Connection&) = delete;
  auto operator=(const Connection&) -> Connection& = delete;

  /// Returns the number by which the loop knows this connection: its descriptor, borrowed.
  [[nodiscard]] auto GetFd() const noexcept -> int { return socket_.GetFd(); }

  /// Returns a name that never means another connection of the same loop. It is unique within its
  /// loop only: another loop may use the same name at another time.
  [[nodiscard]] auto Id() const noexcept -> ConnectionId { return {GetFd(), generation_}; }

  /// Returns the loop that owns this connection, never nullptr.
  [[nodiscard]] auto GetLooper() const noexcept -> Looper* { return &looper_; }

  /// Returns the client's address, see getpeername(2); an empty one if the client has left.
  [[nodiscard]] auto GetPeerAddress() const -> NetAddress;

  /// Attaches `state` to the connection, replacing the previous one.
  void SetState(std::unique_ptr<ConnectionState> state) noexcept { state_ = std::move(state); }

  /// Returns the state given to SetState(), or nullptr.
  [[nodiscard]] auto State() const noexcept -> ConnectionState* { return state_.get(); }

  /// Puts `channel` between this connection and its socket; nullptr: none. From then on Recv()
  /// returns opened bytes, and queued bytes are sealed before they are sent. Must be called before
  /// any byte has moved, in `on_accept`. Throws std::bad_alloc.
  void SetChannel(std::unique_ptr<Channel> channel);

  /// Reads what has arrived, by at most one recv(2) of ReadScratch::kSize bytes.
  ///
  /// Data comes before the end: bytes that the client sent before its FIN are reported first, by
  /// {n, false}, and the end by a later call. With {0, false} there is nothing to do: nothing has
  /// arrived, the channel needs more bytes to open any, or the connection is paused. The rest stays
  /// in the kernel until the next round of the loop, after the other connections had their turn.
  auto Recv() -> RecvResult;

  /// Returns the input that was not consumed; valid until the next Recv() or Consume(), or until
  /// the handler returns.
  [[nodiscard]] auto Read() const noexcept -> std::string_view;

  /// Returns a copy of Read().
  [[nodiscard]] auto ReadAsString() const -> std::string { return std::string(Read()); }

  /// Drops the first `count` bytes of Read().
  void Consume(std::size_t count) noexcept;

  /// Drops all of Read().
  void ClearReadBuffer() noexcept { Consume(Read().size()); }

  /// Queues a copy of `bytes`. They are dropped if the line is broken: nobody could read them.
  void Write(std::string_view bytes) { WriteToWriteBuffer(bytes); }

  /// Does the same as Write().
  void WriteToWriteBuffer(std::string_view bytes);

  /// Queues `bytes` without a copy: they must neither move nor change while `pin` lives.
  void WritePinned(std::string_view bytes, Pin pin);

  /// Queues a part of a file, which sendfile(2) will send without a copy.
  void WriteFile(FileSlice slice);

  /// Sends as much of the queue as the kernel takes. The loop sends the rest as soon as there is
  /// room. A handler need not call it; a timer, a watch or a task must.
  void Send();

  /// Deletes this connection, as Looper::DeleteConnection() does. Repeated, nothing happens.
  /// @param closing whether to wait for the client's end
  void Close(Closing closing = Closing::kAuto);

  /// Returns the queued bytes that the kernel has not taken yet; sealed ones count as wire bytes.
  [[nodiscard]] auto UnsentBytes() const noexcept -> std::size_t {
    return output_.Size() + (sealing_ == nullptr ? 0 : sealing_->wire.Size());
  }

  /// True while the channel can't seal yet: a handshake is under way, and no response can be sent.
  [[nodiscard]] auto IsOpening() const noexcept -> bool {
    return sealing_ != nullptr && !sealing_->channel->CanSeal();
  }

  /// True if nobody on the way can read or change the bytes: Channel::IsSecure().
  [[nodiscard]] auto IsSecure() const noexcept -> bool {
    return sealing_ != nullptr && sealing_->channel->IsSecure();
  }

  /// Returns the subject of the client's certificate, Channel::PeerSubject(); "" if it has shown
  /// none. If the client is a proxy, the certificate is the proxy's.
  [[nodiscard]] auto PeerSubject() const noexcept -> std::string_view {
    return sealing_ != nullptr ? sealing_->channel->PeerSubject() : std::string_view();
  }

  /// Returns the protocol that both ends have agreed on, Channel::Protocol(); "" if they have named
  /// none.
  [[nodiscard]] auto Protocol() const noexcept -> std::string_view {
    return sealing_ != nullptr ? sealing_->channel->Protocol() : std::string_view();
  }

  /// True while too much is unsent to read more.
  [[nodiscard]] auto Paused() const noexcept -> bool { return phase_ == ConnectionPhase::kPaused; }

  /// True once the line is broken, by a reset, another error or the channel: no response can reach
  /// the client any more.
  [[nodiscard]] auto Broken() const noexcept -> bool {
    return line_ >= LineState::kChannelBroken || error_known_;
  }

  /// True once no more input will come: the client has ended its direction, or the line is broken.
  /// After an end the client may still read, or be gone; only sending bytes to it shows which.
  [[nodiscard]] auto PeerFinished() const noexcept -> bool {
    return line_ != LineState::kOpen || end_known_;
  }

 private:
  friend class Looper;
  friend class ConnectionCloser;

  // A channel, and the bytes that have passed through it.
  struct Sealing {
    std::unique_ptr<Channel> channel;
    OutQueue wire{};        // sealed, or the channel's own; the engine sends it
    bool ended = false;     // the client has ended its direction
    bool end_due = false;   // the end must still be sealed, after output
    bool discards = false;  // input is no longer opened

    auto HasOutput() const noexcept -> bool { return !wire.Empty() || end_due; }
  };

  // Reads once. A client's bytes pass the kernel only here and in Flush().
  auto Fill() -> IoResult;
  // The paths through a channel are kept out of the plain ones, which every request takes.
  [[gnu::noinline]] auto FillThroughChannel() noexcept -> IoResult;
  auto Open(std::string_view wire) -> std::size_t;
  // Sends once, and drops the sent bytes from the queue.
  auto Flush() -> IoResult;
  [[gnu::noinline]] auto FlushThroughChannel() noexcept -> IoResult;
  auto Seal() -> int;
  void EndOutput() noexcept { sealing_->end_due = !sealing_->discards; }
  auto TakesOutput() const noexcept -> bool { return line_ <= LineState::kEnded && !Deleted(); }

  void Note(const PollEvent& event) noexcept;  // takes in an event of the poller
  auto WantsHandler() const noexcept -> bool;
  auto HasMore() const noexcept -> bool;  // after the handler: serve it again?
  void Settle() noexcept;                 // copies what is left in the scratch to our own buffer
  void SendQueued();
  void UpdatePaused() noexcept;
  auto HasTooMuch(std::size_t unsent) const noexcept -> bool {
    return unsent > (Paused() ? kLowWater : kHighWater) ||
           output_.Files() > (Paused() ? kLowFiles : kHighFiles);
  }
  [[gnu::noinline]] auto HasTooMuchForChannel() const noexcept -> bool;
  void Break() noexcept;

  void Move(LineState to) noexcept {
    assert(MayMove(line_, to));
    line_ = to;
  }
  void Move(ConnectionPhase to) noexcept {
    assert(MayMove(phase_, to));
    phase_ = to;
  }
  auto Deleted() const noexcept -> bool { return phase_ >= ConnectionPhase::kDeleted; }
  auto Parting() const noexcept -> bool { return phase_ >= ConnectionPhase::kParting; }

  Looper& looper_;
  const ConnectionCallbacks& callbacks_;
  std::unique_ptr<ConnectionState> state_;
  Buffer input_;
  OutQueue output_;
  std::unique_ptr<Sealing> sealing_;  // nullptr: the plain socket
  Socket socket_;
  const std::uint32_t generation_;
  LineState line_ = LineState::kOpen;
  ConnectionPhase phase_ = ConnectionPhase::kOpen;
  Closing closing_ = Closing::kAuto;  // once it is deleted
  // Facts from the kernel.
  bool readable_ : 1;     // there may be something for Recv() to report
  bool end_known_ : 1;    // the poller has reported a FIN: a short read is not the last
  bool error_known_ : 1;  // the poller has reported an error
  // The loop's notes.
  bool progress_ : 1;    // the handler has taken input since it was last called
  bool scheduled_ : 1;   // call the handler, with or without input
  bool listed_ : 1;      // in the loop's ready list
  bool registered_ : 1;  // with the poller
};

}  // namespace TURTLE_SERVER
