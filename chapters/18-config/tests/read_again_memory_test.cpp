// Wherever memory runs out while a server reloads its settings: it reads them, or throws. Its
// parser must not end the program.
#include <gtest/gtest.h>

#include <cstddef>
#include <new>
#include <string>

#include "app/options.h"
#include "support/failing_new.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using test::FailAllocations;
using test::StopFailing;

TEST(ReadAgainMemoryTest, WithoutMemoryItThrowsAndDoesNotEndTheProgram) {
  const test::SiteFolder folder;
  folder.Write("site.json", R"({
    "http": {"root_path": "/"},
    "worker_connections": 1000,
    "blocks_ip": ["192.0.2.7", "198.51.100.0/24"],
    "log": {"level": "INFO"}
  })");
  CommandLine line;
  line.file = folder.Path("site.json");
  for (const std::size_t count : {1U, 3U}) {
    std::size_t first = 1;
    std::size_t failed = 0;
    do {
      FailAllocations(first, count);
      try {
        const CommandLine again = ReadAgain(line);
        failed = StopFailing();
        EXPECT_EQ(again.action, CommandAction::kServe) << again.text;
        EXPECT_EQ(again.serve.max_connections, 1000U);
      } catch (const std::bad_alloc&) {
        failed = StopFailing();
      }
      ASSERT_FALSE(HasFailure()) << "from allocation " << first << " on, " << count << " fail";
      ++first;
    } while (failed != 0);
    EXPECT_GT(first, 100U) << "hardly anything was allocated";
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
