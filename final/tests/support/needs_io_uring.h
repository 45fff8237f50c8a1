// For tests of features that need a kernel with io_uring(7).
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <system_error>

#include "core/engine.h"

namespace TURTLE_SERVER::test {

/// Returns why there is no engine on io_uring; "" if there is one.
inline auto WhyNoIoUring() -> std::string {
  try {
    static_cast<void>(MakeIoUringEngine());
    return "";
  } catch (const std::system_error& refused) {
    return refused.what();
  }
}

}  // namespace TURTLE_SERVER::test

/// Skips a test if there is none. TURTLE_REQUIRE_IO_URING in the environment makes it fail.
#define TURTLE_NEEDS_IO_URING()                                     \
  if (const std::string why = test::WhyNoIoUring(); !why.empty()) { \
    if (std::getenv("TURTLE_REQUIRE_IO_URING") != nullptr) {        \
      FAIL() << why;                                                \
    }                                                               \
    GTEST_SKIP() << why;                                            \
  }
