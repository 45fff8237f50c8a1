// The sites of a server, as a table of plain values.
//
//   SiteOptions site;
//   site.names = {"example.org", "*.example.org"};
//   site.root = "/srv/example";
//   SiteRule rule;
//   rule.path = "/old";
//   rule.redirect = "/new$rest";
//   site.rules.push_back(rule);
//
// A request belongs to one site, by its host, and to every rule whose paths include its own. These
// rules apply in the order of the table: all of their checks must pass, all of their changes to
// fields are made, and of other values the last one counts. So a table begins with the general
// rules.
//
// Thread: plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/namespace.h"
#include "http/method.h"
#include "sites/field_edits.h"
#include "sites/rate_table.h"

namespace TURTLE_SERVER {

/// The treatment of some paths of a site.
struct SiteRule {
  std::string path;     ///< a prefix in whole segments, such as "/docs"; "" or "/": all paths
  std::string pattern;  ///< instead: a regular expression (RE2) that must match the whole path
  std::vector<std::string> presets;  ///< fields by name (sites/field_presets.h), before `fields`
  std::vector<FieldEdit> fields;     ///< changes to the responses' fields, in their order
  std::string redirect;       ///< where the client is sent (sites/redirect_target.h); "": not
  int redirect_status = 308;  ///< 301, 302, 303, 307 or 308
  /// Files to try, in this order, in place of one that does not exist: paths of the site, in which
  /// "$path" stands for the requested one: {"$path.html", "/index.html"}.
  std::optional<std::vector<std::string>> fallback;
  std::optional<bool> listing;       ///< a directory without an index page shows its files
  std::optional<bool> compress;      ///< false: responses are sent plain, Exchange::KeepPlain()
  std::optional<MethodSet> methods;  ///< the permitted ones; GET includes HEAD
  std::optional<std::uint64_t> max_body_bytes;  ///< of a request, in place of the server's limit
  std::vector<std::string> allow;               ///< networks of the permitted clients; empty: all
  std::vector<std::string> deny;  ///< networks of clients that are refused nevertheless
  std::optional<RateLimit> rate;  ///< of each client
  /// A file with names and passwords (sites/password_file.h), read when the table is made: clients
  /// need one of them. "": they don't.
  std::string users;
  std::string realm = "restricted";  ///< shown to clients that need a password, IsRealm()
};

/// The body of a site's error pages with one status.
struct SiteErrorPage {
  int status = 0;    ///< 400 to 599
  std::string file;  ///< its content, read when the table is made; "": `text`
  std::string text;  ///< a plain text
};

/// One site.
struct SiteOptions {
  std::vector<std::string> names;    ///< HostTable::IsName(): "example.org", "*.example.org"
  bool is_default = false;           ///< it also serves the hosts that no site has
  std::string root;                  ///< the directory with its files
  std::string index = "index.html";  ///< the page of a directory; "": none
  bool dot_files = false;            ///< names that begin with a dot are served
  std::string access_log;  ///< a file for its requests (sites/site_logs.h); "": the server's
  std::vector<SiteErrorPage> error_pages;  ///< the first for a status counts
  /// Content types by extension, without the dot, before those of MimeType().
  std::vector<std::pair<std::string, std::string>> types;
  std::vector<SiteRule> rules;  ///< at most 64, the general ones first
};

/// All sites of a server. A host that none of them has gets a 421.
using SitesOptions = std::vector<SiteOptions>;

}  // namespace TURTLE_SERVER
