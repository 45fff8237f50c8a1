// The clients that listen to events: shared by this chapter's examples. Handlers run on all loops,
// so any thread may call it.
#pragma once

#include <algorithm>
#include <vector>

#include "base/mutex.h"
#include "web/event_channel.h"

/// The pages that receive events.
class Listeners {
 public:
  /// Begins a response with events for the client of `responder`. The lock is held meanwhile, so
  /// the client gets every change that happens after it is connected.
  auto Add(const turtle::Responder& responder) -> turtle::EventChannel {
    const turtle::MutexLock lock(mutex_);
    KeepIf([](const turtle::EventChannel& channel) {  // or they would pile up between events
      return channel.Stream().State() != turtle::StreamState::kGone;
    });
    return channels_.emplace_back(responder);
  }

  /// Sends an event to all of them. The lock gives all of them the same order.
  void Tell(const turtle::ServerEvent& event) {
    const turtle::MutexLock lock(mutex_);
    KeepIf([&event](const turtle::EventChannel& channel) {
      return channel.Send(event) == turtle::StreamState::kOpen;  // slow ones reconnect later
    });
  }

  /// A stopping server waits for its responses, and these never end by themselves.
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
