#include "app/site_settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "core/cidr_set.h"
#include "http/response.h"
#include "sites/basic_auth.h"
#include "sites/field_presets.h"
#include "sites/host_table.h"
#include "sites/password_file.h"
#include "sites/path_pattern.h"
#include "sites/redirect_target.h"
#include "sites/site.h"

namespace TURTLE_SERVER {

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

auto StartsWith(const std::string& text, std::string_view prefix) -> bool {
  return text.compare(0, prefix.size(), prefix) == 0;
}

// Calls `step`, and returns the reason why it refuses `text`; "" if it does not. The reason comes
// after the quoted text in the exception.
template <class Step>
auto Refusal(const std::string& text, const Step& step) -> std::string {
  try {
    step();
  } catch (const std::invalid_argument& error) {
    const std::string reason = error.what();
    const std::string quoted = "\"" + text + "\": ";
    const std::size_t at = reason.find(quoted);
    return at == std::string::npos ? reason : reason.substr(at + quoted.size());
  }
  return "";
}

// --- fields -------------------------------------------------------------------------------------

auto FieldRefusal(const FieldEdit& edit) -> std::string {
  return Refusal(edit.value, [&edit] { CheckField(edit); });
}

// Returns where a kind of change comes among the others.
auto RankOf(FieldEdit::Kind kind) -> int {
  return kind == FieldEdit::Kind::kRemove ? 0 : kind == FieldEdit::Kind::kSet ? 1 : 2;
}

// Adds a change after those of its kind.
void Insert(FieldEdit edit, std::vector<FieldEdit>& edits) {
  const auto next = std::find_if(edits.begin(), edits.end(), [&edit](const FieldEdit& each) {
    return RankOf(each.kind) > RankOf(edit.kind);
  });
  edits.insert(next, std::move(edit));
}

auto EditsOf(FieldEdit::Kind kind, const std::vector<FieldEdit>& edits) -> Pairs {
  Pairs pairs;
  for (const FieldEdit& edit : edits) {
    if (edit.kind == kind) {
      pairs.emplace_back(edit.name, edit.value);
    }
  }
  return pairs;
}

auto KeyedEdits(FieldEdit::Kind kind, std::vector<FieldEdit>& edits) -> KeyedTexts {
  return {[kind, &edits](const std::string& name, const std::string& value) -> std::string {
            FieldEdit edit{kind, name, value};
            std::string reason = FieldRefusal(edit);
            if (!reason.empty()) {
              return "is refused: " + std::move(reason);
            }
            Insert(std::move(edit), edits);
            return "";
          },
          [kind, &edits] { return EditsOf(kind, edits); }};
}

auto RemovedNames(std::vector<FieldEdit>& edits) -> ListParts {
  return {[&edits](const std::vector<std::string>& names) {
            for (const std::string& name : names) {
              Insert({FieldEdit::Kind::kRemove, name, ""}, edits);
            }
          },
          [&edits] {
            std::vector<std::string> names;
            for (const auto& [name, value] : EditsOf(FieldEdit::Kind::kRemove, edits)) {
              names.push_back(name);
            }
            return names;
          }};
}

auto IsRemovable(const std::string& name) -> bool {
  return FieldRefusal({FieldEdit::Kind::kRemove, name, ""}).empty();
}

auto IsPreset(const std::string& name) -> bool { return !PresetEdits(name).empty(); }

auto AllPresets() -> std::string {
  std::string all;
  for (const std::string& name : PresetNames()) {
    all += (all.empty() ? "" : ", ") + name;
  }
  return all;
}

// Returns the field that two presets set; "" if there is none.
auto Contested(const std::vector<std::string>& presets) -> std::string {
  std::set<std::string> names;
  for (const FieldEdit& edit : EditsOfPresets(presets)) {
    if (!names.insert(edit.name).second) {
      return edit.name;
    }
  }
  return "";
}

void AddFields(SettingList& list, SiteRule& rule) {
  list.List({"presets", ""}, "", rule.presets, 0, IsPreset, "one of " + AllPresets(),
            "well-known fields that are set, by name");
  list.Pairs({"set", ""}, KeyedEdits(FieldEdit::Kind::kSet, rule.fields),
             "fields of the response that get this value alone");
  list.Pairs({"add", ""}, KeyedEdits(FieldEdit::Kind::kAdd, rule.fields),
             "fields that are added to the response");
  list.List({"remove", ""}, "", RemovedNames(rule.fields), 0, IsRemovable,
            "the name of a field that may be removed", "fields that the response does not have");
}

// --- the paths of a rule, and the place that they lead to ---------------------------------------

auto PatternRefusal(const std::string& text) -> std::string {
  return Refusal(text, [&text] { static_cast<void>(PathPattern::Regex(text)); });
}

auto IsPrefix(const std::string& text) -> bool {
  return !text.empty() &&
         Refusal(text, [&text] { static_cast<void>(PathPattern::Prefix(text)); }).empty();
}

auto TextOf(std::string& value, std::function<bool(const std::string&)> fits, std::string wanted)
    -> TextForm {
  return {[&value, fits = std::move(fits)](const std::string& text) {
            const bool good = fits(text);
            value = good ? text : value;
            return good;
          },
          [&value] { return value; }, std::move(wanted)};
}

void AddPaths(SettingList& list, SiteRule& rule) {
  list.Form({"path", ""}, "",
            TextOf(rule.path, IsPrefix, "/ or a path such as /docs, without a slash at its end"),
            "the rule is for this path and those below it; by default for all");
  TextForm pattern = TextOf(
      rule.pattern,
      [](const std::string& text) { return !text.empty() && PatternRefusal(text).empty(); },
      "a regular expression (RE2)");
  pattern.explain = PatternRefusal;
  list.Form({"pattern", ""}, "", std::move(pattern),
            "the rule is for the paths that this regular expression matches as a whole");
}

auto IsFallback(const std::string& text) -> bool {
  return StartsWith(text, "/") || StartsWith(text, "$path");
}

auto FallbackOf(std::optional<std::vector<std::string>>& fallback) -> ListParts {
  return {[&fallback](const std::vector<std::string>& paths) { fallback = paths; },
          [&fallback] { return fallback.value_or(std::vector<std::string>()); }};
}

void AddTargets(SettingList& list, SiteRule& rule) {
  list.Text({"redirect", ""}, "", rule.redirect,
            "where the client is sent: a path or a URL, with $host, $path, $rest, $query and $1");
  list.Code({"status", ""}, rule.redirect_status, {301, 302, 303, 307, 308},
            "status of the redirect");
  list.List({"fallback", ""}, "", FallbackOf(rule.fallback), 1, IsFallback,
            "a path that begins with / or $path, without a comma",
            "files to try in place of one that does not exist");
  list.Switch({"listing", ""}, rule.listing, std::optional<bool>(true), std::optional<bool>(false),
              "on: a directory without an index page shows its files");
}

// --- the limits of a rule -----------------------------------------------------------------------

constexpr std::array kMethods = {Method::kGet,   Method::kHead,   Method::kPost,   Method::kPut,
                                 Method::kPatch, Method::kDelete, Method::kOptions};

auto IsMethod(const std::string& text) -> bool { return !RoutableName(MethodOf(text)).empty(); }

auto MethodsOf(std::optional<MethodSet>& methods) -> ListParts {
  return {[&methods](const std::vector<std::string>& names) {
            methods.emplace();
            for (const std::string& name : names) {
              methods->Add(MethodOf(name));
            }
          },
          [&methods] {
            std::vector<std::string> names;
            for (const Method method : kMethods) {
              if (methods && methods->Has(method)) {
                names.emplace_back(RoutableName(method));
              }
            }
            return names;
          }};
}

struct RateUnit {
  char letter;
  std::chrono::seconds per;
};

constexpr std::array<RateUnit, 4> kRateUnits = {{{'s', std::chrono::seconds(1)},
                                                 {'m', std::chrono::minutes(1)},
                                                 {'h', std::chrono::hours(1)},
                                                 {'d', std::chrono::hours(24)}}};

// Stores "300/m"; the burst stays. Returns false for any other text.
auto TakeRate(const std::string& text, std::optional<RateLimit>& rate) -> bool {
  constexpr std::uint32_t kMaxPerSecond = 1000;
  std::uint32_t requests = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, requests);
  if (error != std::errc() || end - stop != 2 || *stop != '/') {
    return false;
  }
  for (const RateUnit& unit : kRateUnits) {
    if (stop[1] == unit.letter) {
      const bool good = requests >= 1 && requests <= kMaxPerSecond * unit.per.count();
      if (good) {
        rate = RateLimit{requests, unit.per, rate.value_or(RateLimit()).burst};
      }
      return good;
    }
  }
  return false;
}

