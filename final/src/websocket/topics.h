// Topics: a message for all clients that have subscribed, on every loop.
//
//   Topics topics;
//   chat.on_open = [topics](WebSocket& socket) { topics.Subscribe(socket, "room"); };
//   chat.on_message = [topics](WebSocket&, const Message& message) {
//     topics.Publish("room", message.kind, message.bytes);
//   };
//
// Interface:
//  * Subscribe() and Unsubscribe() say which sockets get the messages of a topic.
//  * Publish() sends a message to all of them, from any thread; or to all but one, the sender.
//  * Count() returns how many there are.
//
// A message is serialised once, and compressed once if any subscriber wants that. The loops share
// its bytes, which never change, and the connections queue a long message without a copy. Each loop
// with subscribers gets one task for a message, however many clients it has. The messages of one
// thread arrive in their order.
//
// A loop that can't keep up holds about 16 MiB of a topic's messages. Further ones are lost there,
// as if its subscribers were too slow: WebSocketOptions::overflow says what happens to them.
//
// A copy of a Topics object is the same set of topics.
//
// Thread: Publish() and Count() on any; the rest on the socket's loop.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "websocket/message.h"
#include "websocket/websocket.h"

namespace TURTLE_SERVER {

class TopicTable;

/// A set of topics. Each has a name and its subscribers.
class Topics {
 public:
  Topics();

  /// Subscribes a socket until its end. Repeated, nothing happens. Throws std::bad_alloc.
  void Subscribe(WebSocket& socket, std::string_view topic) const;

  /// Ends a subscription. @return false: there was none
  auto Unsubscribe(WebSocket& socket, std::string_view topic) const -> bool;

  /// Sends a message to each subscriber, as WebSocket::Send() does. Any thread. Throws only
  /// std::bad_alloc: then some subscribers may not get it.
  /// @param topic its name; without subscribers, nothing happens
  /// @param kind text or binary; a text must be UTF-8
  /// @param bytes of the message; compressed from the least DeflateOptions::min_bytes of the
  ///     subscribers on
  /// @param except a socket that does not get it, such as the sender; only on its loop's thread
  void Publish(std::string_view topic, MessageKind kind, std::string_view bytes,
               const WebSocket* except = nullptr) const;

  /// Returns the number of subscribers on all loops. Any thread.
  [[nodiscard]] auto Count(std::string_view topic) const -> std::size_t;

 private:
  std::shared_ptr<TopicTable> table_;  // shared by copies, and by the subscribers
};

}  // namespace TURTLE_SERVER
