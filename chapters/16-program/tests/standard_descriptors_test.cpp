#include "app/standard_descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstddef>

#include "base/unique_fd.h"

namespace TURTLE_SERVER {
namespace {

// The state of a descriptor, recorded while nothing may be printed.
struct Seen {
  bool is_open = false;
  bool is_null_device = false;
  bool is_inherited = false;
};

auto Look(int fd) -> Seen {
  struct stat null_device {};
  struct stat here {};
  Seen seen;
  seen.is_open = fstat(fd, &here) == 0;
  seen.is_null_device = seen.is_open && stat("/dev/null", &null_device) == 0 &&
                        here.st_rdev == null_device.st_rdev && S_ISCHR(here.st_mode);
  seen.is_inherited = fcntl(fd, F_GETFD) == 0;
  return seen;
}

TEST(StandardDescriptorsTest, WhateverWasClosedIsTheNullDevice) {
  for (unsigned mask = 0; mask < 8; ++mask) {
    const auto is_closed = [mask](std::size_t fd) { return (mask >> fd & 1U) != 0; };
    std::array<UniqueFd, 3> saved;
    std::array<Seen, 3> seen;
    for (std::size_t fd = 0; fd < saved.size(); ++fd) {
      saved[fd].Reset(fcntl(static_cast<int>(fd), F_DUPFD_CLOEXEC, 10));
    }
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    for (std::size_t fd = 0; fd < saved.size(); ++fd) {
      if (is_closed(fd)) {
        close(static_cast<int>(fd));
      } else {
        dup2(ends[1], static_cast<int>(fd));  // so that it isn't the null device by chance
      }
    }
    const int error = OpenStandardDescriptors();
    for (std::size_t fd = 0; fd < saved.size(); ++fd) {
      seen[fd] = Look(static_cast<int>(fd));
    }
    for (std::size_t fd = 0; fd < saved.size(); ++fd) {
      if (saved[fd]) {
        dup2(saved[fd].Get(), static_cast<int>(fd));
      }
    }
    close(ends[0]);
    close(ends[1]);
    EXPECT_EQ(error, 0) << mask;
    for (std::size_t fd = 0; fd < saved.size(); ++fd) {
      EXPECT_TRUE(seen[fd].is_open) << mask << ": " << fd;
      EXPECT_EQ(seen[fd].is_null_device, is_closed(fd)) << mask << ": " << fd;
      EXPECT_TRUE(seen[fd].is_inherited) << mask << ": " << fd;
    }
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
