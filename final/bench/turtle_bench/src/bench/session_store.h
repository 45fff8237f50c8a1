// The TLS sessions that new connections of a worker may resume.
//
// A session of TLS 1.3 is a ticket, and is used once: an observer could tell that two connections
// with the same ticket are one client's (RFC 8446, appendix C.4). One of TLS 1.2 may be used again,
// and most servers send no other when it is.
//
// Interface:
//  * Put() adds a session, Take() returns the newest.
//
// Thread: the loop's.
#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <utility>

#include "tls/openssl.h"

namespace TURTLE_SERVER {

/// A session to be resumed, SSL_SESSION_free(3).
using SslSessionPtr = std::unique_ptr<SSL_SESSION, OpenSslDeleter<SSL_SESSION_free>>;

/// A few sessions with one server.
class SessionStore {
 public:
  /// @param most how many are kept; 0: none
  explicit SessionStore(std::size_t most) noexcept : most_(most) {}

  /// Adds a session, which replaces the oldest one if there are too many. Throws std::bad_alloc.
  void Put(SslSessionPtr session) {
    sessions_.push_back(std::move(session));
    if (sessions_.size() > most_) {
      sessions_.pop_front();
    }
  }

  /// Returns the newest session, or nullptr. One of TLS 1.3 is then no longer here.
  [[nodiscard]] auto Take() -> SslSessionPtr {
    if (sessions_.empty()) {
      return nullptr;
    }
    SSL_SESSION* const newest = sessions_.back().get();
    if (SSL_SESSION_get_protocol_version(newest) < TLS1_3_VERSION) {
      SSL_SESSION_up_ref(newest);
      return SslSessionPtr(newest);
    }
    SslSessionPtr session = std::move(sessions_.back());
    sessions_.pop_back();
    return session;
  }

 private:
  const std::size_t most_;
  std::deque<SslSessionPtr> sessions_;
};

}  // namespace TURTLE_SERVER
