#include "app/serve_check.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "core/net_address.h"
#include "core/socket.h"
#include "core/unix_listener.h"
#include "support/nobody_here.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using Lines = std::vector<std::string>;

class ServeCheckTest : public testing::Test {
 protected:
  ServeCheckTest() {
    folder_.Write("file", "text");
    options_.directory = folder_.Path();
    options_.port = 4507;
  }

  auto Names() -> std::vector<std::string> {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.Path())) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  // Expects a single fault, which begins with a key and a value.
  void ExpectFault(const std::string& begin, const std::string& reason) {
    const Lines faults = ServeFaults(options_);
    ASSERT_EQ(faults.size(), 1U) << begin;
    EXPECT_EQ(faults[0].rfind(begin, 0), 0U) << faults[0];
    EXPECT_NE(faults[0].find(reason), std::string::npos) << faults[0];
  }

  void ExpectAddressFault(const std::string& address, const std::string& reason) {
    options_.address = address;
    ExpectFault("address: '" + address + "': ", reason);
  }

  test::SiteFolder folder_;
  ServeOptions options_;
};

TEST_F(ServeCheckTest, WhatCanBeServedHasNoFaultAndLeavesNothingBehind) {
  options_.address = "127.0.0.1,unix:" + folder_.Path("socket");
  options_.cgi_dir = folder_.Path();
  options_.log.writer.file = folder_.Path("turtle.log");
  options_.access_log.file = folder_.Path("file");
  EXPECT_EQ(ServeFaults(options_), Lines());
  EXPECT_EQ(Names(), std::vector<std::string>{"file"});
  EXPECT_EQ(std::filesystem::file_size(folder_.Path("file")), 4U);
}

TEST_F(ServeCheckTest, AnAddressThatIsNoneIsNamed) {
  for (const char* address : {"1.2.3", "300.1.1.1", "0", "127.0.0.1.", "::g"}) {
    ExpectAddressFault(address, address);
  }
  ExpectAddressFault("192.0.2.1", "bind 192.0.2.1:0: ");  // RFC 5737: nobody's
}

TEST_F(ServeCheckTest, TwoPlacesThatAreOneAreNamed) {
  const std::string path = "unix:" + folder_.Path("s");
  for (const auto& [first, second] :
       std::vector<std::pair<std::string, std::string>>{{"127.0.0.1", "127.0.0.1"},
                                                        {path, path},
                                                        {path, "unix:" + folder_.Path("./s")},
#ifdef __linux__
                                                        {"0.0.0.0", "127.0.0.1"},
                                                        {"127.0.0.2", "0.0.0.0"}
#endif
       }) {
    options_.address = first + "," + second;
    ExpectFault("address: '" + second + "': taken already, by address '" + first + "'", "");
  }
}

TEST_F(ServeCheckTest, OneSocketByTwoNamesIsTaken) {
  options_.address = "unix:none.sock,unix:./none.sock";
  ExpectFault("address: 'unix:./none.sock': taken already, by address 'unix:none.sock'", "");
}

TEST_F(ServeCheckTest, PlacesThatTheKernelTakesTogetherAreNoFault) {
  options_.address = "127.0.0.1,unix:" + folder_.Path("a") + ",unix:" + folder_.Path("b");
#ifdef __linux__
  options_.address += ",127.0.0.2";
#endif
  EXPECT_EQ(ServeFaults(options_), Lines());
  options_.port = 0;  // each one has a different port
  options_.address = "127.0.0.1,127.0.0.1";
  EXPECT_EQ(ServeFaults(options_), Lines());
}

TEST_F(ServeCheckTest, ASocketThatCannotBeMadeIsNamed) {
  ExpectAddressFault("unix:" + folder_.Path("none/s"), "No such file or directory");
  ExpectAddressFault("unix:" + folder_.Path("file/s"), "Not a directory");
  ExpectAddressFault("unix:" + folder_.Path("file"), "it exists and is not a socket");
  ExpectAddressFault("unix:" + folder_.Path(std::string(200, 's')), "too long");
}

TEST_F(ServeCheckTest, ARunningServerIsNotDisturbed) {
  const UnixListener at_path(folder_.Path("socket"));
  Socket at_port;
  at_port.Bind(NetAddress("127.0.0.1", 0));
  at_port.Listen();
  options_.port = static_cast<std::uint16_t>(at_port.LocalAddress().Port());
  options_.address = "127.0.0.1,unix:" + folder_.Path("socket");
  EXPECT_EQ(ServeFaults(options_), Lines());
  EXPECT_TRUE(std::filesystem::exists(folder_.Path("socket")));
}

