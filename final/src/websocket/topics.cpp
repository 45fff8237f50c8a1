#include "websocket/topics.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "core/looper.h"
#include "log/log.h"

namespace TURTLE_SERVER {

class SubscriptionList;

namespace {

// The bytes of a topic's messages that may wait for a loop.
constexpr std::ptrdiff_t kMostWaiting = std::ptrdiff_t{16} * 1024 * 1024;

// A task and the object of its message take about as much, or empty messages would cost nothing.
constexpr std::ptrdiff_t kTaskBytes = 256;

}  // namespace

// The subscribers of one topic on one loop.
class LoopMembers {
 public:
  explicit LoopMembers(const Looper& looper) : mailbox_(looper.GetMailbox()) {}

  // The rest of the loop's thread, except as noted.

  // @return the place of the new member
  auto Add(WebSocket& socket, SubscriptionList& list) -> std::size_t {
    members_.push_back({&socket, &list});
    count_.fetch_add(1, std::memory_order_relaxed);
    if (const auto least = socket.LeastCompressed()) {
      inflating_.fetch_add(1, std::memory_order_relaxed);
      least_compressed_ = std::min(least_compressed_.load(), *least);
    }
    return members_.size() - 1;
  }

  void RemoveAt(std::size_t place) noexcept;

  void Deliver(const std::shared_ptr<const SharedMessage>& message, const WebSocket* except) const {
    if (!members_.empty()) {
      const auto pinned = MakePinned<PinnedMessage>(message);
      for (const Member& each : members_) {
        if (each.socket != except) {
          Try([&] { each.socket->Send(pinned); });  // no handler is called, so nobody leaves
        }
      }
    }
  }

  // Any thread. A loop that has ended has no subscribers.
  static void Send(const std::shared_ptr<LoopMembers>& to,
                   const std::shared_ptr<const SharedMessage>& message, const WebSocket* except) {
    if (std::this_thread::get_id() == to->thread_) {
      to->Deliver(message, except);
    } else if (to->waiting_ < kMostWaiting) {
      Post(to, message);
    } else {
      PostLoss(to);
    }
  }

  // Any thread.
  [[nodiscard]] auto Count() const noexcept -> std::size_t {
    return count_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] auto WantsCompressed(std::size_t bytes) const noexcept -> bool {
    return inflating_.load(std::memory_order_relaxed) != 0 && bytes >= least_compressed_;
  }
  [[nodiscard]] auto IsOf(const Looper& looper) const -> bool {
    return mailbox_ == looper.GetMailbox();
  }

 private:
  struct Member {
    WebSocket* socket;
    SubscriptionList* list;  // the socket's
  };

  // A member that fails has reset its connection, and the others go on.
  template <typename Act>
  static void Try(const Act& act) noexcept {
    try {
      act();
    } catch (...) {
      LogException("a message of a topic");
    }
  }

  // The loop may have the message before it is counted.
  static void Post(const std::shared_ptr<LoopMembers>& to,
                   const std::shared_ptr<const SharedMessage>& message) {
    const auto bytes = static_cast<std::ptrdiff_t>(message->Bytes()) + kTaskBytes;
    if (to->mailbox_->Post([to, message, bytes] {
          to->waiting_ -= bytes;
          try {
            to->Deliver(message, nullptr);
          } catch (...) {
            to->LoseMessage();
            throw;
          }
        })) {
      to->waiting_ += bytes;
    }
  }

  // Tells the members, after the messages that wait. One task does for all that is lost until then.
  static void PostLoss(const std::shared_ptr<LoopMembers>& to) {
    if (!to->loses_.exchange(true)) {
      try {
        static_cast<void>(to->mailbox_->Post([to] { to->LoseMessage(); }));
      } catch (...) {
        to->loses_ = false;
        throw;
      }
    }
  }

  void LoseMessage() noexcept {
    loses_ = false;
    for (const Member& each : members_) {
      Try([&] { each.socket->LoseMessage(); });
    }
  }

  const std::shared_ptr<Mailbox> mailbox_;  // shared with the loop, which may end first
  const std::thread::id thread_ = std::this_thread::get_id();
  std::vector<Member> members_;
  std::atomic<std::size_t> count_{0};      // of members_
  std::atomic<std::size_t> inflating_{0};  // those that take compressed messages
  // The least min_bytes of those: any of them may have a message compressed.
  std::atomic<std::size_t> least_compressed_{std::numeric_limits<std::size_t>::max()};
  std::atomic<std::ptrdiff_t> waiting_{0};  // bytes in tasks of the mailbox, about
  std::atomic<bool> loses_{false};          // LoseMessage() is in the mailbox
};

/// All topics of one Topics object.
class TopicTable {
 public:
  // Each loop that has subscribers shares its part with them and with messages on their way.
  using Parts = std::vector<std::shared_ptr<LoopMembers>>;

  auto Find(std::string_view topic) -> Parts {
    const MutexLock lock(mutex_);
    const auto found = topics_.find(topic);
    return found == topics_.end() ? Parts() : found->second;
  }

