// Redirects a client that uses another name of the site to the right one.
//
// Thread: the loop's.
#pragma once

#include <memory>
#include <string>

#include "web/request_handler.h"

namespace TURTLE_SERVER {

/// A handler in front of another one.
class OneName : public RequestHandler {
 public:
  /// @param host the right name, such as "example.com" or "example.com:8080"
  /// @param next handles requests with the right name
  OneName(std::string host, std::unique_ptr<RequestHandler> next);

  void Handle(Exchange& exchange) override;

 private:
  const std::string host_;
  const std::unique_ptr<RequestHandler> next_;
};

}  // namespace TURTLE_SERVER
