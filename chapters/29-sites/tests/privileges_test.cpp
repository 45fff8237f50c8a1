#include "app/privileges.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using Texts = std::vector<std::string>;

// A user that every system has, and that isn't root.
auto Nobody() -> Identity { return FindIdentity("nobody", ""); }

auto WhyRefused(const std::string& user, const std::string& group, const PrivilegeCalls& calls = {})
    -> std::string {
  try {
    static_cast<void>(Privileges(user, group, calls));
    return "";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

// A process that the test decides about, and the calls that it made.
class FakeProcess {
 public:
  explicit FakeProcess(uid_t user, gid_t group = 0) : user_(user), group_(group) {}

  auto Calls() -> PrivilegeCalls {
    PrivilegeCalls calls;
    calls.effective_user = [this] { return user_; };
    calls.effective_group = [this] { return group_; };
    calls.set_all_groups = [this](const Identity& identity) {
      return Note("groups of " + identity.name + " and " + std::to_string(identity.group));
    };
    calls.set_group = [this](gid_t group) {
      const int result = Note("group " + std::to_string(group), group == 0);
      group_ = result == 0 ? group : group_;
      return result;
    };
    calls.set_user = [this](uid_t user) {
      const int result = Note("user " + std::to_string(user), user == 0);
      user_ = result == 0 ? user : user_;
      return result;
    };
    return calls;
  }

  void FailAt(const std::string& call) { failing_ = call; }
  void LetRootBack(const std::string& call) { let_back_ = call; }
  [[nodiscard]] auto Made() const -> const Texts& { return made_; }

 private:
  // Only root may become root, except for the call that the test lets through.
  auto Note(const std::string& call, bool to_root = false) -> int {
    made_.push_back(call);
    const bool refused = to_root && user_ != 0 && call != let_back_;
    errno = EPERM;
    return refused || call == failing_ ? -1 : 0;
  }

  uid_t user_;
  gid_t group_;
  std::string failing_;
  std::string let_back_;
  Texts made_;
};

TEST(PrivilegesTest, AUserIsFoundByNameAndByNumber) {
  const Identity nobody = Nobody();
  EXPECT_EQ(nobody.name, "nobody");
  EXPECT_NE(nobody.user, 0U);
  const Identity same = FindIdentity(std::to_string(nobody.user), "");
  EXPECT_EQ(same.name, "nobody");
  EXPECT_EQ(same.user, nobody.user);
  EXPECT_EQ(same.group, nobody.group) << "its own";
}

TEST(PrivilegesTest, AGroupIsFoundByNameAndByNumber) {
  const group* const zero = ::getgrgid(0);
  ASSERT_NE(zero, nullptr);
  EXPECT_EQ(FindIdentity("nobody", zero->gr_name).group, 0U);
  EXPECT_EQ(FindIdentity("nobody", "4000001").group, 4'000'001U);
}

TEST(PrivilegesTest, WhatIsNotThereIsNamedWithItsKey) {
  const std::string no_user = "': there is no such user";
  for (const std::string user : {"no such user", "-1", "1x", " 0", "4294967295", "99999999999"}) {
    EXPECT_EQ(WhyRefused(user, ""), "user: '" + user + no_user);
  }
  const std::string nul("nobody\0x", 8);
  EXPECT_EQ(WhyRefused(nul, ""), "user: 'nobody': a NUL byte follows, which no name has");
  EXPECT_EQ(WhyRefused("nobody", nul), "group: 'nobody': a NUL byte follows, which no name has");
  EXPECT_EQ(WhyRefused("nobody", "no such group"),
            "group: 'no such group': there is no such group");
  EXPECT_EQ(WhyRefused("", "0"), "group: '0': needs a user, too");
}

TEST(PrivilegesTest, ANumberWithoutAnEntryNeedsAGroup) {
  EXPECT_EQ(WhyRefused("4000000", ""),
            "user: '4000000': there is no such user, so its group has to be named, too");
  const Identity identity = FindIdentity("4000000", "4000001");
  EXPECT_EQ(identity.name, "");
  EXPECT_EQ(identity.user, 4'000'000U);
  EXPECT_EQ(identity.group, 4'000'001U);
}

TEST(PrivilegesTest, TheGroupsComeFirstAndTheUserLast) {
  const Identity nobody = Nobody();
  FakeProcess process(0);
  Privileges privileges("nobody", "", process.Calls());
  EXPECT_TRUE(privileges.MustDrop());
  EXPECT_EQ(process.Made(), Texts()) << "not yet";
  privileges.Drop();
  const std::string group = std::to_string(nobody.group);
  const Texts all{"groups of nobody and " + group, "group " + group,
                  "user " + std::to_string(nobody.user), "user 0", "group 0"};
  EXPECT_EQ(process.Made(), all) << "the last two try to come back";
  EXPECT_FALSE(privileges.MustDrop());
  EXPECT_FALSE(privileges.IsRoot());
}

TEST(PrivilegesTest, ACallThatFailsIsNamedAndIsTheLast) {
  const Identity nobody = Nobody();
  const std::string group = std::to_string(nobody.group);
  const Texts calls{"groups of nobody and " + group, "group " + group,
                    "user " + std::to_string(nobody.user)};
  const Texts names{"initgroups", "setgid", "setuid"};
  for (std::size_t i = 0; i < calls.size(); ++i) {
    FakeProcess process(0);
    process.FailAt(calls[i]);
    Privileges privileges("nobody", "", process.Calls());
    try {
      privileges.Drop();
      ADD_FAILURE() << names[i];
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code().value(), EPERM);
      EXPECT_EQ(std::string(error.what()).rfind(names[i], 0), 0U) << error.what();
    }
    EXPECT_EQ(process.Made(), Texts(calls.begin(), calls.begin() + static_cast<long>(i) + 1));
  }
}

TEST(PrivilegesTest, AWayBackToRootIsAnError) {
  for (const std::string call : {"user 0", "group 0"}) {
    FakeProcess process(0);
    process.LetRootBack(call);
    Privileges privileges("nobody", "", process.Calls());
    EXPECT_THROW(privileges.Drop(), std::runtime_error) << call;
  }
}

TEST(PrivilegesTest, ACallThatOnlySeemsToWorkIsAnError) {
  for (const bool user : {true, false}) {
    FakeProcess process(0);
    PrivilegeCalls calls = process.Calls();
    (user ? calls.set_user : calls.set_group) = [](unsigned /*id*/) { return 0; };
    Privileges privileges("nobody", "", calls);
    EXPECT_THROW(privileges.Drop(), std::runtime_error) << user;
  }
}

TEST(PrivilegesTest, RootByNameIsRoot) {
  FakeProcess process(0);
  Privileges privileges("root", "", process.Calls());
  privileges.Drop();
  EXPECT_TRUE(privileges.IsRoot());
}

TEST(PrivilegesTest, OnlyRootBecomesAnotherUser) {
  FakeProcess process(4'000'000, 4'000'001);
  EXPECT_EQ(WhyRefused("nobody", "", process.Calls()),
            "user: 'nobody': only root can become another user");
  EXPECT_EQ(WhyRefused("root", "", process.Calls()),
            "user: 'root': only root can become another user");
  EXPECT_EQ(WhyRefused("4000000", "4000002", process.Calls()),
            "user: '4000000': only root can become another user")
      << "the group is another";
}

TEST(PrivilegesTest, AProcessOfThatUserHasNothingToDo) {
  FakeProcess process(4'000'000, 4'000'001);
  Privileges privileges("4000000", "4000001", process.Calls());
  EXPECT_FALSE(privileges.MustDrop());
  privileges.Drop();
  EXPECT_EQ(process.Made(), Texts());
}

TEST(PrivilegesTest, WithoutAUserNothingHappens) {
  FakeProcess process(0);
  Privileges privileges("", "", process.Calls());
  EXPECT_TRUE(privileges.IsRoot());
  privileges.Drop();
  EXPECT_EQ(process.Made(), Texts());
}

#ifdef __linux__
constexpr const char* kNeedsRoot = "needs root: only root can become another user";

// Returns the words after `name` in /proc/self/status.
auto StatusOf(const std::string& name) -> Texts {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == name + ":") {
      Texts rest;
      while (words >> word) {
        rest.push_back(word);
      }
      return rest;
    }
  }
  return {"missing"};
}

