// Each request costs its own system calls, however many have come at once.
#include <gtest/gtest.h>

#ifdef __linux__

#include <cstdlib>
#include <memory>
#include <vector>

#include "support/http_client.h"
#include "support/site_folder.h"
#include "support/system_calls.h"
#include "support/turtle.h"
#if __has_include("support/needs_io_uring.h")
#include "support/needs_io_uring.h"
#else
#define TURTLE_NEEDS_IO_URING()  // it makes no difference yet
#endif

namespace TURTLE_SERVER {
namespace {

TEST(SystemCalls, AreNotMadeForEachRequest) {
  TURTLE_NEEDS_IO_URING();
  constexpr int kClients = 50;
  const test::SiteFolder folder;
  folder.Write("index.html", "hello");
  ::setenv("TURTLE_POLLER", "io_uring", 1);
  test::Turtle turtle({folder.Path(), "--port", "0", "--threads", "1"});
  ASSERT_GT(turtle.Port(), 0) << turtle.FirstLine() << turtle.ReadErrors();

  std::vector<std::unique_ptr<test::HttpClient>> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<test::HttpClient>(turtle.Port()));
    ASSERT_EQ(clients.back()->Ask(test::Get("/")).status, 200);
  }
  test::SystemCalls calls(turtle.Pid());
  ASSERT_TRUE(calls.IsAttached()) << "ptrace(2) of a child is forbidden here";
  for (const auto& client : clients) {
    ASSERT_TRUE(client->Send(test::Get("/")));
  }
  calls.Go();
  for (const auto& client : clients) {
    ASSERT_EQ(client->ReadReply().status, 200);
  }
  EXPECT_LT(calls.Stop(), kClients) << "for " << kClients << " requests that came together";
}

}  // namespace
}  // namespace TURTLE_SERVER

#else

TEST(SystemCalls, AreNotMadeForEachRequest) {
  GTEST_SKIP() << "only the ptrace(2) of Linux stops at each system call";
}

#endif
