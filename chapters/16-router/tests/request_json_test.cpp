#include "http/request_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "http/http_error.h"

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

TEST(RequestJsonTest, ThePlainValueIsTheHandlersBusiness) {
  const RequestJson sent(json{{"n", 7}});
  const json plain = sent;
  EXPECT_EQ(plain, (json{{"n", 7}}));
  EXPECT_THROW(static_cast<void>(plain.at("m")), json::exception);
  EXPECT_THROW(static_cast<void>(sent.Value().at("m")), json::exception);
}

TEST(RequestJsonTest, APartOutlivesTheWhole) {
  const RequestJson part = RequestJson(json{{"text", std::string(100, 'x')}}).at("text");
  EXPECT_EQ(part.get<std::string>(), std::string(100, 'x'));
}

}  // namespace
}  // namespace TURTLE_SERVER
