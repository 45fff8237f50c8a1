#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "http/http_error.h"
#include "http/json.h"

namespace TURTLE_SERVER {
namespace {

using nlohmann::json;

// The status of what `read` throws; 0: nothing.
template <typename Read>
auto StatusOf(const Read& read) -> int {
  try {
    read();
    return 0;
  } catch (const HttpError& error) {
    return error.Status();
  }
}

TEST(RequestJsonTest, ReadsAsTheLibraryDoes) {
  const RequestJson sent(json{{"n", 7}, {"list", {1, "two"}}, {"text", "x"}});
  EXPECT_EQ(sent.at("n").get<int>(), 7);
  EXPECT_EQ(sent.at("list").at(1).get<std::string>(), "two");
  EXPECT_EQ(sent.value("n", 0), 7);
  EXPECT_EQ(sent.value("m", 1.5), 1.5);
  EXPECT_EQ(sent.value("text", "y"), "x");
  EXPECT_EQ(sent.value("none", "y"), "y");
  EXPECT_TRUE(sent.contains("n"));
  EXPECT_FALSE(sent.contains("m"));
}

TEST(RequestJsonTest, AnotherFormThanIsWantedIsARefusal) {
  const RequestJson sent(json{{"n", 7}, {"list", {1}}});
  EXPECT_EQ(StatusOf([&] { static_cast<void>(sent.at("m")); }), 400);
  EXPECT_EQ(StatusOf([&] { static_cast<void>(sent.at("list").at(1)); }), 400);
  EXPECT_EQ(StatusOf([&] { static_cast<void>(sent.at("n").at("x")); }), 400);
  EXPECT_EQ(StatusOf([&] { static_cast<void>(sent.at("n").get<std::string>()); }), 400);
  EXPECT_EQ(StatusOf([&] { static_cast<void>(sent.value("n", "x")); }), 400);
  EXPECT_EQ(StatusOf([&] { static_cast<void>(sent.at("list").value("n", 1)); }), 400);
}

TEST(RequestJsonTest, ANumberThatDoesNotFitIsARefusal) {
  const RequestJson sent(json::parse(
      R"({"3.7":3.7,"1e300":1e300,"2^31":2147483648,"-2^31-1":-2147483649,"-1":-1,"256":256,
          "2^64-1":18446744073709551615,"max":2147483647,"min":-2147483648,"true":true})"));
  for (const char* const name : {"3.7", "1e300", "2^31", "-2^31-1", "2^64-1", "true"}) {
    EXPECT_EQ(StatusOf([&] { static_cast<void>(sent.at(name).get<int>()); }), 400) << name;
    EXPECT_EQ(StatusOf([&] { static_cast<void>(sent.value(name, 0)); }), 400) << name;
  }
  EXPECT_EQ(StatusOf([&] { static_cast<void>(sent.at("-1").get<std::size_t>()); }), 400);
  EXPECT_EQ(StatusOf([&] { static_cast<void>(sent.at("256").get<std::uint8_t>()); }), 400);
  EXPECT_EQ(StatusOf([&] { static_cast<void>(sent.at("2^64-1").get<std::int64_t>()); }), 400);
  EXPECT_EQ(sent.at("2^64-1").get<std::uint64_t>(), 18446744073709551615U);
  EXPECT_EQ(sent.at("max").get<int>(), 2147483647);
  EXPECT_EQ(sent.at("min").get<int>(), -2147483647 - 1);
  EXPECT_EQ(sent.at("3.7").get<double>(), 3.7);
  EXPECT_TRUE(sent.at("true").get<bool>());
}

TEST(RequestJsonTest, ThePlainValueIsTheHandlersBusiness) {
  const RequestJson sent(json{{"n", 7}});
  const json plain = sent;
  EXPECT_EQ(plain, (json{{"n", 7}}));
  EXPECT_THROW(static_cast<void>(plain.at("m")), json::exception);
  EXPECT_THROW(static_cast<void>(sent.Value().at("m")), json::exception);
}

TEST(RequestJsonTest, AReferenceToThePlainValueOfATemporaryOutlivesIt) {
  const auto sent = [] { return RequestJson(json{{"list", {1, 2}}}); };
  const json& converted = sent();
  const json& plain = sent().at("list").Value();
  const json copied = sent();
  int sum = 0;
  for (const json& each : sent().at("list").Value()) {
    sum += each.get<int>();
  }
  EXPECT_EQ(converted, copied);
  EXPECT_EQ(plain.size(), 2U);
  EXPECT_EQ(sum, 3);
}

TEST(RequestJsonTest, APartOutlivesTheWhole) {
  const RequestJson part = RequestJson(json{{"text", std::string(100, 'x')}}).at("text");
  EXPECT_EQ(part.get<std::string>(), std::string(100, 'x'));
}

}  // namespace
}  // namespace TURTLE_SERVER
