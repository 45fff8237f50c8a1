// Handles the requests of all sites, on one loop.
//
// It finds the site by the request's host, lets the site's rules decide, and passes on what they
// let through: to the files of the site, or to a handler that all sites share. Rules with users
// come last (sites/login_gate.h): the rates of all rules limit how often a password is checked. If
// another table is in force by the end of a check, the request begins again.
//
// Thread: the loop's.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "sites/current_table.h"
#include "sites/login_gate.h"
#include "sites/site_table.h"
#include "web/connection_ends.h"
#include "web/exchange.h"
#include "web/reply_editor.h"
#include "web/request_handler.h"

namespace TURTLE_SERVER {

/// Makes the handler of one site of a table, for a loop.
using SiteHandlerFactory =
    std::function<std::unique_ptr<RequestHandler>(Looper&, const SiteTable&, const Site&)>;

/// One loop's handler of all sites.
class SitesHandler final : public RequestHandler, private ReplyEditor {
 public:
  /// Gives each site its own handler. Such a handler must respond before its Handle() returns,
  /// since the next table brings others. Throws what `make` throws.
  /// @param looper the loop
  /// @param current the table; outlives this object
  /// @param make called for each site of this and of later tables
  /// @param pool checks passwords, and outlives the server's Begin(); nullptr: the loop does
  SitesHandler(Looper& looper, const CurrentTable& current, SiteHandlerFactory make,
               TaskPool* pool = nullptr);

  /// Gives all sites one handler.
  /// @param looper the loop
  /// @param current as above
  /// @param inner not nullptr
  /// @param pool as above
  SitesHandler(Looper& looper, const CurrentTable& current, std::unique_ptr<RequestHandler> inner,
               TaskPool* pool = nullptr);

  void Handle(Exchange& exchange) override;

 private:
  // After a table that could not be used: descriptors may be free again, or a directory there.
  static constexpr std::chrono::seconds kRetry{1};

  // The site and the rules of a request.
  struct Found {
    ExchangeId exchange{};
    std::optional<std::size_t> site;
    RuleBits rules = 0;
  };

  // The same for a response that comes late: another table may be in use by then.
  struct Late {
    const SitesHandler* handler;
    std::shared_ptr<const SiteTable> table;
    Found found;
  };

  // A site, and the rules of a request.
  struct Ruling {
    const Site* site;  // nullptr: none
    RuleBits rules;
  };

  auto Look(const Exchange& exchange) -> const Found&;
  auto RulesOf(const Site& site, std::string_view path) -> RuleBits;
  auto Again(Exchange& exchange) -> Ruling;
  void TakeNewTable() noexcept;
  void Take(std::shared_ptr<const SiteTable> table);
  auto Reporter() -> LoginReport;
  auto HandlersFor(const SiteTable& table) -> std::vector<std::unique_ptr<RequestHandler>>;
  auto ClientOf(const Exchange& exchange) -> const NetAddress&;
  void Admit(Exchange& exchange, std::size_t site, RuleBits rules);
  void OnChecked(Exchange& exchange, const LoginCheck& check);
  void Serve(Exchange& exchange, std::size_t site, RuleBits rules);
  void Edit(Exchange& exchange, Response& response, Edited part) noexcept override;
  auto LinesFor(Exchange& exchange, std::string_view start, std::string_view text) noexcept
      -> std::optional<std::string_view> override;

  Looper& looper_;
  const CurrentTable& current_;
  std::uint64_t version_;     // of table_
  std::uint64_t failed_ = 0;  // a table that could not be used
  TimePoint retry_at_{};      // when it is tried again
  std::shared_ptr<const SiteTable> table_;
  const SiteHandlerFactory make_;  // empty: inner_ is for all sites
  const std::unique_ptr<RequestHandler> inner_;
  std::vector<std::unique_ptr<RequestHandler>> handlers_;  // by site; they refer to table_
  ConnectionEndsTable ends_;     // of the clients that a rule has asked about
  const NetAddress no_address_;  // of all others
  LoginGate logins_;
  Found found_;
  std::string other_name_;  // of RulesOf(); its memory is used again
  std::string lines_;       // of LinesFor(); its memory is used again
};

}  // namespace TURTLE_SERVER
