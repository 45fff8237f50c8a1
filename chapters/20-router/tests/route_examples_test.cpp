// The chapter's small programs, from outside.
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <string>

#include "support/child.h"
#include "support/http_client.h"

namespace TURTLE_SERVER {
namespace {

using nlohmann::json;
using test::Child;
using test::Get;
using test::HttpClient;
using test::HttpReply;

auto PortOf(Child& program) -> int {
  const std::string line = program.ReadLine();
  return std::stoi(line.substr(line.rfind(':') + 1));
}

auto PostHead(const std::string& target, std::size_t length, const std::string& fields = "")
    -> std::string {
  return "POST " + target + " HTTP/1.1\r\nHost: t\r\n" + fields +
         "Content-Length: " + std::to_string(length) + "\r\n\r\n";
}

TEST(RouteExamplesTest, HelloSaysHello) {
  Child program(test::ExamplePath("hello_server"), {"0"});
  EXPECT_EQ(HttpClient(PortOf(program)).Ask(Get("/hello")).body, "hello\n");
  program.Signal(SIGTERM);
  EXPECT_EQ(program.Wait(), 0);
}

TEST(RouteExamplesTest, JsonIsCalculated) {
  Child program(test::ExamplePath("json_arithmetic"), {"0"});
  HttpClient client(PortOf(program));
  const auto ask = [&client](const std::string& body) {
    return client.Ask(PostHead("/json", body.size()) + body);
  };
  for (const double n : {5.0, 2.5, -1e300}) {
    const json reply = json::parse(ask(json{{"value", n}, {"more", "ignored"}}.dump()).body);
    EXPECT_EQ(reply.size(), 5U);
    EXPECT_EQ(reply["plus"], n + 20);
    EXPECT_EQ(reply["minus"], n - 69);
    EXPECT_EQ(reply["plus_float"], n + 3.14);
    EXPECT_EQ(reply["list"], json({n, 2 * n, 3.14 * n}));
    EXPECT_EQ(reply["object"], json({{"item1", n},
                                     {"item2", true},
                                     {"item3", n - 3.14},
                                     {"anotherList", {n - 1, n - 2.5, "somestr", false, n}}}));
  }
  EXPECT_TRUE(json::parse(ask(R"({"value": 5})").body)["plus"].is_number_integer());
  EXPECT_EQ(json::parse(ask("{}").body)["plus"], 20) << "a value that is missing is 0";
  const HttpReply broken = ask(R"({"value": )");
  EXPECT_EQ(broken.status, 400);
  EXPECT_NE(broken.body.find("line 1, column 11"), std::string::npos) << broken.body;
  EXPECT_EQ(ask("[]").status, 400);
  EXPECT_EQ(ask(R"({"value": "5"})").status, 400);
  EXPECT_EQ(client.Ask(Get("/json")).status, 405);
}

}  // namespace
}  // namespace TURTLE_SERVER
