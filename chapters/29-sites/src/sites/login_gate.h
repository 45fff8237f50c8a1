// Lets clients with a right password pass, on one loop.
//
// Interface:
//  * Admit() finds out whether a request may be served, at once or later.
//  * Forget() drops what it remembers of the old table.
//
// A login that was right lately passes at once (sites/login_cache.h). Any other costs a slow hash,
// on a thread of the pool, so that the loop's other clients don't wait. A full pool refuses it with
// a 503. Guessing is limited by rules with a rate: Site::Respond() comes before any password, so a
// request that is refused there costs no hash, and tells nothing about the password.
//
// Thread: the loop's.
#pragma once

#include <cstddef>
#include <memory>

#include "sites/login_cache.h"
#include "sites/login_check.h"

namespace TURTLE_SERVER {

class Exchange;
class Looper;

/// One loop's gate for all sites.
class LoginGate {
 public:
  /// @param looper the loop
  /// @param pool outlives the server's Begin(); nullptr, or one without threads: passwords are
  ///     checked on the loop
  /// @param report called with each check that a thread has ended; this object must still be there
  ///     while the loop has connections
  LoginGate(Looper& looper, TaskPool* pool, LoginReport report);

  LoginGate(const LoginGate&) = delete;
  auto operator=(const LoginGate&) -> LoginGate& = delete;

  /// Returns true if the request may be served; the exchange then has the name, Exchange::User().
  /// Otherwise it has its response, or is being checked.
  /// Allocates a short text only if the login is remembered.
  /// @param exchange without a response
  /// @param table the table in force
  /// @param site the request's site
  /// @param rules of its path, at least one of them a guard
  /// @throws std::bad_alloc
  [[nodiscard]] auto Admit(Exchange& exchange, const std::shared_ptr<const SiteTable>& table,
                           std::size_t site, RuleBits rules) -> bool;

  /// Returns true if the request may be served, after its check; as above. Otherwise it has its
  /// response.
  /// @param exchange without a response
  /// @param check has ended, and was made with the table in force
  /// @throws std::bad_alloc
  [[nodiscard]] auto Admit(Exchange& exchange, const LoginCheck& check) -> bool;

  /// Forgets all logins. Must be called before a table of Admit() is destroyed.
  void Forget() noexcept { cache_.Clear(); }

 private:
  auto Unknown(const Site& site, RuleBits guards, const BasicLogin& login) -> RuleBits;
  void Submit(Exchange& exchange, const std::shared_ptr<LoginCheck>& check);
  void Remember(const LoginCheck& check);

  Looper& looper_;
  TaskPool* const pool_;  // nullptr: none, or without threads
  const LoginReport report_;
  LoginCache cache_;
};

}  // namespace TURTLE_SERVER