// Returns what is wrong after the drop. To be called in a child process.
auto WhatIsWrongOnceDropped(const Identity& nobody) -> std::string {
  const std::string user = std::to_string(nobody.user);
  const std::string group = std::to_string(nobody.group);
  Privileges privileges("nobody", "");
  privileges.Drop();
  std::string wrong;
  wrong += StatusOf("Uid") == Texts(4, user) ? "" : "the user; ";
  wrong += StatusOf("Gid") == Texts(4, group) ? "" : "the group; ";
  const Texts groups = StatusOf("Groups");
  wrong += std::find(groups.begin(), groups.end(), group) == groups.end() ? "its own group; " : "";
  wrong += std::find(groups.begin(), groups.end(), "4000001") != groups.end() ? "old groups; " : "";
  wrong += StatusOf("CapEff") == Texts{std::string(16, '0')} ? "" : "capabilities; ";
  wrong += ::setuid(0) == 0 || ::seteuid(0) == 0 || ::setgid(0) == 0 ? "a way back; " : "";
  return wrong;
}

TEST(PrivilegesTest, ReallyGivesUpRoot) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << kNeedsRoot;
  }
  const Identity nobody = Nobody();
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t pid = ::fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    const gid_t old = 4'000'001;
    std::string wrong = ::setgroups(1, &old) == 0 ? "" : "setgroups; ";
    try {
      wrong += WhatIsWrongOnceDropped(nobody);
    } catch (const std::exception& error) {
      wrong += error.what();
    }
    static_cast<void>(::write(ends[1], wrong.data(), wrong.size()) >= 0);
    ::_exit(0);
  }
  ::close(ends[1]);
  std::array<char, 1000> text{};
  const ssize_t count = ::read(ends[0], text.data(), text.size());
  ::close(ends[0]);
  int status = -1;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  ASSERT_GE(count, 0);
  EXPECT_EQ(std::string(text.data(), static_cast<std::size_t>(count)), "");
}

