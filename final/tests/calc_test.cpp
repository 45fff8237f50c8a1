// The calculator, from outside.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "support/child.h"
#include "support/http_client.h"

namespace TURTLE_SERVER {
namespace {

using test::ExampleServer;
using test::Get;
using test::HttpClient;

// Runs with the two threads of the pool, and without any.
class CalcTest : public testing::TestWithParam<const char*> {
 protected:
  ExampleServer calc{"calc", {"0", GetParam()}};
};

TEST_P(CalcTest, CalculatesLogarithms) {
  HttpClient client(calc.Port());
  EXPECT_EQ(client.Ask(Get("/calc?value=0.605690")).body, "0.473554");
  EXPECT_EQ(client.Ask(Get("/calc?value=0")).body, "0.000000");
  EXPECT_EQ(client.Ask(Get("/calc?value=1")).body, "0.693147");
  EXPECT_EQ(client.Ask(Get("/calc?value=-0.5")).body, "-0.693147");
  EXPECT_EQ(client.Ask(Get("/calc?value=1e-1")).body, "0.095310");
}

TEST_P(CalcTest, RefusesWhatHasNone) {
  HttpClient client(calc.Port());
  for (const char* target :
       {"/calc", "/calc?value", "/calc?value=", "/calc?value=x", "/calc?value=0.5x",
        "/calc?value=+0.5", "/calc?value=0x1p-1", "/calc?value=nan", "/calc?value=inf",
        "/calc?value=-1", "/calc?value=-1.5", "/calc?value=1.000001", "/calc?value=1e999",
        "/calc?value=--1", "/calc?other=0.5", "/fib/-1", "/fib/46"}) {
    EXPECT_EQ(client.Ask(Get(target)).status, 400) << target;
  }
  EXPECT_EQ(client.Ask(Get("/fib/x")).status, 404);
  EXPECT_EQ(client.Ask(Get("/fib/20")).body, "6765\n");
  EXPECT_EQ(client.Ask(Get("/hello")).body, "hello\n");
  EXPECT_EQ(client.Ask(Get("/ping")).body, "pong");
}

INSTANTIATE_TEST_SUITE_P(Threads, CalcTest, testing::Values("0", "2"));

TEST(CalcManyTest, EachOfManyGetsItsOwnNumber) {
  ExampleServer calc("calc", {"0", "4"});
  constexpr int kClients = 32;
  std::vector<std::thread> clients;
  for (int i = 1; i <= kClients; ++i) {
    clients.emplace_back([&calc, i] {
      const double x = i / 64.0;
      std::string expected(32, '\0');
      expected.resize(static_cast<std::size_t>(
          std::snprintf(expected.data(), expected.size(), "%.6f", std::log1p(x))));
      HttpClient client(calc.Port());
      EXPECT_TRUE(client.Send(Get("/calc?value=" + std::to_string(x))));
      // 160 million terms in all keep every processor busy, for long where branches are counted.
      EXPECT_TRUE(client.HasInput(std::chrono::minutes(2)));
      EXPECT_EQ(client.ReadReply().body, expected) << x;
    });
  }
  for (std::thread& client : clients) {
    client.join();
  }
  calc.Signal(SIGTERM);
  EXPECT_EQ(calc.Wait(), 0);
}

TEST(CalcManyTest, WithoutThreadsItSaysSo) {
  ExampleServer calc("calc", {"0", "0"});
  calc.Signal(SIGTERM);
  EXPECT_EQ(calc.Wait(), 0);
  EXPECT_NE(calc.ReadErrors().find("task_processes 0"), std::string::npos);
}

}  // namespace
}  // namespace TURTLE_SERVER