TEST_F(ServeCheckTest, ALogThatCannotBeMadeIsNamed) {
  for (const auto& [file, reason] : std::vector<std::pair<std::string, std::string>>{
           {folder_.Path("none/a.log"), "No such file or directory"},
           {folder_.Path("file/a.log"), "Not a directory"},
           {folder_.Path(), "Is a directory"}}) {
    options_.access_log.file = file;
    ExpectFault("access_log.file: '" + file + "': ", reason);
    options_.log.writer.file = std::exchange(options_.access_log.file, "-");
    ExpectFault("log.file: '" + file + "': ", reason);
    options_.log.writer.file = "";
  }
}

TEST_F(ServeCheckTest, ALogIsMadeWhereALinkEnds) {
  std::filesystem::create_symlink("logs/a.log", folder_.Path("a.log"));
  std::filesystem::create_symlink(folder_.Path("b.log"), folder_.Path("c.log"));
  options_.log.writer.file = folder_.Path("a.log");
  ExpectFault("log.file: '", folder_.Path("logs") + ": No such file or directory");
  options_.log.writer.file = folder_.Path("c.log");
  EXPECT_EQ(ServeFaults(options_), Lines());
  EXPECT_FALSE(std::filesystem::exists(folder_.Path("b.log")));
}

TEST_F(ServeCheckTest, ADescriptorThatIsNotOpenAndADeviceThatIsNotThereAreNamed) {
  options_.log.writer.file = "/dev/fd/9999";
  ExpectFault("log.file: '/dev/fd/9999'", "No such file or directory");
  options_.log.writer.file = "/dev/null";
  EXPECT_EQ(ServeFaults(options_), Lines());
  options_.log.writer.file = "/dev/tty";
  const UniqueFd terminal(::open("/dev/tty", O_WRONLY | O_NOCTTY));
  EXPECT_EQ(ServeFaults(options_).size(), terminal ? 0U : 1U);
}

TEST_F(ServeCheckTest, APortThatThisUserMayNotBindIsAWarning) {
  EXPECT_EQ(StartWarnings(options_), Lines());
  options_.port = 1;
  std::thread([this] {
#ifdef __linux__
    ::syscall(SYS_setresuid, -1, 65534, -1);  // this thread alone, until it ends
#endif
    Lines wanted;
    try {
      Socket().Bind(NetAddress("127.0.0.1", 1));
    } catch (const std::system_error& error) {
      wanted.push_back("address: '127.0.0.1': " + std::string(error.what()) +
                       "; this user needs CAP_NET_BIND_SERVICE, or a listener from systemd");
    }
    EXPECT_EQ(StartWarnings(options_), wanted);
    EXPECT_EQ(ServeFaults(options_), Lines());
  }).join();
}

TEST_F(ServeCheckTest, WhatMayNotBeEnteredOrWrittenIsNamed) {
  if (!test::NobodyHere::IsNobody()) {
    GTEST_SKIP() << "the administrator is refused nothing";
  }
  std::filesystem::create_directory(folder_.Path("closed"));
  ::chmod(folder_.Path().c_str(), 0755);
  ::chmod(folder_.Path("closed").c_str(), 0600);
  ::chmod(folder_.Path("file").c_str(), 0400);
  const test::NobodyHere nobody;
  options_.log.writer.file = folder_.Path("file");
  ExpectFault("log.file: '", "Permission denied");
  options_.log.writer.file = "";
  options_.cgi_dir = folder_.Path("closed");
  ExpectFault("http.cgi_path: '", "Permission denied");
  options_.cgi_dir = "";
  ExpectAddressFault("unix:" + folder_.Path("closed/s"), "Permission denied");
}

TEST_F(ServeCheckTest, AllFaultsAreToldAtOnce) {
  options_.address = "1.2.3,unix:" + folder_.Path("none/s");
  options_.log.writer.file = folder_.Path("none/a.log");
  EXPECT_EQ(ServeFaults(options_).size(), 3U);
}

TEST_F(ServeCheckTest, ASizeOfAFewBytesIsWarnedOf) {
  EXPECT_EQ(ServeWarnings(options_), Lines());
  options_.max_body = 64;
  options_.cache_size = 0;
  options_.max_head = 1024;
  EXPECT_EQ(ServeWarnings(options_),
            Lines{"http.max_body_size: 64 means 64 bytes; is 64K or 64M what was meant?"});
}

}  // namespace
}  // namespace TURTLE_SERVER
