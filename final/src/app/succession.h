// Connects a process of `turtle serve` with its predecessor and its successor.
//
// Thread: the first loop's.
#pragma once

#include <sys/types.h>

#include <exception>
#include <string>
#include <vector>

#include "app/hand_over.h"
#include "app/listening.h"
#include "app/operations_server.h"
#include "core/mailbox.h"
#include "ops/service_notifier.h"
#include "web/http_server.h"

namespace TURTLE_SERVER {

/// Reports to a predecessor that this process serves, and stops once a successor does.
class Succession {
 public:
  /// All arguments outlive this object.
  /// @param predecessor informed that this process serves, if it waits
  /// @param server has all its listeners
  /// @param listening the places of the server
  /// @param beside may be nullptr
  /// @param notifier informed if no predecessor waits
  /// @param command argv of the successor
  /// @param secret HandOverOptions::secret; may be empty
  Succession(const ReadyPipe& predecessor, HttpServer& server, Listening& listening,
             OperationsServer* beside, const ServiceNotifier& notifier,
             const std::vector<std::string>& command, std::function<std::string()> secret = {});

  /// Reports that this process serves, as soon as all loops run. If it does not get that far,
  /// nothing is reported, and it ends.
  /// @param announce prints that for readers of our output, and does not throw; outlives the loop
  void Tell(const Task& announce) noexcept;

  /// Throws the exception of Tell(), if there was one.
  void RethrowFailure() const;

  /// Begins a hand-over. There is at most one successor, which gets the listeners only once.
  void Begin();

  /// Notes that the files were to be read again. A successor that does not serve yet may have read
  /// the old ones, so it does so, too, as soon as it serves.
  void NoteReload() noexcept { reload_due_ = hand_over_.UnderWay(); }

  /// Abandons a successor that does not serve yet.
  void Abandon() noexcept { hand_over_.Abandon(); }

 private:
  // Throws the error that keeps the other server from serving.
  auto IsReady() -> bool;
  void Leave(pid_t successor) noexcept;

  const ReadyPipe& predecessor_;
  HttpServer& server_;
  Listening& listening_;
  OperationsServer* const beside_;
  const ServiceNotifier& notifier_;
  HandOver hand_over_;
  bool reload_due_ = false;  // of the successor
  std::exception_ptr failure_;
};

}  // namespace TURTLE_SERVER
