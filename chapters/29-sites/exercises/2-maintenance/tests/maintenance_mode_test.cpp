// The file is looked for at most once a second, and nothing else decides.
#include "sites/maintenance_mode.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/looper.h"
#include "support/counting_new.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "support/site_folder.h"
#include "web/connection_ends.h"
#ifdef __linux__
#include "support/system_calls.h"
#endif

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class MaintenanceModeTest : public testing::Test {
 protected:
  void Close() const { folder_.Write("closed", ""); }
  void Open() const { std::filesystem::remove(file_); }

  // Returns the status for an ordinary client; 0: its request is to be served.
  auto StatusAt(milliseconds time) -> int { return StatusFor("198.51.100.7", time); }

  auto StatusFor(const std::string& ip, milliseconds time) -> int {
    const std::optional<Response> response = mode_.Respond(NetAddress(ip, 4711), Start() + time);
    return response ? response->Status() : 0;
  }

  // No look has been made, whatever the clock shows.
  static auto Start() -> TimePoint { return TimePoint(milliseconds(1)); }

  const test::SiteFolder folder_;
  const std::string file_ = folder_.Path("closed");
  MaintenanceMode mode_{file_, {"192.0.2.0/24", "2001:db8::/32"}, seconds(120)};
};

TEST_F(MaintenanceModeTest, WithoutTheFileRequestsAreServed) {
  EXPECT_EQ(StatusAt(milliseconds(0)), 0);
  Close();
  EXPECT_EQ(StatusAt(seconds(1)), 503);
}

TEST_F(MaintenanceModeTest, TheFirstCallLooksWhateverTheTime) {
  Close();
  EXPECT_EQ(StatusAt(milliseconds(0)), 503);
  for (const TimePoint now : {TimePoint(), TimePoint(seconds(-100)), TimePoint(seconds(100))}) {
    EXPECT_TRUE(MaintenanceMode(file_).Respond(NetAddress("192.0.2.7", 80), now));
  }
}

TEST_F(MaintenanceModeTest, TheResponseSaysWhenToComeBack) {
  Close();
  const std::optional<Response> response = mode_.Respond(NetAddress("203.0.113.9", 80), Start());
  ASSERT_TRUE(response);
  EXPECT_EQ(response->Status(), 503);
  EXPECT_EQ(response->Find("Retry-After"), "120");
}

TEST_F(MaintenanceModeTest, AMinuteIsTheDefault) {
  Close();
  const auto response = MaintenanceMode(file_).Respond(NetAddress("203.0.113.9", 80), Start());
  ASSERT_TRUE(response);
  EXPECT_EQ(response->Find("Retry-After"), "60");
}

TEST_F(MaintenanceModeTest, ClientsOfTheNetworksAreServed) {
  Close();
  ASSERT_EQ(StatusAt(milliseconds(0)), 503);
  EXPECT_EQ(StatusFor("192.0.2.255", milliseconds(0)), 0);
  EXPECT_EQ(StatusFor("2001:db8::5", milliseconds(0)), 0);
  EXPECT_EQ(StatusFor("::ffff:192.0.2.1", milliseconds(0)), 0);
  EXPECT_EQ(StatusFor("192.0.3.0", milliseconds(0)), 503);
  EXPECT_EQ(StatusFor("2001:db9::5", milliseconds(0)), 503);
}

TEST_F(MaintenanceModeTest, AClientWithoutAnAddressIsInNoNetwork) {
  Close();
  MaintenanceMode mode(file_, {"0.0.0.0/0", "::/0"});
  EXPECT_TRUE(mode.Respond(NetAddress(), Start()));
  EXPECT_FALSE(mode.Respond(NetAddress("203.0.113.9", 80), Start()));
}

TEST_F(MaintenanceModeTest, ANewFileIsSeenAfterASecond) {
  ASSERT_EQ(StatusAt(milliseconds(0)), 0);
  Close();
  EXPECT_EQ(StatusAt(milliseconds(999)), 0);
  EXPECT_EQ(StatusAt(milliseconds(1000)), 503);
}

TEST_F(MaintenanceModeTest, ARemovedFileIsSeenAfterASecond) {
  Close();
  ASSERT_EQ(StatusAt(milliseconds(0)), 503);
  Open();
  EXPECT_EQ(StatusAt(milliseconds(999)), 503);
  EXPECT_EQ(StatusAt(milliseconds(1000)), 0);
}

TEST_F(MaintenanceModeTest, ASecondIsCountedFromTheLastLook) {
  ASSERT_EQ(StatusAt(milliseconds(0)), 0);
  ASSERT_EQ(StatusAt(milliseconds(1900)), 0);
  Close();
  EXPECT_EQ(StatusAt(milliseconds(2000)), 0);
  EXPECT_EQ(StatusAt(milliseconds(2899)), 0);
  EXPECT_EQ(StatusAt(milliseconds(2900)), 503);
}

// A second is not counted from the last request, or a busy site would never look.
TEST_F(MaintenanceModeTest, ManyRequestsDoNotPutTheLookOff) {
  ASSERT_EQ(StatusAt(milliseconds(0)), 0);
  Close();
  for (int time = 100; time < 1000; time += 100) {
    ASSERT_EQ(StatusAt(milliseconds(time)), 0) << time;
  }
  EXPECT_EQ(StatusAt(milliseconds(1000)), 503);
}

TEST_F(MaintenanceModeTest, ADirectoryAndALinkCount) {
  std::filesystem::create_directory(file_);
  EXPECT_EQ(StatusAt(seconds(0)), 503);
  Open();
  folder_.Link("closed", folder_.Path("target"));
  EXPECT_EQ(StatusAt(seconds(1)), 0) << "it leads nowhere";
  folder_.Write("target", "");
  EXPECT_EQ(StatusAt(seconds(2)), 503);
}

