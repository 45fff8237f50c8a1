// A request that owns what it shows: the same ServerRequest, for another thread.
//
// The one that a handler gets consists of views: into the input of its connection, into the router
// of its loop, and it asks the kernel for addresses by a descriptor. None of that may be touched
// from elsewhere, and all of it may have gone when somebody elsewhere looks. So it is copied, but
// for a body, which is in memory of its own already and is taken over. Of the context there is a
// snapshot (web/request_context.h), which shares the values: what is set here stays here.
//
// Thread: made on the loop's, then used by one thread at a time.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "http/request.h"
#include "web/server_request.h"

namespace TURTLE_SERVER {

/// A request, and the memory that it looks into.
class OwnedRequest {
 public:
  /// @param request on its loop's thread, within its handler; it has no body any more
  /// @param cancelled what Cancelled() says; outlives this object
  OwnedRequest(const ServerRequest& request, const std::atomic<bool>& cancelled);

  OwnedRequest(const OwnedRequest&) = delete;
  auto operator=(const OwnedRequest&) -> OwnedRequest& = delete;

  /// Returns the request. Valid as long as this object.
  [[nodiscard]] auto Get() const noexcept -> const ServerRequest& { return request_; }

 private:
  auto CopyHead(const Request& from) const -> Request;
  auto CopyParameters(const ServerRequest& from) -> RouteParameters;

  const std::string text_;          // the head, the target and the method
  const Request head_;              // looks into text_
  std::vector<std::string> names_;  // of the parameters
  const ConnectionEnds ends_;
  std::string body_;
  RequestFields fields_;
  RequestContext context_;
  const ServerRequest request_;  // looks into all of these
};

}  // namespace TURTLE_SERVER
