#include "http/parameters.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace TURTLE_SERVER {
namespace {

// Returns "name=value|name=value|", and "bad" after them if the rest is no parameter.
auto Taken(std::string_view rest, Backslash backslash = Backslash::kEscape) -> std::string {
  std::string taken;
  Parameter parameter;
  ParameterState state = ParameterState::kTaken;
  while ((state = TakeParameter(rest, parameter, backslash)) == ParameterState::kTaken) {
    taken.append(parameter.name).append("=").append(parameter.value).append("|");
  }
  return state == ParameterState::kBad ? taken + "bad" : taken;
}

TEST(ParametersTest, WhatStandsBeforeThem) {
  EXPECT_EQ(WithoutParameters("text/html; charset=utf-8"), "text/html");
  EXPECT_EQ(WithoutParameters(" text/html\t;a=b;c=d"), "text/html");
  EXPECT_EQ(WithoutParameters("text/html"), "text/html");
  EXPECT_EQ(WithoutParameters("; a=b"), "");
  EXPECT_EQ(WithoutParameters(""), "");
}

TEST(ParametersTest, OneAfterTheOther) {
  EXPECT_EQ(Taken("; charset=utf-8"), "charset=utf-8|");
  EXPECT_EQ(Taken(";a=1 ; \tb=\"2; c=3\";c=4"), "a=1|b=2; c=3|c=4|");
  EXPECT_EQ(Taken(""), "");
  EXPECT_EQ(Taken(" \t"), "");
  EXPECT_EQ(Taken(";; ;a=b; ;"), "a=b|");
}

TEST(ParametersTest, ABackslashKeepsAQuoteFromEndingTheValue) {
  EXPECT_EQ(Taken(R"(;a="b\"c";d=e)"), R"(a=b\"c|d=e|)");
  EXPECT_EQ(Taken(R"(;a="b\\";d=e)"), R"(a=b\\|d=e|)");
  EXPECT_EQ(Taken(R"(;a="C:\b")"), R"(a=C:\b|)");
  EXPECT_EQ(Taken(R"(;a="")"), "a=|");
}

TEST(ParametersTest, InAFormABackslashProtectsAQuoteThatDoesNotEndTheValue) {
  EXPECT_EQ(Taken(R"(;a="x\";d=e)", Backslash::kForm), R"(a=x\|d=e|)");
  EXPECT_EQ(Taken(R"(;a="\\";d="\")", Backslash::kForm), R"(a=\\|d=\|)");
  EXPECT_EQ(Taken(R"(;a="b\"c")", Backslash::kForm), R"(a=b\"c|)");
  EXPECT_EQ(Taken(R"(;a="\"" ;d="\"x\"")", Backslash::kForm), R"(a=\"|d=\"x\"|)");
  EXPECT_EQ(Taken(R"(;a="b\" c)", Backslash::kForm), "bad") << "no end";
  EXPECT_EQ(Taken(R"(;a="b\c\\" c)", Backslash::kForm), "bad") << "no end";
}

TEST(ParametersTest, WhatIsNone) {
  for (const std::string_view other : {"a=b", ";a", ";a=", ";=b", "; a =b", ";a= b", ";a=\"b",
                                       ";a=\"b\\\"", ";a=\"b\\", ";a=\"", ";\"a\"=b", ";a;b=c"}) {
    EXPECT_EQ(Taken(other), "bad") << other;
  }
  EXPECT_EQ(Taken(";a=b,c=d"), "a=b|bad");
  EXPECT_EQ(Taken(";a=b c"), "a=b|bad");
  EXPECT_EQ(Taken(";a=\"b\"c"), "a=b|bad");
}

}  // namespace
}  // namespace TURTLE_SERVER
