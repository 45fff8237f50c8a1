#include "http/form.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace TURTLE_SERVER {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

auto FieldsOf(const Form& form) -> Fields {
  Fields fields;
  for (const FormField& field : form) {
    fields.emplace_back(field.name, field.value);
  }
  return fields;
}

auto Parsed(std::string_view text) -> Fields {
  Form form;
  const HeadFault fault = form.Parse(text);
  EXPECT_FALSE(fault) << text << ": " << fault.reason;
  return FieldsOf(form);
}

// Encodes a text, so that anything can be sent through Parse().
auto Encoded(std::string_view text) -> std::string {
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == ' ') {
      encoded += '+';
    } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      encoded += c;
    } else {
      encoded += '%';
      encoded += "0123456789ABCDEF"[byte / 16];
      encoded += "0123456789abcdef"[byte % 16];
    }
  }
  return encoded;
}

auto LooksInto(std::string_view view, std::string_view text) -> bool {
  return view.data() >= text.data() && view.data() + view.size() <= text.data() + text.size();
}

TEST(FormTest, FieldsInTheirOrder) {
  EXPECT_EQ(Parsed("b=2&a=1&b=3"), (Fields{{"b", "2"}, {"a", "1"}, {"b", "3"}}));
  EXPECT_EQ(Parsed("name=Ada+Lovelace&note=50%25"),
            (Fields{{"name", "Ada Lovelace"}, {"note", "50%"}}));
  EXPECT_EQ(Parsed(""), Fields{});
}

