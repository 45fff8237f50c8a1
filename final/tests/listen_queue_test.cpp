// Why a listener is inherited: its queue lives as long as somebody has it, where that of a socket
// of its own on the same port goes with it.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "support/child.h"

namespace TURTLE_SERVER {
namespace {

TEST(ListenQueue, OnlyTheInheritedListenerLosesNobody) {
  test::Child program(test::ExamplePath("listen_queue"), {"200"});
  const std::string shared = program.ReadLine();
  const std::string inherited = program.ReadLine();
  EXPECT_EQ(program.Wait(), 0) << program.ReadErrors();
  EXPECT_EQ(inherited, "one socket, and both have it: 200 of 200 answered, 0 reset");
#ifdef __linux__  // the kernel deals clients out by a hash of their ports
  int answered = -1;
  ASSERT_EQ(
      std::sscanf(shared.c_str(), "two sockets on one port (SO_REUSEPORT): %d of 200", &answered),
      1)
      << shared;
  EXPECT_GT(answered, 0);
  EXPECT_LT(answered, 200) << "about half of them were in the queue that has gone";
#endif
}

}  // namespace
}  // namespace TURTLE_SERVER
