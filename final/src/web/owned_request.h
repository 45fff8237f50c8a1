// A request that owns its data: the same ServerRequest, for another thread.
//
// The original request consists of views into the input of its connection and into the router of
// its loop, and it asks the kernel for addresses by a descriptor. No other thread may touch these,
// and all of them may be gone by the time it looks. So everything is copied, except the body, which
// is moved. The context is a snapshot (web/request_context.h) that shares the values: values set
// here stay here.
//
// Thread: made on the loop's thread, then used by one thread at a time.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "http/request.h"
#include "web/server_request.h"

namespace TURTLE_SERVER {

/// A request together with the memory that it refers to.
class OwnedRequest {
 public:
  /// @param request on its loop's thread, within its handler; its body is moved away
  /// @param cancelled the result of Cancelled(); outlives this object
  OwnedRequest(const ServerRequest& request, const std::atomic<bool>& cancelled);

  OwnedRequest(const OwnedRequest&) = delete;
  auto operator=(const OwnedRequest&) -> OwnedRequest& = delete;

  /// Returns the request. Valid as long as this object.
  [[nodiscard]] auto Get() const noexcept -> const ServerRequest& { return request_; }

 private:
  auto CopyHead(const Request& from) const -> Request;
  auto CopyParameters(const ServerRequest& from) -> RouteParameters;

  const std::string text_;          // the head, the target and the method
  const Request head_;              // refers to text_
  std::vector<std::string> names_;  // of the parameters
  const ConnectionEnds ends_;
  std::string body_;
  RequestFields fields_;
  RequestContext context_;
  const ServerRequest request_;  // refers to all of these
};

}  // namespace TURTLE_SERVER
