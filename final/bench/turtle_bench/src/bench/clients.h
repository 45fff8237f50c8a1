// The clients of one worker and their states.
//
// Every client is in one of a few phases, and events move it on:
//
//   closed -> connecting -> shaking -> idle -> busy -> ending -> closed
//                                        ^------'  `-> held -----^
//
// A client is shaking during the handshake of TLS, and only then. With TLS, a connection is
// established after it.
//
// The Opener opens the connections; with a rate, the Timetable decides when a client sends. The
// ClientSession knows the requests, and judges the responses.
//
// Interface:
//  * Begin() starts them; the end of the loop stops them.
//  * Unanswered() and Overdue() return what was left undone; with a rate, CountWaits() counts it.
//
// Thread: the loop's, and any once the loop has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/batch.h"
#include "bench/client_session.h"
#include "bench/opener.h"
#include "bench/piece_reader.h"
#include "bench/round_task.h"
#include "bench/session_store.h"
#include "bench/timetable.h"
#include "bench/tls_client_channel.h"
#include "bench/worker_plan.h"
#include "core/looper.h"

namespace TURTLE_SERVER {

/// Connections that put load on a server, on one loop.
class Clients {
 public:
  /// Throws std::system_error if the process is out of descriptors.
  /// @param looper outlives this object, as do all arguments
  /// @param plan how many clients, and what they do
  /// @param shared by the run
  /// @param events called from Begin() on
  /// @param context of their sessions, with their counters
  Clients(Looper& looper, const WorkerPlan& plan, SharedRun& shared, const WorkerEvents& events,
          SessionContext& context);

  /// Starts the load. Once, while the loop runs.
  void Begin();

  /// With a rate: counts the waits of the requests without a response at `now`, the end of the run,
  /// as latencies. Otherwise a server that stalls until then would look as fast as before.
  void CountWaits(TimePoint now) noexcept;

  /// Returns how many requests are under way.
  [[nodiscard]] auto Unanswered() const noexcept -> std::uint64_t;

  /// With a rate: returns how many requests were due before `now` and have not been sent.
  [[nodiscard]] auto Overdue(TimePoint now) const noexcept -> std::uint64_t {
    return timetable_ ? timetable_->Overdue(now) : 0;
  }

 private:
  enum class Phase : std::uint8_t { kClosed, kConnecting, kShaking, kIdle, kBusy, kHeld, kEnding };

  struct Client {
    explicit Client(SessionContext& context) : session(context) {}

    ClientSession session;
    Connection* connection = nullptr;     // from kShaking to kEnding
    TlsClientChannel* channel = nullptr;  // of the connection
    TimePoint due{};     // LoadMode::kClose, until the request is sent: when it was due
    TimePoint opened{};  // kShaking: when that began
    Phase phase = Phase::kClosed;
    bool is_new = false;  // the first request has just left: nothing can be there
  };

  void OnRound();
  void OpenLater(std::uint32_t number);
  void OnOpen(std::uint32_t number, Opened opened);
  void OnNoConnection(std::uint32_t number);
  auto Shake(std::uint32_t number, bool exit) -> bool;
  void OnNoHandshake(std::uint32_t number, const std::string& why);
  void Establish(std::uint32_t number, TimePoint now);
  void Close(std::uint32_t number, Closing closing);
  void Send(Client& client, TimePoint due, TimePoint now);
  void SendText(Client& client, std::string_view text, std::uint32_t requests, TimePoint due,
                TimePoint now);
  auto Start(std::uint32_t number, TimePoint due) -> bool;
  void OnHandle(Connection& connection);
  void OnTimeout(Connection& connection);
  void Receive(std::uint32_t number, Connection& connection);
  void Take(std::uint32_t number, std::string_view input);
  void End(std::uint32_t number, bool broken);
  void GoOn(std::uint32_t number, Outcome outcome);
  void Rest(std::uint32_t number);
  void Hold(std::uint32_t number);

  // With a rate and a connection for each request, one is opened when a request is due.
  auto OpensWhenDue() const noexcept -> bool {
    return timetable_ && plan_.mode == LoadMode::kClose;
  }
  static auto Opens(const Client& client) noexcept -> bool {
    return client.phase == Phase::kConnecting || client.phase == Phase::kShaking;
  }
  auto NumberOf(const Connection& connection) const noexcept -> std::uint32_t {
    return by_descriptor_[static_cast<std::size_t>(connection.GetFd())];
  }

  Looper& looper_;
  const WorkerPlan& plan_;
  SharedRun& shared_;
  const WorkerEvents& events_;
  Measurements& measured_;
  ConnectionCallbacks callbacks_;
  RoundTask round_;
  Opener opener_;
  std::optional<Timetable> timetable_;  // with a rate
  SessionStore sessions_;
  std::vector<Client> clients_;
  std::vector<std::uint32_t> by_descriptor_;  // which client has which descriptor
  PieceReader pieces_;                        // if reads are not the library's
  Batch batch_;                               // clients with a complete response, which send next
  std::size_t held_ = 0;                      // LoadMode::kIdle: how many are
  bool told_ready_ = false;
};

}  // namespace TURTLE_SERVER
