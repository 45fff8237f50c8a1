// The access logs of sites: which line is in which file, also after the table was replaced.
#include "sites/site_logs.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "sites/sites.h"
#include "support/http_client.h"
#include "support/log_folder.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using test::HttpClient;
using test::LogFolder;
using test::RunningServer;
using test::Waiting;
using Lines = std::vector<std::string>;

auto For(const std::string& host, const std::string& target) -> std::string {
  return "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
}

// A site with its own log, unless the name of its file is empty.
auto Logged(const std::string& name, const std::string& file) -> SiteOptions {
  SiteOptions site;
  site.names = {name};
  site.access_log = file;
  return site;
}

auto Table(const SitesOptions& options) -> std::shared_ptr<const SiteTable> {
  return std::make_shared<const SiteTable>(options);
}

class SiteLogsTest : public testing::Test {
 protected:
  [[nodiscard]] auto Path(const std::string& name) const -> std::string {
    return folder_.Path(name);
  }

  // The options with a server's log "server.log".
  [[nodiscard]] auto WithServerLog() const -> SiteLogOptions {
    SiteLogOptions options;
    options.writer.file = Path("server.log");
    options.server = std::make_shared<LogWriter>(options.writer);
    return options;
  }

  void Serve(const SitesOptions& sites, SiteLogOptions options) {
    sites_ = std::make_unique<Sites>(sites);
    logs_ = std::make_unique<SiteLogs>(std::move(options), sites_->Table());
    server_ = std::make_unique<RunningServer>([this](HttpServer& server) {
      server.Observe(logs_->Observers());
      server.Mount("/", sites_->Around(test::Answering([this](Exchange& exchange) {
        if (exchange.SubPath() == "/never") {
          waiting_.Keep(exchange);
        } else {
          exchange.Reply(Response(204));
        }
      })));
    });
  }

  // Returns the status. The request is in its log by then.
  auto Ask(const std::string& host, const std::string& target) -> int {
    const int status = HttpClient(server_->Port()).Ask(For(host, target)).status;
    server_->Settle();
    return status;
  }

  void Replace(const SitesOptions& options) {
    const auto table = Table(options);
    logs_->Replace(logs_->Open(table));
    sites_->Replace(table);
  }

  // Ends the server and its logs.
  void End() {
    server_.reset();
    logs_.reset();
  }

  // Returns the targets in the lines of a file.
  [[nodiscard]] auto Targets(const std::string& file) const -> Lines {
    const std::regex target("\"GET (\\S+) ");
    std::istringstream text(folder_.Read(file));
    Lines targets;
    for (std::string line; std::getline(text, line);) {
      std::smatch found;
      targets.push_back(std::regex_search(line, found, target) ? found[1].str() : line);
    }
    return targets;
  }

  LogFolder folder_;
  Waiting waiting_;
  std::unique_ptr<Sites> sites_;
  std::unique_ptr<SiteLogs> logs_;
  std::unique_ptr<RunningServer> server_;
};

TEST_F(SiteLogsTest, ALineIsInTheLogOfItsSite) {
  Serve({Logged("a.test", Path("a.log")), Logged("b.test", Path("b.log")), Logged("c.test", "")},
        WithServerLog());
  EXPECT_EQ(Ask("a.test", "/1"), 204);
  EXPECT_EQ(Ask("b.test", "/2"), 204);
  EXPECT_EQ(Ask("c.test", "/3"), 204);
  EXPECT_EQ(Ask("A.TEST:80", "/4"), 204);
  EXPECT_EQ(Ask("d.test", "/5"), 421);
  EXPECT_EQ(HttpClient(server_->Port()).Ask("GET /6 HTTP/9.9\r\nHost: a.test\r\n\r\n").status, 505);
  End();
  EXPECT_EQ(Targets("a.log"), (Lines{"/1", "/4"}));
  EXPECT_EQ(Targets("b.log"), (Lines{"/2"}));
  EXPECT_EQ(Targets("server.log"), (Lines{"/3", "/5", "/6"}));
}

TEST_F(SiteLogsTest, TwoHostsOfOneConnectionHaveTheirOwnLogs) {
  Serve({Logged("a.test", Path("a.log")), Logged("b.test", Path("b.log"))}, WithServerLog());
  {
    HttpClient client(server_->Port());
    EXPECT_EQ(client.Ask(For("a.test", "/1")).status, 204);
    EXPECT_EQ(client.Ask(For("b.test", "/2")).status, 204);
    EXPECT_EQ(client.Ask(For("a.test", "/3")).status, 204);
  }
  End();
  EXPECT_EQ(Targets("a.log"), (Lines{"/1", "/3"}));
  EXPECT_EQ(Targets("b.log"), (Lines{"/2"}));
  EXPECT_EQ(Targets("server.log"), Lines());
}

