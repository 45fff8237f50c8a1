// Everybody who listens to events: shared by the examples of this chapter. Handlers run on all
// loops, so any thread may call.
#pragma once

#include <algorithm>
#include <vector>

#include "base/mutex.h"
#include "web/event_channel.h"

/// The pages that are told what is new.
class Listeners {
 public:
  /// Begins a response of events to `responder`'s client. The lock is held meanwhile: the client
  /// gets every change that comes after it knows that it is connected.
  auto Add(const turtle::Responder& responder) -> turtle::EventChannel {
    const turtle::MutexLock lock(mutex_);
    KeepIf([](const turtle::EventChannel& channel) {  // or they would pile up while nothing is said
      return channel.Stream().State() != turtle::StreamState::kGone;
    });
    return channels_.emplace_back(responder);
  }

  /// Tells all of them. The lock is held until all have it: they hear everything in one order.
  void Tell(const turtle::ServerEvent& event) {
    const turtle::MutexLock lock(mutex_);
    KeepIf([&event](const turtle::EventChannel& channel) {
      return channel.Send(event) == turtle::StreamState::kOpen;  // slow ones connect again later
    });
  }

  /// A server that stops waits for its responses, and these have no end.
  void End() {
    const turtle::MutexLock lock(mutex_);
    for (const turtle::EventChannel& channel : channels_) {
      channel.End();
    }
    channels_.clear();
  }

 private:
  template <typename Predicate>
  void KeepIf(const Predicate& keep) TURTLE_REQUIRES(mutex_) {
    channels_.erase(std::stable_partition(channels_.begin(), channels_.end(), keep),
                    channels_.end());
  }

  turtle::Mutex mutex_;
  std::vector<turtle::EventChannel> channels_ TURTLE_GUARDED_BY(mutex_);
};
