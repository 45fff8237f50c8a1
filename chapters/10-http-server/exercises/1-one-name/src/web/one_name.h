// One name for a site: who asks for it by another is sent to the right one.
//
// Thread: the loop's.
#pragma once

#include <memory>
#include <string>

#include "web/request_handler.h"

namespace TURTLE_SERVER {

/// A handler before another one.
class OneName : public RequestHandler {
 public:
  /// @param host the right name, such as "example.com" or "example.com:8080"
  /// @param next answers what is asked by it
  OneName(std::string host, std::unique_ptr<RequestHandler> next);

  void Handle(Exchange& exchange) override;

 private:
  const std::string host_;
  const std::unique_ptr<RequestHandler> next_;
};

}  // namespace TURTLE_SERVER
