// A log without memory for its queue.
#include <gtest/gtest.h>

#include <string>

#include "log/log_writer.h"
#include "support/captured_stderr.h"
#include "support/failing_new.h"
#include "support/log_folder.h"

namespace TURTLE_SERVER {
namespace {

auto Line(char letter) -> std::string { return std::string(500, letter) + "\n"; }

// The thread that logs can't handle it, and is not to blame: this used to end the program.
TEST(LogWriterMemoryTest, LinesThatDontFitIntoMemoryAreMissingAndCounted) {
  for (const Urgency urgency : {Urgency::kLater, Urgency::kWait}) {
    const test::LogFolder folder;
    test::CapturedStderr errors;
    LogWriterOptions options;
    options.file = folder.Path("a.log");
    options.by = WriteBy::kThread;
    {
      LogWriter writer(options);
      const std::string three = Line('a') + Line('b') + Line('c');
      test::FailAllocations(1, 1000);
      writer.Write(three, urgency);
      EXPECT_GT(test::StopFailing(), 0U);
      writer.Write(Line('d'));
    }
    const std::string text = folder.Read("a.log");
    EXPECT_NE(text.find("WARN 3 lines of log are missing here\n" + Line('d')), std::string::npos)
        << text;
    EXPECT_EQ(text.find(Line('a')), std::string::npos);
    EXPECT_EQ(errors.Text(), "") << "the reader of stderr may make us wait";
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
