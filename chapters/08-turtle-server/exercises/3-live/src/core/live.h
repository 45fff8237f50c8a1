// A value that all loops read and that can be replaced while they run: settings, a table, a list
// of addresses.
//
// Interface:
//  * Get() is the value, without a lock. Within one handler it stays the same.
//  * Replace() gives every loop another one.
//
// Thread: Get() on the loop's, or on any while the loop does not run; the rest on any.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/looper.h"

namespace TURTLE_SERVER {

/// A value of type `T`, as each of several loops knows it. It may go while loops still run that
/// read it no more.
template <typename T>
class Live {
 public:
  /// @param loops those that read it: TurtleServer::Loopers(); they outlive this object
  /// @param value the first one
  Live(const std::vector<Looper*>& loops, T value)
      : loops_(loops), value_(std::make_shared<const T>(std::move(value))) {}

  /// The value that `loop` has.
  /// @param loop one of those that the constructor was told
  [[nodiscard]] auto Get(const Looper& /*loop*/) const -> const T& { return *value_; }

  /// Gives each loop `value`, as soon as it gets to it, and waits for none of them. When each has
  /// it, the one before is destroyed.
  void Replace(T /*value*/) {}  // TODO

 private:
  std::vector<Looper*> loops_;
  std::shared_ptr<const T> value_;
};

}  // namespace TURTLE_SERVER
