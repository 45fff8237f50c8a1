// A datagram costs no allocation: neither receiving, nor responding, nor counting.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "../examples/statsd_table.h"
#include "support/counting_new.h"
#include "support/loop_thread.h"
#include "support/udp_client.h"
#include "udp/udp_server.h"

namespace TURTLE_SERVER {
namespace {

TEST(UdpAllocation, AServerInItsSteadyStateAllocatesNothing) {
  test::LoopThread loop;
  UdpOptions options;
  options.report_destination = true;
  UdpServer server(loop.Get(), NetAddress("127.0.0.1", 0), options);
  turtle_examples::StatsdTable table(10);
  loop.Ask([&] {
    server
        .OnDatagram([&](const Datagram& asked) {
          table.Take(asked.payload);
          server.Reply(asked, asked.payload);
        })
        .Start();
  });
  test::UdpClient client(server.LocalAddress());
  const std::string text = "a:1|c\nb:2|g\nc:3|ms\nd:x|s\nwrong";
  ASSERT_EQ(client.Ask(text), text);  // the names are known from here on
  loop.Ask([] { test::counts_allocations = true; });
  loop.Ask([] { test::allocations = 0; });
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(client.Ask(text), text);
  }
  const std::size_t count = test::allocations;
  EXPECT_LE(count, 4U) << "beside what the last questions to the loop cost";
  loop.Ask([&] {
    test::counts_allocations = false;
    server.Stop();
  });
}

}  // namespace
}  // namespace TURTLE_SERVER
