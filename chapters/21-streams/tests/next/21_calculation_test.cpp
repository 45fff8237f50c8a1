// A handler that calculates must not keep its neighbours waiting.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <string>

#include "support/child.h"
#include "support/http_client.h"

namespace TURTLE_SERVER {
namespace {

TEST(Calculation, AQuickAnswerDoesNotWaitForASlowOne) {
  test::Child calc(test::ExamplePath("calc"), {"0"});
  const std::string line = calc.ReadLine();
  const int port = std::stoi(line.substr(line.rfind(':') + 1));
  test::HttpClient patient(port);
  ASSERT_TRUE(patient.Send(test::Get("/fib/40")));
  ASSERT_EQ(calc.ReadLine(), "fib(40) begins");
  test::HttpClient neighbour(port);
  EXPECT_EQ(neighbour.Ask(test::Get("/hello")).body, "hello\n");
  EXPECT_FALSE(patient.HasInput(std::chrono::milliseconds(0))) << "hello waited for fib(40)";
  EXPECT_TRUE(patient.HasInput(std::chrono::minutes(1)));  // long where each call is counted
  EXPECT_EQ(patient.ReadReply().body, "102334155\n");
  calc.Signal(SIGTERM);
  EXPECT_EQ(calc.Wait(), 0);
}

}  // namespace
}  // namespace TURTLE_SERVER
