#include "sites/sites_handler.h"

#include <utility>

#include "core/looper.h"
#include "http/response.h"
#include "log/log.h"

namespace TURTLE_SERVER {

SitesHandler::SitesHandler(Looper& looper, const CurrentTable& current, SiteHandlerFactory make,
                           TaskPool* pool)
    : looper_(looper),
      current_(current),
      version_(current.Version()),
      make_(std::move(make)),
      logins_(looper, pool, Reporter()) {
  Take(current.Get());
}

SitesHandler::SitesHandler(Looper& looper, const CurrentTable& current,
                           std::unique_ptr<RequestHandler> inner, TaskPool* pool)
    : looper_(looper),
      current_(current),
      version_(current.Version()),
      inner_(std::move(inner)),
      logins_(looper, pool, Reporter()) {
  Take(current.Get());
}

auto SitesHandler::Reporter() -> LoginReport {
  return [this](Exchange& exchange, const LoginCheck& check) { OnChecked(exchange, check); };
}

auto SitesHandler::HandlersFor(const SiteTable& table)
    -> std::vector<std::unique_ptr<RequestHandler>> {
  std::vector<std::unique_ptr<RequestHandler>> handlers;
  if (make_) {
    for (const std::unique_ptr<const Site>& site : table.All()) {
      handlers.push_back(make_(looper_, table, *site));
    }
  }
  return handlers;
}

// Between two requests: no response that has begun needs the old handlers.
void SitesHandler::TakeNewTable() noexcept {
  const std::uint64_t version = current_.Version();
  const bool waits = version == failed_ && looper_.Now() < retry_at_;
  if (version == version_ || waits) {
    return;
  }
  try {
    Take(current_.Get());
    version_ = version;
  } catch (...) {
    LogException("sites: one loop keeps the old ones, and tries again");
    failed_ = version;
    retry_at_ = looper_.Now() + kRetry;
  }
}

void SitesHandler::Take(std::shared_ptr<const SiteTable> table) {
  handlers_ = HandlersFor(*table);  // the old ones go before their table
  logins_.Forget();
  table_ = std::move(table);
  found_ = {};
}

auto SitesHandler::Look(const Exchange& exchange) -> const Found& {
  const Request& request = exchange.GetRequest();
  found_ = {exchange.Id(), table_->Find(request.host), 0};
  if (found_.site) {
    found_.rules = RulesOf(*table_->All()[*found_.site], request.uri.Path());
  }
  return found_;
}

// A request may mean something by another name, too: a directory its index page, and "prog&a" the
// program "prog". A client that is kept from that name is kept from it here.
auto SitesHandler::RulesOf(const Site& site, std::string_view path) -> RuleBits {
  RuleBits rules = site.RulesFor(path);
  if (make_ && !path.empty() && path.back() == '/') {
    other_name_.assign(path).append(site.Options().index);
    rules |= site.Barriers(site.RulesFor(other_name_));
  }
  if (const std::size_t end = path.find('&'); !make_ && end != std::string_view::npos) {
    rules |= site.RulesFor(path.substr(0, end));
  }
  return rules;
}

// Nearly every response begins before Handle() returns, and found_ still holds.
auto SitesHandler::Again(Exchange& exchange) -> Ruling {
  const bool holds = found_.exchange == exchange.Id();
  const Late* const late = holds ? nullptr : exchange.Context().Find<Late>();
  const bool is_late = late != nullptr && late->handler == this;
  const SiteTable& table = is_late ? *late->table : *table_;
  const Found& found = is_late ? late->found : holds ? found_ : Look(exchange);
  return {found.site ? table.All()[*found.site].get() : nullptr, found.rules};
}

void SitesHandler::Handle(Exchange& exchange) {
  TakeNewTable();
  const auto [id, site, rules] = Look(exchange);
  if (!site) {
    exchange.Reply(ErrorResponse(421, "This server has no site of that name."));
    return;
  }
  const Site& found = *table_->All()[*site];
  if (found.Edits(rules)) {
    exchange.Edit(this);
  }
  if (exchange.Compresses() && found.KeepsPlain(rules)) {
    exchange.KeepPlain();
  }
  const NetAddress& client = found.NeedsAddress(rules) ? ClientOf(exchange) : no_address_;
  const RuleBits counted = exchange.Marks(table_.get());
  const SiteVisit visit{exchange.GetRequest(), client, looper_.Now(), counted};
  if (const std::optional<Response> response = found.Respond(visit, rules)) {
    exchange.Reply(*response);
  } else {
    exchange.Mark(table_.get(), counted | rules);
    Admit(exchange, *site, rules);
    if (!exchange.Begun() && found.Edits(rules)) {
      exchange.Context().Set<Late>({this, table_, {id, site, rules}});
    }
  }
}

auto SitesHandler::ClientOf(const Exchange& exchange) -> const NetAddress& {
  const NetAddress* const named = exchange.NamedClient();
  return named != nullptr ? *named : ends_.SourceOf(exchange.GetConnection());
}

void SitesHandler::Admit(Exchange& exchange, std::size_t site, RuleBits rules) {
  if (table_->All()[site]->Guards(rules) == 0 || logins_.Admit(exchange, table_, site, rules)) {
    Serve(exchange, site, rules);
  }
}

// Between two requests, as TakeNewTable() needs it. A new table decides from the beginning, since
// the old one's handlers are gone.
void SitesHandler::OnChecked(Exchange& exchange, const LoginCheck& check) {
  TakeNewTable();
  const LoginVisit& visit = check.Visit();
  if (visit.table != table_) {
    exchange.Edit(nullptr);
    Handle(exchange);
  } else if (logins_.Admit(exchange, check)) {
    Serve(exchange, visit.site, visit.rules);
  }
}

void SitesHandler::Serve(Exchange& exchange, std::size_t site, RuleBits rules) {
  if (const auto most = table_->All()[site]->MaxBodyBytes(rules)) {
    exchange.LimitBody(*most);
    if (exchange.BodyTooLarge()) {
      exchange.Reply(ErrorResponse(413, exchange.BodyLimitText()));
      return;
    }
  }
  RequestHandler& handler = make_ ? *handlers_[site] : *inner_;
  handler.Handle(exchange);
}

void SitesHandler::Edit(Exchange& exchange, Response& response, Edited part) noexcept {
  try {
    if (const auto [site, rules] = Again(exchange); site != nullptr) {
      site->Edit(rules, response, part);
    }
  } catch (...) {
    LogException("editing a response");
  }
}

auto SitesHandler::LinesFor(Exchange& exchange, std::string_view start,
                            std::string_view text) noexcept -> std::optional<std::string_view> {
  try {
    lines_.clear();
    const auto [site, rules] = Again(exchange);
    if (site != nullptr && !site->AppendLines(rules, start, text, lines_)) {
      return std::nullopt;
    }
    return lines_;
  } catch (...) {
    return std::nullopt;  // out of memory
  }
}

}  // namespace TURTLE_SERVER
