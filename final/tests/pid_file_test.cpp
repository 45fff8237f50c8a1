#include "app/pid_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

#include "support/captured_stderr.h"
#include "support/log_folder.h"
#include "support/nobody_here.h"

namespace TURTLE_SERVER {
namespace {

class PidFileTest : public testing::Test {
 protected:
  // The number of a process that has ended.
  static auto Ended() -> pid_t {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::_exit(0);
    }
    ::waitpid(pid, nullptr, 0);
    return pid;
  }

  [[nodiscard]] auto Has(pid_t number) const -> bool {
    return folder_.Read("pid") == std::to_string(number) + "\n";
  }

  [[nodiscard]] auto WhyRefused() const -> std::string {
    PidFile file(path_);
    try {
      file.Write();
      return "";
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  // Lets nobody add or remove names, and everybody write to the file.
  void CloseFolder() const {
    ASSERT_EQ(::chmod(path_.c_str(), 0666), 0);
    ASSERT_EQ(::chmod(folder_.Path().c_str(), 0555), 0);
  }

  test::LogFolder folder_;
  const std::string path_ = folder_.Path("pid");
};

TEST_F(PidFileTest, HasTheNumberUntilItsEnd) {
  {
    PidFile file(path_);
    EXPECT_FALSE(std::filesystem::exists(path_)) << "not yet";
    file.Write();
    EXPECT_TRUE(Has(::getpid())) << folder_.Read("pid");
    EXPECT_EQ(std::filesystem::status(path_).permissions() & std::filesystem::perms::others_write,
              std::filesystem::perms::none);
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(PidFileTest, WithoutAPathThereIsNone) {
  PidFile file("");
  file.Write();
  file.TakeOver(::getppid());
}

TEST_F(PidFileTest, AStaleFileIsReplaced) {
  for (const std::string& stale :
       {std::to_string(Ended()) + "\n", std::to_string(Ended()), std::string("")}) {
    folder_.Write("pid", stale);
    PidFile file(path_);
    file.Write();
    EXPECT_TRUE(Has(::getpid())) << stale;
  }
}

TEST_F(PidFileTest, AFileWithItsOwnNumberIsReplaced) {
  folder_.Write("pid", std::to_string(::getpid()) + "\n");  // such as 1, in each new container
  PidFile file(path_);
  file.Write();
  EXPECT_TRUE(Has(::getpid()));
}

TEST_F(PidFileTest, AFileOfARunningProcessIsLeftAlone) {
  const std::string number = std::to_string(::getppid());
  folder_.Write("pid", number + "\n");
  EXPECT_EQ(WhyRefused(),
            "pid_file: '" + path_ + "': process " + number + " runs, and the file is its own");
  EXPECT_TRUE(Has(::getppid())) << "not even removed at the end";
}

TEST_F(PidFileTest, AFileWithAnythingElseIsLeftAlone) {
  const std::string refusal =
      "pid_file: '" + path_ + "': it exists and is not a file with a process number";
  for (const std::string text : {"root:x:0:0", "-1\n", "0\n", "12 \n", "12\n\n", "+12\n",
                                 "99999999999999\n", "\n\n", "111111111111111111111111111111"}) {
    folder_.Write("pid", text);
    EXPECT_EQ(WhyRefused(), refusal) << text;
    EXPECT_EQ(folder_.Read("pid"), text);
  }
  std::filesystem::remove(path_);
  folder_.Write("target", std::to_string(Ended()));
  folder_.Link("pid", folder_.Path("target"));
  EXPECT_EQ(WhyRefused(), refusal);
  std::filesystem::remove(path_);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(WhyRefused(), refusal) << "and it doesn't wait for a writer";
}

TEST_F(PidFileTest, APlaceThatIsNotThereIsNamed) {
  PidFile file(folder_.Path("none/pid"));
  try {
    file.Write();
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
    EXPECT_EQ(std::string(error.what()).rfind("pid_file: '" + folder_.Path("none/pid") + "'", 0),
              0U);
  }
}

TEST_F(PidFileTest, APathWithANulByteIsRefused) {
  PidFile file(path_ + std::string("\0x", 2));
  EXPECT_THROW(file.Write(), std::invalid_argument);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(PidFileTest, AFileThatIsAnothersByNowIsNotRemoved) {
  {
    PidFile file(path_);
    file.Write();
    folder_.Write("pid", std::to_string(::getppid()) + "\n");
  }
  EXPECT_TRUE(Has(::getppid()));
}

TEST_F(PidFileTest, ASuccessorTakesItOverAndKeepsIt) {
  PidFile successor(path_, Ended());
  {
    PidFile predecessor(path_);
    predecessor.Write();
    successor.TakeOver(::getpid());
    EXPECT_FALSE(Has(::getpid())) << folder_.Read("pid");
  }
  EXPECT_TRUE(std::filesystem::exists(path_)) << "the predecessor's end left it";
}

TEST_F(PidFileTest, ALongNumberLeavesNoDigitsBehind) {
  folder_.Write("pid", std::to_string(::getppid()) + "\n");
  PidFile successor(path_, 7);
  const auto inode = [this] {
    struct stat status {};
    return ::stat(path_.c_str(), &status) == 0 ? status.st_ino : 0;
  };
  const auto before = inode();
  successor.TakeOver(::getppid());
  EXPECT_EQ(folder_.Read("pid"), "7\n");
  EXPECT_EQ(inode(), before) << "at no time it was missing";
}

TEST_F(PidFileTest, ASuccessorMakesAFileThatIsMissing) {
  PidFile successor(path_);
  successor.TakeOver(::getppid());
  EXPECT_TRUE(Has(::getpid()));
}

TEST_F(PidFileTest, ASuccessorThatCannotHaveItLogsThat) {
  folder_.Write("pid", "1\n");
  const test::CapturedStderr log;
  {
    PidFile successor(path_);
    successor.TakeOver(::getpid());
  }
  EXPECT_TRUE(Has(1));
  EXPECT_NE(log.Text().find("ERROR hand-over threw: pid_file: '" + path_ + "': process 1 runs"),
            std::string::npos)
      << log.Text();
}

TEST_F(PidFileTest, InADirectoryOfRootsItIsTakenOverAndEmptied) {
  if (!test::NobodyHere::IsNobody()) {
    GTEST_SKIP() << "needs a process that permissions restrict";
  }
  folder_.Write("pid", std::to_string(::getppid()) + "\n");
  CloseFolder();
  {
    const test::NobodyHere nobody;
    PidFile successor(path_);
    successor.TakeOver(::getppid());
    EXPECT_TRUE(Has(::getpid()));
  }
  EXPECT_EQ(folder_.Read("pid"), "");
  ASSERT_EQ(::chmod(folder_.Path().c_str(), 0755), 0);
}

}  // namespace
}  // namespace TURTLE_SERVER