// Returns "" for a burst without a rate.
auto ShownRate(const std::optional<RateLimit>& rate) -> std::string {
  for (const RateUnit& unit : kRateUnits) {
    if (rate && rate->requests != 0 && rate->per == unit.per) {
      return std::to_string(rate->requests) + "/" + unit.letter;
    }
  }
  return "";
}

void AddRate(SettingList& list, std::optional<RateLimit>& rate) {
  constexpr std::uint64_t kMaxBurst = 1'000'000;
  list.Form({"rate", ""}, "",
            {[&rate](const std::string& text) { return TakeRate(text, rate); },
             [&rate] { return ShownRate(rate); },
             "a rate such as 10/s, 300/m, 1000/h or 5000/d, at most 1000 a second"},
            "how many requests of each client are served");
  list.Number(
      {"burst", ""}, 1, kMaxBurst,
      [&rate](std::uint64_t number) {
        if (!rate) {
          rate.emplace();  // the key may come before that of the rate
        }
        rate->burst = static_cast<std::uint32_t>(number);
      },
      [&rate] { return rate.value_or(RateLimit()).burst; },
      "how many requests a client may send at once");
}

void AddLimits(SettingList& list, SiteRule& rule) {
  const std::string network = "an address or a network such as 10.0.0.0/8";
  list.List({"methods", ""}, "", MethodsOf(rule.methods), 1, IsMethod,
            "one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
            "the permitted methods; GET includes HEAD");
  list.Size({"max_body_size", ""}, rule.max_body_bytes, 0, std::numeric_limits<std::size_t>::max(),
            "longest request body that is accepted, if http.max_body_size is not less");
  AddRate(list, rule.rate);
  list.List({"allow", ""}, "", rule.allow, 0, CidrSet::IsNetwork, network,
            "the permitted clients; by default all");
  list.List({"deny", ""}, "", rule.deny, 0, CidrSet::IsNetwork, network,
            "clients that are refused nevertheless");
}

