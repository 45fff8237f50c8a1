// Engine and Poller on Linux: io_uring(7).
//
// Interface: as Engine's and Poller's.
//
// Every request of the loop's connections to the kernel is written into one queue, and submitted
// by the one system call that waits for the results. A round that serves fifty clients makes one
// call.
//
//  * A connection's receive is submitted once, and completes whenever something has arrived
//    (multishot), each time in a buffer that the kernel then takes from a pool. So a silent
//    connection holds no memory.
//  * Each send sets MSG_DONTWAIT, so it ends when it is submitted: all, some or none of it is sent.
//    Therefore memory may be freed at any time, and the loop's deadlines deal with slow readers.
//    For the rest, a poll request waits until there is room.
//  * One request accepts all clients (multishot).
//  * Descriptors that are not clients (pipes, signals, the mailbox) stay with epoll(7), whose own
//    descriptor the ring waits for. So they work as before, and cost one more system call.
//
// A completion is identified by the kind of the request, the descriptor and a generation. The
// generation increases when the descriptor is closed, so a completion for a predecessor misses.
//
// Thread: the loop's, once it waits; before that, one thread at a time.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/unique_fd.h"
#include "core/engine.h"
#include "core/epoll_poller.h"
#include "core/out_queue.h"
#include "core/poller.h"
#include "uring/ring.h"

namespace TURTLE_SERVER {

/// Engine and Poller on one ring.
class IoUringEngine final : public Engine, private Poller {
 public:
  /// Sets up the ring. Throws std::system_error that names the call that the kernel refused.
  IoUringEngine();

  // Poller: for descriptors that are not clients.
  void Add(int fd, Interest interest, std::uint64_t token) override;
  void Change(int fd, Interest interest, std::uint64_t token) override;
  void Remove(int fd) override;
  auto Wait(std::optional<std::chrono::milliseconds> timeout)
      -> const std::vector<PollEvent>& override;

  // Engine.
  auto GetPoller() noexcept -> Poller& override { return *this; }
  [[nodiscard]] auto ReceivesAhead() const noexcept -> bool override { return true; }
  void Adopt(int fd, std::uint64_t token) override;
  auto Expect(int fd, std::uint64_t token) noexcept -> Expecting override;
  auto Receive(Socket& socket, char* room) noexcept -> Received override;
  auto Send(Socket& socket, OutQueue& queue, bool last) -> IoResult override;
  void Forget(int fd) noexcept override;
  void Close(UniqueFd fd) noexcept override;
  void Listen(int listener, std::uint64_t token) override;
  auto Accept(Socket& listener, NetAddress* client) noexcept -> int override;
  void Rest(int listener, bool rests) noexcept override;
  void StopAccepting(int listener) noexcept override;
  void Unlisten(int listener) noexcept override;
  void Finish() noexcept override;

 private:
  enum class Act : std::uint8_t {
    kNothing,  // its result does not matter
    kWatches,  // epoll has events to report
    kAccept,
    kReceive,
    kInput,   // there is some, but no buffer is left for it
    kHangUp,  // a hang-up of a connection that isn't read at present
    kSend,
    kRoom,  // there is room to send
  };
  static constexpr std::uint16_t kNoBuffer = 0xffff;

  // The state of one descriptor.
  struct Endpoint {
    std::uint64_t token = 0;
    OutQueue* queue = nullptr;        // the queue that is being sent
    std::uint32_t generation = 0;     // kept from owner to owner
    std::uint32_t submission = 0;     // of the send
    std::uint32_t asked = 0;          // of that send, in bytes
    int error = 0;                    // of a receive, or of a send
    std::uint16_t first = kNoBuffer;  // the arrived buffers: a list
    std::uint16_t last = kNoBuffer;
    std::uint16_t arrived = 0;  // its length
    bool receiving : 1;         // requests under way
    bool input : 1;
    bool hang_up : 1;
    bool sending : 1;
    bool room : 1;
    bool full : 1;       // the kernel takes nothing more, until `room` completes
    bool by_call : 1;    // the input must be fetched by recv(2)
    bool ended : 1;      // the client's end came, after its last bytes
    bool last_word : 1;  // this send must be reported in any case
    bool stopping : 1;   // the receive is being cancelled
    bool is_new : 1;     // nobody has received, or tried to receive, anything yet

