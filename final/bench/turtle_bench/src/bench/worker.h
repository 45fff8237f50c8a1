// One thread of the load: a loop, and its share of the connections.
//
// Interface:
//  * Run() loops on the thread that calls it; Begin() starts the load, Stop() ends it.
//  * Measured(), EndTime(), … tell what came of it. While it runs only the Tally may be read.
//
// Every client is in one of a few phases, and events move it on:
//
//   closed -> connecting -> idle -> busy -> ending -> closed
//                             ^------'
//
// A client whose connection has ended is opened again at once, while its neighbours' replies are
// still to be read: the server has something to do meanwhile. The loop closes the old descriptor
// only at the end of the round, so that takes spare ones; a client that finds none left is opened
// in the next round. After a failed connect(2) a client rests for a moment, or the loop would do
// nothing else.
//
// Thread: Begin(), Stop() and the Tally any; Run() a thread of its own; the rest after Run().
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/alarm.h"
#include "bench/client_session.h"
#include "bench/connector.h"
#include "bench/load_mode.h"
#include "bench/pace.h"
#include "core/looper.h"
#include "core/net_address.h"

namespace TURTLE_SERVER {

/// What a worker has to do.
struct WorkerPlan {
  NetAddress server;                     ///< whom to ask
  LoadMode mode = LoadMode::kKeepAlive;  ///< how
  std::size_t connections = 1;           ///< this worker's
  std::string requests;                  ///< what goes out at once: one request or, pipelined, more
  std::uint32_t depth = 1;               ///< how many requests that are
  bool to_head = false;                  ///< the method is HEAD
  bool any_body = false;                 ///< the bodies may differ
  double rate = 0;                       ///< requests per second of this worker; 0: all it can
  Clock::duration first_due{0};          ///< with `rate`: when the first is due, after Begin()
  std::size_t spare = 0;                 ///< descriptors beyond one for each connection
  std::size_t read_size = 0;             ///< of one recv(2); 0: as the library does it
  std::chrono::milliseconds timeout{0};  ///< for a connection, and for a reply
};

/// What the workers of a run share.
struct SharedRun {
  ReplyReference reference;          ///< the first reply
  std::atomic<bool> reached{false};  ///< somebody has got a connection
};

/// What a worker tells, on its own thread.
struct WorkerEvents {
  /// Nobody has reached the server yet, and this is why: "connect 127.0.0.1:80: ...".
  std::function<void(const std::string& why)> on_unreachable;
  /// LoadMode::kIdle: every connection has got its reply.
  std::function<void()> on_ready;
};

/// Loads a server from one thread.
class Worker {
 public:
  /// Throws std::system_error when the process is out of descriptors.
  /// @param plan copied
  /// @param shared outlives the worker
  /// @param events may be called from Begin() until Run() returns
  Worker(WorkerPlan plan, SharedRun& shared, WorkerEvents events);

  /// Runs the load, until Stop(). Throws what Looper::Loop() throws.
  void Run() { looper_.Loop(); }

  /// Starts the load. Once.
  void Begin();

  /// Ends it: what is not answered by now is not waited for.
  void Stop() noexcept { looper_.Stop(); }

  /// What was counted and measured.
  [[nodiscard]] auto Measured() const noexcept -> const Measurements& { return measured_; }

  /// When the load has ended.
  [[nodiscard]] auto EndTime() const noexcept -> TimePoint { return end_time_; }

  /// Requests that were on their way at the end.
  [[nodiscard]] auto Unanswered() const noexcept -> std::uint64_t { return unanswered_; }

  /// With a rate: requests that were due and could not be sent before the end.
  [[nodiscard]] auto Overdue() const noexcept -> std::uint64_t { return overdue_; }

 private:
  enum class Phase : std::uint8_t { kClosed, kConnecting, kIdle, kBusy, kEnding };

  struct Client {
    explicit Client(SessionContext& context) : session(context) {}

    ClientSession session;
    Connection* connection = nullptr;  // from kIdle to kEnding
    TimePoint opened{};                // when connect(2) was called
    TimePoint due{};                   // kConnecting with a rate: of the request to be sent then
    Phase phase = Phase::kClosed;
    bool is_new = false;     // the first request has just left: nothing can be there
    bool is_listed = false;  // in available_
  };

  void OpenLater(std::uint32_t number);
  void InNextRound();
  void OpenSome();
  auto MayOpen() const noexcept -> bool;
  void Open(std::uint32_t number, TimePoint due);
  void OnConnect(std::uint32_t number, UniqueFd socket, int error);
  void OnNoConnection(std::uint32_t number, int error);
  void OnHandle(Connection& connection);
  void OnTimeout(Connection& connection);
  void Receive(std::uint32_t number, Connection& connection);
  void Take(std::uint32_t number, std::string_view input);
  void End(std::uint32_t number, bool broken);
  void GoOn(std::uint32_t number, Outcome outcome);
  void Send(Client& client, TimePoint due, TimePoint now);
  void SendLater(std::uint32_t number, Client& client);
  void SendQueued();
  void Rest(std::uint32_t number, Client& client);
  void Close(std::uint32_t number, Closing closing);
  void Offer(std::uint32_t number);
  void SendDue();
  void OnStop();

  auto HasRate() const noexcept -> bool { return plan_.rate > 0; }
  auto NumberOf(const Connection& connection) const noexcept -> std::uint32_t {
    return by_descriptor_[static_cast<std::size_t>(connection.GetFd())];
  }

  const WorkerPlan plan_;
  SharedRun& shared_;
  const WorkerEvents events_;
  Measurements measured_;
  ReplyCheck check_;
  SessionContext context_;
  ConnectionCallbacks callbacks_;
  Looper looper_;
  Connector connector_;
  std::vector<Client> clients_;
  std::vector<std::uint32_t> by_descriptor_;  // which client has which descriptor
  std::vector<char> input_;                   // if reads are not the library's
  std::uint32_t begun_ = 0;                   // so many clients have been opened, or offered, once
  std::deque<std::uint32_t> to_open_;         // those whose connection has ended
  std::vector<std::uint32_t> to_send_;        // who has got its reply, and sends in the next round
  unsigned looks_ = 0;                        // rounds to come that do not sleep
  bool in_next_round_ = false;                // InNextRound() was called
  std::size_t opened_ = 0;                    // clients that are not closed
  std::size_t closing_ = 0;                   // descriptors that this round has done with
  std::size_t ready_ = 0;                     // LoadMode::kIdle: how many are held

  // With a rate.
  std::optional<Pace> pace_;
  std::optional<Alarm> alarm_;
  TimePoint alarm_time_{};               // what it is set to
  std::deque<std::uint32_t> available_;  // who can take a request; some may have lost it since

  TimePoint end_time_{};
  std::uint64_t unanswered_ = 0;
  std::uint64_t overdue_ = 0;
};

}  // namespace TURTLE_SERVER