// --- passwords ----------------------------------------------------------------------------------

// Returns why a file with names and passwords is refused, without any of its hashes; "" if it is
// not.
auto UsersRefusal(const std::string& path) -> std::string {
  try {
    static_cast<void>(PasswordFile(path));
    return "";
  } catch (const std::invalid_argument& error) {
    return error.what();
  } catch (const std::system_error& error) {
    return error.what();
  }
}

void AddUsers(SettingList& list, SiteRule& rule) {
  TextForm users = TextOf(
      rule.users,
      [](const std::string& path) { return !path.empty() && UsersRefusal(path).empty(); },
      "a file with names and hashes of passwords");
  users.explain = UsersRefusal;
  list.Form({"users", ""}, "", std::move(users),
            "clients need a name and a password of this file, as htpasswd -B writes it");
  list.Form({"realm", ""}, "",
            TextOf(
                rule.realm, [](const std::string& text) { return IsRealm(text); },
                "a text of printable ASCII without quotes and backslashes"),
            "shown to clients that need a password");
}

// --- rules --------------------------------------------------------------------------------------

auto RuleFaults(const SiteRule& rule, const GivenKeys& given) -> std::vector<SettingFault> {
  std::vector<SettingFault> faults;
  if (given.Has("path") && given.Has("pattern")) {
    faults.push_back({"pattern", "the rule has a path, too; it may have only one of them"});
  }
  if (given.Has("status") && !given.Has("redirect")) {
    faults.push_back({"status", "the rule has no redirect"});
  }
  if (given.Has("realm") && !given.Has("users")) {
    faults.push_back({"realm", "the rule has no users"});
  }
  if (given.Has("burst") && !given.Has("rate")) {
    faults.push_back({"burst", "the rule has no rate"});
  }
  if (const std::string name = Contested(rule.presets); !name.empty()) {
    faults.push_back({"presets", "two of them set " + name});
  }
  if (given.stored.count("redirect") != 0 && given.refused.count("pattern") == 0) {
    const std::string reason = Refusal(rule.redirect, [&rule] {
      const std::size_t groups =
          rule.pattern.empty() ? 0 : PathPattern::Regex(rule.pattern).Groups();
      static_cast<void>(RedirectTarget(rule.redirect, groups));
    });
    if (!reason.empty()) {
      faults.push_back({"redirect", "\"" + rule.redirect + "\" is refused: " + reason});
    }
  }
  return faults;
}