    Endpoint() noexcept { Reset(); }
    void Reset() noexcept;
  };

  struct Arrived {
    std::uint16_t next;
    std::uint16_t size;
  };

  // A listener, and its accepted clients.
  struct Listener {
    explicit Listener(int number) : fd(number) {}
    auto HasNews() const noexcept -> bool {
      return !resting && listening && (next < clients.size() || error != 0);
    }

    int fd;
    std::uint64_t token = 0;
    std::vector<UniqueFd> clients;
    std::size_t next = 0;  // the first client that nobody has taken
    int error = 0;         // why it has stopped
    std::uint32_t submission = 0;
    bool accepting = false;  // a request is under way
    bool listening = true;   // until StopAccepting()
    bool resting = false;
  };

  // The memory that a sendmsg(2) points to, until it is submitted.
  struct Message {
    msghdr header;
    std::array<iovec, OutQueue::kMaxPiecesPerSend> parts;
  };

  static auto Tag(Act act, int fd, std::uint32_t generation) noexcept -> std::uint64_t;
  auto Submit(Act act, std::uint8_t operation, int fd) noexcept -> io_uring_sqe&;
  auto At(int fd) noexcept -> Endpoint& { return endpoints_[static_cast<std::size_t>(fd)]; }
  auto Find(int listener) noexcept -> Listener*;
  // True while the loop runs. Before, submissions wait for the first Enter(); afterwards there are
  // none. At both times Receive() and Send() make calls.
  auto Works() const noexcept -> bool { return usable_ && ring_.HasOwner(); }
  auto Poll(Act act, int fd, unsigned events) noexcept -> io_uring_sqe&;
  void Cancel(Act act, int fd) noexcept;
  void AwaitWatches() noexcept;
  auto AwaitRoom(int fd, Endpoint& endpoint) noexcept -> bool;
  auto AwaitInput(int fd) noexcept -> bool;
  void StartAccepting(Listener& listener) noexcept;
  auto TakeClient(int listener) noexcept -> int;
  void MakeRoomFor(int fd);
  auto PrepareSend(int fd, const OutQueue& queue, bool last) noexcept -> io_uring_sqe*;
  auto NextMessage() noexcept -> Message*;
  void GiveBack(std::uint16_t buffer) noexcept;
  auto TakeFirst(Endpoint& endpoint) noexcept -> std::uint16_t;
  void Tell(const Endpoint& endpoint, bool readable, bool error) noexcept;

  void Completed(const io_uring_cqe& done) noexcept;
  void OnReceive(const io_uring_cqe& done, Endpoint& endpoint, bool known) noexcept;
  void OnSend(int fd, int result, Endpoint& endpoint) noexcept;
  void OnPoll(Act act, int result, bool more, Endpoint& endpoint) noexcept;
  void TakeWhoIsThere(Listener& listener) noexcept;
  void OnAccept(const io_uring_cqe& done, int fd, bool known) noexcept;
  void CloseByRing(int fd, Endpoint& endpoint) noexcept;
  void Leave(Endpoint& endpoint) noexcept;

  EpollPoller watches_;
  Ring ring_;
  bool usable_ = true;           // until Finish()
  bool awaits_watches_ = false;  // a poll request for watches_ is under way
  bool watches_ready_ = false;   // it has completed
  std::size_t under_way_ = 0;    // requests that may complete in a later round
  std::size_t buffers_left_ = Ring::kBufferCount;
  std::uint16_t lent_ = kNoBuffer;   // by Receive()
  std::vector<Endpoint> endpoints_;  // by descriptor
  std::array<Arrived, Ring::kBufferCount> arrived_;
  std::vector<Listener> listeners_;
  std::vector<std::unique_ptr<Message>> messages_;
  std::size_t messages_used_ = 0;
  std::vector<PollEvent> events_;
};

}  // namespace TURTLE_SERVER
