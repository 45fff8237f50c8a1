// A response whose body is written while it becomes known, from any thread.
//
//   ReplyStream stream = responder.Stream(std::move(ServerResponse().Set("Content-Type", type)));
//   while (more && stream.Write(Next()) != StreamState::kGone) …
//   stream.End();
//
// Interface:
//  * Write() sends a piece, and says whether to go on, to wait, or to give up.
//  * OnRoom() calls back when there is room again.
//  * End() ends the body. When the last copy goes without it, as by an exception, the connection is
//    cut before the last chunk. The client must not take the part for the whole, and there is no
//    second status to give.
//
// The pieces go to the loop as tasks. Their bytes are counted on the way. A client that reads
// slower than its server writes is noticed twice: by that number, and by the connection that is
// paused (core/connection.h).
//
// Thread: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "core/mailbox.h"
#include "web/server_response.h"

namespace TURTLE_SERVER {

class ExchangeTicket;
class LateReplies;

/// The writer's next step.
enum class StreamState : std::uint8_t {
  kOpen,  ///< write on
  kFull,  ///< wait for OnRoom(): more would only fill memory
  kGone,  ///< give up: the client has gone, or the body has ended
};

/// The right to write the body of one reply. Copies share it.
class ReplyStream {
 public:
  /// Bytes on their way to the loop from which on a stream is full.
  static constexpr std::size_t kHighWater = std::size_t{256} * 1024;

  /// For Responder: begins the response.
  /// @param ticket for the exchange
  /// @param handler of the loop
  /// @param head status and fields; its body is the first piece
  ReplyStream(const ExchangeTicket& ticket, LateReplies& handler, ServerResponse head);

  /// A stream that is kGone.
  ReplyStream() = default;

  /// Sends a copy of `bytes` as a piece of the body. Throws std::bad_alloc only; the response
  /// should then be given up.
  /// @return what to do next; kGone: they are dropped
  auto Write(std::string_view bytes) const -> StreamState;

  /// Returns the result that Write() would return.
  [[nodiscard]] auto State() const noexcept -> StreamState;

  /// Calls `callback` once, on the loop's thread: soon, if there is room, or when there is; or
  /// because the stream is gone. In place of what was to be called before. A callback may hold the
  /// stream, and ask for the next one. If it throws, the connection is cut. When the server has
  /// ended, or a response was given before this stream, it is called at once, on this thread; if it
  /// then asks again from within, it is not called again. So don't hold a lock that it needs.
  void OnRoom(Task callback) const;

  /// Ends the body, after the written pieces. A second call does nothing.
  void End() const;

 private:
  class Body;
  class Owner;

  std::shared_ptr<Owner> owner_;  // shared by the copies; nullptr: gone
};

}  // namespace TURTLE_SERVER
