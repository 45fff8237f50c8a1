// Passes a body from one client to another: a PUT under a name goes to the client that sends GET
// for that name, while it arrives, and is never stored.
//
//   curl -T film http://…/relay/tonight        the sender
//   curl http://…/relay/tonight > film         the receiver, before or after
//
// Interface: mount it like any other handler.
//
// Thread: the loop's. Clients on different loops don't meet.
#pragma once

#include "web/request_handler.h"

namespace TURTLE_SERVER {

/// Connects senders and receivers.
class Relay : public RequestHandler {
 public:
  void Handle(Exchange& exchange) override;
};

}  // namespace TURTLE_SERVER
