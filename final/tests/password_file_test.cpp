// Files with names and passwords: which are accepted, and what a check computes.
#include "sites/password_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "support/site_folder.h"
#include "support/users_file.h"

namespace TURTLE_SERVER {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// Hashes of "secret", one of each kind. The first two were made by OpenSSL.
const char* const kSha512 =
    "$6$pepper$2Z6D7B1GHphRwAkDE2YJPR/Tz3pYzJVGFj5UOun/"
    "UCaxbGzjpckaQI2gu8BE7DfAQVvJ1RMHN0aDV0DT6ow8L.";
const char* const kSha256 = "$5$pepper$2pAgbGpQiykh.M/nsGW0.I7Vms31DG4rMmvJxdszg10";
const char* const kRounds = "$5$rounds=1000$salt$CCvcOM6b7TEJDPb37Aec/9UpOg4QhPNAxPpL9ZzjTB7";
const char* const kBcrypt = "$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW";
const char* const kYescrypt = "$y$j/.$salt$e25U8kO0Pd5gAfZKNG5zFKiSJCbEcsTi5dhWmwaFlz6";

// Returns a well-formed hash of SHA-256 with another salt.
auto Salted(const std::string& salt) -> std::string { return "$5$" + salt + std::string(44, '$'); }

// Knows one password, "secret", and notes what it was asked.
class Hasher {
 public:
  [[nodiscard]] auto Get() -> PasswordHasher {
    return [this](const std::string& password, const std::string& setting) {
      asked_.emplace_back(password, setting);
      return password == "secret" || password.empty() ? setting : setting + "x";
    };
  }

  auto TakeAsked() -> Pairs { return std::exchange(asked_, {}); }

 private:
  Pairs asked_;
};

class PasswordFileTest : public testing::Test {
 protected:
  [[nodiscard]] auto Write(const std::string& text) const -> std::string {
    folder_.Write("users", text);
    return folder_.Path("users");
  }

  [[nodiscard]] auto Read(const std::string& text) -> PasswordFile {
    return PasswordFile(Write(text), hasher_.Get());
  }

  // Returns what is wrong with a file, after its path.
  [[nodiscard]] auto Fault(const std::string& text) -> std::string {
    try {
      static_cast<void>(Read(text));
      return "";
    } catch (const std::invalid_argument& error) {
      const std::string why = error.what();
      EXPECT_EQ(why.find(folder_.Path("users")), 0U) << why;
      return why.substr(folder_.Path("users").size());
    }
  }

