// A page that did not change must not be opened for every request.
#include <gtest/gtest.h>

#ifdef __linux__

#include <sys/inotify.h>
#include <unistd.h>

#include <string>

#include "base/unique_fd.h"
#include "support/child.h"
#include "support/http_client.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

TEST(OpensAgainAndAgain, AHundredRequestsOpenThePageAFewTimesAtMost) {
  constexpr int kRequests = 100;
  const test::SiteFolder site;
  site.Write("page.html", "the same for everybody");
  test::ExampleServer server("web_server", {"0", site.Path()});
  ASSERT_GT(server.Port(), 0) << server.FirstLine();

  // The kernel tells us who opens it.
  const UniqueFd queue(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  ASSERT_GE(::inotify_add_watch(queue.Get(), site.Path("page.html").c_str(), IN_OPEN), 0);

  test::HttpClient client(server.Port());
  int opened = 0;
  for (int i = 0; i < kRequests; ++i) {
    ASSERT_EQ(client.Ask(test::Get("/page.html")).body, "the same for everybody");
    inotify_event event{};
    // Read each time: the kernel joins equal events that nobody has read yet.
    opened += ::read(queue.Get(), &event, sizeof event) > 0 ? 1 : 0;
  }
  EXPECT_LT(opened, 10) << "of " << kRequests << " requests";
}

}  // namespace
}  // namespace TURTLE_SERVER

#else

TEST(OpensAgainAndAgain, AHundredRequestsOpenThePageAFewTimesAtMost) {
  GTEST_SKIP() << "only inotify(7) tells who opens a file";
}

#endif
