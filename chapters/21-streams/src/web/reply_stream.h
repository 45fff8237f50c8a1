// Streams a response whose body becomes known bit by bit, from any thread.
//
//   ReplyStream stream = responder.Stream(std::move(ServerResponse().Set("Content-Type", type)));
//   while (more && stream.Write(Next()) != StreamState::kGone) …
//   stream.End();
//
// Interface:
//  * Write() sends a piece and returns whether to write on, to wait, or to give up.
//  * OnRoom() calls back when there is room again.
//  * End() ends the body. If the last copy is destroyed without it, as by an exception, the
//    connection is cut before the last chunk. The client must not mistake a part for the whole, and
//    it is too late for another status.
//
// The pieces go to the loop as tasks. Their bytes are counted on the way. A client slower than its
// server is noticed in two ways: by that count, and by its connection, which is paused
// (core/connection.h).
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
  kGone,  ///< give up: the client is gone, or the body has ended
};

/// The right to write the body of one response. Copies share it.
class ReplyStream {
 public:
  /// A stream is full once this many bytes are on their way to the loop.
  static constexpr std::size_t kHighWater = std::size_t{256} * 1024;

  /// For Responder: begins the response.
  /// @param ticket for the exchange
  /// @param handler of the loop
  /// @param head status and fields; its body is the first piece
  ReplyStream(const ExchangeTicket& ticket, LateReplies& handler, ServerResponse head);

  /// Makes a stream that is kGone.
  ReplyStream() = default;

  /// Sends a copy of `bytes` as a piece of the body. Throws only std::bad_alloc; give up the
  /// response then.
  /// @return what to do next; kGone: the bytes were dropped
  auto Write(std::string_view bytes) const -> StreamState;

  /// Returns the result that Write() would return.
  [[nodiscard]] auto State() const noexcept -> StreamState;

  /// Calls `callback` once, on the loop's thread: when there is room, which may be soon, or when
  /// the stream is gone. It replaces an earlier callback. A callback may hold the stream and call
  /// OnRoom() again. If it throws, the connection is cut. If the server has ended, or another
  /// response was given before, it is called at once, on this thread; a nested call from within is
  /// then ignored. So don't hold a lock that it needs.
  void OnRoom(Task callback) const;

  /// Ends the body, after the written pieces. A second call does nothing.
  void End() const;

 private:
  class Body;
  class Owner;

  std::shared_ptr<Owner> owner_;  // shared by the copies; nullptr: gone
};

}  // namespace TURTLE_SERVER
