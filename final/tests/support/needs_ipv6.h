// For tests of features that need a machine with IPv6; many containers have none.
#pragma once

#include <gtest/gtest.h>

#include <system_error>

#include "core/socket.h"

namespace TURTLE_SERVER::test {

/// True if this machine has the address ::1.
inline auto HasIpv6() -> bool {
  try {
    Socket probe;
    probe.Bind(NetAddress("::1", 0));
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

}  // namespace TURTLE_SERVER::test

/// Skips a test if there is none.
#define TURTLE_NEEDS_IPV6()                     \
  if (!test::HasIpv6()) {                       \
    GTEST_SKIP() << "this machine has no IPv6"; \
  }
