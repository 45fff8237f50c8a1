#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "http/http_error.h"
#include "http/json.h"

namespace TURTLE_SERVER {
namespace {

using nlohmann::json;

// Returns the status of the exception that `read` throws; 0: none.
template <typename Read>
auto StatusOf(const Read& read) -> int {
  try {
    read();
    return 0;
  } catch (const HttpError& error) {
    return error.Status();
  }
}

// Returns its text; "": nothing is thrown.
template <typename Read>
auto DetailOf(const Read& read) -> std::string {
  try {
    read();
    return "";
  } catch (const HttpError& error) {
    return error.what();
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

// "The JSON does not have the expected form" helps no client.
TEST(RequestJsonTest, ARefusalNamesTheMemberAndWhatIsWrong) {
  const RequestJson sent(json::parse(
      R"({"n":3.7,"text":7,"none":null,"items":[{},{"from":1},{"from":[],"on":{"a.b":"x"}}]})"));
  const RequestJson item = sent.at("items").at(2);
  const auto text = [](const RequestJson& of) {
    return DetailOf([&] { static_cast<void>(of.get<std::string>()); });
  };
  const auto number = [](const RequestJson& of) {
    return DetailOf([&] { static_cast<void>(of.get<std::int8_t>()); });
  };
  const auto at = [](const RequestJson& of, const auto& key) {
    return DetailOf([&] { static_cast<void>(of.at(key)); });
  };
  EXPECT_EQ(at(sent, "m"), "m is missing");
  EXPECT_EQ(at(sent.at("items"), 3), "items[3] is missing");
  EXPECT_EQ(at(item, std::string("to")), "items[2].to is missing");
  EXPECT_EQ(at(sent.at("text"), "x"), "text: expected an object, not a number");
  EXPECT_EQ(at(RequestJson(json::array()), 0), "[0] is missing");
  EXPECT_EQ(at(sent, 0), "the JSON: expected an array, not an object");
  EXPECT_EQ(at(sent, json::json_pointer("/m")), "the JSON does not have the expected form");
  EXPECT_EQ(text(sent), "the JSON: expected a string, not an object");
  EXPECT_EQ(text(sent.at("text")), "text: expected a string, not a number");
  EXPECT_EQ(text(sent.at("none")), "none: expected a string, not null");
  EXPECT_EQ(text(item.at("from")), "items[2].from: expected a string, not an array");
  EXPECT_EQ(number(item.at("from")), "items[2].from: expected an integer, not an array");
  EXPECT_EQ(number(item.at("on").at("a.b")), "items[2].on.a.b: expected an integer, not a string");
  EXPECT_EQ(number(sent.at("n")), "n: expected an integer from -128 to 127");
  EXPECT_EQ(DetailOf([&] { static_cast<void>(sent.value("text", "x")); }),
            "text: expected a string, not a number");
  EXPECT_EQ(DetailOf([&] { static_cast<void>(sent.at("items").value("n", 1)); }),
            "items: expected an object, not an array");
  EXPECT_EQ(DetailOf([&] { static_cast<void>(sent.at("none").get<bool>()); }),
            "none: expected a boolean, not null");
  EXPECT_EQ(DetailOf([&] { static_cast<void>(sent.at("none").get<std::vector<int>>()); }),
            "none: expected an array, not null");
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

TEST(RequestJsonTest, ANumberThatDoesNotFitIsARefusalInAListToo) {
  const RequestJson sent(json::parse(R"({"right":[3,-4],"list":[1,3.7],"lists":[[1],[2,1e300]]})"));
  EXPECT_EQ(sent.at("right").get<std::vector<int>>(), (std::vector<int>{3, -4}));
  EXPECT_EQ(DetailOf([&] { static_cast<void>(sent.at("list").get<std::vector<int>>()); }),
            "list[1]: expected an integer from -2147483648 to 2147483647");
  using Lists = std::vector<std::vector<std::int8_t>>;
  EXPECT_EQ(DetailOf([&] { static_cast<void>(sent.at("lists").get<Lists>()); }),
            "lists[1][1]: expected an integer from -128 to 127");
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
