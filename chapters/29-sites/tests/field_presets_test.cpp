#include "sites/field_presets.h"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "http/response.h"
#include "sites/site.h"

namespace TURTLE_SERVER {
namespace {

using Kind = FieldEdit::Kind;
using Texts = std::vector<std::string>;

constexpr const char* kSelf =
    "default-src 'self'; frame-ancestors 'none'; base-uri 'self'; form-action 'self'";

auto Lines(const std::vector<FieldEdit>& edits) -> Texts {
  Texts lines;
  for (const FieldEdit& edit : edits) {
    lines.push_back(edit.name + ": " + edit.value);
    EXPECT_EQ(edit.kind, Kind::kSet) << edit.name;
    EXPECT_NO_THROW(CheckField(edit));
  }
  return lines;
}

// A response of a site with one rule.
auto After(const SiteRule& rule) -> Response {
  SiteOptions options;
  options.is_default = true;
  options.rules.push_back(rule);
  const Site site(options);
  const RuleBits rules = site.RulesFor("/");
  EXPECT_TRUE(site.Edits(rules));
  Response response(200);
  response.Set("Cache-Control", "private");
  site.Edit(rules, response, Edited::kWhole);
  return response;
}

TEST(FieldPresetsTest, EachPresetSetsItsFields) {
  const std::vector<std::pair<std::string, Texts>> cases = {
      {"hsts", {"Strict-Transport-Security: max-age=31536000"}},
      {"no-sniff", {"X-Content-Type-Options: nosniff"}},
      {"no-frames", {"X-Frame-Options: DENY", "Content-Security-Policy: frame-ancestors 'none'"}},
      {"origin-referrer", {"Referrer-Policy: strict-origin-when-cross-origin"}},
      {"csp-self", {std::string("Content-Security-Policy: ") + kSelf}},
      {"cache-forever", {"Cache-Control: public, max-age=31536000, immutable"}},
      {"no-store", {"Cache-Control: no-store"}},
      {"revalidate", {"Cache-Control: no-cache"}}};
  Texts names;
  for (const auto& [name, lines] : cases) {
    EXPECT_EQ(Lines(PresetEdits(name)), lines) << name;
    names.push_back(name);
  }
  EXPECT_EQ(PresetNames(), names);
}

TEST(FieldPresetsTest, AnyOtherNameIsNone) {
  for (const char* name : {"", "HSTS", "hsts ", "hst", "Cache-Control", "no-"}) {
    EXPECT_TRUE(PresetEdits(name).empty()) << name;
  }
  EXPECT_THROW(static_cast<void>(EditsOfPresets({"hsts", "hst"})), std::invalid_argument);
}

TEST(FieldPresetsTest, SeveralAreInTheirOrder) {
  EXPECT_EQ(EditsOfPresets({}).size(), 0U);
  EXPECT_EQ(Lines(EditsOfPresets({"no-store", "hsts"})),
            (Texts{"Cache-Control: no-store", "Strict-Transport-Security: max-age=31536000"}));
  EXPECT_EQ(Lines(EditsOfPresets({"no-store", "revalidate"})),
            (Texts{"Cache-Control: no-store", "Cache-Control: no-cache"}));
}

TEST(FieldPresetsTest, FramesNeedNoSecondPolicy) {
  const std::string policy = std::string("Content-Security-Policy: ") + kSelf;
  EXPECT_EQ(Lines(EditsOfPresets({"no-frames", "csp-self"})),
            (Texts{"X-Frame-Options: DENY", policy}));
  EXPECT_EQ(Lines(EditsOfPresets({"csp-self", "no-frames"})),
            (Texts{policy, "X-Frame-Options: DENY"}));
}

TEST(FieldPresetsTest, TheResponsesOfASiteHaveThem) {
  SiteRule rule;
  rule.presets = {"hsts", "no-store"};
  const Response response = After(rule);
  EXPECT_EQ(response.Find("Strict-Transport-Security"), "max-age=31536000");
  EXPECT_EQ(response.Find("Cache-Control"), "no-store");
}

TEST(FieldPresetsTest, TheOtherChangesOfARuleWin) {
  SiteRule rule;
  rule.presets = {"hsts", "no-store", "no-frames"};
  rule.fields = {{Kind::kRemove, "Content-Security-Policy", ""},
                 {Kind::kSet, "strict-transport-security", "max-age=60"}};
  const Response response = After(rule);
  EXPECT_EQ(response.Find("Strict-Transport-Security"), "max-age=60");
  EXPECT_EQ(response.Find("Content-Security-Policy"), std::nullopt);
  EXPECT_EQ(response.Find("X-Frame-Options"), "DENY");
}

TEST(FieldPresetsTest, APreparedResponseGetsTheSameFields) {
  SiteOptions options;
  options.is_default = true;
  options.rules.emplace_back();
  options.rules[0].presets = {"no-store", "no-sniff"};
  options.rules[0].fields = {{Kind::kSet, "Cache-Control", "private"}};
  const Site site(options);
  std::string lines;
  EXPECT_TRUE(site.AppendLines(site.RulesFor("/"), "", "Content-Type: a/b\r\n\r\n", lines));
  EXPECT_EQ(lines, "X-Content-Type-Options: nosniff\r\nCache-Control: private\r\n");
}

TEST(FieldPresetsTest, ASiteNamesTheRuleWithAnUnknownOne) {
  SiteOptions options;
  options.names = {"example.org"};
  options.rules.resize(2);
  options.rules[1].presets = {"hst"};
  try {
    const Site site(options);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "site example.org, rule 1: preset \"hst\": there is none of that name");
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
