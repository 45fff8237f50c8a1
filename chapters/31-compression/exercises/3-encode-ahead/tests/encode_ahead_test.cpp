// The variants of a site are complete, up to date, and the only files that are touched.
#include "files/encode_ahead.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "compress/accept_encoding.h"
#include "compress/coding.h"
#include "support/decode.h"
#include "support/nobody_here.h"
#include "support/site_folder.h"
#include "support/small_files.h"

namespace TURTLE_SERVER {
namespace {

// A test acts before a system call, or in place of it; empty: it does not.
std::function<void(int fd)> before_fsync;
std::function<int(int folder, const char* from)> in_place_of_renameat;  // 0: it happens
bool fails_to_read_names = false;  // a directory's, after the first three

}  // namespace
}  // namespace TURTLE_SERVER

#ifdef __linux__
extern "C" auto fsync(int fd) -> int {
  static const auto real = reinterpret_cast<int (*)(int)>(::dlsym(RTLD_NEXT, "fsync"));
  if (TURTLE_SERVER::before_fsync) {
    TURTLE_SERVER::before_fsync(fd);
  }
  return real(fd);
}

extern "C" auto renameat(int folder, const char* from, int to_folder, const char* to) noexcept
    -> int {
  static const auto real =
      reinterpret_cast<int (*)(int, const char*, int, const char*)>(::dlsym(RTLD_NEXT, "renameat"));
  if (TURTLE_SERVER::in_place_of_renameat) {
    if (const int error = TURTLE_SERVER::in_place_of_renameat(folder, from)) {
      errno = error;
      return -1;
    }
  }
  return real(folder, from, to_folder, to);
}

extern "C" auto readdir(DIR* stream) -> dirent* {
  static const auto real = reinterpret_cast<dirent* (*)(DIR*)>(::dlsym(RTLD_NEXT, "readdir"));
  static int reads = 0;
  reads = TURTLE_SERVER::fails_to_read_names ? reads + 1 : 0;
  if (reads > 3) {
    errno = EIO;
    return nullptr;
  }
  return real(stream);
}
#endif

namespace TURTLE_SERVER {
namespace {

namespace fs = std::filesystem;

using Names = std::set<std::string>;
using Texts = std::vector<std::string>;

constexpr std::time_t kThatDay = 1769903999;

auto Words(std::size_t size, const std::string& word = "shell ") -> std::string {
  std::string text;
  while (text.size() < size) {
    text += word;
  }
  text.resize(size);
  return text;
}

auto Noise(std::size_t size) -> std::string {
  std::string noise;
  for (unsigned i = 0, next = 7; i < size; ++i) {
    next = next * 1664525U + 1013904223U;
    noise += static_cast<char>(next >> 24);
  }
  return noise;
}

auto TimeOf(const struct stat& status) -> timespec {
#ifdef __APPLE__
  return status.st_mtimespec;
#else
  return status.st_mtim;
#endif
}

auto IsSame(const timespec& one, const timespec& other) -> bool {
  return one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec;
}

auto OnlyGzip() -> EncodeAheadOptions {
  EncodeAheadOptions options;
  options.codings = CodingOrder();
  options.codings.Add(Coding::kGzip);
  return options;
}

auto RemovingOrphans() -> EncodeAheadOptions {
  EncodeAheadOptions options;
  options.remove_orphans = true;
  return options;
}

class EncodeAheadTest : public testing::Test {
 protected:
  ~EncodeAheadTest() override {
    before_fsync = nullptr;
    in_place_of_renameat = nullptr;
    fails_to_read_names = false;
  }

  // Writes a file, whose time is in the past.
  void Write(const std::string& name, const std::string& content, std::time_t time = kThatDay,
             long nanoseconds = 123'456'789) const {
    folder_.Write(name, content);
    SetTime(name, time, nanoseconds);
  }

  void SetTime(const std::string& name, std::time_t time, long nanoseconds = 123'456'789) const {
    const timespec times[] = {{time, nanoseconds}, {time, nanoseconds}};
    ASSERT_EQ(::utimensat(AT_FDCWD, folder_.Path(name).c_str(), times, 0), 0) << name;
  }

