#include "uring/ring_probe.h"

#include <gtest/gtest.h>
#include <linux/io_uring.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "support/needs_io_uring.h"
#include "support/ring_faults.h"

namespace TURTLE_SERVER {
namespace {

using test::ring_register;
using test::ring_setup;

auto OpenDescriptors() -> std::ptrdiff_t {
  namespace fs = std::filesystem;
  return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
}

class RingProbeTest : public testing::Test {
 protected:
  void SetUp() override { TURTLE_NEEDS_IO_URING(); }

  void TearDown() override {
    ring_setup.Pass();
    ring_register.Pass();
  }

  // Returns the text of the exception.
  static auto Refusal() -> std::string {
    try {
      static_cast<void>(KnownOperations());
    } catch (const std::system_error& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(RingProbeTest, WhatThePollerUsesIsKnown) {
  const std::vector<std::uint8_t> known = KnownOperations();
  for (const int each : {IORING_OP_NOP, IORING_OP_POLL_ADD, IORING_OP_SENDMSG, IORING_OP_ACCEPT,
                         IORING_OP_ASYNC_CANCEL, IORING_OP_CLOSE, IORING_OP_RECV}) {
    EXPECT_EQ(std::count(known.begin(), known.end(), each), 1) << "operation " << each;
  }
}

TEST_F(RingProbeTest, TheyAreInOrderAndNoneIsInvented) {
  const std::vector<std::uint8_t> known = KnownOperations();
  ASSERT_FALSE(known.empty());
  EXPECT_TRUE(std::is_sorted(known.begin(), known.end()));
  EXPECT_EQ(std::adjacent_find(known.begin(), known.end()), known.end());
  // The kernel knows operations that are newer than its header's reader, but nowhere near so many.
  EXPECT_LT(known.back(), 255);
  EXPECT_LT(known.size(), 200U);
}

TEST_F(RingProbeTest, NoDescriptorIsLeft) {
  static_cast<void>(KnownOperations());  // opens the descriptors that are opened once and kept
  const std::ptrdiff_t before = OpenDescriptors();
  ASSERT_FALSE(KnownOperations().empty());
  ring_register.Fail(EINVAL);
  EXPECT_NE(Refusal(), "");
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(RingProbeTest, ARefusalNamesTheCall) {
  ring_setup.Fail(EPERM);
  EXPECT_EQ(Refusal(), "io_uring_setup: Operation not permitted");
  ring_register.Fail(EINVAL);
  EXPECT_EQ(Refusal(), "io_uring_register: Invalid argument");
}

}  // namespace
}  // namespace TURTLE_SERVER
