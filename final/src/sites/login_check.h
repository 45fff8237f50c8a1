// Checks the password of one request, perhaps on a thread of a pool.
//
// Interface:
//  * Judge() checks it at once. As a task of a pool, it reports to the loop afterwards.
//  * Outcome() returns the result.
//
// It shares the table of sites, so that the password files stay until it has ended, even if
// another table is in force by then. Its exchange may have ended as well: then nothing is reported.
//
// Thread: Judge() on any thread, once; then the loop's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "sites/basic_auth.h"
#include "sites/site.h"
#include "sites/site_table.h"
#include "task/task_pool.h"
#include "web/exchange_ticket.h"

namespace TURTLE_SERVER {

class LoginCheck;

/// Continues with an exchange whose check has ended; it has no response yet.
using LoginReport = std::function<void(Exchange&, const LoginCheck&)>;

/// A request that needs a right password.
struct LoginVisit {
  std::shared_ptr<const SiteTable> table;  ///< in force when the request came
  std::size_t site = 0;                    ///< its site
  RuleBits rules = 0;                      ///< of its path
  RuleBits guards = 0;                     ///< those whose users are to be checked
};

/// The result of a check.
enum class LoginOutcome : std::uint8_t {
  kRight,    ///< all guards let the client in
  kWrong,    ///< one does not
  kFailed,   ///< there was no memory
  kStopped,  ///< the pool has ended
};

/// The check of one login.
class LoginCheck final : public PoolTask, public std::enable_shared_from_this<LoginCheck> {
 public:
  /// @param exchange of the request, on its loop's thread
  /// @param visit what is to be checked
  /// @param login the name and the password
  /// @param report called on the loop's thread after Run(); lives as long as the loop has
  ///     connections
  LoginCheck(const Exchange& exchange, LoginVisit visit, BasicLogin login,
             const LoginReport& report);

  /// Checks the login, by one slow hash for each guard, until one does not let it in.
  void Judge() noexcept;

  /// Returns the result.
  [[nodiscard]] auto Outcome() const noexcept -> LoginOutcome { return outcome_; }

  /// Returns the rule that does not let the client in, after kWrong.
  [[nodiscard]] auto Refusal() const noexcept -> std::size_t { return refusal_; }

  /// Returns what was checked.
  [[nodiscard]] auto Visit() const noexcept -> const LoginVisit& { return visit_; }

  /// Returns the name and the password.
  [[nodiscard]] auto Login() const noexcept -> const BasicLogin& { return login_; }

 private:
  void Run() override;
  void Drop(DropReason why) noexcept override;
  void Report();

  const ExchangeTicket ticket_;
  const LoginVisit visit_;
  const BasicLogin login_;
  const LoginReport& report_;
  LoginOutcome outcome_ = LoginOutcome::kStopped;
  std::size_t refusal_ = 0;
};

}  // namespace TURTLE_SERVER
