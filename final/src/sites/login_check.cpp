#include "sites/login_check.h"

#include <utility>

#include "log/log.h"
#include "web/exchange.h"

namespace TURTLE_SERVER {

LoginCheck::LoginCheck(const Exchange& exchange, LoginVisit visit, BasicLogin login,
                       const LoginReport& report)
    : ticket_(exchange), visit_(std::move(visit)), login_(std::move(login)), report_(report) {}

void LoginCheck::Judge() noexcept {
  outcome_ = LoginOutcome::kFailed;
  try {
    const Site& site = *visit_.table->All()[visit_.site];
    const std::optional<std::size_t> refusal = site.Refusal(visit_.guards, login_);
    outcome_ = refusal ? LoginOutcome::kWrong : LoginOutcome::kRight;
    refusal_ = refusal.value_or(0);
  } catch (...) {
    LogException("check of a password");
  }
}

void LoginCheck::Run() {
  Judge();
  Report();
}

void LoginCheck::Drop(DropReason why) noexcept {
  if (why == DropReason::kCancelled) {
    return;  // no client is left to respond to
  }
  try {
    Report();
  } catch (...) {
    LogException("check of a password");
  }
}

void LoginCheck::Report() {
  // False: the loop has ended.
  static_cast<void>(ticket_.Post([self = shared_from_this()](Exchange* exchange) {
    if (exchange == nullptr || exchange->Begun()) {
      return;
    }
    try {
      self->report_(*exchange, *self);
    } catch (...) {
      exchange->AbortThrown();
    }
  }));
}

}  // namespace TURTLE_SERVER