// Files of root's, which are given to another user.
class PrivilegesFileTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) {
      GTEST_SKIP() << kNeedsRoot;
    }
  }

  static void Give(const std::string& path) { Privileges("nobody", "").GiveFile(path); }

  static auto OwnerOf(const std::string& path) -> long {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0 ? static_cast<long>(status.st_uid) : -1;
  }

  const long nobody_ = static_cast<long>(Nobody().user);
  test::SiteFolder folder_;
};

TEST_F(PrivilegesFileTest, AFileOfRootsIsGivenAndAMissingOneIsMade) {
  folder_.Write("old.log", "a line\n");
  Give(folder_.Path("old.log"));
  Give(folder_.Path("new.log"));
  EXPECT_EQ(OwnerOf(folder_.Path("old.log")), nobody_);
  EXPECT_EQ(std::filesystem::file_size(folder_.Path("old.log")), 7U);
  EXPECT_EQ(OwnerOf(folder_.Path("new.log")), nobody_);
}

TEST_F(PrivilegesFileTest, WithoutAUserToBecomeNothingIsGiven) {
  Privileges("", "").GiveFile(folder_.Path("new.log"));
  EXPECT_EQ(OwnerOf(folder_.Path("new.log")), -1);
}

TEST_F(PrivilegesFileTest, ANameThatLeadsElsewhereGivesNothingAway) {
  folder_.Write("secret", "x");
  folder_.Link("link.log", folder_.Path("secret"));
  Give(folder_.Path("link.log"));
  EXPECT_EQ(OwnerOf(folder_.Path("secret")), 0);
  std::filesystem::create_hard_link(folder_.Path("secret"), folder_.Path("hard.log"));
  Give(folder_.Path("hard.log"));
  EXPECT_EQ(OwnerOf(folder_.Path("secret")), 0);
  folder_.Write("other.log", "x");
  ASSERT_EQ(::chown(folder_.Path("other.log").c_str(), 4'000'000, 0), 0);
  Give(folder_.Path("other.log"));
  EXPECT_EQ(OwnerOf(folder_.Path("other.log")), 4'000'000) << "it isn't root's";
}

TEST_F(PrivilegesFileTest, BelowADirectoryOfTheUserNothingIsTouched) {
  folder_.Write("users/roots/file.log", "x");
  ASSERT_EQ(::chown(folder_.Path("users").c_str(), Nobody().user, 0), 0);
  Give(folder_.Path("users/roots/file.log"));
  EXPECT_EQ(OwnerOf(folder_.Path("users/roots/file.log")), 0) << "the user may exchange roots/";
}

TEST_F(PrivilegesFileTest, InADirectoryOfTheUserNothingIsTouched) {
  const Identity nobody = Nobody();
  folder_.Write("file.log", "x");
  const std::string folder = folder_.Path();
  const auto untouched = [&](const char* why) {
    Give(folder_.Path("file.log"));
    Give(folder_.Path("new.log"));
    EXPECT_EQ(OwnerOf(folder_.Path("file.log")), 0) << why;
    EXPECT_EQ(OwnerOf(folder_.Path("new.log")), -1) << why;
  };
  ASSERT_EQ(::chmod(folder.c_str(), 01777), 0);
  untouched("everybody writes");
  ASSERT_EQ(::chmod(folder.c_str(), 0775), 0);
  ASSERT_EQ(::chown(folder.c_str(), 0, nobody.group), 0);
  untouched("its group writes");
  ASSERT_EQ(::chown(folder.c_str(), nobody.user, 0), 0);
  untouched("it is the user's");
}
#endif  // __linux__

}  // namespace
}  // namespace TURTLE_SERVER
