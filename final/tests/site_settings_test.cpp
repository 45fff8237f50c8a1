#include "app/site_settings.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/config.h"
#include "sites/site.h"
#include "support/site_folder.h"
#include "support/users_file.h"

namespace TURTLE_SERVER {
namespace {

using Faults = std::vector<std::string>;
using Json = nlohmann::json;
using Texts = std::vector<std::string>;

auto SettingsOf(SitesOptions& sites) -> SettingList {
  SettingList list;
  AddSites(list, sites);
  return list;
}

// The sites that result from the value of "sites".
struct Reading {
  explicit Reading(const std::string& sites_text)
      : faults(ReadConfig("{\"sites\": " + sites_text + "}", "t.json", SettingsOf(sites).All())) {}

  SitesOptions sites;
  Faults faults;
};

// Returns a table with one default site, which has these keys, too.
auto WithSite(const std::string& keys) -> std::string {
  return R"([{"default": "on", "root_path": "/")" + (keys.empty() ? "" : ", " + keys) + "}]";
}

// Returns a table with one site that has one rule with these keys.
auto WithRule(const std::string& keys) -> std::string {
  return WithSite(R"("rules": [{)" + keys + "}]");
}

auto RuleOf(const std::string& keys) -> SiteRule {
  const Reading read(WithRule(keys));
  EXPECT_EQ(read.faults, Faults()) << keys;
  return read.faults.empty() ? read.sites.at(0).rules.at(0) : SiteRule();
}

auto Shown(const std::string& sites_text) -> std::string {
  Reading read(sites_text);
  EXPECT_EQ(read.faults, Faults()) << sites_text;
  return SettingsOf(read.sites).All().at(0).show();
}

// --- values -------------------------------------------------------------------------------------

TEST(SiteSettingsTest, EveryValueOfASiteArrives) {
  const test::SiteFolder folder;
  folder.Write("404.html", "none");
  const Reading read(R"([{"names": ["example.org", "*.example.org"], "root_path": ")" +
                     folder.Path() + R"(", "index": "home.html", "dot_files": true,
    "access_log": "logs/a.log", "error_pages": {"404": ")" +
                     folder.Path("404.html") + R"(", "503": "later"},
    "types": {"md": "text/markdown; charset=utf-8", "x": "a/b"},
    "rules": [{"path": "/a"}, {}]},
    {"default": "on", "root_path": "/"}])");
  ASSERT_EQ(read.faults, Faults());
  ASSERT_EQ(read.sites.size(), 2U);
  const SiteOptions& site = read.sites[0];
  EXPECT_EQ(site.names, (Texts{"example.org", "*.example.org"}));
  EXPECT_FALSE(site.is_default);
  EXPECT_EQ(site.root, folder.Path());
  EXPECT_EQ(site.index, "home.html");
  EXPECT_TRUE(site.dot_files);
  EXPECT_EQ(site.access_log, "logs/a.log");
  ASSERT_EQ(site.error_pages.size(), 2U);
  EXPECT_EQ(site.error_pages[0].status, 404);
  EXPECT_EQ(site.error_pages[0].file, folder.Path("404.html"));
  EXPECT_EQ(site.error_pages[0].text, "");
  EXPECT_EQ(site.error_pages[1].status, 503);
  EXPECT_EQ(site.error_pages[1].file, "");
  EXPECT_EQ(site.error_pages[1].text, "later");
  ASSERT_EQ(site.types.size(), 2U);
  EXPECT_EQ(site.types[0].first, "md");
  EXPECT_EQ(site.types[0].second, "text/markdown; charset=utf-8");
  ASSERT_EQ(site.rules.size(), 2U);
  EXPECT_EQ(site.rules[0].path, "/a");
  EXPECT_TRUE(read.sites[1].is_default);
}

