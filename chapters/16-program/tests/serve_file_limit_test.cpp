// `turtle serve` under a limit on the size of files (ulimit -f): the kernel kills a process that
// writes beyond it, unless it ignores that signal.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <string>

#include "support/cgi_server.h"
#include "support/child.h"
#include "support/http_client.h"

namespace TURTLE_SERVER {
namespace {

// Limits the files of programs that start while it lives.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileLimit(const FileLimit&) = delete;
  auto operator=(const FileLimit&) -> FileLimit& = delete;
  ~FileLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST(ServeFileLimitTest, AnUploadThatFindsNoRoomIsRefusedAndTheOthersAreServed) {
  constexpr std::size_t kLimit = 1 << 20;
  const test::ProgramFolder folder;
  folder.Program("cgi-bin/cat", "printf 'Content-Type: text/plain\\n\\n'\nexec cat\n");
  folder.Write("site/index.html", "hello");
  auto turtle = [&folder] {
    const FileLimit limit(kLimit);
    return test::Child(test::ExamplePath("../turtle"), {"serve", folder.Path("site"), "--port", "0",
                                                        "--cgi-dir", folder.Path("cgi-bin")});
  }();
  const std::string line = turtle.ReadLine();
  ASSERT_EQ(line.rfind("Serving ", 0), 0U) << line;
  const int port = std::stoi(line.substr(line.rfind(':') + 1));
  {
    test::HttpClient uploader(port);
    uploader.Send("POST /cgi-bin/cat HTTP/1.1\r\nHost: turtle\r\nContent-Length: " +
                  std::to_string(2 * kLimit) + "\r\n\r\n" + std::string(2 * kLimit, 'x'));
    EXPECT_EQ(uploader.ReadReply().status, 503);
  }
  test::HttpClient client(port);
  EXPECT_EQ(client.Ask(test::Get("/")).body, "hello");
  turtle.Signal(SIGTERM);
  EXPECT_EQ(turtle.Wait(), 0);
}

}  // namespace
}  // namespace TURTLE_SERVER
