// `turtle serve` under a parent that ignores SIGCHLD, which a program inherits: the kernel would
// then reap the CGI programs, and nobody would learn how they ended.
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "support/cgi_server.h"
#include "support/child.h"
#include "support/http_client.h"

namespace TURTLE_SERVER {
namespace {

using test::Child;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::ProgramFolder;

// Ignores a signal for as long as it lives, and so do programs that start in the meantime.
class Ignoring {
 public:
  explicit Ignoring(int number) : number_(number), before_(std::signal(number, SIG_IGN)) {}
  Ignoring(const Ignoring&) = delete;
  auto operator=(const Ignoring&) -> Ignoring& = delete;
  ~Ignoring() { std::signal(number_, before_); }

 private:
  const int number_;
  void (*const before_)(int);
};

auto StartIgnoring(int number, const std::vector<std::string>& arguments)
    -> std::unique_ptr<Child> {
  const Ignoring ignoring(number);
  return std::make_unique<Child>(test::ExamplePath("../turtle"), arguments);
}

TEST(ServeIgnoredSignalTest, ACrashedProgramsReplyIsCutAllTheSame) {
  const ProgramFolder folder;
  folder.Program("cgi-bin/crash", "printf 'Content-Type: text/plain\\n\\nhalf'\nkill -SEGV $$\n");
  folder.Program("cgi-bin/whole", "printf 'Content-Type: text/plain\\n\\nwhole'\n");
  folder.Write("site/index.html", "hello");
  const std::unique_ptr<Child> turtle = StartIgnoring(
      SIGCHLD, {"serve", folder.Path("site"), "--port", "0", "--cgi-dir", folder.Path("cgi-bin")});
  const std::string line = turtle->ReadLine();
  ASSERT_EQ(line.rfind("Serving ", 0), 0U) << line;
  const int port = std::stoi(line.substr(line.rfind(':') + 1));
  HttpClient client(port);
  const HttpReply whole = client.Ask(Get("/cgi-bin/whole"));
  EXPECT_EQ(whole.body, "whole");
  EXPECT_TRUE(whole.complete);
  const HttpReply half = client.Ask(Get("/cgi-bin/crash"));
  EXPECT_EQ(half.status, 200);
  EXPECT_FALSE(half.complete) << "the client takes the half for the whole";
}

}  // namespace
}  // namespace TURTLE_SERVER