TEST(FormTest, WhatIsLeftAwayIsEmpty) {
  EXPECT_EQ(Parsed("a"), (Fields{{"a", ""}}));
  EXPECT_EQ(Parsed("a="), (Fields{{"a", ""}}));
  EXPECT_EQ(Parsed("=a"), (Fields{{"", "a"}}));
  EXPECT_EQ(Parsed("="), (Fields{{"", ""}}));
  EXPECT_EQ(Parsed("a&b"), (Fields{{"a", ""}, {"b", ""}}));
  EXPECT_EQ(Parsed("a=1&&b=2&"), (Fields{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(Parsed("&&&"), Fields{});
}

TEST(FormTest, OnlyTheFirstEqualsSignAndNoSemicolonDivides) {
  EXPECT_EQ(Parsed("a=b=c=="), (Fields{{"a", "b=c=="}}));
  EXPECT_EQ(Parsed("a=1;b=2"), (Fields{{"a", "1;b=2"}}));
  EXPECT_EQ(Parsed("a=1?b=2"), (Fields{{"a", "1?b=2"}}));
  EXPECT_EQ(Parsed("a%3Db=c%26d"), (Fields{{"a=b", "c&d"}})) << "divided first, then decoded";
}

TEST(FormTest, EveryByteCanBeWritten) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    all += static_cast<char>(byte);
  }
  EXPECT_EQ(Parsed(Encoded(all) + "=" + Encoded(all)), (Fields{{all, all}}));
  EXPECT_EQ(Parsed("\xc3\xa4=\xff"), (Fields{{"\xc3\xa4", "\xff"}})) << "and need not be escaped";
}

TEST(FormTest, DecodesOnce) {
  EXPECT_EQ(Parsed("a=%2525&b=%2b&c=%2B+%2b"), (Fields{{"a", "%25"}, {"b", "+"}, {"c", "+ +"}}));
}

// People type "?q=100%", and no browser refuses it.
TEST(FormTest, AnEscapeThatIsNoneStandsForItself) {
  EXPECT_EQ(Parsed("q=100%"), (Fields{{"q", "100%"}}));
  EXPECT_EQ(Parsed("q=%4&r=%"), (Fields{{"q", "%4"}, {"r", "%"}}));
  EXPECT_EQ(Parsed("q=%zz%g1%1g%%41%-1%+1"), (Fields{{"q", "%zz%g1%1g%A%-1% 1"}}));
  EXPECT_EQ(Parsed("%=%&1"), (Fields{{"%", "%"}, {"1", ""}})) << "none reaches over a separator";
  EXPECT_EQ(Parsed(std::string_view("a=%41").substr(0, 4)), (Fields{{"a", "%4"}})) << "or the end";
}

TEST(FormTest, FoundByName) {
  Form form;
  ASSERT_FALSE(form.Parse("tag=a&Tag=A&n+m=x&tag=b&empty"));
  EXPECT_EQ(form.Find("tag"), "a");
  EXPECT_EQ(form.Find("Tag"), "A");
  EXPECT_EQ(form.Find("n m"), "x");
  EXPECT_EQ(form.Find("empty"), "");
  EXPECT_EQ(form.Find("missing"), std::nullopt);
  EXPECT_EQ(form.Find("ta"), std::nullopt);
  EXPECT_EQ(form.Size(), 5U);
  std::string all;
  form.ForEach("tag", [&](std::string_view value) { all += value; });
  EXPECT_EQ(all, "ab");
}

TEST(FormTest, TheNumberOfFieldsIsBoundedExactly) {
  FormLimits limits;
  limits.max_fields = 2;
  Form form;
  EXPECT_FALSE(form.Parse("&a=1&&b=2&", limits));
  EXPECT_EQ(form.Size(), 2U);
  const HeadFault fault = form.Parse("a=1&b=2&c", limits);
  EXPECT_EQ(fault.status, 400);
  EXPECT_STRNE(fault.reason, "");
  EXPECT_EQ(form.Size(), 0U) << "a part of a form would pass for the whole";
  limits.max_fields = 0;
  EXPECT_FALSE(form.Parse("&&", limits));
  EXPECT_TRUE(form.Parse("a", limits));
}

TEST(FormTest, WhatNeedsNoDecodingIsAViewIntoTheText) {
  const std::string text = "plain=value&name=two+words&other=1";
  Form form;
  ASSERT_FALSE(form.Parse(text));
  for (const FormField& field : form) {
    EXPECT_TRUE(LooksInto(field.name, text)) << field.name;
    EXPECT_EQ(LooksInto(field.value, text), field.value != "two words") << field.value;
  }
}

TEST(FormTest, ReadsOneAfterTheOther) {
  Form form;
  ASSERT_FALSE(form.Parse("a=%41%42%43&b=2"));
  ASSERT_FALSE(form.Parse("c=x+y"));
  EXPECT_EQ(FieldsOf(form), (Fields{{"c", "x y"}}));
  form.Clear();
  EXPECT_EQ(FieldsOf(form), Fields{});
  EXPECT_EQ(form.Find("c"), std::nullopt);
}

TEST(FormTest, ViewsSurviveAMove) {
  const std::string text = "a=1+2&b=3";
  Form form;
  ASSERT_FALSE(form.Parse(text));
  const std::string_view value = *form.Find("a");
  const Form moved = std::move(form);
  EXPECT_EQ(moved.Find("a"), "1 2");
  EXPECT_EQ(moved.Find("a")->data(), value.data());
}

// Memory that grows must not leave dangling views into the decoded bytes.
TEST(FormTest, WhateverIsEncodedComesBack) {
  std::mt19937 random(16);
  Form form;
  for (int round = 0; round < 2000; ++round) {
    Fields fields;
    std::string text;
    for (std::size_t count = random() % 20; count > 0; --count) {
      std::string name(random() % 5, '\0');
      std::string value(random() % 30, '\0');
      for (std::string* each : {&name, &value}) {
        for (char& c : *each) {
          c = random() % 3 == 0 ? static_cast<char>(random()) : 'x';
        }
      }
      text += Encoded(name) + "=" + Encoded(value) + "&";
      fields.emplace_back(name, value);
    }
    ASSERT_FALSE(form.Parse(text));
    ASSERT_EQ(FieldsOf(form), fields) << text;
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
