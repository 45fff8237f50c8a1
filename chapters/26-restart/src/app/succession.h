// A process of `turtle serve` between the one that served before it and the one that will.
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

/// Reports to a predecessor that this process serves, and leaves when a successor does.
class Succession {
 public:
  /// All of them outlive this object.
  /// @param predecessor learns that this process serves, if it waits
  /// @param server has all its listeners
  /// @param listening where the server listens
  /// @param beside may be nullptr
  /// @param notifier learns it if no predecessor waits
  /// @param command argv of the successor
  Succession(const ReadyPipe& predecessor, HttpServer& server, Listening& listening,
             OperationsServer* beside, const ServiceNotifier& notifier,
             const std::vector<std::string>& command);

  /// Tells those who do something because of it that it serves, as soon as all loops run. If it
  /// can't get as far as that, nobody has been told, and it ends.
  /// @param announce tells the reader of our output, and does not throw; outlives the loop
  void Tell(const Task& announce) noexcept;

  /// Throws what Tell() has met.
  void RethrowFailure() const;

  /// Begins to hand over. There is one successor at most, and it has the listeners only once.
  void Begin();

  /// A successor that does not serve yet is not to.
  void Abandon() noexcept { hand_over_.Abandon(); }

 private:
  // Throws what keeps the other server from serving.
  auto IsReady() -> bool;
  void Leave(pid_t successor) noexcept;

  const ReadyPipe& predecessor_;
  HttpServer& server_;
  Listening& listening_;
  OperationsServer* const beside_;
  const ServiceNotifier& notifier_;
  HandOver hand_over_;
  std::exception_ptr failure_;
};

}  // namespace TURTLE_SERVER
