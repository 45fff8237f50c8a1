// Keeps the last events, for listeners and for those that reconnect.
//
// Thread: any, several at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace TURTLE_SERVER {

/// Receives the text of an event, as AppendEvent() writes it, and returns whether it wants another
/// one. A listener that throws gets no more.
using EventListener = std::function<bool(const std::string& text)>;

/// Events, numbered from 1 on, and their listeners.
class EventHistory {
 public:
  /// @param keep how many events are kept, at least 1
  /// @throws std::invalid_argument "0 events: at least 1"
  explicit EventHistory(std::size_t keep);

  EventHistory(const EventHistory&) = delete;
  auto operator=(const EventHistory&) -> EventHistory& = delete;
  ~EventHistory() = default;  ///< When no thread publishes or listens.

  /// Makes an event with the next number as its id and gives it to all listeners: before it
  /// returns, or as soon as a thread that is busy with a listener gets to it.
  /// @return its number
  auto Publish(std::string_view data) -> std::uint64_t;

  /// Adds a listener. It gets, in order and each once, the events after the one whose id is
  /// `last_id`, and all new ones. Without an id, or with an empty one, it gets the new ones. If
  /// some of the missed events are no longer kept, or if no event had that id, it first gets an
  /// event of type "reset" with empty data and no id. Then it gets the new ones.
  ///
  /// @param last_id the value of Last-Event-ID: any bytes
  /// @param listener called on any thread that publishes or listens, but never on two at once, and
  ///     never while another call of it has not returned; it may publish and listen itself. A slow
  ///     listener delays the thread that has called it, and no other.
  void Listen(std::optional<std::string_view> last_id, EventListener listener);

  /// Returns how many listeners there are.
  [[nodiscard]] auto Listeners() const -> std::size_t;
};

}  // namespace TURTLE_SERVER
