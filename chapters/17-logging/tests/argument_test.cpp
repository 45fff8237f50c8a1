#include "base/argument.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace TURTLE_SERVER {
namespace {

TEST(Argument, IsANumberAndNothingElse) {
  EXPECT_EQ(ReadPort("0"), 0);
  EXPECT_EQ(ReadPort("65535"), 65'535);
  EXPECT_EQ(ReadNumber("delay", "-5", -10, 10), -5);
}

TEST(Argument, WhatIsNoneIsNamedWithItsValue) {
  for (const char* text : {"", "x", "80x", " 80", "+80", "-1", "65536", "99999999999999999999"}) {
    try {
      static_cast<void>(ReadPort(text));
      FAIL() << text;
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(error.what(), "port \"" + std::string(text) + "\": not a number from 0 to 65535");
    }
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
