// One thread, three queries that sleep: they come back in the order in which they wake up.
#include <gtest/gtest.h>

#include <string>

#include "support/child.h"
#include "support/mariadb_server.h"

namespace TURTLE_SERVER {
namespace {

TEST(NonblockingQueryTest, TheShortestSleepComesFirst) {
  if (!test::IsBuiltWithMariaDb()) {
    GTEST_SKIP() << "built without";
  }
  const test::MariaDbServer server;
  test::Child program(test::ExamplePath("nonblocking_query"), {server.Socket(), "12", "1", "6"});
  EXPECT_EQ(program.ReadOutput(),
            "slept for 1 tenths of a second\nslept for 6 tenths of a second\n"
            "slept for 12 tenths of a second\n");
  EXPECT_EQ(program.Wait(), 0);
}

TEST(NonblockingQueryTest, WhatFailsIsSaid) {
  test::Child program(test::ExamplePath("nonblocking_query"), {"/nonexistent", "1"});
  EXPECT_EQ(program.Wait(), 1);
  EXPECT_NE(program.ReadErrors().find("nonblocking_query: "), std::string::npos);
}

}  // namespace
}  // namespace TURTLE_SERVER