  auto Content(const std::string& name) const -> std::string {
    std::ifstream file(folder_.Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  auto Status(const std::string& name) const -> struct stat {
    struct stat status {};
    EXPECT_EQ(::lstat(folder_.Path(name).c_str(), &status), 0) << name;
    return status;
  }

  auto
  HasTimeOf(const std::string& name, const std::string& plain) const -> bool {
    return IsSame(TimeOf(Status(name)), TimeOf(Status(plain)));
  }

  auto Exists(const std::string& name) const -> bool {
    return fs::exists(fs::symlink_status(folder_.Path(name)));
  }

  // Returns all that is in the directory and below, hidden names, too.
  auto All() const -> Names {
    Names names;
    for (const auto& each : fs::recursive_directory_iterator(folder_.Path())) {
      names.insert(each.path().lexically_relative(folder_.Path()).string());
    }
    return names;
  }

  auto Run(const EncodeAheadOptions& options = {}) const -> EncodeAheadResult {
    return EncodeAhead(folder_.Path(), options);
  }

  // Runs it, and expects these numbers, without a failure.
  void ExpectRun(std::size_t written, std::size_t kept, std::size_t removed,
                 const EncodeAheadOptions& options = {}) const {
    const EncodeAheadResult result = Run(options);
    EXPECT_EQ(result.written, written);
    EXPECT_EQ(result.kept, kept);
    EXPECT_EQ(result.removed, removed);
    EXPECT_EQ(result.failures, Texts());
  }

  const test::SiteFolder folder_{};
};

// --- what is encoded -----------------------------------------------------------------------------

TEST_F(EncodeAheadTest, ATextGetsAVariantInEachCoding) {
  const std::string text = Words(5000);
  Write("a.css", text);
  ExpectRun(3, 0, 0);
  EXPECT_EQ(All(), (Names{"a.css", "a.css.br", "a.css.gz", "a.css.zst"}));
  EXPECT_EQ(Content("a.css"), text);
  for (const auto& [coding, name] :
       {std::pair("gzip", "a.css.gz"), {"br", "a.css.br"}, {"zstd", "a.css.zst"}}) {
    EXPECT_EQ(test::Decode(coding, Content(name)), text);
    EXPECT_LT(Content(name).size(), 500U);
    EXPECT_TRUE(HasTimeOf(name, "a.css")) << name;
  }
}

TEST_F(EncodeAheadTest, DirectoriesAreEntered) {
  for (const char* name : {"a.css", "b/a.css", "b/c/d/e/a.css", "b.css/a.css"}) {
    Write(name, Words(5000, name));
  }
  fs::create_directory(folder_.Path("empty"));
  ExpectRun(4, 0, 0, OnlyGzip());
  for (const char* name : {"a.css", "b/a.css", "b/c/d/e/a.css", "b.css/a.css"}) {
    EXPECT_EQ(test::Decode("gzip", Content(std::string(name) + ".gz")), Words(5000, name));
  }
}

TEST_F(EncodeAheadTest, OnlyTextIsEncoded) {
  for (const char* name : {"a.png", "a.zip", "a", "a.unknown", "a.css.gz", "a.br", "a.css.zst"}) {
    Write(name, Words(5000));
  }
  const Names before = All();
  ExpectRun(0, 0, 0);
  EXPECT_EQ(All(), before);
}

TEST_F(EncodeAheadTest, OnlyTheCodingsOfTheOptionsAreUsed) {
  Write("a.css", Words(5000));
  Write("a.css.br", "from another tool", kThatDay - 1);
  Write("b.css.br", "an orphan", kThatDay - 1);
  EncodeAheadOptions options = OnlyGzip();
  options.remove_orphans = true;
  ExpectRun(1, 0, 0, options);
  EXPECT_EQ(All(), (Names{"a.css", "a.css.br", "a.css.gz", "b.css.br"}));
  EXPECT_EQ(Content("a.css.br"), "from another tool");
}

TEST_F(EncodeAheadTest, AShortFileIsNotEncoded) {
  Write("a.css", Words(999));
  Write("b.css", Words(1000));
  Write("empty.css", "");
  ExpectRun(1, 0, 0, OnlyGzip());
  EXPECT_EQ(All(), (Names{"a.css", "b.css", "b.css.gz", "empty.css"}));
  EncodeAheadOptions options = OnlyGzip();
  options.min_bytes = 0;
  ExpectRun(1, 1, 0, options);
  EXPECT_EQ(All(), (Names{"a.css", "a.css.gz", "b.css", "b.css.gz", "empty.css"}));
}

TEST_F(EncodeAheadTest, WhatDoesNotShrinkIsNotKept) {
  Write("a.txt", Noise(5000));
  ExpectRun(0, 0, 0);
  EXPECT_EQ(All(), Names{"a.txt"});
}

TEST_F(EncodeAheadTest, HiddenNamesAreLeftOut) {
  Write(".a.css", Words(5000));
  Write(".git/a.css", Words(5000));
  Write("b/.c/a.css", Words(5000));
  Write(".well-known/a.css", Words(5000));
  Write(".a.css.gz", "an orphan, but hidden");
  const Names before = All();
  ExpectRun(0, 0, 0, RemovingOrphans());
  EXPECT_EQ(All(), before);
}

TEST_F(EncodeAheadTest, LinksAreNotFollowed) {
  const test::SiteFolder other;
  other.Write("a.css", Words(5000));
  folder_.Link("a.css", other.Path("a.css"));
  folder_.Link("other", other.Path());
  folder_.Link("loop", ".");
  folder_.Link("nowhere.css", "missing");
  Write("b/c.css", Words(5000));
  folder_.Link("d", "b");
  ExpectRun(1, 0, 0, OnlyGzip());
  EXPECT_EQ(All(),
            (Names{"a.css", "b", "b/c.css", "b/c.css.gz", "d", "loop", "nowhere.css", "other"}));
  EXPECT_FALSE(fs::exists(other.Path("a.css.gz")));
}

TEST_F(EncodeAheadTest, APipeIsNoText) {
  ASSERT_EQ(::mkfifo(folder_.Path("a.css").c_str(), 0666), 0);
  ExpectRun(0, 0, 0);
  EXPECT_EQ(All(), Names{"a.css"});
}

// --- what is up to date --------------------------------------------------------------------------

TEST_F(EncodeAheadTest, ASecondRunKeepsAll) {
  Write("a.css", Words(5000));
  Write("b/a.css", Words(5000));
  ExpectRun(6, 0, 0);
  const ino_t inode = Status("b/a.css.br").st_ino;
  ExpectRun(0, 6, 0);
  EXPECT_EQ(Status("b/a.css.br").st_ino, inode);
}

TEST_F(EncodeAheadTest, AnotherTimeIsAChangeInWhicheverDirection) {
  Write("a.css", Words(5000), kThatDay, 500);
  ExpectRun(1, 0, 0, OnlyGzip());
  for (const auto& [seconds, nanoseconds] :
       {std::pair(0, 501), {0, 499}, {1, 500}, {-100'000, 500}, {100'000, 500}}) {
    const std::string text = Words(5000, std::to_string(seconds + nanoseconds));
    Write("a.css", text, kThatDay + seconds, nanoseconds);
    ExpectRun(1, 0, 0, OnlyGzip());
    EXPECT_EQ(test::Decode("gzip", Content("a.css.gz")), text);
    EXPECT_TRUE(HasTimeOf("a.css.gz", "a.css"));
    ExpectRun(0, 1, 0, OnlyGzip());
  }
}

TEST_F(EncodeAheadTest, AVariantOfAnotherToolIsKept) {
  Write("a.css", Words(5000));
  Write("a.css.gz", "by zopfli");
  Write("short.css", Words(10));
  Write("short.css.gz", "by zopfli, too");
  ExpectRun(0, 2, 0, OnlyGzip());
  EXPECT_EQ(Content("a.css.gz"), "by zopfli");
}

TEST_F(EncodeAheadTest, AStaleVariantOfWhatDoesNotShrinkIsRemoved) {
  Write("noise.txt", Noise(5000));
  Write("noise.txt.gz", "stale", kThatDay + 1);
  Write("short.txt", Words(10));
  Write("short.txt.br", "stale", kThatDay - 1);
  Write("short.txt.zst", "current");
  ExpectRun(0, 1, 2);
  EXPECT_EQ(All(), (Names{"noise.txt", "short.txt", "short.txt.zst"}));
}

TEST_F(EncodeAheadTest, WhatIsNoRegularFileStays) {
  Write("a.css", Words(5000));
  Write("b.css", Words(10));
  fs::create_directory(folder_.Path("a.css.gz"));
  folder_.Link("a.css.br", "a.css");
  ASSERT_EQ(::mkfifo(folder_.Path("a.css.zst").c_str(), 0666), 0);
  folder_.Link("b.css.gz", "missing");
  ExpectRun(0, 0, 0, RemovingOrphans());
  EXPECT_EQ(All(), (Names{"a.css", "a.css.br", "a.css.gz", "a.css.zst", "b.css", "b.css.gz"}));
  EXPECT_EQ(Content("a.css"), Words(5000));
}

// --- orphans -------------------------------------------------------------------------------------

TEST_F(EncodeAheadTest, OrphansStayUnlessTheOptionsSayOtherwise) {
  for (const char* name : {"a.css.gz", "b/a.html.br", "log.txt.zst"}) {
    Write(name, "an orphan");
  }
  ExpectRun(0, 0, 0);
  EXPECT_EQ(All(), (Names{"a.css.gz", "b", "b/a.html.br", "log.txt.zst"}));
  ExpectRun(0, 0, 3, RemovingOrphans());
  EXPECT_EQ(All(), Names{"b"});
}

TEST_F(EncodeAheadTest, OnlyOrphansAreRemoved) {
  for (const char* name : {"backup.tar.gz", "photo.png.br", "a.gz", "a.css.bz2", "a.css", "css.gz",
                           "x.css.gz.gz", "a.css.GZ"}) {
    Write(name, Words(20));
  }
  fs::create_directories(folder_.Path("dir.css"));
  Write("dir.css.gz", "something has the name of the plain file");
  folder_.Link("link.css", "missing");
  Write("link.css.gz", "here, too");
  folder_.Link("b.css.gz", "backup.tar.gz");
  fs::create_directories(folder_.Path("c.css.gz"));
  const Names before = All();
  ExpectRun(0, 0, 0, RemovingOrphans());
  EXPECT_EQ(All(), before);
}

// --- how it is written ---------------------------------------------------------------------------

TEST_F(EncodeAheadTest, PermissionsAreThoseOfTheText) {
  const mode_t mask = ::umask(0077);
  for (const mode_t mode : {0644, 0600, 0444, 0666, 0755}) {
    const std::string name = "a" + std::to_string(mode) + ".css";
    Write(name, Words(5000));
    fs::permissions(folder_.Path(name), fs::perms(mode));
    EXPECT_EQ(Run(OnlyGzip()).failures, Texts());
    EXPECT_EQ(Status(name + ".gz").st_mode & 07777, mode);
  }
  ::umask(mask);
}

TEST_F(EncodeAheadTest, ALongFileComesBack) {
  std::string text;
  for (int i = 0; text.size() < 2'000'000; ++i) {
    text += "line " + std::to_string(i) + " of a long text\n";
  }
  text += Noise(200'000);
  Write("a.txt", text);
  ExpectRun(3, 0, 0);
  EXPECT_TRUE(test::Decode("gzip", Content("a.txt.gz")) == text);
  EXPECT_TRUE(test::Decode("br", Content("a.txt.br")) == text);
  EXPECT_TRUE(test::Decode("zstd", Content("a.txt.zst")) == text);
}

TEST_F(EncodeAheadTest, WhatAKilledProcessHasLeftIsReplaced) {
  const test::SiteFolder other;
  other.Write("precious", "keep me");
  Write("a.css", Words(5000));
  Write("b/a.css", Words(5000));
  Write("c/a.css", Words(5000));
  Write(".encode-ahead", Words(9999));
  folder_.Link("b/.encode-ahead", other.Path("precious"));
  fs::create_hard_link(other.Path("precious"), folder_.Path("c/.encode-ahead"));
  ExpectRun(3, 0, 0, OnlyGzip());
  EXPECT_EQ(All(), (Names{"a.css", "a.css.gz", "b", "b/a.css", "b/a.css.gz", "c", "c/a.css",
                          "c/a.css.gz"}));
  std::string kept;
  std::getline(std::ifstream(other.Path("precious")), kept);
  EXPECT_EQ(kept, "keep me") << "the file is not opened, but removed";
}

TEST_F(EncodeAheadTest, AFullDiskLeavesTheOlderVariant) {
  const std::string text = Words(5000) + Noise(5000);
  Write("a.css", text);
  Write("a.css.gz", "the older one", kThatDay - 1);
  Write("b.css", Words(5000));
  {
    const test::SmallFiles small(2000);
    const EncodeAheadResult result = Run(OnlyGzip());
    EXPECT_EQ(result.failures, Texts{"a.css.gz: File too large"});
    EXPECT_EQ(result.written, 1U) << "the rest is done";
    EXPECT_EQ(result.removed, 0U);
  }
  EXPECT_EQ(All(), (Names{"a.css", "a.css.gz", "b.css", "b.css.gz"}));
  EXPECT_EQ(Content("a.css.gz"), "the older one");
  ExpectRun(1, 1, 0, OnlyGzip());
  EXPECT_EQ(test::Decode("gzip", Content("a.css.gz")), text);
}

TEST_F(EncodeAheadTest, FailuresAreCollectedAndEndNothing) {
  Write("a.css", Words(5000));
  Write("b/a.css", Words(5000));
  Write("c.css", Words(5000));
  Write("d/a.css", Words(5000));
  fs::permissions(folder_.Path("a.css"), fs::perms::none);
  fs::permissions(folder_.Path("b"), fs::perms::none);
  fs::permissions(folder_.Path("c.css"), fs::perms(0644));
  fs::permissions(folder_.Path("d"), fs::perms(0555));
  fs::permissions(folder_.Path(), fs::perms(0777));
  EncodeAheadResult result;
  {
    const test::NobodyHere nobody;
    if (!nobody.IsNobody()) {
      GTEST_SKIP() << "permissions don't restrict this thread";
    }
    result = Run(OnlyGzip());
  }
  fs::permissions(folder_.Path("b"), fs::perms(0755));
  fs::permissions(folder_.Path("d"), fs::perms(0755));
  const std::string denied = ": Permission denied";
  EXPECT_EQ(Names(result.failures.begin(), result.failures.end()),
            (Names{"a.css" + denied, "b" + denied, "d/a.css.gz" + denied}));
  EXPECT_EQ(result.failures.size(), 3U);
  EXPECT_EQ(result.written, 1U);
  EXPECT_EQ(All(), (Names{"a.css", "b", "b/a.css", "c.css", "c.css.gz", "d", "d/a.css"}));
}

TEST_F(EncodeAheadTest, NoDescriptorIsLeft) {
  Write("a.css", Words(5000));
  Write("b/c/a.css", Words(5000));
  Write("noise.txt", Noise(5000));
  const int before = UniqueFd(::dup(0)).Get();
  Run();
  Run();
  EXPECT_THROW(EncodeAhead(folder_.Path("missing")), std::system_error);
  EXPECT_EQ(UniqueFd(::dup(0)).Get(), before);
}

#ifdef __linux__
TEST_F(EncodeAheadTest, AVariantIsCompleteAndOnTheDiskBeforeItHasItsName) {
  const std::string text = Words(5000);
  Write("b/a.css", text);
  Write("b/a.css.gz", "the older one", kThatDay - 1);
  fs::permissions(folder_.Path("b/a.css"), fs::perms(0640));
  std::set<ino_t> synced;
  before_fsync = [&](int fd) {
    struct stat status {};
    EXPECT_EQ(::fstat(fd, &status), 0);
    EXPECT_TRUE(IsSame(TimeOf(status), TimeOf(Status("b/a.css")))) << "it is on the disk, too";
    synced.insert(status.st_ino);
  };
  Names coded;
  in_place_of_renameat = [&](int folder, const char* from) {
    EXPECT_STREQ(from, ".encode-ahead");
    struct stat status {};
    EXPECT_EQ(::fstatat(folder, from, &status, 0), 0);
    EXPECT_EQ(synced.count(status.st_ino), 1U);
    EXPECT_TRUE(IsSame(TimeOf(status), TimeOf(Status("b/a.css"))));
    EXPECT_EQ(status.st_mode & 07777, 0640U);
    EXPECT_EQ(Content("b/a.css.gz"), "the older one");
    coded.insert(Content(std::string("b/") + from));
    return 0;
  };
  ExpectRun(1, 0, 0, OnlyGzip());
  ASSERT_EQ(coded.size(), 1U) << "renameat(2) was not called";
  EXPECT_EQ(test::Decode("gzip", *coded.begin()), text);
  EXPECT_EQ(Content("b/a.css.gz"), *coded.begin());
}

TEST_F(EncodeAheadTest, AFailureAtTheEndLeavesTheOlderVariant) {
  Write("a.css", Words(5000));
  Write("a.css.gz", "the older one", kThatDay - 1);
  Write("b.css", Words(5000));
  int calls = 0;
  in_place_of_renameat = [&](int, const char*) { return ++calls == 1 ? EIO : 0; };
  const EncodeAheadResult result = Run(OnlyGzip());
  EXPECT_EQ(result.failures, Texts{"a.css.gz: Input/output error"});
  EXPECT_EQ(result.written, 1U);
  EXPECT_EQ(All(), (Names{"a.css", "a.css.gz", "b.css", "b.css.gz"}));
  EXPECT_EQ(Content("a.css.gz"), "the older one");
}

TEST_F(EncodeAheadTest, OneCodingsFailureIsNotAnothers) {
  Write("a.css", Words(5000));
  int calls = 0;
  in_place_of_renameat = [&](int, const char*) { return ++calls == 1 ? EIO : 0; };
  const EncodeAheadResult result = Run();
  EXPECT_EQ(result.failures, Texts{"a.css.br: Input/output error"}) << "the first of the options";
  EXPECT_EQ(All(), (Names{"a.css", "a.css.gz", "a.css.zst"}));
}

TEST_F(EncodeAheadTest, AChangeMeanwhileIsFoundByTheNextRun) {
  Write("a.css", Words(5000));
  before_fsync = [&](int) { Write("a.css", Words(6000, "new "), kThatDay + 7); };
  ExpectRun(1, 0, 0, OnlyGzip());
  EXPECT_FALSE(HasTimeOf("a.css.gz", "a.css"));
  before_fsync = nullptr;
  ExpectRun(1, 0, 0, OnlyGzip());
  EXPECT_EQ(test::Decode("gzip", Content("a.css.gz")), Words(6000, "new "));
}

TEST_F(EncodeAheadTest, ADirectoryThatCantBeReadIsLeftAsItIs) {
  for (const char* name : {"a.css", "b.css", "c.css", "d.css.gz", "e.css.gz"}) {
    Write(name, Words(5000));
  }
  const Names before = All();
  fails_to_read_names = true;
  const EncodeAheadResult result = Run(RemovingOrphans());
  fails_to_read_names = false;
  EXPECT_EQ(result.failures, Texts{".: Input/output error"});
  EXPECT_EQ(result.written + result.removed, 0U);
  EXPECT_EQ(All(), before);
}
#endif

// --- the root ------------------------------------------------------------------------------------

TEST_F(EncodeAheadTest, ARootThatIsNoDirectoryIsRefused) {
  Write("a.css", Words(5000));
  for (const auto& [name, error] : {std::pair("missing", ENOENT), {"a.css", ENOTDIR}}) {
    const std::string path = folder_.Path(name);
    try {
      EncodeAhead(path);
      ADD_FAILURE() << name << " is accepted";
    } catch (const std::system_error& refusal) {
      EXPECT_EQ(refusal.code().value(), error);
      EXPECT_NE(std::string(refusal.what()).find(path), std::string::npos) << refusal.what();
    }
  }
}

TEST_F(EncodeAheadTest, TheRootMayBeALink) {
  Write("a.css", Words(5000));
  const test::SiteFolder other;
  other.Link("site", folder_.Path());
  EXPECT_EQ(EncodeAhead(other.Path("site")).written, 3U);
}

TEST_F(EncodeAheadTest, OneProcessAtATime) {
  Write("a.css", Words(5000));
  UniqueFd root(::open(folder_.Path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(root.Get(), LOCK_EX | LOCK_NB), 0);
  try {
    Run();
    ADD_FAILURE() << "two at a time";
  } catch (const std::system_error& refusal) {
    EXPECT_EQ(refusal.code().value(), EWOULDBLOCK);
    EXPECT_NE(std::string(refusal.what()).find(folder_.Path()), std::string::npos);
  }
  EXPECT_EQ(All(), Names{"a.css"});
  root.Reset();
  ExpectRun(3, 0, 0);
  ExpectRun(0, 3, 0);
}

#ifdef __linux__
TEST_F(EncodeAheadTest, TheLockIsHeldUntilTheEnd) {
  Write("a.css", Words(5000));
  Write("b/a.css", Words(5000));
  Write("z.css", Words(5000));
  const UniqueFd root(::open(folder_.Path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  int refused = 0;
  before_fsync = [&](int) { refused += ::flock(root.Get(), LOCK_EX | LOCK_NB) == 0 ? 0 : 1; };
  ExpectRun(9, 0, 0);
  EXPECT_EQ(refused, 9);
}
#endif

}  // namespace
}  // namespace TURTLE_SERVER
