#include "core/pid_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "base/unique_fd.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

auto Content(const std::string& path) -> std::string {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Returns the text of the exception, "" if the file was free.
auto Refusal(const std::string& path) -> std::string {
  try {
    const PidFile file(path);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

// Another process that holds the file until this object is destroyed, or it is killed.
class Owner {
 public:
  explicit Owner(const std::string& path) {
    std::array<int, 2> ready{};
    std::array<int, 2> end{};
    EXPECT_EQ(::pipe2(ready.data(), O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(end.data(), O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(end[1]);
      try {
        const PidFile file(path);
        char byte = 1;
        static_cast<void>(::write(ready[1], &byte, 1));
        static_cast<void>(::read(end[0], &byte, 1));
      } catch (const std::exception&) {
      }
      ::_exit(0);
    }
    ::close(ready[1]);
    ::close(end[0]);
    end_.Reset(end[1]);
    const UniqueFd ready_fd(ready[0]);
    char byte = 0;
    EXPECT_EQ(::read(ready_fd.Get(), &byte, 1), 1) << "it could not have the file";
  }

  Owner(const Owner&) = delete;
  auto operator=(const Owner&) -> Owner& = delete;

  ~Owner() { End(); }

  [[nodiscard]] auto Pid() const -> pid_t { return pid_; }

  void End(int signal = 0) {
    if (pid_ > 0) {
      if (signal != 0) {
        ::kill(pid_, signal);
      }
      end_.Reset();
      ::waitpid(pid_, nullptr, 0);
      pid_ = 0;
    }
  }

 private:
  pid_t pid_ = 0;
  UniqueFd end_;
};

class PidFileTest : public testing::Test {
 protected:
  const test::SiteFolder folder_;
  const std::string path_ = folder_.Path("turtle.pid");
  const std::string own_ = std::to_string(::getpid()) + "\n";
};

TEST_F(PidFileTest, IsThereAsLongAsTheObject) {
  {
    const PidFile file(path_);
    EXPECT_EQ(Content(path_), own_);
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(PidFileTest, WhoComesSecondIsToldWhoHasIt) {
  Owner owner(path_);
  const std::string number = std::to_string(owner.Pid());
  EXPECT_EQ(Refusal(path_), path_ + ": process " + number + " has it");
  EXPECT_EQ(Content(path_), number + "\n") << "the refused have changed it";
  owner.End();
  EXPECT_EQ(Refusal(path_), "");
}

TEST_F(PidFileTest, OneProcessHasItOnce) {
  const PidFile file(path_);
  EXPECT_EQ(Refusal(path_), path_ + ": process " + std::to_string(::getpid()) + " has it");
  EXPECT_EQ(Content(path_), own_);
}

// A lock of fcntl(2) would be released.
TEST_F(PidFileTest, WhoReadsItTakesNothing) {
  Owner owner(path_);
  ASSERT_NE(Content(path_), "");
  EXPECT_NE(Refusal(path_), "");
  const auto file = std::make_unique<PidFile>(path_ + "2");
  ASSERT_EQ(Content(path_ + "2"), own_);
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(Refusal(path_ + "2").empty() ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "this process has read its own file, and it was free";
}

TEST_F(PidFileTest, WhatACrashLeftIsTakenOver) {
  folder_.Write("turtle.pid", "4194303999\nand more that is longer than a number\n");
  {
    const PidFile file(path_);
    EXPECT_EQ(Content(path_), own_);
  }
  Owner owner(path_);
  owner.End(SIGKILL);
  ASSERT_TRUE(std::filesystem::exists(path_));
  const PidFile file(path_);
  EXPECT_EQ(Content(path_), own_);
}

TEST_F(PidFileTest, AnothersFileIsNotRemoved) {
  {
    const PidFile file(path_);
    std::filesystem::remove(path_);
    folder_.Write("turtle.pid", "another's");
  }
  EXPECT_EQ(Content(path_), "another's");
  {
    const PidFile file(path_ + "2");
    std::filesystem::remove(path_ + "2");  // nor is it an error if there is none
  }
}

TEST_F(PidFileTest, ALinkIsNotFollowed) {
  folder_.Write("precious", "keep me");
  folder_.Link("turtle.pid", folder_.Path("precious"));
  EXPECT_EQ(Refusal(path_), path_ + ": Too many levels of symbolic links");
  EXPECT_EQ(Content(folder_.Path("precious")), "keep me");
}

TEST_F(PidFileTest, WhatCannotBeOpenedIsTold) {
  const std::string nowhere = folder_.Path("no/turtle.pid");
  EXPECT_EQ(Refusal(nowhere), nowhere + ": No such file or directory");
  EXPECT_EQ(Refusal(folder_.Path()), folder_.Path() + ": Is a directory");
}

TEST_F(PidFileTest, AProgramThatIsStartedDoesNotInheritIt) {
  const PidFile file(path_);
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    if (std::filesystem::read_symlink(entry, ignored) == path_) {
      ++found;
      const int fd = std::stoi(entry.path().filename());
      EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
    }
  }
  EXPECT_GT(found, 0) << "it is not kept open";
}

// Four processes take it from each other, again and again: never do two have it.
TEST_F(PidFileTest, NeverTwoAtATime) {
  struct Shared {
    std::atomic<int> owners{0};
    std::atomic<int> times{0};
    std::atomic<bool> twice{false};
  };
  void* const memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const shared = new (memory) Shared;
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(::fork());
    if (children.back() == 0) {
      for (int attempt = 0; attempt < 5000; ++attempt) {
        try {
          const PidFile file(path_);
          if (++shared->owners > 1) {
            shared->twice = true;
          }
          ++shared->times;
          --shared->owners;
        } catch (const std::exception&) {
        }
      }
      ::_exit(0);
    }
  }
  for (const pid_t child : children) {
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_FALSE(shared->twice) << "two had it";
  EXPECT_GT(shared->times, 100);
  EXPECT_FALSE(std::filesystem::exists(path_));
  ::munmap(memory, sizeof(Shared));
}

}  // namespace
}  // namespace TURTLE_SERVER