auto RuleSettings(SiteRule& rule) -> SettingList {
  SettingList list;
  AddPaths(list, rule);
  AddFields(list, rule);
  AddTargets(list, rule);
  list.Switch({"compress", ""}, rule.compress, std::optional<bool>(true),
              std::optional<bool>(false),
              "off: responses are sent plain, even if http.compression is on: for pages with a "
              "secret beside text that a stranger may choose");
  AddLimits(list, rule);
  AddUsers(list, rule);
  list.Check([&rule](const GivenKeys& given) { return RuleFaults(rule, given); });
  return list;
}

// --- error pages and types ----------------------------------------------------------------------

auto StatusOf(const std::string& text) -> std::optional<int> {
  int status = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, status);
  if (text.size() != 3 || error != std::errc() || stop != end || status < 400 || status > 599) {
    return std::nullopt;
  }
  return status;
}

// Only a regular file is opened: a pipe would wait for its writer.
auto IsErrorPage(const std::string& path) -> bool {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) &&
         std::filesystem::file_size(path, error) <= Site::kMaxPageBytes &&
         std::ifstream(path).is_open();
}

auto StoreErrorPage(const std::string& key, const std::string& text,
                    std::vector<SiteErrorPage>& pages) -> std::string {
  const std::optional<int> status = StatusOf(key);
  if (!status) {
    return "is not for a status from 400 to 599";
  }
  const bool file = StartsWith(text, "/") || StartsWith(text, "./");
  if (file && !IsErrorPage(text)) {
    return "is not a readable file of at most 64K";
  }
  pages.push_back({*status, file ? text : "", file ? "" : text});
  return "";
}

auto ErrorPages(std::vector<SiteErrorPage>& pages) -> KeyedTexts {
  return {[&pages](const std::string& key, const std::string& text) {
            return StoreErrorPage(key, text, pages);
          },
          [&pages] {
            Pairs pairs;
            for (const SiteErrorPage& page : pages) {
              pairs.emplace_back(std::to_string(page.status),
                                 page.file.empty() ? page.text : page.file);
            }
            return pairs;
          }};
}

auto IsToken(std::string_view text) -> bool {
  return !text.empty() && std::all_of(text.begin(), text.end(), ascii::IsToken);
}

auto IsExtension(const std::string& text) -> bool {
  return IsToken(text) && std::none_of(text.begin(), text.end(),
                                       [](char c) { return c == '.' || ascii::ToLower(c) != c; });
}

// Accepts "text/html; charset=utf-8" (RFC 9110, section 8.3.1); the parameters are only checked as
// a part of a field.
auto IsMediaType(const std::string& text) -> bool {
  const std::string_view type = std::string_view(text).substr(0, text.find_first_of("; "));
  const std::size_t slash = std::min(type.find('/'), type.size());
  const std::size_t next = text.find_first_not_of(' ', type.size());
  return IsToken(type.substr(0, slash)) && slash < type.size() && IsToken(type.substr(slash + 1)) &&
         (type.size() == text.size() || (next != std::string::npos && text[next] == ';')) &&
         Refusal(text, [&text] {
           static_cast<void>(Response(200).Set("Content-Type", text));
         }).empty();
}

