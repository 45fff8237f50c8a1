// Faults in JSON are described in our own words, whichever version of the parser finds them.
#include "base/json_fault.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace TURTLE_SERVER {
namespace {

auto Text(const JsonFault& fault) -> std::string {
  return std::to_string(fault.line) + ":" + std::to_string(fault.column) + ": " + fault.reason;
}

// Returns the message for `text` when it is parsed, with comments allowed or not.
auto Parsed(std::string_view text, bool comments = false) -> std::string {
  using Json = nlohmann::json;
  try {
    const Json parsed = Json::parse(text.begin(), text.end(), nullptr, true, comments);
    return parsed.is_discarded() ? "discarded" : "";
  } catch (const Json::parse_error& error) {
    return Text(FindJsonFault(text, error.byte));
  }
}

TEST(JsonFaultTest, AByteHasALineAndAColumn) {
  EXPECT_EQ(Text(FindJsonFault("a", 1)), "1:1: unexpected 'a'");
  EXPECT_EQ(Text(FindJsonFault("ab\nc\n\nd", 3)), "1:3: unexpected byte 0x0a");
  EXPECT_EQ(Text(FindJsonFault("ab\nc\n\nd", 4)), "2:1: unexpected 'c'");
  EXPECT_EQ(Text(FindJsonFault("ab\nc\n\nd", 7)), "4:1: unexpected 'd'");
}

TEST(JsonFaultTest, BeyondTheLastByteIsTheEnd) {
  EXPECT_EQ(Text(FindJsonFault("", 1)), "1:1: unexpected end");
  EXPECT_EQ(Text(FindJsonFault("a", 2)), "1:2: unexpected end");
  EXPECT_EQ(Text(FindJsonFault("a\n", 3)), "2:1: unexpected end");
  EXPECT_EQ(Text(FindJsonFault("a\n", 1000)), "2:1: unexpected end");
  EXPECT_EQ(Text(FindJsonFault("", 0)), "1:1: unexpected end");
}

TEST(JsonFaultTest, WhatCannotBePrintedIsANumber) {
  EXPECT_EQ(Text(FindJsonFault(std::string_view("\0", 1), 1)), "1:1: unexpected byte 0x00");
  EXPECT_EQ(Text(FindJsonFault("\x1b[31m", 1)), "1:1: unexpected byte 0x1b");
  EXPECT_EQ(Text(FindJsonFault(" ", 1)), "1:1: unexpected byte 0x20");
  EXPECT_EQ(Text(FindJsonFault("\x7f", 1)), "1:1: unexpected byte 0x7f");
  EXPECT_EQ(Text(FindJsonFault("\xff", 1)), "1:1: unexpected byte 0xff");
}

TEST(JsonFaultTest, TheParserGivesUpWhereTheMistakeIs) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {"", "1:1: unexpected end"},
      {" \n", "2:1: unexpected end"},
      {"[1,", "1:4: unexpected end"},
      {"\"text", "1:6: unexpected end"},
      {"tru", "1:4: unexpected end"},
      {"[1,]", "1:4: unexpected ']'"},
      {"{\"a\": 1,\n \"b\": x}", "2:7: unexpected 'x'"},
      {"{\"a\": [{\"b\": [1, {}}]}]}", "1:20: unexpected '}'"},
      {"{a: 1}", "1:2: unexpected 'a'"},
      {"[-x]", "1:3: unexpected 'x'"},
      {"1 x", "1:3: unexpected 'x'"},
      {"\"\xff\"", "1:2: unexpected byte 0xff"},
      {"\"\xc3(\"", "1:3: unexpected '('"},
      {"\"a\nb\"", "1:3: unexpected byte 0x0a"},
      {"// no", "1:1: unexpected '/'"},
  };
  for (const auto& [text, said] : cases) {
    EXPECT_EQ(Parsed(text), said) << text;
  }
  EXPECT_EQ(Parsed("// yes\n[1 /* yes */]", true), "");
  EXPECT_EQ(Parsed("// yes\n[1 /x]", true), "2:5: unexpected 'x'");
  EXPECT_EQ(Parsed("[1 /* never ended", true), "1:18: unexpected end");
}

}  // namespace
}  // namespace TURTLE_SERVER
