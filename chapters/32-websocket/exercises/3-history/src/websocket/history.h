// A room whose last messages reach the guests who come later.
//
//   const History room(50, 64 * 1024);
//   chat.on_open = [room](WebSocket& socket) { room.Join(socket); };
//   chat.on_message = [room](WebSocket&, const Message& message) {
//     room.Publish(message.kind, message.bytes);
//   };
//   chat.on_close = [room](WebSocket& socket, CloseCode, std::string_view) { room.Leave(socket); };
//
// A guest wants to see what was said before. A copy of the last messages and a subscription
// (websocket/topics.h) don't make a history. A message that is published between the two reaches
// the guest twice or never. That also holds for one that is published before both, and is still on
// its way to the guest's loop.
//
// Interface:
//  * Join() sends a socket the last messages, and then all later ones.
//  * Leave() ends that.
//  * Publish() sends a message to all members, from any thread.
//  * Count() returns how many members there are.
//
// A copy of a History is the same room. It may outlive the server.
//
// Thread: Publish() and Count() on any; the rest on the socket's loop.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "websocket/websocket.h"

namespace TURTLE_SERVER {

/// A room with members on all loops, and its last messages.
///
/// All members get all messages in one order, that of the history. So one that is published on a
/// member's own thread doesn't overtake those that are still on their way there.
///
/// The history has at most `messages` messages and `bytes` bytes, not counting the heads of frames.
/// The oldest ones make room. It has no gap: a message that is longer than `bytes` is not kept, nor
/// is any before it. Its members get it nevertheless.
///
/// Messages are sent as WebSocket::Send() sends a PinnedMessage, and so with its limits: `bytes`
/// should be below WebSocketOptions::high_water. They are serialised once, and not compressed.
class History {
 public:
  /// @param messages that are kept at most; 0: none
  /// @param bytes of messages that are kept at most
  History(std::size_t messages, std::size_t bytes);

  /// Makes a socket a member: it gets the history, oldest first, and then each message that is
  /// published after those, once. Repeated, nothing happens. Throws std::bad_alloc.
  /// @param socket leaves at the latest in on_close
  void Join(WebSocket& socket) const;

  /// Ends a membership: no further message is queued for the socket. The next Join() sends it the
  /// history again.
  /// @return false: the socket was no member
  auto Leave(WebSocket& socket) const -> bool;

  /// Sends a message to each member, and keeps it. Any thread. Throws only std::bad_alloc, and then
  /// some members may miss the message.
  ///
  /// Each loop with members gets one task, however many members it has there. So what the calling
  /// thread allocates doesn't grow with the members of a loop.
  ///
  /// @param kind text or binary; a text must be UTF-8
  /// @param bytes of the message
  void Publish(MessageKind kind, std::string_view bytes) const;

  /// Returns the number of members on all loops. Any thread.
  [[nodiscard]] auto Count() const -> std::size_t;

 private:
  // TODO: its data, shared by copies
};

}  // namespace TURTLE_SERVER