auto Types(Pairs& types) -> KeyedTexts {
  return {[&types](const std::string& extension, const std::string& type) -> std::string {
            if (!IsExtension(extension)) {
              return "is not for an extension in lower case, without its dot";
            }
            if (!IsMediaType(type)) {
              return "is not a media type such as text/plain";
            }
            types.emplace_back(extension, type);
            return "";
          },
          [&types] { return types; }};
}

// --- sites --------------------------------------------------------------------------------------

auto IsIndex(const std::string& text) -> bool {
  return text.find('/') == std::string::npos && text != "." && text != "..";
}

// Standard output is for one log only, and the server's can be there.
auto IsLogFile(const std::string& text) -> bool {
  constexpr std::array<std::string_view, 3> kDescriptors = {"/dev/std", "/dev/fd/",
                                                            "/proc/self/fd/"};
  std::error_code ignored;
  return !text.empty() && text != "-" && text.back() != '/' &&
         std::none_of(kDescriptors.begin(), kDescriptors.end(),
                      [&text](std::string_view prefix) { return StartsWith(text, prefix); }) &&
         !std::filesystem::is_directory(text, ignored);
}

auto SiteFaults(const SiteOptions& site, const GivenKeys& given) -> std::vector<SettingFault> {
  if (given.Has("names") || site.is_default || given.refused.count("default") != 0) {
    return {};
  }
  return {{"names", R"(the key is missing, and the site has no "default": "on")"}};
}

auto SiteSettings(SiteOptions& site) -> SettingList {
  SettingList list;
  list.List({"names", ""}, "", site.names, 1, HostTable::IsName,
            "a host name in lower case such as example.org or *.example.org",
            "its host names; *.example.org is all below example.org");
  list.Switch({"default", ""}, site.is_default, true, false,
              "on: it also serves the hosts that no site has");
  list.Folder({"root_path", ""}, "", site.root, "the files to serve");
  list.Require("root_path");
  TextForm index = TextOf(site.index, IsIndex, "the name of a file, or null");
  index.or_none = true;
  list.Form({"index", ""}, "", std::move(index), "the page of a directory; null: none");
  list.Switch({"dot_files", ""}, site.dot_files, true, false,
              "on: names that begin with a dot, such as .env, are served; off: only what is in "
              ".well-known");
  list.Form({"access_log", ""}, "",
            TextOf(site.access_log, IsLogFile, "the name of a file; - and /dev/stdout are none"),
            "a file with a line for each of its requests, in place of access_log.file");
  list.Pairs({"error_pages", ""}, ErrorPages(site.error_pages),
             "bodies of error responses by status: a file, if it begins with / or ./, or a text");
  list.Pairs({"types", ""}, Types(site.types), "media types by extension, without the dot");
  list.Objects({"rules", ""}, site.rules, Site::kMaxRules, RuleSettings,
               "what it does with some of its paths, the general rules first");
  list.Check([&site](const GivenKeys& given) { return SiteFaults(site, given); });
  return list;
}

auto Index(std::size_t number) -> std::string { return "[" + std::to_string(number) + "]"; }

// Returns the names that two sites have, or one site twice, and the second default.
auto RepeatedSites(const SitesOptions& sites) -> std::vector<SettingFault> {
  std::vector<SettingFault> faults;
  std::map<std::string, std::size_t> names;
  std::optional<std::size_t> default_site;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    for (const std::string& name : sites[i].names) {
      const auto [first, is_new] = names.emplace(name, i);
      if (!is_new) {
        const std::string where = "sites" + Index(first->second) + ".names";
        faults.push_back(
            {Index(i) + ".names",
             "\"" + name + "\" is " + (first->second == i ? "there twice" : "also in " + where)});
      }
    }
    if (sites[i].is_default && default_site) {
      faults.push_back(
          {Index(i) + ".default", "sites" + Index(*default_site) + ".default is on, too"});
    }
    default_site = sites[i].is_default && !default_site ? i : default_site;
  }
  return faults;
}

}  // namespace

void AddSites(SettingList& list, SitesOptions& sites) {
  list.Objects(
      {"sites", ""}, sites, kMaxSites, SiteSettings,
      "the sites of this server, each with its host names; without them http.root_path is served",
      [&sites] { return RepeatedSites(sites); });
}

}  // namespace TURTLE_SERVER