  test::SiteFolder folder_;
  Hasher hasher_;
};

// --- the file -----------------------------------------------------------------------------------

TEST_F(PasswordFileTest, CommentsAndEmptyLinesAreSkipped) {
  const PasswordFile file =
      Read(std::string("# office\n\nalice:") + kBcrypt + "\n#bob:x\n\ncarol:" + kSha512);
  EXPECT_TRUE(file.Check("alice", "secret"));
  EXPECT_TRUE(file.Check("carol", "secret"));
  EXPECT_FALSE(file.Check("#bob", "secret"));
  EXPECT_FALSE(file.Check("", "secret"));
}

TEST_F(PasswordFileTest, EveryKindIsAccepted) {
  for (const std::string hash : {kSha512, kSha256, kRounds, kBcrypt, kYescrypt}) {
    EXPECT_EQ(Fault("a:" + hash), "");
  }
  const std::string rest = std::string(kBcrypt).substr(3);
  EXPECT_EQ(Fault("a:$2a" + rest + "\nb:$2y" + rest), "");
}

TEST_F(PasswordFileTest, AFaultIsToldWithItsLineAndWithoutTheHash) {
  const std::string good = std::string("alice:") + kBcrypt + "\n";
  const std::string kind =
      "the hash is not one of bcrypt ($2b$), SHA-512 ($6$), SHA-256 ($5$) and yescrypt ($y$)";
  const std::string control = "the line has a control character";
  const Pairs cases = {
      {"bob", "the line has no colon"},
      {" ", "the line has no colon"},
      {std::string(":") + kBcrypt, "the name is empty"},
      {std::string("alice:") + kSha512, "the name is there twice"},
      {"bob:", kind},
      {"bob:secret", kind},
      {"bob:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=", kind},
      {"bob:$apr1$salt$aaaaaaaaaaaaaaaaaaaaaa", kind},
      {"bob:$1$salt$aaaaaaaaaaaaaaaaaaaaaa", kind},
      {"bob:rqXexS6ZhobKA", kind},
      {std::string("bob:$2x") + (kBcrypt + 3), kind},
      {std::string("bob: ") + kBcrypt, kind},
      {std::string("bob:") + kBcrypt + ":comment", "the hash is malformed, after $2b$"},
      {std::string("bob:") + kBcrypt + " ", "the hash is malformed, after $2b$"},
      {std::string("bob:") + kBcrypt + "\r", control},
      {std::string("b\tob:") + kBcrypt, control},
      {std::string("b\0b:", 4) + kBcrypt, control},
  };
  for (const auto& [line, why] : cases) {
    EXPECT_EQ(Fault(good + line + "\n" + good), ":2: " + why) << line;
  }
}

TEST_F(PasswordFileTest, AMalformedHashIsRefused) {
  const std::string digits = std::string(kBcrypt).substr(7);
  const std::string sha = std::string(kSha256).substr(10);
  const std::string yescrypt = std::string(kYescrypt).substr(12);
  const std::vector<std::string> hashes = {
      "$2b$",
      "$2b$04$",
      "$2b$4$" + digits,
      "$2b$03$" + digits,
      "$2b$1a$" + digits,
      "$2b$04$" + digits.substr(1),
      "$2b$04$" + digits + "a",
      "$2b$04$" + digits.substr(1) + "-",
      "$5$",
      "$5$$" + sha,
      "$5$salt$" + sha + "a",
      "$5$salt$" + sha.substr(1),
      "$5$salt$" + sha.substr(1) + "!",
      "$5$sa-t$" + sha,
      "$5$12345678901234567$" + sha,
      "$5$rounds=$salt$" + sha,
      "$5$rounds=999$salt$" + sha,
      "$5$rounds=05000$salt$" + sha,
      "$5$rounds=-1$salt$" + sha,
      "$5$rounds=5000x$salt$" + sha,
      "$5$rounds=99999999999$salt$" + sha,
      "$6$salt$" + sha,
      Salted("salt"),
      "$y$",
      "$y$j/.$salt",
      "$y$k/.$salt$" + yescrypt,
      "$y$j/$salt$" + yescrypt,
      "$y$j/.A$salt$" + yescrypt,
      "$y$j/.$salt$" + yescrypt + "a",
      "$y$j/.$s$lt$" + yescrypt,
  };
  for (const std::string& hash : hashes) {
    const std::string prefix = hash.substr(0, hash.find('$', 1) + 1);
    EXPECT_EQ(Fault("bob:" + hash), ":1: the hash is malformed, after " + prefix) << hash;
  }
}

TEST_F(PasswordFileTest, AHashThatTakesTooLongIsRefused) {
  const std::string digits = std::string(kBcrypt).substr(7);
  const std::string sha = std::string(kSha256).substr(10);
  const std::string yescrypt = std::string(kYescrypt).substr(12);
  for (const std::string& hash :
       {"$2b$15$" + digits, "$5$rounds=5000000$salt$" + sha, "$y$jBT$salt$" + yescrypt}) {
    EXPECT_EQ(Fault("bob:" + hash), "") << hash;
  }
  for (const std::string& hash :
       {"$2b$16$" + digits, "$2b$31$" + digits, "$5$rounds=5000001$salt$" + sha,
        "$y$jCT$salt$" + yescrypt, "$y$jBU$salt$" + yescrypt}) {
    EXPECT_EQ(Fault("bob:" + hash), ":1: the cost of the hash is above the limit") << hash;
  }
}

TEST_F(PasswordFileTest, AKindThatTheSystemDoesNotKnowIsRefused) {
  const auto no_yescrypt = [](const std::string& /*password*/, const std::string& setting) {
    return setting.substr(0, 3) == "$y$" ? "" : setting;
  };
  const std::string path = Write(std::string("alice:") + kBcrypt + "\nbob:" + kYescrypt + "\n");
  try {
    const PasswordFile file(path, no_yescrypt);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(error.what(), path + ":2: this system knows no hashes of the kind $y$");
  }
}

TEST_F(PasswordFileTest, ReadingComputesOneHashForEachKind) {
  std::string text;
  for (int i = 0; i < 20; ++i) {
    text +=
        "a" + std::to_string(i) + ":" + kBcrypt + "\nb" + std::to_string(i) + ":" + kSha256 + "\n";
  }
  const PasswordFile file = Read(text);
  EXPECT_EQ(hasher_.TakeAsked().size(), 2U);
}

TEST_F(PasswordFileTest, AFileWithoutNamesIsRefused) {
  EXPECT_EQ(Fault(""), ": it has no names");
  EXPECT_EQ(Fault("# nobody\n"), ": it has no names");
}

TEST_F(PasswordFileTest, TheNumberOfLinesIsLimited) {
  const std::string last = std::string("alice:") + kBcrypt;
  EXPECT_EQ(Fault(std::string(PasswordFile::kMaxLines - 1, '\n') + last), "");
  EXPECT_EQ(Fault(std::string(PasswordFile::kMaxLines, '\n') + last),
            ":10001: more than 10000 lines");
}

TEST_F(PasswordFileTest, TheSizeIsLimited) {
  const std::string line = std::string("alice:") + kBcrypt + "\n#";
  const std::string comment(PasswordFile::kMaxBytes - line.size(), 'x');
  EXPECT_EQ(Fault(line + comment), "");
  EXPECT_EQ(Fault(line + comment + "x"), ": longer than 1 MiB");
}

TEST_F(PasswordFileTest, OnlyARegularFileIsRead) {
  EXPECT_THROW(PasswordFile(folder_.Path("none")), std::system_error);
  EXPECT_THROW(PasswordFile(folder_.Path()), std::invalid_argument);
  ASSERT_EQ(::mkfifo(folder_.Path("pipe").c_str(), 0600), 0);
  EXPECT_THROW(PasswordFile(folder_.Path("pipe")), std::invalid_argument);
}

// --- a check ------------------------------------------------------------------------------------

TEST_F(PasswordFileTest, ACheckComputesOneHashForAnyName) {
  const PasswordFile file = Read(std::string("alice:") + kBcrypt + "\nbob:" + kBcrypt + "\n");
  hasher_.TakeAsked();
  EXPECT_TRUE(file.Check("alice", "secret"));
  EXPECT_FALSE(file.Check("alice", "wrong"));
  EXPECT_FALSE(file.Check("nobody", "wrong"));
  EXPECT_FALSE(file.Check("nobody", "secret")) << "even if the dummy has this password";
  EXPECT_EQ(
      hasher_.TakeAsked(),
      (Pairs{{"secret", kBcrypt}, {"wrong", kBcrypt}, {"wrong", kBcrypt}, {"secret", kBcrypt}}));
}

TEST_F(PasswordFileTest, AnUnknownNameAlwaysCostsTheSame) {
  const PasswordFile file = Read(std::string("alice:") + kBcrypt + "\nbob:" + kSha512 + "\n");
  hasher_.TakeAsked();
  std::size_t slow = 0;
  for (int i = 0; i < 100; ++i) {
    const std::string name = "name" + std::to_string(i);
    EXPECT_FALSE(file.Check(name, "secret"));
    EXPECT_FALSE(file.Check(name, "other"));
    const Pairs asked = hasher_.TakeAsked();
    ASSERT_EQ(asked.size(), 2U);
    EXPECT_EQ(asked[0].second, asked[1].second);
    slow += asked[0].second == kBcrypt ? 1 : 0;
  }
  EXPECT_GT(slow, 0U);
  EXPECT_LT(slow, 100U);
}

TEST_F(PasswordFileTest, APasswordEndsAtItsEnd) {
  const PasswordFile file(Write(std::string("alice:") + kBcrypt), [](const std::string& password,
                                                                     const std::string& setting) {
    return std::string(password.c_str()) == "secret" || password.empty() ? setting : "";
  });
  EXPECT_TRUE(file.Check("alice", "secret"));
  EXPECT_FALSE(file.Check("alice", std::string_view("secret\0x", 8)));
}

TEST_F(PasswordFileTest, AFailedHashIsNoHash) {
  const PasswordFile file(Write(std::string("alice:") + kBcrypt),
                          [](const std::string& password, const std::string& setting) {
                            return password.empty() ? setting : "";
                          });
  EXPECT_FALSE(file.Check("alice", "secret"));
}

TEST_F(PasswordFileTest, TheSystemChecksEveryKindThatItKnows) {
  if (!test::HasCrypt()) {
    GTEST_SKIP() << "this system has no crypt_r(3)";
  }
  const std::string rest = std::string(kBcrypt).substr(3);
  for (const std::string& hash : std::vector<std::string>{kSha512, kSha256, kRounds, kBcrypt,
                                                          "$2a" + rest, "$2y" + rest, kYescrypt}) {
    try {
      const PasswordFile file(Write("alice:" + hash));
      EXPECT_TRUE(file.Check("alice", "secret")) << hash;
      EXPECT_FALSE(file.Check("alice", "Secret")) << hash;
      EXPECT_FALSE(file.Check("alice", "")) << hash;
      EXPECT_FALSE(file.Check("alice", std::string(1000, 'x'))) << hash;
      EXPECT_FALSE(file.Check("bob", "secret")) << hash;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("this system knows no"), std::string::npos);
      EXPECT_TRUE(hash == kYescrypt || hash[1] == '2') << "old systems know the others: " << hash;
    }
  }
}

TEST_F(PasswordFileTest, WithoutCryptAFileIsRefused) {
  const std::string file = Write(std::string("alice:") + kBcrypt);
  if (test::HasCrypt()) {
    EXPECT_NO_THROW(PasswordFile{file});
  } else {
    EXPECT_THROW(PasswordFile{file}, std::system_error);
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
