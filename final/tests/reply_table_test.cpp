// The table of all loops: who makes a response, who waits for it, and what is left of both.
#include "response_cache/reply_table.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/looper.h"
#include "response_cache/reply_waiters.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::seconds;

constexpr TimePoint kNow{};

// Two loops, neither of which serves anybody here.
class ReplyTableJoinTest : public testing::Test {
 protected:
  static auto Made(const std::string& key) -> std::unique_ptr<KeptReply> {
    return std::make_unique<KeptReply>(key, KeptKind::kReply, kNow + seconds(10));
  }

  auto Join(const std::string& key, TimePoint now = kNow) -> Joined {
    return table_->Join(key, now, one_);
  }

  auto JoinElsewhere(const std::string& key) -> Joined { return table_->Join(key, kNow, other_); }

  Looper looper_;
  ReplyWaiters one_{looper_, [](Exchange&, int) {}};
  ReplyWaiters other_{looper_, [](Exchange&, int) {}};
  const std::shared_ptr<ReplyTable> table_ = std::make_shared<ReplyTable>();
};

TEST_F(ReplyTableJoinTest, TheFirstLeadsAndTheOthersWaitForIt) {
  const Joined first = Join("k");
  ASSERT_TRUE(first.leads);
  ASSERT_NE(first.making, nullptr);
  EXPECT_EQ(first.making->Key(), "k");
  for (int i = 0; i < 3; ++i) {
    const Joined next = JoinElsewhere("k");
    EXPECT_FALSE(next.leads);
    EXPECT_EQ(next.making, first.making);
  }
  EXPECT_TRUE(Join("another").leads);
}

TEST_F(ReplyTableJoinTest, EachLoopIsToldOnceOfTheEnd) {
  const Joined first = Join("k");
  ASSERT_TRUE(first.leads);
  EXPECT_FALSE(Join("k").leads);
  EXPECT_FALSE(JoinElsewhere("k").leads);
  EXPECT_FALSE(JoinElsewhere("k").leads);
  EXPECT_FALSE(first.making->Over());
  EXPECT_EQ(table_->End(*first.making), (std::vector<ReplyWaiters*>{&one_, &other_}));
  EXPECT_TRUE(first.making->Over());
  EXPECT_TRUE(table_->End(*first.making).empty()) << "harmless when repeated";
}

TEST_F(ReplyTableJoinTest, WithoutAResponseTheNextOneLeads) {
  const Joined first = Join("k");
  ASSERT_TRUE(first.leads);
  EXPECT_TRUE(table_->End(*first.making).empty());
  EXPECT_EQ(table_->Size(), 0U) << "nothing is left of it";
  const Joined second = Join("k");
  EXPECT_TRUE(second.leads);
  EXPECT_NE(second.making, first.making);
}

TEST_F(ReplyTableJoinTest, AFreshResponseNeedsNobodyToMakeIt) {
  const Joined first = Join("k");
  ASSERT_TRUE(first.leads);
  const std::shared_ptr<const KeptReply> kept = table_->Keep(*first.making, Made("k"));
  ASSERT_NE(kept, nullptr);
  EXPECT_TRUE(table_->End(*first.making).empty());
  EXPECT_EQ(Join("k", kNow + seconds(9)).making, nullptr);
  EXPECT_EQ(table_->Find("k", kNow + seconds(9)), kept);
  EXPECT_TRUE(Join("k", kNow + seconds(10)).leads) << "it has grown old";
  EXPECT_EQ(table_->Find("k", kNow + seconds(10)), nullptr);
}

TEST_F(ReplyTableJoinTest, AVariantIsKeptUnderItsOwnKey) {
  const Joined first = Join("k");
  ASSERT_TRUE(first.leads);
  const std::shared_ptr<const KeptReply> kept = table_->Keep(*first.making, Made("k\nx"));
  EXPECT_EQ(table_->Find("k\nx", kNow), kept);
  EXPECT_EQ(table_->Find("k", kNow), nullptr);
}

TEST_F(ReplyTableJoinTest, AResponseOutlivesTheTable) {
  auto table = std::make_shared<ReplyTable>();
  const std::shared_ptr<Making> making = table->Begin("k");
  std::shared_ptr<const KeptReply> kept = table->Keep(*making, Made("k"));
  ASSERT_NE(kept, nullptr);
  table.reset();
  EXPECT_EQ(kept->Key(), "k");
  kept.reset();
}

TEST(ReplyTableTest, KnowsOnlyWhatSomebodyHas) {
  const auto table = std::make_shared<ReplyTable>();
  const TimePoint now{};
  const std::shared_ptr<Making> making = table->Begin("h /a");
  std::shared_ptr<const KeptReply> kept = table->Keep(
      *making, std::make_unique<KeptReply>("h /a", KeptKind::kReply, now + std::chrono::hours(1)));
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(table->Find("h /a", now), kept);
  EXPECT_EQ(table->Find("h /a", now + std::chrono::hours(1)), nullptr) << "not fresh";
  EXPECT_TRUE(table->End(*making).empty());
  EXPECT_TRUE(making->Over());
  EXPECT_EQ(table->Size(), 1U);
  kept.reset();
  EXPECT_EQ(table->Find("h /a", now), nullptr);
  EXPECT_EQ(table->Size(), 0U);
}

TEST(ReplyTableTest, WhatIsReplacedIsNoLongerFresh) {
  const auto table = std::make_shared<ReplyTable>();
  const TimePoint now{};
  const auto keep = [&](const Making& making) {
    return table->Keep(making,
                       std::make_unique<KeptReply>("k", KeptKind::kReply, TimePoint::max()));
  };
  const std::shared_ptr<Making> one = table->Begin("k");
  const std::shared_ptr<Making> two = table->Begin("k");
  const auto older = keep(*one);
  ASSERT_NE(older, nullptr);
  EXPECT_TRUE(older->IsFresh(now));
  const auto newer = keep(*two);
  ASSERT_NE(newer, nullptr);
  EXPECT_FALSE(older->IsFresh(now));
  EXPECT_EQ(table->Find("k", now), newer);
  table->Drop("k");
  EXPECT_FALSE(newer->IsFresh(now));
  EXPECT_EQ(keep(*two), nullptr) << "it was begun before";
  EXPECT_TRUE(table->End(*one).empty());
  EXPECT_TRUE(table->End(*one).empty()) << "harmless when repeated";
}

}  // namespace
}  // namespace TURTLE_SERVER
