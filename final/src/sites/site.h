// One site: its rules and pages, ready for use.
//
// Interface:
//  * RulesFor() finds the rules that include a path.
//  * Respond() lets these rules refuse a request, or redirect it.
//  * Guards() returns those that need a password, and Refusal() checks one.
//  * MaxBodyBytes(), Fallback(), Listing() and KeepsPlain() return what they say about the
//    handler's work.
//  * Edit() and AppendLines() make their changes to a response.
//
// A set of rules is a word with a bit for each, so that a request allocates nothing for it.
//
// Thread: constant, and shared by all loops. Only the counts of rate limits change; they are
// atomic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "core/cidr_set.h"
#include "core/net_address.h"
#include "http/request.h"
#include "http/response.h"
#include "sites/basic_auth.h"
#include "sites/password_file.h"
#include "sites/path_pattern.h"
#include "sites/rate_table.h"
#include "sites/redirect_target.h"
#include "sites/site_options.h"
#include "web/reply_editor.h"

namespace TURTLE_SERVER {

/// Some rules of a site: bit i for rule i of its table.
using RuleBits = std::uint64_t;

/// Returns the first of some rules.
/// @param rules not 0
[[nodiscard]] constexpr auto FirstRule(RuleBits rules) noexcept -> std::size_t {
  std::size_t rule = 0;
  for (; (rules & 1U) == 0; rules >>= 1) {
    ++rule;
  }
  return rule;
}

/// A request, as the rules see it.
struct SiteVisit {
  const Request& request;    ///< its path, method and host
  const NetAddress& client;  ///< the client's address, if the rules need it
  TimePoint now;             ///< the loop's time
  RuleBits counted = 0;      ///< rules whose rate has counted it, before a local redirect
};

/// A site of the table.
class Site {
 public:
  /// A bit of RuleBits for each.
  static constexpr std::size_t kMaxRules = 64;

  /// The longest error page, in bytes; each loop copies it for each error.
  static constexpr std::size_t kMaxPageBytes = std::size_t{64} * 1024;

  /// Compiles the rules, and reads the error pages and the password files.
  /// @throws std::invalid_argument, which names the site, the rule and the value, for an invalid
  ///     one, or if there are too many; std::system_error, which names the file, if one can't be
  ///     read
  explicit Site(SiteOptions options);

  Site(const Site&) = delete;
  auto operator=(const Site&) -> Site& = delete;

  /// Returns the values from which it was made. The fields of presets are among those of the rules.
  [[nodiscard]] auto Options() const noexcept -> const SiteOptions& { return options_; }

  /// Returns the rules that include a path.
  /// @param path decoded, as Uri::Path()
  [[nodiscard]] auto RulesFor(std::string_view path) const -> RuleBits;

  /// Returns the response of the rules: 403 for the address, 429 for too many requests, a redirect,
  /// or 405 for the method, in this order; nullopt if the handler is to respond. Passwords come
  /// after it, so a rate limits guessing as well.
  /// @param visit the request; its rate limits count it
  /// @param rules of its path
  [[nodiscard]] auto Respond(const SiteVisit& visit, RuleBits rules) const
      -> std::optional<Response>;

  /// Returns those of the rules that need a password. Of several with the same file it is the
  /// first.
  [[nodiscard]] auto Guards(RuleBits rules) const noexcept -> RuleBits;

  /// Returns the file with the names of one of the Guards().
  [[nodiscard]] auto Users(std::size_t guard) const noexcept -> const PasswordFile& {
    return *rules_[guard].users;
  }

  /// Returns the text that one of the Guards() shows to clients.
  [[nodiscard]] auto Realm(std::size_t guard) const noexcept -> const std::string& {
    return rules_[guard].values.realm;
  }

  /// Checks a password with each guard in turn. Slow, as PasswordFile::Check().
  /// @param guards some of Guards()
  /// @param login the name and the password
  /// @return the first guard that does not let the client in; nullopt: all do
  /// @throws std::bad_alloc
  [[nodiscard]] auto Refusal(RuleBits guards, const BasicLogin& login) const
      -> std::optional<std::size_t>;

  /// Returns those of the rules that keep some clients out: with users, allow or deny.
  [[nodiscard]] auto Barriers(RuleBits rules) const noexcept -> RuleBits {
    return rules & barriers_;
  }

  /// Returns true if Respond() looks at the client's address, which costs a system call.
  [[nodiscard]] auto NeedsAddress(RuleBits rules) const noexcept -> bool {
    return (rules & by_address_) != 0;
  }

  /// Returns the most bytes of a request's body; nullopt: the server's own limit.
  [[nodiscard]] auto MaxBodyBytes(RuleBits rules) const noexcept -> std::optional<std::uint64_t>;

  /// Returns the files to try in place of a missing one, SiteRule::fallback; there may be none.
  [[nodiscard]] auto Fallback(RuleBits rules) const noexcept -> const std::vector<std::string>&;

  /// Returns true if a directory without an index page shows its files.
  [[nodiscard]] auto Listing(RuleBits rules) const noexcept -> bool;

  /// Returns true if a response is not compressed, even if the server compresses.
  [[nodiscard]] auto KeepsPlain(RuleBits rules) const noexcept -> bool;

  /// Returns true if Edit() may change a response.
  [[nodiscard]] auto Edits(RuleBits rules) const noexcept -> bool;

  /// Changes the fields of a response, and replaces an error page by the site's own.
  /// @param rules of the request's path
  /// @param response changed in place
  /// @param part whether its body is there
  /// @throws std::bad_alloc
  void Edit(RuleBits rules, Response& response, Edited part) const;

  /// Does the same for a prepared response, if lines are enough.
  /// @param rules as above
  /// @param start its first fields
  /// @param text its other fields, and its body
  /// @param lines gets the lines to add
  /// @return false if Edit() is needed
  /// @throws std::bad_alloc
  [[nodiscard]] auto AppendLines(RuleBits rules, std::string_view start, std::string_view text,
                                 std::string& lines) const -> bool;

 private:
  struct Rule {
    explicit Rule(const SiteRule& rule);

    const SiteRule& values;
    PathPattern paths;
    CidrSet allowed;
    CidrSet denied;
    std::unique_ptr<RateTable> rate;  // nullptr: no limit
    std::optional<RedirectTarget> redirect;
    std::shared_ptr<const PasswordFile> users;  // shared by the rules with this file; or nullptr
  };

  struct Page {
    int status;
    std::string type;
    std::string text;
  };

  void AddRule(const SiteRule& rule);
  [[nodiscard]] auto UsersOf(const SiteRule& rule) const -> std::shared_ptr<const PasswordFile>;
  void CheckTypes() const;
  void ReadPages();
  [[nodiscard]] auto LetsIn(const NetAddress& client, RuleBits rules) const noexcept -> bool;
  [[nodiscard]] auto WaitFor(const SiteVisit& visit, RuleBits rules) const noexcept
      -> std::chrono::milliseconds;
  [[nodiscard]] auto RedirectOf(const Request& request, RuleBits rules) const
      -> std::optional<Response>;
  template <typename Value>
  [[nodiscard]] auto Last(RuleBits rules, std::optional<Value> SiteRule::*value) const noexcept
      -> const Value*;

  const SiteOptions options_;
  std::vector<Rule> rules_;  // they refer to options_
  RuleBits guards_ = 0;      // those with users
  RuleBits barriers_ = 0;    // those with users, allow or deny
  RuleBits by_address_ = 0;  // those with allow, deny or rate
  std::vector<Page> pages_;
};

}  // namespace TURTLE_SERVER
