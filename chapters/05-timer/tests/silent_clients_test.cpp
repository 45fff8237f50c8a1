// The example that says nothing, against the server that does not wait forever.
#include <gtest/gtest.h>

#include <string>

#include "support/child.h"

namespace TURTLE_SERVER {
namespace {

using test::Child;
using test::ExamplePath;
using test::ExampleServer;

auto Port(const ExampleServer& server) -> std::string { return std::to_string(server.Port()); }

TEST(SilentClientsExample, AllOfThemAreClosed) {
  const ExampleServer server("echo_server", {"0", "127.0.0.1", "100"});
  Child clients(ExamplePath("silent_clients"), {"127.0.0.1", Port(server), "200"});
  EXPECT_EQ(clients.ReadOutput(),
            "200 silent clients are connected\n0 of them are still connected\n");
  EXPECT_EQ(clients.Wait(), 0);
}

TEST(SilentClientsExample, SaysWhatIsWrong) {
  Child nobody(ExamplePath("silent_clients"), {"127.0.0.1", "1"});
  EXPECT_EQ(nobody.Wait(), 1);
  EXPECT_EQ(nobody.ReadErrors(), "silent_clients: connect 127.0.0.1:1: Connection refused\n");
}

}  // namespace
}  // namespace TURTLE_SERVER
