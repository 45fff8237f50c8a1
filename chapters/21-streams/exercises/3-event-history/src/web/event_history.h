// The last events, for those who listen and for those who come back.
//
// Thread: any, any number at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace TURTLE_SERVER {

/// Is given the text of an event, as AppendEvent() writes it, and says whether it wants another.
/// A listener that throws wants none.
using EventListener = std::function<bool(const std::string& text)>;

/// Events, numbered from 1 on, and their listeners.
class EventHistory {
 public:
  /// @param keep so many events are kept, at least 1
  /// @throws std::invalid_argument "0 events: at least 1"
  explicit EventHistory(std::size_t keep);

  EventHistory(const EventHistory&) = delete;
  auto operator=(const EventHistory&) -> EventHistory& = delete;
  ~EventHistory() = default;  ///< While nobody publishes or listens.

  /// Makes an event with the next number as its id and gives it to all listeners: before it
  /// returns, or as soon as a thread that is busy with a listener comes to it.
  /// @return its number
  auto Publish(std::string_view data) -> std::uint64_t;

  /// Adds a listener. It is given, in order and each once, the events after the one whose id is
  /// `last_id`, and all that come. Without an id, or with an empty one, those that come. If some of
  /// those after it are not kept any more, or if no event has had that id, it is first given an
  /// event of type "reset" with empty data and no id. Then it is given those that come.
  ///
  /// @param last_id what Last-Event-ID says: any bytes
  /// @param listener called on any thread that publishes or listens, but never on two at once, and
  ///     never while another call of it has not returned; it may publish and listen itself. One
  ///     that takes long holds up the thread that has called it, and nobody else.
  void Listen(std::optional<std::string_view> last_id, EventListener listener);

  /// How many listeners there are.
  [[nodiscard]] auto Listeners() const -> std::size_t;
};

}  // namespace TURTLE_SERVER