TEST_F(SiteLogsTest, WithoutAServersLogTheOtherLinesAreNotWritten) {
  Serve({Logged("a.test", Path("a.log")), Logged("b.test", "")}, {});
  EXPECT_EQ(Ask("b.test", "/1"), 204);
  EXPECT_EQ(Ask("c.test", "/2"), 421);
  EXPECT_EQ(Ask("a.test", "/3"), 204);
  End();
  EXPECT_EQ(Targets("a.log"), (Lines{"/3"}));
  EXPECT_EQ(folder_.Names(), Lines{"a.log"});
}

TEST_F(SiteLogsTest, ALineOfJsonNamesTheHost) {
  SiteLogOptions options = WithServerLog();
  options.format = AccessLogFormat::kJson;
  Serve({Logged("a.test", Path("a.log"))}, options);
  EXPECT_EQ(Ask("A.test:80", "/1"), 204);
  EXPECT_EQ(Ask("b.test", "/2"), 421);
  EXPECT_EQ(HttpClient(server_->Port()).Ask("GET /3 HTTP/9.9\r\n\r\n").status, 505);
  options.server.reset();
  End();
  const std::string own = folder_.Read("a.log");
  EXPECT_NE(own.find(R"("peer":"127.0.0.1","host":"A.test:80","request":"GET /1 )"),
            std::string::npos)
      << own;
  const std::string others = folder_.Read("server.log");
  EXPECT_NE(others.find(R"(,"host":"b.test","request":"GET /2 )"), std::string::npos) << others;
  EXPECT_NE(others.find(R"(,"host":null,"request":"GET /3 )"), std::string::npos) << others;
}

TEST_F(SiteLogsTest, AClientThatHasGoneIsNamed) {
  Serve({Logged("a.test", Path("a.log"))}, {});
  {
    HttpClient client(server_->Port());
    ASSERT_TRUE(client.Send(For("a.test", "/never")));
    ASSERT_TRUE(server_->Await([this] { return waiting_.Count() == 1; }));
    client.Reset();
  }
  ASSERT_TRUE(server_->Await([this] { return waiting_.Ended() == 1; }));
  End();
  EXPECT_EQ(folder_.Read("a.log").rfind("127.0.0.1 - - [", 0), 0U) << folder_.Read("a.log");
}

// --- files --------------------------------------------------------------------------------------

TEST_F(SiteLogsTest, SitesWithOneFileShareItsWriter) {
  std::filesystem::create_directory(Path("logs"));
  folder_.Link("link", "logs");
  const SiteLogs logs(
      {}, Table({Logged("a", Path("logs/a.log")), Logged("b", Path("link/a.log")),
                 Logged("c", Path("logs/../logs/./a.log")), Logged("d", Path("logs/d.log"))}));
  const auto table = logs.Get();
  EXPECT_EQ(table->files.size(), 2U);
  EXPECT_EQ(table->writers[0], table->writers[1]);
  EXPECT_EQ(table->writers[0], table->writers[2]);
  EXPECT_NE(table->writers[0], table->writers[3]);
}

TEST_F(SiteLogsTest, ASiteMayNameTheServersFile) {
  const SiteLogOptions options = WithServerLog();
  const SiteLogs logs(options, Table({Logged("a", Path("./server.log")), Logged("b", "")}));
  EXPECT_EQ(logs.Get()->writers, (std::vector<SiteLogTable::Writer>(2, options.server)));
  EXPECT_TRUE(logs.Get()->files.empty());
}

TEST_F(SiteLogsTest, AFileThatCannotBeOpenedIsNamedAndChangesNothing) {
  const auto bad = Table({Logged("a", Path("b.log")), Logged("b", Path("none/a.log"))});
  try {
    const SiteLogs logs({}, bad);
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find(Path("none/a.log")), std::string::npos);
  }
  const SiteLogs logs({}, Table({Logged("a", Path("a.log"))}));
  const auto before = logs.Get();
  EXPECT_THROW(static_cast<void>(logs.Open(bad)), std::system_error);
  EXPECT_EQ(logs.Get(), before);
}

TEST_F(SiteLogsTest, EveryFileIsReopened) {
  Serve({Logged("a.test", Path("a.log")), Logged("b.test", Path("b.log"))}, {});
  EXPECT_EQ(Ask("a.test", "/1"), 204);
  EXPECT_EQ(Ask("b.test", "/2"), 204);
  std::filesystem::rename(Path("a.log"), Path("a.old"));
  std::filesystem::rename(Path("b.log"), Path("b.old"));
  logs_->Reopen();
  EXPECT_EQ(Ask("a.test", "/3"), 204);
  EXPECT_EQ(Ask("b.test", "/4"), 204);
  End();
  const auto all = [this](const std::string& name) {
    Lines lines = Targets(name + ".old");
    for (const std::string& line : Targets(name + ".log")) {
      lines.push_back(line);
    }
    return lines;
  };
  EXPECT_EQ(all("a"), (Lines{"/1", "/3"}));
  EXPECT_EQ(all("b"), (Lines{"/2", "/4"}));
  EXPECT_TRUE(std::filesystem::exists(Path("a.log")));
  EXPECT_TRUE(std::filesystem::exists(Path("b.log")));
}

// --- another table ------------------------------------------------------------------------------

TEST_F(SiteLogsTest, ALogMayBeginChangeAndEnd) {
  Serve({Logged("a.test", Path("a.log")), Logged("b.test", Path("b.log")), Logged("c.test", "")},
        WithServerLog());
  EXPECT_EQ(Ask("a.test", "/1"), 204);
  EXPECT_EQ(Ask("b.test", "/2"), 204);
  EXPECT_EQ(Ask("c.test", "/3"), 204);
  Replace({Logged("c.test", Path("c.log")), Logged("b.test", ""), Logged("a.test", Path("d.log"))});
  EXPECT_EQ(Ask("a.test", "/4"), 204);
  EXPECT_EQ(Ask("b.test", "/5"), 204);
  EXPECT_EQ(Ask("c.test", "/6"), 204);
  End();
  EXPECT_EQ(Targets("a.log"), (Lines{"/1"}));
  EXPECT_EQ(Targets("b.log"), (Lines{"/2"}));
  EXPECT_EQ(Targets("c.log"), (Lines{"/6"}));
  EXPECT_EQ(Targets("d.log"), (Lines{"/4"}));
  EXPECT_EQ(Targets("server.log"), (Lines{"/3", "/5"}));
}

TEST_F(SiteLogsTest, AFileThatStaysKeepsItsWriter) {
  Serve({Logged("a.test", Path("a.log"))}, {});
  EXPECT_EQ(Ask("a.test", "/1"), 204);
  const LogWriter* const writer = logs_->Get()->writers[0].get();
  Replace({Logged("b.test", Path("b.log")), Logged("a.test", Path("a.log"))});
  EXPECT_EQ(logs_->Get()->writers[1].get(), writer);
  EXPECT_EQ(Ask("a.test", "/2"), 204);
  End();
  EXPECT_EQ(Targets("a.log"), (Lines{"/1", "/2"}));
}

TEST_F(SiteLogsTest, AFileThatNoSiteNamesIsClosed) {
  Serve({Logged("a.test", Path("a.log"))}, {});
  EXPECT_EQ(Ask("a.test", "/1"), 204);
  const std::weak_ptr<LogWriter> writer = logs_->Get()->writers[0];
  Replace({Logged("a.test", "")});
  EXPECT_FALSE(writer.expired()) << "the loop has not noticed yet";
  EXPECT_EQ(Ask("a.test", "/2"), 204);
  EXPECT_TRUE(writer.expired());
  const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
  while (Targets("a.log").empty() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_EQ(Targets("a.log"), Lines{"/1"}) << "before the server ends";
}

#ifdef __linux__
std::promise<void> disk_is_back;                                                  // NOLINT
const std::shared_future<void> disk_returns = disk_is_back.get_future().share();  // NOLINT

// Waits like a disk that takes nothing for a while. /dev/full then refuses the last lines.
void WaitForDisk(LogLevel /*level*/, std::string_view /*text*/) noexcept {
  static_cast<void>(disk_returns.wait_for(2 * test::kPatience));
}

TEST_F(SiteLogsTest, NoLoopWaitsForTheEndOfALog) {
  SiteLogOptions options;
  options.writer.flush_interval = std::chrono::seconds(0);
  options.writer.error_sink = WaitForDisk;
  Serve({Logged("a.test", "/dev/full")}, options);
  EXPECT_EQ(Ask("a.test", "/1"), 204);
  Replace({Logged("a.test", "")});
  EXPECT_EQ(HttpClient(server_->Port()).Ask(For("a.test", "/2")).status, 204);
  EXPECT_EQ(HttpClient(server_->Port()).Ask(For("a.test", "/3")).status, 204);
  disk_is_back.set_value();
  End();
}
#endif  // __linux__

TEST_F(SiteLogsTest, AResponseThatEndsLaterIsInTheLogOfTheNewTable) {
  Serve({Logged("a.test", Path("a.log"))}, {});
  HttpClient client(server_->Port());
  ASSERT_TRUE(client.Send(For("a.test", "/never")));
  ASSERT_TRUE(server_->Await([this] { return waiting_.Count() == 1; }));
  Replace({Logged("a.test", Path("b.log"))});
  server_->Ask([this] { waiting_.Last()->Reply(Response(204)); });
  EXPECT_EQ(client.ReadReply().status, 204);
  End();
  EXPECT_EQ(Targets("a.log"), Lines());
  EXPECT_EQ(Targets("b.log"), Lines{"/never"});
}

}  // namespace
}  // namespace TURTLE_SERVER
