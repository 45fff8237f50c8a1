// Wherever memory runs out while the server starts: it refuses, or says that it serves, and does.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <future>
#include <ostream>
#include <streambuf>
#include <string>
#include <thread>

#include "app/serve_command.h"
#include "support/captured_stderr.h"
#include "support/failing_new.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using test::FailAllocations;
using test::StopFailing;

// A text that takes no memory. A server that prints something is asked to end.
class Page : public std::streambuf {
 public:
  explicit Page(int signal = 0) : signal_(signal) {
    setp(text_.data(), text_.data() + text_.size());
  }

  [[nodiscard]] auto Text() const -> std::string { return {pbase(), pptr()}; }

 protected:
  auto sync() -> int override { return signal_ == 0 ? 0 : std::raise(signal_); }

 private:
  const int signal_;
  std::array<char, 1000> text_{};
};

// Ends a server that prints nothing and does not end.
class Patience {
 public:
  Patience()
      : thread_([end = end_.get_future()] {
          if (end.wait_for(std::chrono::seconds(10)) != std::future_status::ready) {
            ::kill(::getpid(), SIGTERM);
          }
        }) {}

  ~Patience() {
    end_.set_value();
    thread_.join();
  }

 private:
  std::promise<void> end_;
  std::thread thread_;
};

// @return how many allocations failed
auto ServeAndFail(const ServeOptions& options, std::size_t first, std::size_t count)
    -> std::size_t {
  const test::CapturedStderr log;
  Page said(SIGTERM);
  Page refused;
  std::ostream out(&said);
  std::ostream errors(&refused);
  FailAllocations(first, count);
  const int code = Serve(options, out, errors);
  const std::size_t failed = StopFailing();
  if (code == 0) {
    EXPECT_NE(said.Text(), "") << "it never said that it serves: " << log.Text();
  } else {
    EXPECT_EQ(refused.Text(), "turtle: out of memory\n");
    EXPECT_EQ(said.Text(), "") << "it has said that it serves";
  }
  return failed;
}

TEST(ServeMemoryTest, ItServesOrRefuses) {
  const test::SiteFolder site;
  ServeOptions options;
  options.directory = site.Path();
  options.port = 0;
  options.threads = 2;
  const Patience patience;
  for (const std::size_t count : {1U, 3U}) {
    std::size_t first = 1;
    while (ServeAndFail(options, first, count) != 0) {
      ASSERT_FALSE(HasFailure()) << "when allocation " << first << " fails";
      ++first;
    }
    EXPECT_GT(first, 50U) << "hardly anything was allocated";
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