TEST(SiteSettingsTest, WhatIsNotSaidIsTheDefault) {
  const Reading read(WithRule(""));
  ASSERT_EQ(read.faults, Faults());
  const SiteOptions& site = read.sites.at(0);
  EXPECT_EQ(site.index, "index.html");
  EXPECT_FALSE(site.dot_files);
  EXPECT_TRUE(site.names.empty());
  const SiteRule& rule = site.rules.at(0);
  EXPECT_EQ(rule.path, "");
  EXPECT_EQ(rule.redirect_status, 308);
  EXPECT_EQ(rule.fallback, std::nullopt);
  EXPECT_EQ(rule.listing, std::nullopt);
  EXPECT_FALSE(rule.methods.has_value());
  EXPECT_EQ(rule.max_body_bytes, std::nullopt);
  EXPECT_FALSE(rule.rate.has_value());
}

TEST(SiteSettingsTest, ASiteMayHaveNoIndex) {
  EXPECT_EQ(Reading(WithSite(R"("index": null)")).sites.at(0).index, "");
  EXPECT_EQ(Reading(WithSite(R"("index": "")")).sites.at(0).index, "");
}

TEST(SiteSettingsTest, ARuleHasARedirect) {
  const SiteRule path = RuleOf(R"("path": "/old", "redirect": "/new$rest", "status": 301)");
  EXPECT_EQ(path.path, "/old");
  EXPECT_EQ(path.redirect, "/new$rest");
  EXPECT_EQ(path.redirect_status, 301);
  // The target may come before the pattern whose groups it has.
  const SiteRule pattern = RuleOf(R"x("redirect": "/posts/$1", "pattern": "/blog/(\\d+)")x");
  EXPECT_EQ(pattern.pattern, "/blog/(\\d+)");
  EXPECT_EQ(pattern.redirect, "/posts/$1");
}

TEST(SiteSettingsTest, ARuleHasFallbacksAndListings) {
  const SiteRule rule = RuleOf(R"("fallback": ["$path.html", "/app/index.html"], "listing": "on")");
  EXPECT_EQ(rule.fallback, (Texts{"$path.html", "/app/index.html"}));
  EXPECT_EQ(rule.listing, true);
  EXPECT_EQ(RuleOf(R"("listing": false)").listing, false);
}

TEST(SiteSettingsTest, ARuleHasLimits) {
  const SiteRule rule = RuleOf(
      R"("methods": ["GET", "POST"], "max_body_size": "1M", "allow": ["10.0.0.0/8", "::1"],
         "deny": "10.0.0.7")");
  ASSERT_TRUE(rule.methods.has_value());
  EXPECT_TRUE(rule.methods->Has(Method::kGet));
  EXPECT_TRUE(rule.methods->Has(Method::kPost));
  EXPECT_FALSE(rule.methods->Has(Method::kPut));
  EXPECT_EQ(rule.max_body_bytes, 1U << 20);
  EXPECT_EQ(rule.allow, (Texts{"10.0.0.0/8", "::1"}));
  EXPECT_EQ(rule.deny, Texts{"10.0.0.7"});
}

