#include "app/variables.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

namespace TURTLE_SERVER {
namespace {

using std::string_view_literals::operator""sv;

auto LookUp(const std::string& name) -> const char* {
  static const std::map<std::string, std::string> variables = {
      {"SITE", "turtle"}, {"EMPTY", ""},      {"A", "one"},
      {"AB", "two"},      {"_x9", "three"},   {"MONEY", "$5 ${SITE} $$"},
      {"BRACE", "a}b"},   {"DASH", ":-words"}};
  const auto found = variables.find(name);
  return found == variables.end() ? nullptr : found->second.c_str();
}

auto Replaced(std::string_view text) -> std::string { return ReplaceVariables(text, LookUp); }

auto Refusal(std::string_view text) -> std::string {
  try {
    return "no refusal: " + Replaced(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(VariablesTest, AreReplaced) {
  EXPECT_EQ(Replaced("/srv/${SITE}/pages"), "/srv/turtle/pages");
  EXPECT_EQ(Replaced("${A}${AB}${_x9}"), "onetwothree");
  EXPECT_EQ(Replaced("${EMPTY}"), "");
}

TEST(VariablesTest, OtherTextStays) {
  EXPECT_EQ(Replaced(""), "");
  EXPECT_EQ(Replaced("no variables { } :- here"), "no variables { } :- here");
  EXPECT_EQ(Replaced("a\0b"sv), "a\0b"sv);
  EXPECT_EQ(Replaced("5 $$, {A} and $${A}"), "5 $, {A} and ${A}");
  EXPECT_EQ(Replaced("$$$$$$"), "$$$");
  EXPECT_EQ(Replaced("$$${A}}"), "$one}");
}

TEST(VariablesTest, ThereMayBeWordsInstead) {
  EXPECT_EQ(Replaced("${NONE:-words}"), "words");
  EXPECT_EQ(Replaced("${EMPTY:-words}"), "words") << "as in a shell";
  EXPECT_EQ(Replaced("${SITE:-words}"), "turtle");
  EXPECT_EQ(Replaced("[${NONE:-}]"), "[]");
  EXPECT_EQ(Replaced("${NONE:-a :- b $ {c}"), "a :- b $ {c");
  EXPECT_EQ(Replaced("${NONE:-${A}}"), "${A}") << "words are words";
  EXPECT_EQ(Replaced("${SITE:-${A}}"), "turtle}");
}

TEST(VariablesTest, WhatIsPutInIsNotLookedAtAgain) {
  EXPECT_EQ(Replaced("${MONEY}"), "$5 ${SITE} $$");
  EXPECT_EQ(Replaced("${BRACE}${DASH}"), "a}b:-words");
}

TEST(VariablesTest, Mistakes) {
  EXPECT_EQ(Refusal("${NONE}"), "${NONE} is not set");
  EXPECT_EQ(Refusal("${A} ${site}"), "${site} is not set");
  EXPECT_EQ(Refusal("cost: $5"), "$ at 7 is neither $$ nor ${NAME}");
  EXPECT_EQ(Refusal("$"), "$ at 1 is neither $$ nor ${NAME}");
  EXPECT_EQ(Refusal("$$$"), "$ at 3 is neither $$ nor ${NAME}");
  EXPECT_EQ(Refusal("$A"), "$ at 1 is neither $$ nor ${NAME}");
  EXPECT_EQ(Refusal("a ${A"), "${ at 3 is not ended");
  EXPECT_EQ(Refusal("${A} ${"), "${ at 6 is not ended");
  EXPECT_EQ(Refusal("${A:-words"), "${ at 1 is not ended");
  for (const std::string_view bad : {"${}"sv, "${9}"sv, "${A B}"sv, "${A-B}"sv, "${:-x}"sv,
                                     "${A:}"sv, "${A:x}"sv, "${A\0}"sv, "${\xc3\xa4}"sv}) {
    EXPECT_EQ(Refusal(bad), "$ at 1 is neither $$ nor ${NAME}") << bad;
  }
  EXPECT_EQ(Refusal("${NONE} $"), "${NONE} is not set") << "the first mistake";
}

TEST(VariablesTest, TheEnvironmentIsAskedByItself) {
  ASSERT_EQ(::setenv("TURTLE_VARIABLES_TEST", "it is", 1), 0);
  EXPECT_EQ(ReplaceVariables("${TURTLE_VARIABLES_TEST}"), "it is");
  ASSERT_EQ(::unsetenv("TURTLE_VARIABLES_TEST"), 0);
  EXPECT_EQ(ReplaceVariables("${TURTLE_VARIABLES_TEST:-it was}"), "it was");
}

}  // namespace
}  // namespace TURTLE_SERVER
