#include "core/refusal_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "support/captured_stderr.h"
#include "support/failing_new.h"
#include "support/manual_clock.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;

// One loop's refused clients, on a clock that only the test turns.
class RefusalLogTest : public testing::Test {
 protected:
  void Refuse(int clients, std::size_t limit) {
    loop_.Ask([&] {
      for (int i = 0; i < clients; ++i) {
        refusals_.Count(loop_.Get(), limit);
      }
    });
  }

  void RunOutOfMemory() {
    loop_.Ask([] { test::FailAllocations(1, 1'000'000); });
  }

  void HaveMemory() {
    loop_.Ask([] { test::StopFailing(); });
  }

  void Advance(milliseconds by) { clock_.Advance(by, loop_); }

  void Tell() {
    loop_.Ask([this] { refusals_.Tell(); });
  }

  [[nodiscard]] auto Told(const std::string& line) const -> bool {
    return stderr_.Text().find(" WARN " + line + "\n") != std::string::npos;
  }

  [[nodiscard]] auto Lines() const -> std::ptrdiff_t {
    const std::string text = stderr_.Text();
    return std::count(text.begin(), text.end(), '\n');
  }

 private:
  test::CapturedStderr stderr_;
  test::ManualClock clock_;
  RefusalLog refusals_;
  test::LoopThread loop_{clock_.Source()};
};

TEST_F(RefusalLogTest, ThoseOfASecondAreOneLine) {
  Refuse(2000, 7);
  Advance(milliseconds(999));
  Refuse(1, 7);
  EXPECT_EQ(Lines(), 0);
  Advance(milliseconds(1));
  EXPECT_TRUE(Told("2001 clients refused: max_connections is 7"));
  EXPECT_EQ(Lines(), 1);
}

TEST_F(RefusalLogTest, EachSecondHasItsOwnLine) {
  Refuse(1, 7);
  Advance(milliseconds(1000));
  EXPECT_TRUE(Told("1 client refused: max_connections is 7"));
  Refuse(3, 8);
  Refuse(1, 9);
  EXPECT_EQ(Lines(), 1);
  Advance(milliseconds(1000));
  EXPECT_TRUE(Told("4 clients refused: max_connections is 9")) << "the limit may have changed";
  EXPECT_EQ(Lines(), 2);
}

TEST_F(RefusalLogTest, WithoutRefusedClientsItIsSilent) {
  Tell();
  Refuse(1, 7);
  Advance(milliseconds(1000));
  Advance(milliseconds(5000));
  Tell();
  EXPECT_EQ(Lines(), 1);
}

TEST_F(RefusalLogTest, ItIsToldWithoutMemory) {
  Refuse(12, 10'000'000);
  RunOutOfMemory();
  Advance(milliseconds(1000));
  HaveMemory();
  EXPECT_TRUE(Told("12 clients refused: max_connections is 10000000"));
  EXPECT_EQ(Lines(), 1);
}

TEST_F(RefusalLogTest, WhoeverIsLeftAtTheEndIsToldOnce) {
  Refuse(2, 7);
  Tell();
  EXPECT_TRUE(Told("2 clients refused: max_connections is 7"));
  Advance(milliseconds(1000));
  EXPECT_EQ(Lines(), 1);
}

}  // namespace
}  // namespace TURTLE_SERVER
