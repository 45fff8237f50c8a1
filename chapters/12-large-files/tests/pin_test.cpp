#include "base/pin.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "base/file_slice.h"
#include "support/narrow_pair.h"

namespace TURTLE_SERVER {
namespace {

class Traced : public Pinned {
 public:
  explicit Traced(int& deaths) : deaths_(deaths) {}
  ~Traced() override { ++deaths_; }
  int value = 7;

 private:
  int& deaths_;
};

TEST(PinTest, TheLastPinDeletesOnce) {
  int deaths = 0;
  {
    auto first = MakePinned<Traced>(deaths);
    EXPECT_EQ(first->value, 7);
    Pin second = first;
    Pin third = second;
    first = PinTo<Traced>();
    second = Pin();
    EXPECT_EQ(deaths, 0);
    EXPECT_TRUE(third);
    EXPECT_FALSE(second);
    third = Pin();
    EXPECT_EQ(deaths, 1);
  }
  EXPECT_EQ(deaths, 1);
}

TEST(PinTest, AMoveLeavesAnEmptyPinAndNoExtraCount) {
  int deaths = 0;
  auto typed = MakePinned<Traced>(deaths);
  Pin plain = std::move(typed);
  EXPECT_FALSE(typed);  // NOLINT(bugprone-use-after-move): that is the promise
  {
    const Pin other = std::move(plain);
    EXPECT_EQ(deaths, 0);
  }
  EXPECT_EQ(deaths, 1);
}

TEST(PinTest, AssigningAPinToItselfKeepsTheObject) {
  int deaths = 0;
  Pin pin = MakePinned<Traced>(deaths);
  Pin& same = pin;
  pin = same;
  EXPECT_EQ(deaths, 0);
  pin = std::move(same);
  EXPECT_EQ(deaths, 0);
  EXPECT_TRUE(pin);
}

TEST(PinTest, SurvivesTheVectorThatGrows) {
  int deaths = 0;
  {
    std::vector<Pin> pins(1, MakePinned<Traced>(deaths));
    for (int i = 0; i < 100; ++i) {
      pins.push_back(pins.front());
    }
    pins.erase(pins.begin(), pins.begin() + 100);
    EXPECT_EQ(deaths, 0);
  }
  EXPECT_EQ(deaths, 1);
}

TEST(FileSliceTest, TheFileClosesWithTheLastSlice) {
  UniqueFd file = test::MakeFile("content");
  const int number = file.Get();
  FileSlice whole = OwnFileSlice(std::move(file), 0, 7);
  EXPECT_EQ(whole.fd, number);
  {
    const FileSlice part{whole.fd, 3, 4, whole.pin};
    whole = FileSlice();
    EXPECT_GE(fcntl(number, F_GETFD), 0);
  }
  EXPECT_EQ(fcntl(number, F_GETFD), -1);
}

}  // namespace
}  // namespace TURTLE_SERVER