TEST(SiteSettingsTest, ARateHasAUnit) {
  const auto rate = [](const std::string& keys) { return RuleOf(keys).rate.value_or(RateLimit()); };
  const std::vector<std::pair<std::string, std::pair<unsigned, int>>> cases = {
      {"10/s", {10, 1}},
      {"300/m", {300, 60}},
      {"1000/h", {1000, 3600}},
      {"5000/d", {5000, 86'400}},
      {"1/d", {1, 86'400}},
      {"1000/s", {1000, 1}},
      {"60000/m", {60'000, 60}},
      {"3600000/h", {3'600'000, 3600}},
      {"86400000/d", {86'400'000, 86'400}}};
  for (const auto& [text, wanted] : cases) {
    const RateLimit limit = rate("\"rate\": \"" + text + "\"");
    EXPECT_EQ(limit.requests, wanted.first) << text;
    EXPECT_EQ(limit.per, std::chrono::seconds(wanted.second)) << text;
    EXPECT_EQ(limit.burst, 1U) << text;
  }
}

TEST(SiteSettingsTest, ABurstMayComeBeforeOrAfterTheRate) {
  for (const std::string keys :
       {R"("rate": "10/s", "burst": 20)", R"("burst": 20, "rate": "10/s")"}) {
    const SiteRule rule = RuleOf(keys);
    ASSERT_TRUE(rule.rate.has_value());
    EXPECT_EQ(rule.rate->requests, 10U);
    EXPECT_EQ(rule.rate->burst, 20U);
  }
}

// The keys of a JSON object have no order.
TEST(SiteSettingsTest, FieldsAreRemovedThenSetThenAdded) {
  for (const std::string keys :
       {R"("add": {"C": "3"}, "set": {"B": "2", "A": "1"}, "remove": ["Server", "Age"])",
        R"("remove": ["Server", "Age"], "set": {"B": "2", "A": "1"}, "add": {"C": "3"})"}) {
    std::string text;
    for (const FieldEdit& edit : RuleOf(keys).fields) {
      const char* const kinds[] = {"=", "+", "-"};
      text += kinds[static_cast<int>(edit.kind)] + edit.name + edit.value + " ";
    }
    EXPECT_EQ(text, "-Server -Age =B2 =A1 +C3 ");
  }
}

TEST(SiteSettingsTest, ARuleHasPresets) {
  const SiteRule rule = RuleOf(R"("set": {"A": "1"}, "presets": ["no-store", "hsts"])");
  EXPECT_EQ(rule.presets, (Texts{"no-store", "hsts"}));
  EXPECT_EQ(rule.fields.size(), 1U);
  EXPECT_EQ(RuleOf(R"("presets": ["no-frames", "csp-self"])").presets.size(), 2U);
  EXPECT_EQ(RuleOf(R"("presets": [])").presets, Texts());
}

TEST(SiteSettingsTest, ATableHasUpToItsLimit) {
  std::string rules = "{}";
  for (std::size_t i = 1; i < Site::kMaxRules; ++i) {
    rules += ", {}";
  }
  EXPECT_EQ(Reading(WithSite("\"rules\": [" + rules + "]")).faults, Faults());
  EXPECT_EQ(Reading(WithSite("\"rules\": [" + rules + ", {}]")).faults,
            Faults{"t.json: sites[0].rules: it has 65 objects, and is not an array of at most 64 "
                   "objects"});
  std::string sites;
  for (std::size_t i = 0; i < kMaxSites; ++i) {
    sites += std::string(i == 0 ? "" : ", ") + R"({"root_path": "/", "names": "n)" +
             std::to_string(i) + "\"}";
  }
  EXPECT_EQ(Reading("[" + sites + "]").faults, Faults());
  EXPECT_EQ(Reading("[" + sites + ", {}]").faults,
            Faults{"t.json: sites: it has 1001 objects, and is not an array of at most 1000 "
                   "objects"});
}

// --- mistakes -----------------------------------------------------------------------------------

TEST(SiteSettingsTest, AMistakeInASiteIsToldWithItsKey) {
  const std::string name = " is not a host name in lower case such as example.org or *.example.org";
  const std::string log = " is not the name of a file; - and /dev/stdout are none";
  const std::string page = " is not a readable file of at most 64K";
  const std::string extension = " is not for an extension in lower case, without its dot";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"("names": ["a.org", "Example.org"])", "names[1]: \"Example.org\"" + name},
      {R"("names": ["a.org:80"])", "names[0]: \"a.org:80\"" + name},
      {R"("names": ["a.org,b.org"])", "names[0]: \"a.org,b.org\"" + name},
      {R"("names": [])", "names: []" + name},
      {R"("names": "*")", "names: \"*\"" + name},
      {R"("names": ["a", "b", "a"])", "names: \"a\" is there twice"},
      {R"("index": "a/b")", "index: \"a/b\" is not the name of a file, or null"},
      {R"("index": "..")", "index: \"..\" is not the name of a file, or null"},
      {R"("dot_files": 1)", "dot_files: 1 is not one of on, off"},
      {R"("error_pages": {"404": "/no/such/page"})", "error_pages.404: \"/no/such/page\"" + page},
      {R"("error_pages": {"404": "./no/such/page"})", "error_pages.404: \"./no/such/page\"" + page},
      {R"("error_pages": {"404": "/"})", "error_pages.404: \"/\"" + page},
      {R"("error_pages": {"399": "t"})",
       "error_pages.399: \"t\" is not for a status from 400 to 599"},
      {R"("error_pages": {"600": "t"})",
       "error_pages.600: \"t\" is not for a status from 400 to 599"},
      {R"("error_pages": {"0404": "t"})",
       "error_pages.0404: \"t\" is not for a status from 400 to 599"},
      {R"("error_pages": {"4.4": "t"})",
       "error_pages.\"4.4\": \"t\" is not for a status from 400 to 599"},
      {R"("error_pages": {"": "t"})",
       "error_pages.\"\": \"t\" is not for a status from 400 to 599"},
      {R"("error_pages": {"404": 1})", "error_pages.404: 1 is not a text"},
      {R"("types": {".md": "text/plain"})", "types.\".md\": \"text/plain\"" + extension},
      {R"("types": {"MD": "text/plain"})", "types.MD: \"text/plain\"" + extension},
      {R"("types": {"": "text/plain"})", "types.\"\": \"text/plain\"" + extension},
      {R"("types": {"a/b": "text/plain"})", "types.\"a/b\": \"text/plain\"" + extension},
      {R"("types": {"md": "text"})", "types.md: \"text\" is not a media type such as text/plain"},
      {R"("types": {"md": "text/"})", "types.md: \"text/\" is not a media type such as text/plain"},
      {R"("types": {"md": "/a"})", "types.md: \"/a\" is not a media type such as text/plain"},
      {R"("types": {"md": ""})", "types.md: \"\" is not a media type such as text/plain"},
      {R"("types": {"md": "a/b c"})", "types.md: \"a/b c\" is not a media type such as text/plain"},
      {R"("types": {"md": "a/b "})", "types.md: \"a/b \" is not a media type such as text/plain"},
      {R"("types": {"md": "a/b;\r\nX: y"})",
       "types.md: \"a/b;\\r\\nX: y\" is not a media type such as text/plain"},
      {R"("rules": {})", "rules: {} is not an array of at most 64 objects"},
      {R"("access_log": "-")", "access_log: \"-\"" + log},
      {R"("access_log": "/dev/stdout")", "access_log: \"/dev/stdout\"" + log},
      {R"("access_log": "/dev/fd/2")", "access_log: \"/dev/fd/2\"" + log},
      {R"("access_log": "/tmp")", "access_log: \"/tmp\"" + log},
      {R"("access_log": "a/")", "access_log: \"a/\"" + log},
      {R"("access_log": "")", "access_log: \"\"" + log},
      {R"("access_log": {"file": "a"})", "access_log: {\"file\":\"a\"}" + log},
      {R"("nmes": "a")", ""},
  };
  for (const auto& [keys, fault] : cases) {
    EXPECT_EQ(Reading(WithSite(keys)).faults,
              Faults{fault.empty()
                         ? "t.json: \"sites[0].nmes\" is not a key; did you mean sites[0].names?"
                         : "t.json: sites[0]." + fault})
        << keys;
  }
}

TEST(SiteSettingsTest, AMistakeInARuleIsToldWithItsKey) {
  const std::string path = " is not / or a path such as /docs, without a slash at its end";
  const std::string rate =
      " is not a rate such as 10/s, 300/m, 1000/h or 5000/d, at most 1000 a second";
  const std::string network = " is not an address or a network such as 10.0.0.0/8";
  const std::string fallback = " is not a path that begins with / or $path, without a comma";
  const std::string method = " is not one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
  const std::string preset =
      " is not one of hsts, no-sniff, no-frames, origin-referrer, csp-self, cache-forever, "
      "no-store, revalidate";
  const std::string status = " is not one of 301, 302, 303, 307, 308";
  const std::string target = "not a path, and not http:// or https:// with a host";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"("path": "docs")", "path: \"docs\"" + path},
      {R"("path": "/docs/")", "path: \"/docs/\"" + path},
      {R"("path": "")", "path: \"\"" + path},
      {R"("path": 5)", "path: 5" + path},
      {R"("pattern": 5)", "pattern: 5 is not a regular expression (RE2)"},
      {R"("pattern": "")", "pattern: \"\" is not a regular expression (RE2)"},
      {R"("pattern": "/(a")", "pattern: \"/(a\" is not a regular expression (RE2): missing ): /(a"},
      {R"x("pattern": "()()()()()()()()()()")x",
       "pattern: \"()()()()()()()()()()\" is not a regular expression (RE2): more than 9 groups"},
      {R"("path": "/a", "pattern": "/b")",
       "pattern: the rule has a path, too; it may have only one of them"},
      {R"("redirect": "")", "redirect: \"\" is not a name or an address"},
      {R"("redirect": "new")", "redirect: \"new\" is refused: " + target},
      {R"("redirect": "//new")", "redirect: \"//new\" is refused: " + target},
      {R"("redirect": "/$1", "pattern": "/(")",
       "pattern: \"/(\" is not a regular expression (RE2): missing ): /("},
      {R"("redirect": "/a", "status": 999)", "status: 999" + status},
      {R"("redirect": "/a", "status": 304)", "status: 304" + status},
      {R"("redirect": "/a", "status": "301")", "status: \"301\"" + status},
      {R"("status": 301)", "status: the rule has no redirect"},
      {R"("fallback": [])", "fallback: []" + fallback},
      {R"("fallback": ["/a", "b"])", "fallback[1]: \"b\"" + fallback},
      {R"("fallback": ["$host"])", "fallback[0]: \"$host\"" + fallback},
      {R"("fallback": ["/a,/b"])", "fallback[0]: \"/a,/b\"" + fallback},
      {R"("listing": "yes")", "listing: \"yes\" is not one of on, off"},
      {R"("methods": ["GET", "get"])", "methods[1]: \"get\"" + method},
      {R"("methods": ["TRACE"])", "methods[0]: \"TRACE\"" + method},
      {R"("methods": [])", "methods: []" + method},
      {R"("max_body_size": "1 M")",
       "max_body_size: \"1 M\" is not a size such as 512, 64K, 16M or 1G, from 0 to "
       "18446744073709551615"},
      {R"("rate": "0/s")", "rate: \"0/s\"" + rate},
      {R"("rate": "1001/s")", "rate: \"1001/s\"" + rate},
      {R"("rate": "60001/m")", "rate: \"60001/m\"" + rate},
      {R"("rate": "3600001/h")", "rate: \"3600001/h\"" + rate},
      {R"("rate": "86400001/d")", "rate: \"86400001/d\"" + rate},
      {R"("rate": "4294967297/d")", "rate: \"4294967297/d\"" + rate},
      {R"("rate": "10")", "rate: \"10\"" + rate},
      {R"("rate": "10/")", "rate: \"10/\"" + rate},
      {R"("rate": "/s")", "rate: \"/s\"" + rate},
      {R"("rate": "")", "rate: \"\"" + rate},
      {R"("rate": "10/w")", "rate: \"10/w\"" + rate},
      {R"("rate": "10/ss")", "rate: \"10/ss\"" + rate},
      {R"("rate": "-1/s")", "rate: \"-1/s\"" + rate},
      {R"("rate": "+1/s")", "rate: \"+1/s\"" + rate},
      {R"("rate": " 1/s")", "rate: \" 1/s\"" + rate},
      {R"("rate": "1.5/s")", "rate: \"1.5/s\"" + rate},
      {R"("rate": 10)", "rate: 10" + rate},
      {R"("rate": "1/s", "burst": 0)", "burst: 0 is not a number from 1 to 1000000"},
      {R"("rate": "1/s", "burst": 1000001)", "burst: 1000001 is not a number from 1 to 1000000"},
      {R"("burst": 5)", "burst: the rule has no rate"},
      {R"("realm": "office")", "realm: the rule has no users"},
      {R"("allow": ["10.0.0.0/8", "10.0.0.1/8"])", "allow[1]: \"10.0.0.1/8\"" + network},
      {R"("deny": ["localhost"])", "deny[0]: \"localhost\"" + network},
      {R"("presets": ["hsts", "hst"])", "presets[1]: \"hst\"" + preset},
      {R"("presets": ["HSTS"])", "presets[0]: \"HSTS\"" + preset},
      {R"("presets": [""])", "presets[0]: \"\"" + preset},
      {R"("presets": "all")", "presets: \"all\"" + preset},
      {R"("presets": ["no-store", "hsts", "revalidate"])",
       "presets: two of them set Cache-Control"},
      {R"("presets": ["hsts", "hsts"])", "presets: two of them set Strict-Transport-Security"},
      {R"("set": {"A": 1})", "set.A: 1 is not a text"},
      {R"("set": {"A b": "1"})",
       "set.\"A b\": \"1\" is refused: response field: the name is not a token: \"A b\""},
      {R"("set": {"A": "1\r\nB: 2"})",
       "set.A: \"1\\r\\nB: 2\" is refused: response field A: the value has a control character"},
      {R"("set": {"Content-Length": "1"})",
       "set.Content-Length: \"1\" is refused: response field Content-Length: written by the server "
       "itself"},
      {R"("set": {"Content-Type": "text/plain"})",
       "set.Content-Type: \"text/plain\" is refused: response field Content-Type: written by the "
       "handler; `types` of the site changes that of a file"},
      {R"("add": {"content-range": "bytes 0-1/2"})",
       "add.content-range: \"bytes 0-1/2\" is refused: response field content-range: written by "
       "the "
       "handler"},
      {R"("remove": ["Content-Type"])",
       "remove[0]: \"Content-Type\" is not the name of a field that may be removed"},
      {R"("add": {"connection": "close"})",
       "add.connection: \"close\" is refused: response field connection: written by the server "
       "itself"},
      {R"("remove": ["Server", "A b"])",
       "remove[1]: \"A b\" is not the name of a field that may be removed"},
      {R"("remove": ["Content-Length"])",
       "remove[0]: \"Content-Length\" is not the name of a field that may be removed"},
  };
  for (const auto& [keys, fault] : cases) {
    EXPECT_EQ(Reading(WithRule(keys)).faults, Faults{"t.json: sites[0].rules[0]." + fault}) << keys;
  }
}

TEST(SiteSettingsTest, UsersAreAFileWithItsOwnFaults) {
  if (!test::HasCrypt()) {
    GTEST_SKIP() << "this system has no crypt_r(3)";
  }
  const test::SiteFolder folder;
  const std::string path = folder.Path("users");
  const std::string key = "\"users\": \"" + path + "\"";
  folder.Write("users", "# office\n" + test::UserLine("alice", "secret"));
  EXPECT_EQ(RuleOf(key).users, path);
  EXPECT_EQ(RuleOf(key).realm, "restricted");
  EXPECT_EQ(RuleOf(key + R"(, "realm": "the office")").realm, "the office");
  EXPECT_EQ(RuleOf("").users, "");
  EXPECT_NE(Shown(WithRule(key)), Shown(WithRule("")));
  EXPECT_NE(Shown(WithRule(key)), Shown(WithRule(key + R"(, "realm": "a")")));
  folder.Write("users", "alice:secret\n");
  EXPECT_EQ(Reading(WithRule(key)).faults,
            Faults{"t.json: sites[0].rules[0].users: \"" + path +
                   "\" is not a file with names and hashes of passwords: " + path +
                   ":1: the hash is not one of bcrypt ($2b$), SHA-512 ($6$), SHA-256 ($5$) and "
                   "yescrypt ($y$)"});
  folder.Write("users", "");
  const std::string none = folder.Path("none");
  EXPECT_EQ(Reading(WithRule("\"users\": \"" + none + "\"")).faults,
            Faults{"t.json: sites[0].rules[0].users: \"" + none +
                   "\" is not a file with names and hashes of passwords: " + none +
                   ": No such file or directory"});
}

TEST(SiteSettingsTest, ATargetHasTheGroupsOfItsPattern) {
  const std::string begin = "t.json: sites[0].rules[0].redirect: ";
  for (const std::string keys :
       {R"x("path": "/a", "redirect": "/$1")x", R"x("redirect": "/$1")x",
        R"x("redirect": "/$1", "pattern": "/a")x", R"x("pattern": "/(.)", "redirect": "/$2")x",
        R"x("pattern": "/(.)", "redirect": "/$nothing")x"}) {
    const Reading read(WithRule(keys));
    ASSERT_EQ(read.faults.size(), 1U) << keys;
    EXPECT_EQ(read.faults[0].rfind(begin, 0), 0U) << read.faults[0];
    EXPECT_NE(read.faults[0].find("is refused: "), std::string::npos) << read.faults[0];
  }
}

TEST(SiteSettingsTest, ASiteNeedsARootAndAHost) {
  const std::string no_names =
      "t.json: sites[0].names: the key is missing, and the site has no \"default\": \"on\"";
  const std::string no_root = "t.json: sites[0].root_path: the key is missing";
  EXPECT_EQ(Reading("[{}]").faults, (Faults{no_root, no_names}));
  EXPECT_EQ(Reading(R"([{"names": ["a"]}])").faults, Faults{no_root});
  EXPECT_EQ(Reading(R"([{"default": true}])").faults, Faults{no_root});
  EXPECT_EQ(Reading(R"([{"root_path": "/"}])").faults, Faults{no_names});
  EXPECT_EQ(Reading(R"([{"root_path": "/", "default": "off"}])").faults, Faults{no_names});
  EXPECT_EQ(Reading(R"([{"root_path": "/no/such", "names": "a"}])").faults,
            Faults{"t.json: sites[0].root_path: \"/no/such\" is not an existing directory"});
  EXPECT_EQ(Reading(R"([{"root_path": "/", "default": "yes"}])").faults,
            Faults{"t.json: sites[0].default: \"yes\" is not one of on, off"});
}

TEST(SiteSettingsTest, ANameBelongsToOneSiteOnly) {
  EXPECT_EQ(Reading(R"([{"root_path": "/", "names": ["a", "b"]},
                        {"root_path": "/", "names": ["c", "b"]},
                        {"root_path": "/", "names": ["*.b", "a"]}])")
                .faults,
            (Faults{"t.json: sites[1].names: \"b\" is also in sites[0].names",
                    "t.json: sites[2].names: \"a\" is also in sites[0].names"}));
  EXPECT_EQ(
      Reading(R"([{"root_path": "/", "names": "b"}, {"root_path": "/", "names": "*.b"}])").faults,
      Faults());
}

TEST(SiteSettingsTest, OneSiteIsTheDefault) {
  EXPECT_EQ(Reading(R"([{"root_path": "/", "names": "a"}, {"root_path": "/", "default": "on"},
                        {"root_path": "/", "default": true}, {"root_path": "/", "default": "on"}])")
                .faults,
            (Faults{"t.json: sites[2].default: sites[1].default is on, too",
                    "t.json: sites[3].default: sites[1].default is on, too"}));
}

TEST(SiteSettingsTest, AllMistakesOfAllSitesAreToldAtOnce) {
  const Reading read(R"([{"names": "A", "root_path": "/", "rules": [{"status": 1}, {"path": "x"}]},
                         {"names": "b", "rules": [{}, {"rate": "x"}]},
                         {"names": "b", "root_path": "/"}])");
  EXPECT_EQ(read.faults.size(), 7U);
  EXPECT_EQ(read.faults.back(), "t.json: sites[2].names: \"b\" is also in sites[1].names");
}

TEST(SiteSettingsTest, AnErrorPageIsAReadableShortFile) {
  const test::SiteFolder folder;
  folder.Write("fits", std::string(Site::kMaxPageBytes, 'x'));
  folder.Write("long", std::string(Site::kMaxPageBytes + 1, 'x'));
  ASSERT_EQ(::mkfifo(folder.Path("pipe").c_str(), 0600), 0);
  const auto faults = [&folder](const std::string& name) {
    const std::string path = Json(folder.Path(name)).dump();
    return Reading(WithSite("\"error_pages\": {\"404\": " + path + "}")).faults.size();
  };
  EXPECT_EQ(faults("fits"), 0U);
  EXPECT_EQ(faults("long"), 1U);
  EXPECT_EQ(faults("pipe"), 1U);  // and doesn't wait for its writer
}

// --- show() and the schema ----------------------------------------------------------------------

TEST(SiteSettingsTest, ShownSitesDifferWhenAValueDiffers) {
  const std::vector<std::string> all = {
      WithSite(""),
      R"([{"names": "a", "root_path": "/"}])",
      R"([{"names": "a,b", "root_path": "/"}])",
      R"([{"names": "a", "root_path": "/", "default": "on"}])",
      R"([{"names": "a", "root_path": "/tmp"}])",
      WithSite(R"("index": null)"),
      WithSite(R"("index": "i")"),
      WithSite(R"("dot_files": "on")"),
      WithSite(R"("error_pages": {"404": "a"})"),
      WithSite(R"("error_pages": {"405": "a"})"),
      WithSite(R"("error_pages": {"404": "b"})"),
      WithSite(R"("access_log": "/a")"),
      WithSite(R"("access_log": "/b")"),
      WithSite(R"("types": {"a": "b/c"})"),
      WithSite(R"("types": {"a": "b/d"})"),
      WithRule(""),
      WithRule(R"("path": "/a")"),
      WithRule(R"("pattern": "/a")"),
      WithRule(R"("redirect": "/a")"),
      WithRule(R"("redirect": "/a", "status": 301)"),
      WithRule(R"("presets": "hsts")"),
      WithRule(R"("presets": "hsts,no-store")"),
      WithRule(R"("set": {"A": "1"})"),
      WithRule(R"("set": {"A": "2"})"),
      WithRule(R"("add": {"A": "1"})"),
      WithRule(R"("remove": "A")"),
      WithRule(R"("fallback": "/a")"),
      WithRule(R"("listing": "on")"),
      WithRule(R"("listing": "off")"),
      WithRule(R"("methods": "GET")"),
      WithRule(R"("methods": "POST,GET")"),
      WithRule(R"("max_body_size": 0)"),
      WithRule(R"("max_body_size": 1)"),
      WithRule(R"("rate": "1/s")"),
      WithRule(R"("rate": "60/m")"),
      WithRule(R"("rate": "1/s", "burst": 2)"),
      WithRule(R"("allow": "::1")"),
      WithRule(R"("deny": "::1")"),
      WithSite(R"("rules": [{"path": "/a"}, {"path": "/b"}])"),
      WithSite(R"("rules": [{"path": "/b"}, {"path": "/a"}])"),
  };
  std::set<std::string> shown;
  for (const std::string& text : all) {
    const std::string once = Shown(text);
    EXPECT_TRUE(shown.insert(once).second) << text;
    EXPECT_TRUE(Json::accept(once)) << once;
    EXPECT_EQ(Shown(text), once);
  }
}

TEST(SiteSettingsTest, AnotherSpellingOfTheSameValuesIsShownTheSame) {
  EXPECT_EQ(Shown("[]"), "");
  EXPECT_EQ(Shown(WithRule(R"("methods": ["POST", "GET"], "max_body_size": "1K")")),
            Shown(WithRule(R"("max_body_size": 1024, "methods": "GET,POST,GET")")));
  EXPECT_EQ(Shown(WithRule(R"("rate": "1/s", "burst": 1)")), Shown(WithRule(R"("rate": "1/s")")));
  EXPECT_EQ(Shown(WithSite(R"("index": "index.html", "dot_files": false)")), Shown(WithSite("")));
}

TEST(SiteSettingsTest, TheSchemaDescribesSites) {
  SitesOptions sites;
  const Json schema = Json::parse(ConfigSchema(SettingsOf(sites).All()))["properties"]["sites"];
  EXPECT_EQ(schema["maxItems"], 1000);
  EXPECT_EQ(schema["items"]["required"], Json({"root_path"}));
  EXPECT_EQ(schema["items"]["additionalProperties"], false);
  const Json& site = schema["items"]["properties"];
  EXPECT_EQ(site["index"]["default"], "index.html");
  EXPECT_EQ(site["index"]["type"], Json({"string", "null"}));
  EXPECT_EQ(site["error_pages"]["additionalProperties"]["type"], "string");
  EXPECT_EQ(site["rules"]["maxItems"], 64);
  const Json& rule = site["rules"]["items"]["properties"];
  EXPECT_EQ(rule["status"]["enum"], Json({301, 302, 303, 307, 308}));
  EXPECT_EQ(rule["status"]["default"], 308);
  EXPECT_EQ(rule["burst"]["default"], 1);
  EXPECT_EQ(rule["burst"]["maximum"], 1'000'000);
  EXPECT_EQ(rule["set"]["additionalProperties"]["type"], "string");
  EXPECT_EQ(rule["fallback"]["minItems"], 1);
  EXPECT_FALSE(rule["rate"].contains("default"));
}

}  // namespace
}  // namespace TURTLE_SERVER
