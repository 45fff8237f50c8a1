#include "sites/login_gate.h"

#include <optional>
#include <utility>

#include "core/looper.h"
#include "http/response.h"
#include "web/exchange.h"

namespace TURTLE_SERVER {

namespace {

// Attached to the exchange: the check is cancelled when that ends.
class CheckLink : public ExchangeState {
 public:
  CheckLink(TaskPool& pool, std::shared_ptr<LoginCheck> check)
      : pool_(pool), check_(std::move(check)) {}

  CheckLink(const CheckLink&) = delete;
  auto operator=(const CheckLink&) -> CheckLink& = delete;

  ~CheckLink() override { pool_.Cancel(*check_); }

 private:
  TaskPool& pool_;
  const std::shared_ptr<LoginCheck> check_;  // shared with the pool
};

auto Unavailable(const char* why) -> Response {
  return ErrorResponse(503, why).Set("Retry-After", "1");
}

auto RefusalOf(const LoginCheck& check) -> Response {
  const LoginVisit& visit = check.Visit();
  switch (check.Outcome()) {
    case LoginOutcome::kWrong:
      return Challenge(visit.table->All()[visit.site]->Realm(check.Refusal()));
    case LoginOutcome::kStopped:
      return Unavailable("The server does not begin anything new.");
    case LoginOutcome::kRight:
    case LoginOutcome::kFailed:
      break;
  }
  return ErrorResponse(500);
}

}  // namespace

LoginGate::LoginGate(Looper& looper, TaskPool* pool, LoginReport report)
    : looper_(looper),
      pool_(pool != nullptr && pool->Threads() != 0 ? pool : nullptr),
      report_(std::move(report)) {}

auto LoginGate::Admit(Exchange& exchange, const std::shared_ptr<const SiteTable>& table,
                      std::size_t site, RuleBits rules) -> bool {
  const Site& its = *table->All()[site];
  const RuleBits guards = its.Guards(rules);
  std::optional<BasicLogin> login = BasicLogin::Of(exchange.GetRequest().headers);
  if (!login) {
    exchange.Reply(Challenge(its.Realm(FirstRule(guards))));
    return false;
  }
  const RuleBits unknown = Unknown(its, guards, *login);
  if (unknown == 0) {
    exchange.SetUser(login->Name());
    return true;
  }
  const auto check = std::make_shared<LoginCheck>(exchange, LoginVisit{table, site, rules, unknown},
                                                  *std::move(login), report_);
  if (pool_ == nullptr) {
    check->Judge();
    return Admit(exchange, *check);
  }
  Submit(exchange, check);
  return false;
}

auto LoginGate::Admit(Exchange& exchange, const LoginCheck& check) -> bool {
  if (check.Outcome() != LoginOutcome::kRight) {
    exchange.Reply(RefusalOf(check));
    return false;
  }
  Remember(check);
  exchange.SetUser(check.Login().Name());
  return true;
}

// Returns the guards that don't know the login yet.
auto LoginGate::Unknown(const Site& site, RuleBits guards, const BasicLogin& login) -> RuleBits {
  RuleBits unknown = 0;
  for (; guards != 0; guards &= guards - 1) {
    if (!cache_.Has(site.Users(FirstRule(guards)), login, looper_.Now())) {
      unknown |= RuleBits{1} << FirstRule(guards);
    }
  }
  return unknown;
}

void LoginGate::Submit(Exchange& exchange, const std::shared_ptr<LoginCheck>& check) {
  auto link = std::make_unique<CheckLink>(*pool_, check);
  const SubmitResult result = pool_->Submit(check, {});
  if (result != SubmitResult::kAccepted) {
    exchange.Reply(Unavailable(result == SubmitResult::kFull
                                   ? "Too many passwords wait for their checks."
                                   : "The server does not begin anything new."));
    return;
  }
  exchange.Attach(std::move(link));
  // OnEnd() also lets the exchange probe a client that has closed its end.
  exchange.OnEnd([pool = pool_, weak = std::weak_ptr<LoginCheck>(check)](ReplyState) {
    if (const std::shared_ptr<LoginCheck> pending = weak.lock()) {
      pool->Cancel(*pending);
    }
  });
}

void LoginGate::Remember(const LoginCheck& check) {
  const LoginVisit& visit = check.Visit();
  const Site& site = *visit.table->All()[visit.site];
  for (RuleBits guards = visit.guards; guards != 0; guards &= guards - 1) {
    cache_.Add(site.Users(FirstRule(guards)), check.Login(), looper_.Now());
  }
}

}  // namespace TURTLE_SERVER