TEST_F(MaintenanceModeTest, WithoutItsDirectoryThereIsNoFile) {
  MaintenanceMode mode(folder_.Path("run/closed"));
  const auto is_closed_at = [&](int second) {
    return mode.Respond(NetAddress("203.0.113.9", 80), Start() + seconds(second)).has_value();
  };
  EXPECT_FALSE(is_closed_at(0));
  folder_.Write("run/closed", "");
  ASSERT_TRUE(is_closed_at(1));
  std::filesystem::remove_all(folder_.Path("run"));
  EXPECT_FALSE(is_closed_at(2));
  folder_.Write("run/closed", "");
  ASSERT_TRUE(is_closed_at(3));
  std::filesystem::remove_all(folder_.Path("run"));
  folder_.Write("run", "a file in place of the directory");
  EXPECT_FALSE(is_closed_at(4));
}

// A link to itself is a name about which the system can't tell, even for root.
TEST_F(MaintenanceModeTest, ItStaysAsItWasWhenTheSystemCanNotTell) {
  folder_.Link("closed", file_);
  ASSERT_EQ(StatusAt(seconds(0)), 0) << "it is open at the beginning";
  Open();
  Close();
  ASSERT_EQ(StatusAt(seconds(1)), 503);
  Open();
  folder_.Link("closed", file_);
  EXPECT_EQ(StatusAt(seconds(2)), 503);
  Open();
  EXPECT_EQ(StatusAt(seconds(3)), 0);
}

TEST_F(MaintenanceModeTest, AnOpenSiteAllocatesNothing) {
  const NetAddress client("203.0.113.9", 80);
  ASSERT_FALSE(mode_.Respond(client, Start()));
  test::allocations = 0;
  test::counts_allocations = true;
  for (int second = 1; second <= 3; ++second) {
    static_cast<void>(mode_.Respond(client, Start() + seconds(second)));
  }
  test::counts_allocations = false;
  EXPECT_EQ(test::allocations, 0U);
  Close();
  EXPECT_TRUE(mode_.Respond(client, Start() + seconds(4)));
}

#ifdef __linux__

// A child makes the calls; to begin and to end takes few more.
TEST_F(MaintenanceModeTest, OneLookServesASecond) {
  constexpr int kRequests = 5000;
  const NetAddress client("203.0.113.9", 80);
  int begin[2];
  int end[2];
  ASSERT_EQ(::pipe(begin) + ::pipe(end), 0);
  Close();
  const pid_t child = ::fork();
  if (child == 0) {
    char closed = 0;
    bool all_closed = ::read(begin[0], &closed, 1) == 1;
    for (int i = 0; i < kRequests; ++i) {
      all_closed = mode_.Respond(client, Start() + milliseconds(i % 1000)) && all_closed;
    }
    closed = all_closed ? 1 : 0;
    ::_exit(::write(end[1], &closed, 1) == 1 ? 0 : 1);
  }
  {
    test::SystemCalls calls(child);
    EXPECT_TRUE(calls.IsAttached()) << "ptrace(2) of a child is forbidden here";
    calls.Go();
    char closed = 1;
    EXPECT_EQ(::write(begin[1], &closed, 1), 1);
    EXPECT_EQ(::read(end[0], &closed, 1), 1);
    EXPECT_LT(calls.Stop(), kRequests / 10);
    EXPECT_EQ(closed, 1) << "a request was served";
  }
  ::waitpid(child, nullptr, 0);
  for (const int fd : {begin[0], begin[1], end[0], end[1]}) {
    ::close(fd);
  }
}

#endif

TEST_F(MaintenanceModeTest, AHandlerClosesItsSite) {
  struct Handler {
    MaintenanceMode maintenance;
    ConnectionEndsTable ends;
    void Handle(Exchange& exchange, TimePoint now) {
      const NetAddress& client = ends.SourceOf(exchange.GetConnection());
      const std::optional<Response> closed = maintenance.Respond(client, now);
      exchange.Reply(closed ? *closed : TextResponse(200, "served"));
    }
  };
  Close();
  Handler all{MaintenanceMode(file_), {}};
  Handler others{MaintenanceMode(file_, {"127.0.0.0/8"}), {}};
  test::RunningServer server([&](HttpServer& http) {
    const auto serve = [](Handler& handler) {
      return test::Answering([&](Exchange& exchange) { handler.Handle(exchange, Start()); });
    };
    http.Mount("/all", serve(all));
    http.Mount("/others", serve(others));
  });
  test::HttpClient client(server.Port());
  const test::HttpReply closed = client.Ask(test::Get("/all"));
  EXPECT_EQ(closed.status, 503);
  EXPECT_EQ(closed.Field("Retry-After"), "60");
  EXPECT_EQ(client.Ask(test::Get("/others")).body, "served");
}

TEST(MaintenanceModeRefusalTest, NamesTheValue) {
  const auto refusal = [](const std::string& path, const std::vector<std::string>& networks,
                          seconds retry_after) -> std::string {
    try {
      const MaintenanceMode mode(path, networks, retry_after);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("closed", {}, seconds(1)), "");
  EXPECT_EQ(refusal("", {}, seconds(1)), "maintenance: no path");
  EXPECT_EQ(refusal("closed", {}, seconds(0)), "maintenance: retry after 0 s: at least 1");
  EXPECT_EQ(refusal("closed", {}, seconds(-5)), "maintenance: retry after -5 s: at least 1");
  EXPECT_NE(refusal("closed", {"10.0.0.1/8"}, seconds(1)).find("10.0.0.1/8"), std::string::npos);
}

}  // namespace
}  // namespace TURTLE_SERVER
