// From one client to another: a body that is put under a name goes to the client that gets that
// name, while it comes, and nothing is kept in between.
//
//   curl -T film http://…/relay/tonight        the sender
//   curl http://…/relay/tonight > film         the receiver, before or after
//
// Interface: to be mounted like any other handler.
//
// Thread: the loop's. Clients on different loops don't meet.
#pragma once

#include "web/request_handler.h"

namespace TURTLE_SERVER {

/// Brings senders and receivers together.
class Relay : public RequestHandler {
 public:
  void Handle(Exchange& exchange) override;
};

}  // namespace TURTLE_SERVER
