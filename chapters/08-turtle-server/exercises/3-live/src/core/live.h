// A value that all loops read and that can be replaced while they run: settings, a table, a list of
// addresses.
//
// Interface:
//  * Get() returns the value, without a lock. It does not change within a handler.
//  * Replace() gives every loop a new value.
//
// Thread: Get() on the loop's, or on any while the loop does not run; Replace() on any.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/looper.h"

namespace TURTLE_SERVER {

/// A value of type `T`, with a copy for each of several loops. It may be destroyed while loops
/// still run that no longer read it.
template <typename T>
class Live {
 public:
  /// @param loops the readers: TurtleServer::Loopers(); they outlive this object
  /// @param value the initial value
  Live(const std::vector<Looper*>& loops, T value)
      : loops_(loops), value_(std::make_shared<const T>(std::move(value))) {}

  /// Returns the value of `loop`.
  /// @param loop one of the constructor's
  [[nodiscard]] auto Get(const Looper& /*loop*/) const -> const T& { return *value_; }

  /// Gives `value` to each loop as soon as it can take it, and waits for none. When all have it,
  /// the previous value is destroyed.
  void Replace(T /*value*/) {}  // TODO

 private:
  std::vector<Looper*> loops_;
  std::shared_ptr<const T> value_;
};

}  // namespace TURTLE_SERVER