  auto PartFor(std::string_view topic, const Looper& looper) -> std::shared_ptr<LoopMembers> {
    const MutexLock lock(mutex_);
    Parts& parts = topics_[std::string(topic)];
    for (const auto& each : parts) {
      if (each->IsOf(looper)) {
        return each;
      }
    }
    parts.push_back(std::make_shared<LoopMembers>(looper));
    return parts.back();
  }

  // Forgets a part without subscribers, and a topic without parts. The part's loop calls this, so
  // none can join meanwhile.
  void DropEmpty(std::string_view topic, const std::shared_ptr<LoopMembers>& part) noexcept {
    const MutexLock lock(mutex_);
    const auto found = topics_.find(topic);
    if (found != topics_.end()) {
      Parts& parts = found->second;
      if (part && part->Count() == 0) {
        parts.erase(std::remove(parts.begin(), parts.end(), part), parts.end());
      }
      if (parts.empty()) {
        topics_.erase(found);
      }
    }
  }

 private:
  Mutex mutex_;
  std::map<std::string, Parts, std::less<>> topics_ TURTLE_GUARDED_BY(mutex_);
};

// The topics of one socket.
class SubscriptionList final : public Subscriptions {
 public:
  explicit SubscriptionList(WebSocket& socket) : socket_(socket) {}
  ~SubscriptionList() override {
    while (!entries_.empty()) {
      Remove(entries_.end() - 1);
    }
  }
  SubscriptionList(const SubscriptionList&) = delete;
  auto operator=(const SubscriptionList&) -> SubscriptionList& = delete;

  void Add(const std::shared_ptr<TopicTable>& table, std::string_view topic) {
    if (Find(table, topic) == entries_.end()) {
      entries_.push_back({table, std::string(topic), nullptr, 0});
      try {
        entries_.back().part = table->PartFor(topic, *socket_.GetConnection().GetLooper());
        entries_.back().place = entries_.back().part->Add(socket_, *this);
      } catch (...) {
        table->DropEmpty(topic, entries_.back().part);  // without a part if that can't be made
        entries_.pop_back();
        throw;
      }
    }
  }

  auto Remove(const std::shared_ptr<TopicTable>& table, std::string_view topic) -> bool {
    const auto found = Find(table, topic);
    if (found == entries_.end()) {
      return false;
    }
    Remove(found);
    return true;
  }

  // Notes that this socket has moved within a topic's list.
  void Move(const LoopMembers& part, std::size_t to) noexcept {
    for (Entry& each : entries_) {
      if (each.part.get() == &part) {
        each.place = to;
      }
    }
  }

 private:
  struct Entry {
    std::shared_ptr<TopicTable> table;  // shared with the Topics, which may go first
    std::string topic;
    std::shared_ptr<LoopMembers> part;  // shared with the table
    std::size_t place;                  // in it
  };
  using Entries = std::vector<Entry>;

  auto Find(const std::shared_ptr<TopicTable>& table, std::string_view topic) -> Entries::iterator {
    return std::find_if(entries_.begin(), entries_.end(), [&](const Entry& each) {
      return each.table == table && each.topic == topic;
    });
  }

  void Remove(Entries::iterator at) noexcept {
    const Entry entry = std::move(*at);
    entries_.erase(at);
    entry.part->RemoveAt(entry.place);
    entry.table->DropEmpty(entry.topic, entry.part);
  }

  WebSocket& socket_;
  Entries entries_;
};

// The last member takes the free place: ten thousand clients may leave at once.
void LoopMembers::RemoveAt(std::size_t place) noexcept {
  const bool inflates = members_[place].socket->LeastCompressed().has_value();
  members_[place] = members_.back();
  members_.pop_back();
  if (place < members_.size()) {
    members_[place].list->Move(*this, place);
  }
  count_.fetch_sub(1, std::memory_order_relaxed);
  inflating_.fetch_sub(inflates ? 1 : 0, std::memory_order_relaxed);
}

Topics::Topics() : table_(std::make_shared<TopicTable>()) {}

void Topics::Subscribe(WebSocket& socket, std::string_view topic) const {
  if (!socket.subscriptions_) {
    socket.subscriptions_ = std::make_unique<SubscriptionList>(socket);
  }
  static_cast<SubscriptionList&>(*socket.subscriptions_).Add(table_, topic);
}

auto Topics::Unsubscribe(WebSocket& socket, std::string_view topic) const -> bool {
  return socket.subscriptions_ &&
         static_cast<SubscriptionList&>(*socket.subscriptions_).Remove(table_, topic);
}

void Topics::Publish(std::string_view topic, MessageKind kind, std::string_view bytes,
                     const WebSocket* except) const {
  const TopicTable::Parts parts = table_->Find(topic);
  if (!parts.empty()) {
    const bool compressed = std::any_of(parts.begin(), parts.end(), [&](const auto& each) {
      return each->WantsCompressed(bytes.size());
    });
    const auto message = std::make_shared<const SharedMessage>(kind, bytes, compressed);
    for (const auto& each : parts) {
      LoopMembers::Send(each, message, except);
    }
  }
}

auto Topics::Count(std::string_view topic) const -> std::size_t {
  std::size_t count = 0;
  for (const auto& each : table_->Find(topic)) {
    count += each->Count();
  }
  return count;
}

}  // namespace TURTLE_SERVER
