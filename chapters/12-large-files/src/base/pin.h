// Keeps memory or an open file alive while output still refers to it.
//
// Interface:
//  * An object that output may refer to derives from Pinned, which carries a count.
//  * Every Pin to it is one count; the last Pin to go deletes the object.
//  * PinTo<T> is a Pin that also gives access. It converts to a plain Pin where only the lifetime
//    matters, as in a queue of output.
//
// Why not std::shared_ptr: its count is atomic, and a response is queued and released on one loop.
// Here a copy costs an increment, and a Pin is one pointer.
//
// Thread: all Pins to one object are used by one thread at a time. An object may move to another
// thread only together with all of its Pins, for example inside a posted task.
#pragma once

#include <cstddef>
#include <utility>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Base of objects that a Pin keeps alive. Made with `new`, deleted by the last Pin.
class Pinned {
 public:
  Pinned(const Pinned&) = delete;
  auto operator=(const Pinned&) -> Pinned& = delete;

 protected:
  Pinned() noexcept = default;
  virtual ~Pinned() = default;

 private:
  friend class Pin;
  std::size_t pins_ = 0;
};

/// Keeps a Pinned object alive; an empty one keeps nothing.
class Pin {
 public:
  /// Keeps nothing alive: for memory that outlives everything, such as a literal.
  Pin() noexcept = default;

  /// Keeps `object` alive; a null pointer makes an empty Pin.
  explicit Pin(Pinned* object) noexcept : object_(object) { Hold(); }

  /// Keeps the same object alive.
  Pin(const Pin& other) noexcept : object_(other.object_) { Hold(); }

  /// Takes over what `other` kept alive; `other` is empty afterwards.
  Pin(Pin&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}

  /// Lets go of what was kept alive so far. Self-assignment is harmless.
  auto operator=(Pin other) noexcept -> Pin& {
    std::swap(object_, other.object_);
    return *this;
  }

  ~Pin() { Drop(); }

  /// True unless this Pin is empty.
  explicit operator bool() const noexcept { return object_ != nullptr; }

 protected:
  /// Returns the object that is kept alive, or null.
  [[nodiscard]] auto Object() const noexcept -> Pinned* { return object_; }

 private:
  void Hold() noexcept {
    if (object_ != nullptr) {
      ++object_->pins_;
    }
  }
  void Drop() noexcept {
    if (object_ != nullptr && --object_->pins_ == 0) {
      delete object_;
    }
  }

  Pinned* object_ = nullptr;
};

static_assert(sizeof(Pin) == sizeof(void*), "a Pin is stored with every piece of output");

/// A Pin that knows the type of the object it keeps alive. `T` derives from Pinned.
template <class T>
class PinTo : public Pin {
 public:
  /// Keeps nothing alive.
  PinTo() noexcept = default;

  /// Keeps `object` alive; a null pointer makes an empty Pin.
  explicit PinTo(T* object) noexcept : Pin(object) {}

  /// Returns the object, or null; valid as long as any Pin to it lives.
  [[nodiscard]] auto Get() const noexcept -> T* { return static_cast<T*>(Object()); }

  /// Returns the same as Get(); not for an empty Pin.
  auto operator->() const noexcept -> T* { return Get(); }

  /// Returns the object; not for an empty Pin.
  auto operator*() const noexcept -> T& { return *Get(); }
};

/// Makes a `T` from `arguments`, kept alive by the returned Pin. Throws what T's constructor
/// throws, and std::bad_alloc.
template <class T, class... Arguments>
[[nodiscard]] auto MakePinned(Arguments&&... arguments) -> PinTo<T> {
  return PinTo<T>(new T(std::forward<Arguments>(arguments)...));
}

}  // namespace TURTLE_SERVER
