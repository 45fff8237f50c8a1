#include "http/headers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

namespace TURTLE_SERVER {
namespace {

TEST(KnownFieldTest, EveryNameIsRecognisedInAnyCase) {
  for (std::size_t i = 1; i < kKnownFieldCount; ++i) {
    const auto field = static_cast<KnownField>(i);
    std::string name(NameOf(field));
    ASSERT_FALSE(name.empty());
    EXPECT_EQ(KnownFieldOf(name), field) << name;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    EXPECT_EQ(KnownFieldOf(name), field) << name;
    name.back() = '_';
    EXPECT_EQ(KnownFieldOf(name), KnownField::kNone) << name;
    EXPECT_EQ(KnownFieldOf(std::string(NameOf(field)) + "x"), KnownField::kNone) << name;
  }
  EXPECT_EQ(KnownFieldOf(""), KnownField::kNone);
  EXPECT_EQ(KnownFieldOf("x-unheard-of"), KnownField::kNone);
}

TEST(KnownFieldTest, OnlyTheCaseOfLettersIsOverlooked) {
  for (std::size_t i = 1; i < kKnownFieldCount; ++i) {
    const auto field = static_cast<KnownField>(i);
    const std::string name(NameOf(field));
    for (std::size_t at = 0; at < name.size(); ++at) {
      std::string other = name;
      for (int byte = 0; byte < 256; ++byte) {
        other[at] = static_cast<char>(byte);
        const bool is_same = ascii::EqualIgnoreCase(other, name);
        EXPECT_EQ(KnownFieldOf(other) == field, is_same) << other;
      }
    }
  }
}

class HeadersTest : public testing::Test {
 protected:
  HeadersTest() {
    headers_.Add("X-First", "1");
    headers_.Add("ACCEPT", "text/html");
    headers_.Add("x-FIRST", "2");
    headers_.Add("Accept", "");
    headers_.Add("accept", "*/*");
  }

  Headers headers_;
};

TEST_F(HeadersTest, FindsTheFirstInAnyCase) {
  EXPECT_EQ(headers_.Find(KnownField::kAccept), "text/html");
  EXPECT_EQ(headers_.Find("aCCEPT"), "text/html");
  EXPECT_EQ(headers_.Find("x-first"), "1");
  EXPECT_EQ(headers_.Find("x-firs"), std::nullopt);
  EXPECT_EQ(headers_.Find(KnownField::kHost), std::nullopt);
  EXPECT_EQ(headers_.Find("host"), std::nullopt);
}

TEST_F(HeadersTest, VisitsAllOfANameInOrder) {
  std::vector<std::string_view> values;
  const auto collect = [&](std::string_view value) { values.push_back(value); };
  headers_.ForEach(KnownField::kAccept, collect);
  EXPECT_EQ(values, (std::vector<std::string_view>{"text/html", "", "*/*"}));
  values.clear();
  headers_.ForEach("X-first", collect);
  EXPECT_EQ(values, (std::vector<std::string_view>{"1", "2"}));
  EXPECT_EQ(headers_.Count(KnownField::kAccept), 3u);
  EXPECT_EQ(headers_.Count(KnownField::kCookie), 0u);
}

TEST_F(HeadersTest, KeepsOrderAndSpelling) {
  ASSERT_EQ(headers_.Size(), 5u);
  EXPECT_EQ(headers_.begin()->name, "X-First");
  EXPECT_EQ((headers_.end() - 1)->name, "accept");
}

TEST_F(HeadersTest, AnEmptyValueIsAValue) {
  Headers headers;
  headers.Add("Cookie", "");
  EXPECT_TRUE(headers.Has(KnownField::kCookie));
  EXPECT_EQ(headers.Find(KnownField::kCookie), "");
}

TEST_F(HeadersTest, ClearForgetsEverything) {
  headers_.Clear();
  EXPECT_EQ(headers_.Size(), 0u);
  EXPECT_FALSE(headers_.Has(KnownField::kAccept));
  headers_.Add("Host", "a");
  EXPECT_EQ(headers_.Find(KnownField::kHost), "a");
  EXPECT_EQ(headers_.Find(KnownField::kAccept), std::nullopt);
}

}  // namespace
}  // namespace TURTLE_SERVER
