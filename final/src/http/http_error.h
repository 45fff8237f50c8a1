// An exception by which a handler responds with an error.
//
// Thread: a value.
#pragma once

#include <stdexcept>
#include <string>

#include "http/head_fault.h"

namespace TURTLE_SERVER {

/// Ends a handler: the client gets `status` and a page with the text. Nothing is logged, because
/// the mistake is the client's, and the page reports it.
class HttpError : public std::runtime_error {
 public:
  /// @param status 400 to 599; throws std::invalid_argument for any other, which is no error
  /// @param detail for the page, which escapes it; "" for none
  explicit HttpError(int status, const std::string& detail = {})
      : std::runtime_error(detail), status_(status) {
    if (status < 400 || status > 599) {
      throw std::invalid_argument("HttpError: " + std::to_string(status) + " is not an error");
    }
  }

  /// Returns the status to respond with.
  [[nodiscard]] auto Status() const noexcept -> int { return status_; }

 private:
  int status_;
};

/// Throws an HttpError for `fault`, if there is one.
inline void Require(const HeadFault& fault) {
  if (fault) {
    throw HttpError(fault.status, fault.reason);
  }
}

}  // namespace TURTLE_SERVER
